"""Patterns of several bindings: that every match is found, in order, and what is said where there is none."""

from collections.abc import Iterator, Mapping
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import relax_core as rc
from relax_core.diagnostics import CompileError
from relax_core.ir.expr import Call, DataflowBlock, Tuple, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.pattern.graph.search import GraphSearch
from relax_core.pattern.graph.uses import BlockUses
from relax_core.pattern.language.edges import ANYWHERE, Edge
from relax_core.pattern.matching.facts import MatchContext
from relax_core.pattern.matching.matcher import match
from relax_core.pattern.matching.work import Work
from tests.passes.byoc_programs import random_program
from tests.pattern.relax_programs import PATTERNS, PROGRAMS, block_of, call, main, named_mapping, ours, program

KINDS = ("wildcard()", call("nn.relu"), call("exp"), call("add", 2), call("multiply", 2), call("matmul", 2))


def variables(block: DataflowBlock) -> list[Var]:
    """Return the variables that occur in a block."""
    nodes = (node for item in block.bindings for node in (*preorder(item.value), item.var))
    return list(dict.fromkeys(node for node in nodes if isinstance(node, Var)))


def holds(edge: Edge, of: Mapping[object, Var], block: DataflowBlock) -> bool:
    """Judge an edge by looking at the whole block; one that leads elsewhere is not judged."""
    if edge.producer not in of or edge.consumer not in of:
        return True
    producer, consumer = of[edge.producer], of[edge.consumer]
    users = {item.var for item in block.bindings if producer in preorder(item.value)}
    if consumer not in users or (edge.is_only and len(users) > 1):
        return False
    value = next(item.value for item in block.bindings if item.var is consumer)
    assert isinstance(value, Call)
    flat = [part for arg in value.args for part in (arg.fields if isinstance(arg, Tuple) else (arg,))]
    return edge.index == ANYWHERE or flat[edge.index : edge.index + 1] == [producer]


def by_trying_all(context: rc.PatternContext, block: DataflowBlock) -> Iterator[dict[object, Var]]:
    """Yield all matches: every way to give the patterns variables of their own, judged by itself."""
    patterns = list(dict.fromkeys(item for edge in context.edges for item in (edge.producer, edge.consumer)))
    facts = MatchContext(value_of={item.var: item.value for item in block.bindings})
    found: list[dict[object, Var]] = [{}]
    for pattern in patterns:
        tried = ({**of, pattern: var} for of in found for var in variables(block) if var not in of.values())
        found = [of for of in tried if all(holds(edge, of, block) for edge in context.edges)]
    yield from (of for of in found if _agrees(of, facts))


def _agrees(of: Mapping[object, Var], facts: MatchContext) -> bool:
    known: dict[object, object] = dict(of)
    for pattern, var in of.items():
        assert isinstance(pattern, rc.Pattern)
        found = match(pattern, var, facts)
        if found is None or any(known.setdefault(part, node) is not node for part, node in found.node_of.items()):
            return False
    return True


@st.composite
def contexts(draw: st.DrawFn) -> str:
    """Draw a graph of three or four patterns, which are all joined."""
    count = draw(st.integers(2, 4))
    names = [f"p{number}" for number in range(count)]
    lines = [f"{name} = {draw(st.sampled_from(KINDS))}" for name in names]
    for number in range(1, count):
        other = names[draw(st.integers(0, number - 1))]
        first, second = draw(st.permutations((other, names[number])))
        edge = draw(st.sampled_from(("{} ^ {}", "{} >> {}", "{}.used_by({}, 0)", "{}.only_used_by({}, index=1)")))
        lines.append(edge.format(first, second))
    if draw(st.booleans()):
        lines.append(f"{names[0]} ^ {names[-1]}")
    return "\n".join(lines)


@settings(max_examples=60, deadline=None)
@given(contexts(), st.integers(0, 60))
def test_a_search_finds_all_that_trying_everything_finds(text: str, seed: int) -> None:
    module = rc.parse(f"from tvm.script import ir as I, relax as R\n@I.ir_module\nclass Module:{random_program(seed)}")
    block, context = block_of(module), rc.graph_pattern(text)
    found = [tuple(item.variable_of.items()) for item in context.matches(block)]
    expected = [tuple(item.items()) for item in by_trying_all(context, block)]
    assert len(set(found)) == len(found)
    assert {frozenset(item) for item in found} == {frozenset(item) for item in expected}
    miss = context.explain(block)
    assert (miss is None) == bool(expected)
    assert miss is None or miss.reason


