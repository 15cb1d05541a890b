"""The Partition page and the region report: the four partitioning passes run with the program's tables."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

import msgspec

from relax_core.analysis.regions import find_regions, is_annotation
from relax_core.check.check import check
from relax_core.diagnostics import CompileError, plural
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.protocol import PartitionOf, Program, Progress, RegionReportOf, Report
from relax_core.engine.screens.relax_partition_view import relax_partition_view, relax_pipeline, relax_report
from relax_core.ir.attrs import attr
from relax_core.ir.expr import Call, Expr
from relax_core.ir.node import postorder
from relax_core.ir.relay import Let
from relax_core.passes.core import Stage
from relax_core.passes.pipeline import run_pipeline
from relax_core.present.models import Tone
from relax_core.present.problems import problems_of
from relax_core.present.regions.partition import (
    cut_of,
    external_functions,
    free_variables,
    open_functions,
    pattern_rows,
    present_stage,
    targets_of,
)
from relax_core.present.regions.partition_models import (
    LETS,
    FreeVariable,
    Lets,
    LetsWay,
    PartitionView,
    PatternList,
)
from relax_core.present.regions.region_models import RegionReport
from relax_core.present.regions.region_report import region_report
from relax_core.present.regions.relax_partition import relax_pattern_rows
from relax_core.present.regions.table_notes import target_notes

MERGED, PARTITIONED = 3, 4
"""Numbers of the stages after MergeCompilerRegions and PartitionGraph."""

_DETAILS: Mapping[Lets, tuple[Tone, str]] = MappingProxyType(
    {
        "reported": ("ok", "no begin is left open"),
        "values": ("ok", "lets keep their order"),
        "definition": ("ok", "end inside the value, literals included"),
        "uses": ("warning", "one end per use of the variable"),
        "graph_form": ("warning", "the order of lets is chosen anew"),
    }
)

_NO_LETS = "the program has no let: all ways are one"


def partition_pipeline(message: PartitionOf | RegionReportOf, lets: Lets | None = None) -> str:
    """Return the four passes on Relay with the options of a request, as pipeline text."""
    targets = f"targets={list(message.targets)!r}, " if message.targets else ""
    annotate = f"AnnotateTarget({targets}lets={(lets or message.lets)!r})"
    names = f", names={list(message.names)!r}" if message.names else ""
    merge = f"MergeCompilerRegions(through_lets=True{names})" if message.through_lets else "MergeCompilerRegions"
    return f"MergeComposite, {annotate}, {merge}, PartitionGraph"


def partitioning(message: PartitionOf | RegionReportOf, opened: OpenProgram) -> Program:
    """Return the program of a request, which was opened, with the passes that partition it as its pipeline."""
    is_relay = opened.source.dialect == "relay"
    pipeline = partition_pipeline(message) if is_relay else relax_pipeline(message.targets)
    return msgspec.structs.replace(message.program, pipeline=pipeline)


def report_of(
    message: RegionReportOf, opened: OpenProgram, report: Report, is_cancelled: Callable[[], bool]
) -> RegionReport:
    """Report the regions after they were merged, with the names of their external functions."""
    stages = opened.compilation.stages(report, is_cancelled)
    for stage in stages:
        if stage.is_failed:
            raise CompileError(stage.diagnostics)
    if opened.source.dialect != "relay":
        return relax_report(opened, stages, message.targets)
    return _report(opened, stages, message.targets)


def partition_view(
    message: PartitionOf, opened: OpenProgram, report: Report, is_cancelled: Callable[[], bool]
) -> PartitionView:
    """Present the stages of a program and the tables beside them; a pass that fails is the last stage."""
    stages = opened.compilation.stages(report, is_cancelled)
    if opened.source.dialect != "relay":
        return relax_partition_view(opened, stages, message.targets)
    shown = tuple(present_stage(k, stage, opened.compilation.index(k).id_of) for k, stage in enumerate(stages, 1))
    regions = _report(opened, stages, message.targets)
    has_lets = any(
        isinstance(node, Let) for _, item in open_functions(opened.source.module) for node in postorder(item)
    )
    ways: list[LetsWay] = []
    for lets in LETS:
        tried = stages
        if has_lets and lets != message.lets:
            report(Progress(f"Trying lets: {lets}", len(ways), len(LETS)))
            text = partition_pipeline(message, lets)
            tried = run_pipeline(opened.source.module, text, tables=opened.source.tables, is_cancelled=is_cancelled)
        found = _way(lets, tried, is_current=lets == message.lets)
        is_plain = not has_lets and found.tone != "error"
        ways.append(msgspec.structs.replace(found, detail=_NO_LETS, tone="ok") if is_plain else found)
    return PartitionView(
        opened.source.pipeline,
        targets_of(shown),
        shown,
        regions,
        tuple(ways),
        pattern_rows(
            opened.source.module, opened.source.tables, opened.compilation.index(0).id_of, opened.compilation.line_of
        ),
        regions.to_markdown(),
        regions.to_json(),
        problems_of(check(stages[-1].after)),
        tuple(_free_variables(opened, stages)),
        has_lets,
    )


def pattern_list(opened: OpenProgram) -> PatternList:
    """Tell where the patterns of a program's tables fit in it, as it is."""
    rows = pattern_rows if opened.source.dialect == "relay" else relax_pattern_rows
    index = opened.compilation.index(0)
    return PatternList(rows(opened.source.module, opened.source.tables, index.id_of, opened.compilation.line_of))


