"""Partitioning of generated programs: the value stays, regions have no cycle, and every reason is the right one."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import relax_core as rc
from relax_core.analysis.region_graph import region_graph
from relax_core.analysis.regions import find_regions, find_sets, open_values
from relax_core.ir.expr import Call, Function
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.passes.core import Stage
from relax_core.pattern.partition.apart import Apart, apart
from relax_core.pattern.partition.offload import Unit
from tests.passes.relay.byoc import T

UNARY = ("nn.relu", "tanh", "negative", "sigmoid")
BINARY = ("add", "multiply", "maximum")
LETS = ("values", "definition", "uses", "graph_form")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A program, one operator a line, and the target of each line; those without one are not supported."""

    text: str
    target_of: dict[int, str]

    @property
    def module(self) -> IRModule:
        return rc.parse(self.text, "m.relay")

    def tables(self, **given: frozenset[int]) -> rc.Tables:
        """Return tables by lines; `given` lines go to a target besides."""

        def takes(target: str, call: Call) -> bool:
            line = call.span.line if call.span is not None else 0
            own = next((name for name, lines in given.items() if line in lines), self.target_of.get(line))
            return own == target

        return rc.Tables(supported={name: lambda call, name=name: takes(name, call) for name in ("a", "b")})


@st.composite
def programs(draw: st.DrawFn, *, lets: bool) -> Drawn:
    lines: list[str] = []
    values = ["%x", "%y"]
    target_of: dict[int, str] = {}
    for number in range(draw(st.integers(2, 9))):
        recent = st.sampled_from(values[-4:])
        is_let = lets and draw(st.integers(0, 3)) == 0
        name = f"%v{number}" if is_let else f"%{number}"
        if is_let and draw(st.integers(0, 3)) == 0:
            call = draw(recent)
        elif draw(st.booleans()):
            call = f"{draw(st.sampled_from(UNARY))}({draw(recent)})"
        else:
            call = f"{draw(st.sampled_from(BINARY))}({draw(recent)}, {draw(recent)})"
        lines.append(f"  {'let ' if is_let else ''}{name} = {call};")
        values.append(name)
        target = draw(st.sampled_from(("a", "a", "b", "")))
        if target:
            target_of[len(lines) + 2] = target
    result = ", ".join(values[-2:])
    body = "\n".join(lines)
    text = f'#[version = "0.0.5"]\ndef @main(%x: {T}, %y: {T}) {{\n{body}\n  ({result})\n}}\n'
    return Drawn(text, target_of)


def ran(
    drawn: Drawn, tables: rc.Tables, *, lets: str = "values", through: bool = False, names: tuple[str, ...] = ()
) -> tuple[Stage, ...]:
    merge = f"MergeCompilerRegions(through_lets={through}, names={list(names)})"
    passes = f"AnnotateTarget(targets=['a', 'b'], lets='{lets}'), {merge}, PartitionGraph"
    stages = rc.run_pipeline(drawn.module, passes, tables=tables)
    assert not stages[-1].is_failed
    return stages


@given(programs(lets=True), st.sampled_from(LETS), st.booleans())
@settings(max_examples=60, deadline=None)
def test_partitioning_keeps_the_value_and_makes_no_cycle(drawn: Drawn, lets: str, through: bool) -> None:
    stages = ran(drawn, drawn.tables(), lets=lets, through=through)
    module = stages[-1].after
    assert rc.check(module) == ()
    for stage in stages[:2]:
        function = stage.after["main"]
        assert isinstance(function, Function)
        assert not any(item.is_open for item in find_regions(function).all)
        order = open_values(function)
        graph = region_graph(order, find_sets(order))
        for vertex in range(len(graph.parent)):
            for producer in graph.inputs(vertex):
                assert graph.blocking_path(vertex, producer) == (), "a region takes from what takes from it"
                assert vertex not in graph.inputs(producer)
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((4, 4)).astype("float32") for _ in range(2))
    for old, new in zip(rc.evaluate(drawn.module, "main", x, y), rc.evaluate(module, "main", x, y), strict=True):
        np.testing.assert_equal(new, old)