# A pattern, a program, and what is said: pattern, variable and reason.
MISSES = (
    ("two products of one", "a product of a product", ("n", "a", "another pattern matches it already")),
    ("product of a product", "two products", ("n", None, "nothing in the block uses a")),
    ("relu for exp alone", "a fork", ("e", "q", "z uses p as well")),
    ("relu for exp alone", "either side", ("e", "q", "is not exp")),
    ("the second argument", "a fork", ("a", "q", "is not add")),
    ("the first argument", "a literal", ("a", "q", "q uses p as argument 1, not 0")),
    ("a diamond", "a fork", ("r", "p", "another pattern matches it already")),
    ("one shape", "two products", ("a", "a", "is not add")),
    ("no relu", "a chain", ("e", "p", "is not exp")),
    ("a chain and its copy", "an output inside", ("t", "q", "is not nn.relu")),
)


@pytest.mark.parametrize(("pattern", "name", "expected"), MISSES, ids=[f"{item[0]}, {item[1]}" for item in MISSES])
def test_a_miss_names_the_pattern_the_variable_and_the_reason(
    pattern: str, name: str, expected: tuple[str, str | None, str]
) -> None:
    module, context = ours(program(*PROGRAMS[name])), rc.graph_pattern(PATTERNS[pattern])
    miss = context.explain(block_of(module), module)
    assert miss is not None
    names = {item: key for key, item in context.named.items()}
    assert (names[miss.pattern], miss.variable and miss.variable.name, miss.reason) == expected
    assert miss.progress[0] == len(miss.variable_of)


def test_a_shape_that_is_not_known_is_not_the_same() -> None:
    text = program("q = R.add(x, v)", "q")
    context = rc.graph_pattern(PATTERNS["one shape"])
    module = ours(text)
    miss = context.explain(block_of(module), module)
    assert miss is not None
    assert miss.reason == "is not known to have the shape of x"
    # Without the module nothing is known of any type.
    assert context.match_dfb(block_of(module)) is None


def test_matches_come_in_the_order_of_the_block() -> None:
    module = ours(program("a = R.matmul(x, w); b = R.matmul(x, y); u = R.exp(y); c = R.matmul(x, u)", "a, b, c"))
    context = rc.graph_pattern(PATTERNS["two products of one"])
    pairs = [
        (found[context.named["m"]].name, found[context.named["n"]].name) for found in context.matches(block_of(module))
    ]
    assert pairs == [("a", "b"), ("a", "c"), ("b", "a"), ("b", "c"), ("c", "a"), ("c", "b")]


def test_what_is_independent_is_combined_in_all_ways() -> None:
    module = ours(program("a = R.exp(x); b = R.exp(x); c = R.tanh(x); d = R.tanh(x)", "a, b, c, d"))
    context = rc.graph_pattern(f"x = wildcard()\ne = {call('exp')}\nt = {call('tanh')}\nx.fork_to(e, t)")
    pairs = [
        tuple(named_mapping(found.variable_of, context.named).values()) for found in context.matches(block_of(module))
    ]
    assert pairs == [("x", "a", "c"), ("x", "a", "d"), ("x", "b", "c"), ("x", "b", "d")]


# What the first choice for `a` takes, or binds, another pattern needs: the search has to come back to it.
RETURNS = (
    (
        f"x = wildcard()\na = wildcard()\nb = {call('exp')}\nx.fork_to(a, b)",
        "u = R.exp(x); t = R.add(x, y)",
        {"x": "x", "a": "t", "b": "u"},
    ),
    (
        "k = wildcard()\nx = wildcard()\na = is_op('relax.matmul')(wildcard(), k, add_constraint=False)\n"
        "b = is_op('relax.subtract')(wildcard(), k, add_constraint=False)\nx.fork_to(a, b)",
        "u = R.matmul(x, y); t = R.matmul(x, w); s = R.subtract(x, w)",
        {"x": "x", "a": "t", "b": "s"},
    ),
    (
        f"x = wildcard()\na = {call('add', 2)}\nb = {call('multiply', 2)}\nx.fork_to(a, b)\na.same_shape_as(b)",
        "z = R.reshape(x, (1, 16)); u = R.add(x, R.reshape(y, (1, 4, 4))); t = R.add(x, y); s = R.multiply(x, w)",
        {"x": "x", "a": "t", "b": "s"},
    ),
)


@pytest.mark.parametrize(("text", "body", "expected"), RETURNS, ids=["a variable", "a part of both", "a shape"])
def test_a_search_comes_back_to_what_is_in_the_way(text: str, body: str, expected: dict[str, str]) -> None:
    outputs = ", ".join(line.split(" = ")[0].strip() for line in body.split("; "))
    module, context = ours(program(body, outputs)), rc.graph_pattern(text)
    found = context.match_dfb(block_of(module), module)
    assert found is not None
    assert named_mapping(found, context.named) == expected