def _report(opened: OpenProgram, stages: tuple[Stage, ...], targets: tuple[str, ...]) -> RegionReport:
    number = min(MERGED, len(stages))
    made = region_report(
        opened.compilation.module_at(number),
        opened.source.tables,
        opened.compilation.index(number).id_of,
        opened.compilation.line_of,
    )
    made = msgspec.structs.replace(made, notes=(*made.notes, *target_notes(opened.source.tables, targets)))
    if len(stages) < PARTITIONED:
        return made
    of_node = dict(_function_of_nodes(opened, stages[-1]))
    regions = (
        msgspec.structs.replace(row, external=next((of_node[node] for node in row.nodes if node in of_node), ""))
        for row in made.regions
    )
    return msgspec.structs.replace(made, regions=tuple(regions))


def _free_variables(opened: OpenProgram, stages: tuple[Stage, ...]) -> Iterator[FreeVariable]:
    """Yield the variables that PartitionGraph leaves unbound, each with the region whose begin it was made from."""
    if len(stages) < PARTITIONED:
        return
    before = opened.compilation.index(MERGED)
    regions = [find_regions(function) for _, function in open_functions(stages[MERGED - 1].after)]
    region_of = {begin: region for found in regions for region in found.all for begin in region.begins}
    for var in free_variables(stages[-1].after):
        origins = (node for node in stages[-1].log.ancestry(var) if isinstance(node, Call))
        begin = next((node for node in origins if node in region_of), None)
        if begin is None:
            yield FreeVariable(var.name, "", "")
        else:
            region = region_of[begin]
            name = f"{region.target} {region.number}"
            yield FreeVariable(var.name, name, before.id_of(begin), _line_behind(opened, begin))


def _line_behind(opened: OpenProgram, node: Expr) -> int:
    """Return the line of the expression that an annotation marks."""
    while is_annotation(node):
        node = node.args[0]
    return opened.compilation.line_of(node)


def _function_of_nodes(opened: OpenProgram, stage: Stage) -> Iterator[tuple[str, str]]:
    """Yield the nodes before PartitionGraph that an external function was made from, each with the function's name."""
    before = opened.compilation.index(MERGED)
    for var, function in stage.after.relax_functions:
        if attr(function.attrs, "Compiler"):
            calls = (node for node in postorder(function.body) if isinstance(node, Call))
            origins = (item for call in calls for item in stage.log.ancestry(call) if item in before.place_of)
            yield from ((before.id_of(item), var.name) for item in origins)


def _way(lets: Lets, stages: tuple[Stage, ...], *, is_current: bool) -> LetsWay:
    after = stages[-1].after
    merged = cut_of(stages[min(MERGED, len(stages)) - 1].after)
    counts = (merged.region_count, merged.open_begin_count)
    if stages[-1].is_failed:
        return LetsWay(lets, *counts, "not partitioned", stages[-1].diagnostics[0].message, "error", (), is_current)
    free = tuple(var.name for var in free_variables(after))
    if free:
        return LetsWay(lets, *counts, plural(len(free), "free variable"), ", ".join(free), "error", free, is_current)
    tone, detail = _DETAILS[lets]
    if merged.open_begin_count:
        tone, detail = (
            "warning",
            f"{plural(merged.open_begin_count, 'begin')} around values of lets, which nothing ends",
        )
    return LetsWay(lets, *counts, plural(len(external_functions(after)), "function"), detail, tone, (), is_current)
