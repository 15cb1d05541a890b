"""Partitioning of generated programs: the value stays, regions have no cycle, and every reason is the right one."""

from dataclasses import dataclass

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import relax_core as rc
from relax_core.analysis.region_graph import region_graph
from relax_core.analysis.regions import find_regions
from relax_core.ir.expr import Call, Function
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.rewrite import RewriteLog
from relax_core.passes.core import Stage
from relax_core.pattern.apart import Apart, apart
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
        if draw(st.booleans()):
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
        regions = find_regions(function)
        assert not any(item.is_open for item in regions.all)
        graph = region_graph(function, regions)
        for vertex in range(len(graph.node_of)):
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


@given(programs(lets=False))
@settings(max_examples=40, deadline=None)
def test_without_what_a_reason_names_the_two_merge(drawn: Drawn) -> None:
    assert_counterfactuals(drawn)


@given(programs(lets=True))
@settings(max_examples=40, deadline=None)
def test_without_the_lets_that_a_reason_names_the_two_merge(drawn: Drawn) -> None:
    # Where lets and a path stand between two, other merges may come first once both are gone.
    assert_counterfactuals(drawn, is_direct=True)


def assert_counterfactuals(drawn: Drawn, *, is_direct: bool = False) -> None:
    """Take away what the reason of each pair names, and see that the two are one region."""
    stages = ran(drawn, drawn.tables())[:2]
    pairs = apart(stages[1].after)
    assert len({(pair.producer, pair.user) for pair in pairs}) == len(pairs), "one reason for each pair"
    for pair in pairs:
        assert pair.kind != "not merged yet", explained(pair, drawn)
        if is_direct and pair.between:
            continue
        named = {pair.target: lines_of(pair.because, stages)}
        ends = lines_of(tuple(pair.producer.nodes), stages), lines_of(tuple(pair.user.nodes), stages)
        lets = tuple(let.var.name for let in pair.lets)
        again = ran(drawn, drawn.tables(**named), through=bool(lets), names=lets)[:2]
        assert region_with(min(ends[0]), again) == region_with(max(ends[1]), again), explained(pair, drawn)


def explained(pair: Apart, drawn: Drawn) -> str:
    return f"{pair.path} {pair.kind}: {pair.message}\n{drawn.text}{drawn.target_of}"