def test_contexts_are_nested_and_grow() -> None:
    relu, exp, tanh = (rc.is_op(f"relax.{name}")(rc.wildcard()) for name in ("nn.relu", "exp", "tanh"))
    with rc.PatternContext() as outer:
        relu ^ exp  # pyright: ignore[reportUnusedExpression]
        with rc.PatternContext() as inner:
            assert rc.PatternContext.current() is inner
            exp ^ tanh  # pyright: ignore[reportUnusedExpression]
        with rc.PatternContext(incremental=True) as grown:
            exp ^ tanh  # pyright: ignore[reportUnusedExpression]
        assert rc.PatternContext.current() is outer
    with pytest.raises(LookupError, match="no PatternContext is open"):
        rc.PatternContext.current()
    relu ^ tanh  # pyright: ignore[reportUnusedExpression]
    assert [len(item.edges) for item in (outer, inner, grown)] == [1, 1, 2]
    chain = block_of(ours(program("p = R.nn.relu(x); q = R.exp(p); r = R.tanh(q)", "r")))
    short = block_of(ours(program("q = R.exp(x); r = R.tanh(q)", "r")))
    assert [item.match_dfb(chain) is not None for item in (outer, inner, grown)] == [True, True, True]
    assert [item.match_dfb(short) is not None for item in (outer, inner, grown)] == [False, True, False]


def test_a_chain_that_is_used_again_has_the_edges_of_its_copy() -> None:
    with rc.PatternContext() as context:
        relu = rc.is_op("relax.nn.relu")(rc.wildcard(), add_constraint=False)
        chain = relu >> rc.is_op("relax.exp")(rc.wildcard(), add_constraint=False)
        copy = chain.dup()
        chain ^ copy  # pyright: ignore[reportUnusedExpression]
    assert [edge.is_only for edge in context.edges] == [True, True, False]
    body = "p = R.nn.relu(x); q = R.exp(p); r = R.nn.relu(q); s = R.exp(r)"
    found = context.match_dfb(block_of(ours(program(body, "s"))))
    assert found is not None
    assert [found[item].name for item in (*chain.patterns, *copy.patterns) if isinstance(item, rc.Pattern)] == [*"pqrs"]
    assert context.match_dfb(block_of(ours(program(f"{body}; t = R.tanh(r)", "s, t")))) is None


def test_a_wildcard_that_stands_for_a_chain_is_one_pattern_of_a_graph() -> None:
    text = (
        "w = wildcard()\nc = is_op('relax.exp')(w, add_constraint=False)\n"
        "w.redirect_to(c | is_op('relax.tanh')(wildcard(), add_constraint=False))\nc >> is_op('relax.sin')(wildcard(), "
        "add_constraint=False)"
    )
    context = rc.graph_pattern(text)
    found = context.match_dfb(block_of(ours(program("p = R.tanh(x); q = R.exp(p); r = R.exp(q); s = R.sin(r)", "s"))))
    assert found is not None
    assert named_mapping(found, context.named) == {"c": "r"}
    miss = context.explain(block_of(ours(program("p = R.abs(x); q = R.exp(p); r = R.exp(q); s = R.sin(r)", "s"))))
    assert miss is not None
    assert miss.reason == "is not exp"


def test_a_variable_of_a_match_cast_uses_what_is_cast() -> None:
    text = """
from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class Module:
    @R.function
    def main(y: R.Tensor("float32", ndim=2)):
        n = T.int64()
        with R.dataflow():
            p = R.nn.relu(y)
            m = R.match_cast(p, R.Tensor((n, 4), "float32"))
            q = R.exp(m)
            R.output(q)
        return q
"""
    module = rc.parse(text)
    context = rc.graph_pattern(f"a = {call('nn.relu')}\nb = wildcard()\nc = {call('exp')}\na ^ b ^ c")
    found = context.match_dfb(block_of(module))
    assert found is not None
    assert named_mapping(found, context.named) == {"a": "p", "b": "m", "c": "q"}


