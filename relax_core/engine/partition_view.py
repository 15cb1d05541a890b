"""The Partition page and the region report of a program: the four passes run with its tables."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

import msgspec

from relax_core.check.check import check
from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.engine.protocol import PartitionOf, Program, Progress, RegionReportOf
from relax_core.engine.study import Report, Study
from relax_core.ir.node import postorder
from relax_core.ir.relay import Let
from relax_core.passes.core import Stage
from relax_core.passes.pipeline import run_pipeline
from relax_core.present.code import problems_of
from relax_core.present.models import Tone
from relax_core.present.partition import (
    cut_of,
    external_functions,
    free_variables,
    open_functions,
    pattern_rows,
    present_stage,
    targets_of,
)
from relax_core.present.partition_models import LETS, Lets, LetsWay, PartitionView
from relax_core.present.region_models import RegionReport, RegionRow
from relax_core.present.region_report import region_report
from relax_core.present.words import plural

MERGED, PARTITIONED = 3, 4
"""Numbers of the stages after MergeCompilerRegions and PartitionGraph."""

_DETAILS: Mapping[Lets, tuple[Tone, str]] = MappingProxyType(
    {
        "reported": ("ok", "every let value has a begin that nothing ends"),
        "values": ("ok", "lets keep their order"),
        "definition": ("ok", "end inside the value, literals included"),
        "uses": ("warning", "one end per use of the variable"),
        "graph_form": ("warning", "the order of lets is chosen anew"),
    }
)


def partition_pipeline(message: PartitionOf | RegionReportOf, lets: Lets | None = None) -> str:
    """Return the four passes with the options that a request asks for."""
    targets = f"targets={list(message.targets)!r}, " if message.targets else ""
    annotate = f"AnnotateTarget({targets}lets={(lets or message.lets)!r})"
    names = f", names={list(message.names)!r}" if message.names else ""
    merge = f"MergeCompilerRegions(through_lets=True{names})" if message.through_lets else "MergeCompilerRegions"
    return f"MergeComposite, {annotate}, {merge}, PartitionGraph"


def partitioning(message: PartitionOf | RegionReportOf) -> Program:
    """Return the program of a request with the four passes as its pipeline."""
    return msgspec.structs.replace(message.program, pipeline=partition_pipeline(message))


def report_of(study: Study, report: Report, is_cancelled: Callable[[], bool]) -> RegionReport:
    """Report the regions after MergeCompilerRegions, with the names of their external functions."""
    stages = _stages(study, report, is_cancelled)
    for stage in stages:
        if stage.is_failed:
            raise CompileError(stage.diagnostics)
    return _report(study, stages)


def partition_view(
    message: PartitionOf, study: Study, report: Report, is_cancelled: Callable[[], bool]
) -> PartitionView:
    """Present the four stages of a study and the tables beside them; a pass that fails is the last stage."""
    stages = _stages(study, report, is_cancelled)
    shown = tuple(present_stage(k, stage, study.index(k).id_of) for k, stage in enumerate(stages, 1))
    regions = _report(study, stages)
    has_lets = any(isinstance(node, Let) for _, item in open_functions(study.module) for node in postorder(item))
    ways: list[LetsWay] = []
    for lets in LETS:
        tried = stages
        if has_lets and lets != message.lets:
            report(Progress(f"Trying lets: {lets}", len(ways), len(LETS)))
            text = partition_pipeline(message, lets)
            tried = run_pipeline(study.module, text, tables=study.tables, is_cancelled=is_cancelled)
        ways.append(_way(lets, tried, is_current=lets == message.lets))
    return PartitionView(
        study.pipeline,
        targets_of(shown),
        shown,
        regions,
        tuple(ways),
        pattern_rows(study.module, study.tables, study.index(0).id_of, study.line_of),
        regions.to_markdown(),
        regions.to_json(),
        problems_of(check(stages[-1].after)),
    )


def _stages(study: Study, report: Report, is_cancelled: Callable[[], bool]) -> tuple[Stage, ...]:
    if study.dialect != "relay":
        hint = "partitioning works on Relay text"
        raise CompileError((Diagnostic("EN006", "the module is not written in Relay", hint=hint),))
    return study.stages(report, is_cancelled)


def _report(study: Study, stages: tuple[Stage, ...]) -> RegionReport:
    number = min(MERGED, len(stages))
    made = region_report(study.module_at(number), study.tables, study.index(number).id_of)
    if len(stages) < PARTITIONED:
        return made
    names = external_functions(stages[-1].after)
    external = dict(_paired(made.regions, names))
    regions = (msgspec.structs.replace(row, external=external.get(row, "")) for row in made.regions)
    return msgspec.structs.replace(made, regions=tuple(regions))


def _paired(regions: tuple[RegionRow, ...], names: tuple[str, ...]) -> Iterator[tuple[RegionRow, str]]:
    """Yield each region with the function it became: both are numbered in one order, target by target."""
    ended: dict[str, list[RegionRow]] = {}
    for row in regions:
        if not row.is_open:
            ended.setdefault(f"_{row.target}_{row.function}_", []).append(row)
    for stem, rows in ended.items():
        numbers = {name.rpartition("_")[2]: name for name in names if f"{name.rpartition('_')[0]}_".endswith(stem)}
        made = [numbers[key] for key in sorted((key for key in numbers if key.isdecimal()), key=int)]
        if len(made) == len(rows):
            yield from zip(rows, made, strict=True)


def _way(lets: Lets, stages: tuple[Stage, ...], *, is_current: bool) -> LetsWay:
    after = stages[-1].after
    merged = cut_of(stages[min(MERGED, len(stages)) - 1].after)
    counts = (merged.region_count, merged.open_begin_count)
    if stages[-1].is_failed:
        return LetsWay(lets, *counts, "not partitioned", stages[-1].diagnostics[0].message, "error", (), is_current)
    free = free_variables(after)
    if free:
        return LetsWay(lets, *counts, plural(len(free), "free variable"), ", ".join(free), "error", free, is_current)
    tone, detail = _DETAILS[lets]
    return LetsWay(lets, *counts, plural(len(external_functions(after)), "function"), detail, tone, (), is_current)