@given(programs(lets=False))
@settings(max_examples=5, deadline=None)
def test_a_partitioned_module_is_built_and_runs(drawn: Drawn) -> None:
    module = ran(drawn, drawn.tables())[-1].after
    x, y = np.ones((4, 4), "float32"), np.full((4, 4), -0.5, "float32")
    built = rc.VirtualMachine(rc.build(module))["main"](x, y)
    for old, new in zip(rc.evaluate(drawn.module, "main", x, y), built, strict=True):
        np.testing.assert_allclose(new, old, rtol=1e-5)


def lines_of(nodes: tuple[Node, ...], stages: tuple[Stage, ...]) -> frozenset[int]:
    """Return the lines of the text that nodes of the last stage stem from."""
    log = RewriteLog.merged(stage.log for stage in stages)
    spans = (log.locate(node) for node in nodes if isinstance(node, Call))
    return frozenset(span.line for span in spans if span is not None)


def region_with(line: int, stages: tuple[Stage, ...]) -> int:
    """Return the number of the region after merging that holds the operator of a line."""
    function = stages[1].after["main"]
    assert isinstance(function, Function)
    for item in find_regions(function).all:
        if line in lines_of(item.operators, stages):
            return item.number
    raise AssertionError(f"line {line} is in no region")


# Without the tanh and the sigmoid both ends merge with others first, and those form a path of their own.
OTHERS_FIRST = Drawn(
    f"""#[version = "0.0.5"]
def @main(%x: {T}, %y: {T}) {{
  %0 = add(%x, %x);
  %1 = nn.relu(%x);
  %2 = tanh(%0);
  %3 = add(%y, %y);
  %4 = nn.relu(%0);
  %5 = sigmoid(add(%1, %2));
  %6 = add(%2, %4);
  (%5, %6)
}}
""",
    {3: "b", 4: "b", 5: "a", 6: "a", 7: "a", 8: "a", 9: "b"},
)


@given(st.booleans().flatmap(lambda lets: programs(lets=lets)))
@example(OTHERS_FIRST)
@settings(max_examples=120, deadline=None)
def test_without_what_the_reasons_name_the_two_merge(drawn: Drawn) -> None:
    """Take away what the reason of a pair names: the two are one, or the next reason names another obstacle.

    A path is named before lets, so that these are the next reason where both stand between two. Also, what the target
    takes besides may merge with one of the two before they meet: then another path is in the way, and is named. Without
    all that was named the two are one.
    """
    for pair, stages in pairs_of(drawn):
        gone = obstacle((pair,), stages)
        for _ in range(ROUNDS):
            again = without(drawn, pair, gone)
            if are_one(pair, stages, again):
                break
            links = chain(pair, stages, again)
            assert links, f"nothing says why they are apart without {gone}\n{explained(pair, drawn)}"
            named = obstacle(links, again)
            assert not named <= gone, f"{named} is gone\n{explained(pair, drawn)}"
            gone = gone | named
        else:
            raise AssertionError(f"apart without {gone}\n{explained(pair, drawn)}")


LET_AND_PATH = f"""#[version = "0.0.5"]
def @main(%x: {T}, %y: {T}) {{
  %0 = nn.relu(%x);
  let %v = tanh(%0);
  %1 = negative(%v);
  add(%0, %1)
}}
"""