REFUSED = (
    ("x = wildcard()", "PT011"),
    ("x = wildcard()\ny = is_op('relax.exp')(wildcard())\nx.same_shape_as(y)", "PT011"),
    ("x = wildcard() ^", "PT001"),
    ("for x in y: pass", "PT002"),
    ("x = y ^ wildcard()", "PT002"),
    ("x = wildcard() ^ 3", "PT002"),
    ("wildcard().used_by(wildcard(), 'a')", "PT003"),
    ("wildcard().used_by(wildcard(), -2)", "PT003"),
    ("wildcard().used_by(wildcard(), True)", "PT003"),
    ("wildcard().used_by()", "PT003"),
    ("wildcard().fork_to()", "PT003"),
    ("s = wildcard() ^ wildcard()\ns[2]", "PT003"),
    ("s = wildcard() ^ wildcard()\ns.same_shape_as(wildcard())", "PT003"),
    ("s = wildcard() ^ wildcard()\nis_op('relax.exp')(s)", "PT002"),
    ("wildcard() ^ __import__('os')", "PT002"),
    ("\ud800", "PT001"),
    (" ^ ".join(["wildcard()"] * 20_000), "PT001"),
    ("\n".join(["a = wildcard()", *("a ^ wildcard()" for _ in range(1001))]), "PT010"),
)


@pytest.mark.parametrize(("text", "code"), REFUSED, ids=[f"{item[1]} {item[0][:40]!r}" for item in REFUSED])
def test_a_text_that_is_no_graph_is_refused(text: str, code: str) -> None:
    with pytest.raises(CompileError) as caught:
        rc.graph_pattern(text).steps()
    assert [item.code for item in caught.value.diagnostics] == [code]


def chain(count: int, *lines: str) -> IRModule:
    """Return a program of relu and exp in turn, with further lines behind."""
    steps = (f"v{k + 1} = R.{'exp' if k % 2 else 'nn.relu'}(v{k})" for k in range(count))
    text = program("; ".join(("v0 = R.tanh(x)", *steps, *lines)), f"v{count}")
    return rc.parse("from tvm.script import ir as I, relax as R\n" + text)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (f"r = {call('nn.relu')}\ne = {call('exp')}\nr >> e", 5000),
        (f"r = {call('nn.relu')}\ne = {call('tanh')}\nr >> e", 0),
        (f"r = {call('nn.relu')}\ne = {call('exp')}\nt = {call('tanh')}\nu = {call('sin')}\nr ^ e\nt ^ u", 0),
        ("r = is_op('relax.nn.relu')(is_op('relax.exp')(wildcard()))\nr ^ wildcard()", 4999),
    ],
)
def test_ten_thousand_bindings_are_searched_in_linear_work(text: str, count: int) -> None:
    block, context = block_of(chain(10_000)), rc.graph_pattern(text)
    work = Work()
    facts = MatchContext(value_of={item.var: item.value for item in block.bindings})
    search = GraphSearch(context.steps(), BlockUses(block), facts, work)
    assert sum(1 for _ in search.matches()) == count
    assert Work().left - work.left < 500_000


def test_parts_that_have_nothing_to_do_with_each_other_do_not_multiply() -> None:
    """A hub with many users: each pair of them would be tried, if what fits none were not seen to fit none."""
    lines = [f"u{number} = R.add(x, x)" for number in range(2000)]
    module = chain(2, *lines)
    text = f"x = wildcard()\na = {call('add', 2)}\nb = {call('add', 2)}\nc = {call('matmul', 2)}\nx.fork_to(a, b, c)"
    context = rc.graph_pattern(text)
    search = context.search(block_of(module))
    assert next(search.matches(), None) is None
    assert Work().left - search.work.left < 500_000
    assert search.miss is not None
    assert search.miss.reason == "is not matmul"


def test_every_use_is_kept_in_order_when_a_block_changes() -> None:
    module = ours(program("a = R.add(x, y); b = R.exp(a); c = R.tanh(a); d = R.add(b, c)", "d"))
    of = {item.var.name: item.var for item in block_of(module).bindings}
    inputs = {item.name: item for item in main(module).params}
    uses = BlockUses(block_of(module))
    uses.change(of["d"], rc.expression("R.exp(x)", x=inputs["x"]))
    uses.move(of["c"], of["a"])
    for number in range(200):
        uses.insert(Var(f"n{number}"), rc.expression("R.sin(w)", w=inputs["w"]), of["b"])
    names = [item.name for item in uses.order]
    assert names == ["x", "y", "c", "a", "w", *(f"n{number}" for number in range(200)), "b", "d"]
    assert [item.name for item in uses.users(inputs["x"])] == ["a", "d"]
    assert [item.name for item in uses.users(inputs["w"])] == [f"n{number}" for number in range(200)]
    assert [item.name for item in uses.users(of["a"])] == ["c", "b"]
    assert all(uses.place(item) == place for place, item in enumerate(uses.order))
    assert list(product(uses.users(of["b"]), uses.users(of["c"]))) == []
