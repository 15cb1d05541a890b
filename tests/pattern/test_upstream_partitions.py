"""What Relay's own tests ask of partitioning and rewriting by patterns, each case written anew.

See: tvm/tests/python/relay/test_dataflow_pattern.py, v0.19
"""

import tomllib
from pathlib import Path

import pytest

import relax_core as rc
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import Call, Expr, Op, TupleGetItem
from relax_core.ir.module import IRModule
from relax_core.pattern.matching.matcher import Match
from tests.pattern.programs import module

X = "Tensor[(4, 4), float32]"
CASES: list[dict[str, str]] = tomllib.loads(Path(__file__).with_name("upstream_partitions.toml").read_text())["case"]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_partitions(case: dict[str, str]) -> None:
    mod = module(case["program"])
    made = rc.partition(rc.pattern(case["pattern"]), mod)
    if "after" not in case:
        assert made is mod
        return
    assert first_difference(made, module(case["after"])) is None, rc.script(made)
    assert [item.render() for item in rc.check(made) if item.severity == "error"] == []


def test_partitioning_twice_takes_nothing_twice() -> None:
    pattern = rc.pattern("is_op('nn.relu')(wildcard())")
    once = rc.partition(pattern, module("nn.relu(tanh(nn.relu(%x)))"), {"Composite": "a.relu"})
    assert rc.partition(pattern, once) is once


@pytest.mark.parametrize("is_dataflow", [True, False])
def test_a_module_of_relax_is_partitioned_within_its_dataflow_blocks(*, is_dataflow: bool) -> None:
    head = "# from tvm.script import relax as R\n@R.function\ndef main(x: R.Tensor((2,), 'float32')):\n"
    block = "    with R.dataflow():\n        y = R.nn.relu(x)\n        R.output(y)\n    return y\n"
    mod = rc.parse(head + (block if is_dataflow else "    return R.nn.relu(x)\n"))
    made = rc.partition(rc.pattern("is_op('nn.relu')(wildcard())"), mod, {"Composite": "a.relu"})
    names = ["main", "fused_relax_nn_relu"] if is_dataflow else ["main"]
    assert [var.name for var, _ in made.relax_functions] == names
    assert (made is mod) is not is_dataflow


@pytest.mark.parametrize(("layout", "is_taken"), [("NCHW", True), ("NHWC", False)])
def test_a_check_decides_by_an_attribute(layout: str, *, is_taken: bool) -> None:
    kernel = "OIHW" if layout == "NCHW" else "HWIO"
    mod = module(
        f'nn.relu(nn.conv2d(ones(shape=[1, 4, 4, 4], dtype="float32"), ones(shape=[4, 4, 1, 1], dtype="float32"),'
        f' data_layout="{layout}", kernel_layout="{kernel}"))'
    )
    conv = rc.is_op("nn.conv2d")(rc.wildcard(), rc.wildcard())

    def is_plain(match: Match) -> bool:
        found = match[conv]
        assert isinstance(found, Call)
        return dict(found.attrs).get("data_layout", "NCHW") == "NCHW"

    made = rc.partition(rc.is_op("nn.relu")(conv), mod, check=is_plain)
    assert (made is not mod) == is_taken


def test_a_check_decides_by_a_type() -> None:
    mod = module('add(nn.relu(%x), cast(nn.relu(cast(%y, dtype="int32")), dtype="float32"))')
    floats = rc.pattern("is_op('nn.relu')(has_dtype('float32'))")
    assert rc.script(rc.partition(floats, mod)).count("PartitionedFromPattern") == 1


def _call(name: str, *args: Expr) -> Call:
    return Call(Op(name), args)


def test_a_rewrite_puts_another_operator_in_the_place() -> None:
    x, y = rc.wildcard(), rc.wildcard()
    after = rc.rewrite(x + y, lambda match: _call("subtract", match[x], match[y]), module("add(%x, %y)"))
    assert first_difference(after, module("subtract(%x, %y)")) is None


def test_a_call_of_a_composite_is_written_out() -> None:
    text = f'%0 = fn (%p: {X}, %q: {X}, Composite="add") {{ add(%p, %q) }}; abs(%0(%x, %y))'
    pattern = rc.pattern("wildcard().has_attr({'Composite': 'add'})(wildcard(), wildcard())")

    def inlined(match: Match) -> Expr:
        assert isinstance(match.root, Call)
        return _call("add", *match.root.args)

    assert first_difference(rc.rewrite(pattern, inlined, module(text)), module("abs(add(%x, %y))")) is None


