"""What Relay's own tests ask of patterns: which expressions match, each case written anew for this language.

See: tvm/tests/python/relay/test_dataflow_pattern.py, v0.19
"""

import tomllib
from pathlib import Path

import pytest

import relax_core as rc
from relax_core.ir.expr import Call, Function, TupleGetItem
from tests.pattern.programs import main, module

CASES: dict[str, list[dict[str, str]]] = tomllib.loads(Path(__file__).with_name("upstream_matches.toml").read_text())


def of(kind: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", CASES[kind], ids=[case["name"] for case in CASES[kind]])


@of("fits")
def test_what_matches(case: dict[str, str]) -> None:
    mod = module(case["program"])
    miss = rc.explain(rc.pattern(case["pattern"]), main(mod).body, mod)
    assert miss is None, miss


@of("misses")
def test_what_does_not_match(case: dict[str, str]) -> None:
    mod = module(case["program"])
    miss = rc.explain(rc.pattern(case["pattern"]), main(mod).body, mod)
    assert miss is not None
    assert miss.reason


@of("counts")
def test_how_often_a_pattern_matches_in_a_module(case: dict[str, str]) -> None:
    assert len(rc.match(rc.pattern(case["pattern"]), module(case["program"]))) == int(case["count"])


def test_a_match_names_the_node_of_each_part() -> None:
    batch_norm = rc.is_op("nn.batch_norm")(*(rc.wildcard() for _ in range(5)))
    first = rc.is_tuple_get_item(batch_norm, 0)
    mod = module("%0 = nn.batch_norm(%data, %b, %b, %b, %b); nn.relu(%0.0)")
    (found,) = rc.match(first, mod)
    assert isinstance(found.root, TupleGetItem)
    assert found[first] is found.root
    assert found[batch_norm] is found.root.tuple_value


def test_a_wildcard_is_redirected_in_python() -> None:
    inner = rc.wildcard()
    start = rc.is_op("nn.dense")(rc.wildcard(), rc.wildcard())
    chain = rc.is_op("tanh")(inner)
    assert inner.redirect_to(chain | start) is inner
    mod = module("tanh(tanh(tanh(nn.dense(%x, %y))))")
    found = rc.match(chain, mod)
    assert len(found) == 3
    assert len(found[-1].path_nodes) == 3, "what lies below the outermost"


CHAIN = """
d = is_op('nn.dense')(wildcard(), wildcard())
w = wildcard()
c = is_op('tanh')(w)
w.redirect_to(c | d)
c"""


def test_a_chain_longer_than_the_stack_is_matched_level_by_level() -> None:
    count = 3000
    steps = "\n".join(f"  %{k + 1} = tanh(%{k});" for k in range(count))
    mod = module(f"%0 = nn.dense(%x, %y);\n{steps}\n%{count}")
    chain = rc.pattern(CHAIN)
    made = rc.partition(chain, mod, {"Composite": "a.chain"})
    call = main(made).body
    assert isinstance(call, Call)
    assert isinstance(call.op, Function)
    assert [arg is param for arg, param in zip(call.args, main(mod).params[:2], strict=True)] == [True, True]