@pytest.mark.parametrize(("between", "kind"), [("", "blocking path"), ("b", "blocking path"), ("a", "let")])
def test_a_path_is_named_before_the_lets(between: str, kind: str) -> None:
    """Without the path the let is the reason; where the let alone stands between two, it is so at once."""
    drawn = Drawn(LET_AND_PATH, {3: "a", 4: between, 5: between, 6: "a"})
    found = [(pair, stages) for pair, stages in pairs_of(drawn) if 3 in lines_of(tuple(pair.producer.nodes), stages)]
    pair, stages = next(item for item in found if 6 in lines_of(tuple(item[0].user.nodes), item[1]))
    assert pair.kind == kind
    if between != "a":
        first = Gone(lines_of(tuple(node for unit in pair.obstacles for node in unit.nodes), stages))
        (link,) = chain(pair, stages, again := without(drawn, pair, first))
        assert (link.kind, obstacle((link,), again)) == ("let", Gone(lets=frozenset(("v",))))
        assert are_one(pair, stages, without(drawn, pair, first | obstacle((link,), again)))
    else:
        assert are_one(pair, stages, without(drawn, pair, obstacle((pair,), stages)))


ROUNDS = 6


@dataclass(frozen=True, slots=True)
class Gone:
    """What was taken away: operators, by their lines, that go to the target of the two; lets that give way, by name."""

    lines: frozenset[int] = frozenset()
    lets: frozenset[str] = frozenset()

    def __or__(self, other: "Gone") -> "Gone":
        return Gone(self.lines | other.lines, self.lets | other.lets)

    def __le__(self, other: "Gone") -> bool:
        return self.lines <= other.lines and self.lets <= other.lets


def pairs_of(drawn: Drawn) -> Iterator[tuple[Apart, tuple[Stage, ...]]]:
    """Yield the pairs that stayed apart, each with one reason, and the stages."""
    stages = ran(drawn, drawn.tables())[:2]
    pairs = apart(stages[1].after)
    assert len({(pair.producer, pair.user) for pair in pairs}) == len(pairs), "one reason for each pair"
    for pair in pairs:
        assert pair.kind != "not merged yet", explained(pair, drawn)
        yield pair, stages


def obstacle(links: tuple[Apart, ...], stages: tuple[Stage, ...]) -> Gone:
    """Return what the reasons name: what stands between if there is a path, else the lets."""
    found = Gone()
    for link in links:
        if link.obstacles:
            found = found | Gone(lines=lines_of(link.because, stages))
        else:
            found = found | Gone(lets=frozenset(let.var.name for let in link.lets))
    return found


def without(drawn: Drawn, pair: Apart, gone: Gone) -> tuple[Stage, ...]:
    tables = drawn.tables(**{pair.target: gone.lines})
    return ran(drawn, tables, through=bool(gone.lets), names=tuple(sorted(gone.lets)))[:2]


def ends_of(pair: Apart, stages: tuple[Stage, ...]) -> tuple[int, int]:
    """Return a line of each of the two."""
    return min(lines_of(tuple(pair.producer.nodes), stages)), max(lines_of(tuple(pair.user.nodes), stages))


def are_one(pair: Apart, stages: tuple[Stage, ...], again: tuple[Stage, ...]) -> bool:
    producer, user = ends_of(pair, stages)
    return region_with(producer, again) == region_with(user, again)


def chain(pair: Apart, stages: tuple[Stage, ...], again: tuple[Stage, ...]) -> tuple[Apart, ...]:
    """Return the pairs of `again` that connect what holds the one end of `pair` with what holds the other.

    That is one pair, or several over units that the target takes besides; such a unit may be a producer or a user of
    both.
    """
    producer, user = ends_of(pair, stages)
    pairs = apart(again[1].after)
    waiting: list[tuple[Unit | None, tuple[Apart, ...]]] = [(None, ())]
    seen: set[Unit] = set()
    for unit, links in waiting:
        for link in pairs:
            for here, there in ((link.producer, link.user), (link.user, link.producer)):
                is_next = here is unit if links else producer in lines_of(tuple(here.nodes), again)
                if is_next and user in lines_of(tuple(there.nodes), again):
                    return (*links, link)
                if is_next and there not in seen:
                    seen.add(there)
                    waiting.append((there, (*links, link)))
    return ()


def explained(pair: Apart, drawn: Drawn) -> str:
    return f"{pair.path} {pair.kind}: {pair.message}\n{drawn.text}{drawn.target_of}"
