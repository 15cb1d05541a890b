"""Presents what a kernel does to memory."""

import numpy as np

from relax_core.inside.heat import HeatCounter
from relax_core.inside.report import Accessed, report
from relax_core.inside.sites import Level
from relax_core.ir.tir import For
from relax_core.present.running.inside import Listing
from relax_core.present.running.inside_models import InsideReport, LaunchReport, ReportRow


def present_report(counter: HeatCounter, listing: Listing, peaks: tuple[float, float] = (0.0, 0.0)) -> InsideReport:
    """Count what a kernel does to memory, and present it.

    `peaks` are the operations and the bytes a second that the machine was measured to do; 0 if it was not.
    """
    found = report(counter)
    rows = tuple(_row(item, listing) for item in found.rows)
    return InsideReport(
        counter.stepper.layout.name,
        rows,
        found.operations,
        found.footprint_bytes,
        sum(item.size_bytes for item in rows),
        found.looked_at,
        found.is_whole,
        peak_operations=peaks[0],
        peak_bytes=peaks[1],
    )


def report_of_launches(found: LaunchReport) -> InsideReport:
    """Return the report of a kernel that launches threads."""
    bound = found.roofline
    return InsideReport(
        found.kernel, (), bound.operations, found.footprint_bytes, bound.moved_bytes, 0, launched=found
    )  # fmt: skip


def _row(item: Accessed, listing: Listing) -> ReportRow:
    row = item.row
    size = np.dtype(row.buffer.dtype).itemsize
    return ReportRow(
        row.buffer.name,
        0 if row.site is None else listing.line_of(row.site.node),
        "" if row.site is None else row.site.phase,
        row.is_write,
        item.count,
        item.footprint,
        tuple((_name(level), cells) for level, cells in item.per_loop),
        "-" if item.stride is None else "0, same cell" if item.stride == 0 else str(item.stride),
        "-" if item.reuse is None else f"{item.reuse:,}",
        item.count * size,
        item.footprint * size,
        item.line_count,
    )


def _name(level: Level) -> str:
    return level.node.var.name if isinstance(level.node, For) else "while"