def test_a_rewrite_reaches_what_stands_in_its_own_parts() -> None:
    x, y = rc.wildcard(), rc.wildcard()
    after = rc.rewrite(
        x + y, lambda match: _call("multiply", match[x], match[y]), module("add(add(%x, %y), add(%y, %x))")
    )
    assert first_difference(after, module("multiply(multiply(%x, %y), multiply(%y, %x))")) is None


def test_a_function_with_any_body_is_rewritten() -> None:
    params = (rc.wildcard(), rc.wildcard())
    left, right, last = rc.wildcard(), rc.wildcard(), rc.wildcard()
    pattern = rc.is_function(params, rc.wildcard())(left, right) + last
    text = f"%0 = fn (%u: {X}, %k: {X}) {{ nn.dense(%u, %k) }}; add(add(%0(%x, %y), %y), %y)"
    after = rc.rewrite(pattern, lambda match: _call("subtract", match[left], match[right]), module(text), once=True)
    assert first_difference(after, module("add(subtract(%x, %y), %y)")) is None


def test_a_rewrite_reaches_the_clauses_of_a_match() -> None:
    x, y = rc.wildcard(), rc.wildcard()
    before, wanted = (
        rc.parse(
            '#[version = "0.0.5"]\ntype L { A(int32), N }\n'
            f"def @main(%l: L) -> int32 {{ match (%l) {{ A(%h) => {name}(%h, 1), N => 0 }} }}\n",
            "m.relay",
        )
        for name in ("add", "subtract")
    )
    after = rc.rewrite(x + y, lambda match: _call("subtract", match[x], match[y]), before)
    assert first_difference(after, wanted) is None


BN_TEXT = "add(divide(multiply(%b, subtract({0}, %m)), sqrt(add(%v, 0.00001f))), %e)"
BN_PARAMS = ", ".join(f"%{name}: Tensor[(4), float32]" for name in "xvmeb")


def _bn(body: str) -> IRModule:
    return rc.parse(f'#[version = "0.0.5"]\ndef @main({BN_PARAMS}) {{ {body} }}\n', "m.relay")


FUSED = "nn.batch_norm({0}, %b, %e, %m, %v, epsilon=0.00001f).0"
ONE = FUSED.format("%x")
BATCH_NORMS = (
    ("one", BN_TEXT.format("%x"), ONE),
    (
        "one with the product turned around",
        "add(%e, divide(multiply(subtract(%x, %m), %b), sqrt(add(%v, 0.00001f))))",
        ONE,
    ),
    (
        "one with the quotient first",
        "add(multiply(%b, divide(subtract(%x, %m), sqrt(add(%v, 0.00001f)))), %e)",
        ONE,
    ),
    ("two, one in the other", BN_TEXT.format(BN_TEXT.format("%x")), FUSED.format(ONE)),
    (
        "one in half of another",
        f"divide(multiply(%b, subtract({BN_TEXT.format('%x')}, %m)), %v)",
        f"divide(multiply(%b, subtract({ONE}, %m)), %v)",
    ),
    ("none without its root", "divide(multiply(%b, subtract(%x, %m)), add(%v, 0.00001f))", None),
)


@pytest.mark.parametrize(("before", "after"), [case[1:] for case in BATCH_NORMS], ids=[case[0] for case in BATCH_NORMS])
def test_a_batch_norm_in_parts_becomes_one_operator(before: str, after: str | None) -> None:
    x, var, mean, beta, gamma, eps = (rc.wildcard() for _ in range(6))
    pattern = gamma * (x - mean) / rc.is_op("sqrt")(var + eps) + beta

    def fused(match: Match) -> Expr:
        args = tuple(match[part] for part in (x, gamma, beta, mean, var))
        return TupleGetItem(Call(Op("nn.batch_norm"), args, (("epsilon", 0.00001),)), 0)

    found = rc.rewrite(pattern, fused, _bn(before))
    assert first_difference(found, _bn(after or before)) is None, rc.script(found)
