"""The Partition page and the region report of Relax: composites, regions and external functions."""

import msgspec

from relax_core.check.check import check
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.passes.core import Stage
from relax_core.present.problems import problems_of
from relax_core.present.regions.partition import targets_of
from relax_core.present.regions.partition_models import PartitionView
from relax_core.present.regions.region_models import RegionReport
from relax_core.present.regions.region_report import region_report
from relax_core.present.regions.relax_partition import present_relax_stage, relax_pattern_rows
from relax_core.present.regions.table_notes import target_notes

MERGED = 2
"""The number of the stage after MergeCompositeFunctions."""


def relax_pipeline(targets: tuple[str, ...]) -> str:
    """Return the three passes, for some targets of the table or all, as pipeline text."""
    chosen = f"(patterns={list(targets)!r})" if targets else ""
    return f"FuseOpsByPattern{chosen}, MergeCompositeFunctions, RunCodegen"


def relax_report(opened: OpenProgram, stages: tuple[Stage, ...], targets: tuple[str, ...]) -> RegionReport:
    """Report the regions after MergeCompositeFunctions, whose functions RunCodegen hands over."""
    number = min(MERGED, len(stages))
    made = region_report(
        opened.compilation.module_at(number),
        opened.source.tables,
        opened.compilation.index(number).id_of,
        opened.compilation.line_of,
    )
    return msgspec.structs.replace(made, notes=(*made.notes, *target_notes(opened.source.tables, targets)))


def relax_partition_view(opened: OpenProgram, stages: tuple[Stage, ...], targets: tuple[str, ...]) -> PartitionView:
    """Present the stages of a program and the tables beside them; it has no lets, and so one way to treat them."""
    compilation, source = opened.compilation, opened.source
    shown = tuple(present_relax_stage(k, stage, compilation.index(k).id_of) for k, stage in enumerate(stages, 1))
    regions = relax_report(opened, stages, targets)
    rows = relax_pattern_rows(source.module, source.tables, compilation.index(0).id_of, compilation.line_of)
    return PartitionView(
        source.pipeline,
        targets_of(shown),
        shown,
        regions,
        (),
        rows,
        regions.to_markdown(),
        regions.to_json(),
        problems_of(check(stages[-1].after)),
        has_lets=False,
    )
