"""Presents what launches do to memory, and what bounds them."""

import numpy as np

from relax_core.diagnostics import plural
from relax_core.ir.tir import BufferLoad, BufferStore
from relax_core.present.running.inside import Listing
from relax_core.present.running.inside_models import LaunchReport, LaunchRow, RooflineOf
from relax_core.simt.findings import text_of
from relax_core.simt.kernels import CountedLaunches
from relax_core.simt.lanes import Array, Grid
from relax_core.simt.memory import Memory
from relax_core.simt.roofline import DEFAULT_MACHINE, Machine, Roofline, roofline
from relax_core.simt.traffic import AccessCost, Traffic


def present_launches(
    kernel: str, counted: CountedLaunches, listing: Listing, machine: Machine = DEFAULT_MACHINE
) -> LaunchReport:
    """Present the accesses of launches, in the order in which they came first, and what bounds all of them."""
    rows = tuple(_row(item, listing) for item in counted.traffic.rows.values())
    bound = present_roofline(roofline(counted.traffic, machine))
    return LaunchReport(kernel, tuple(map(grid_words, counted.grids)), rows, _touched_bytes(counted.traffic), bound)


def present_roofline(of: Roofline) -> RooflineOf:
    """Present what bounds launches."""
    return RooflineOf(
        of.machine.name, of.operations, of.global_bytes, of.moved_bytes, of.shared_bytes, of.intensity, of.bound,
        of.attainable, of.least_time, of.to_text(), tuple(of.seconds.items()), of.machine.operations,
    )  # fmt: skip


def grid_words(grid: Grid) -> str:
    """Return how many blocks and threads a launch has."""
    return f"{plural(grid.block_count, 'block')} of {plural(grid.thread_count, 'thread')}"


def _row(cost: AccessCost, listing: Listing) -> LaunchRow:
    node = cost.node
    memory = "" if cost.memory is None else cost.memory.name
    return LaunchRow(
        node.buffer.name if isinstance(node, BufferLoad | BufferStore) else memory,
        cost.kind,
        listing.line_of(node),
        text_of(node),
        cost.way == "store",
        cost.elements,
        cost.footprint_bytes // cost.element_bytes,
        cost.elements * cost.element_bytes,
        round(cost.moved_bytes),
        cost.sectors / cost.warps if cost.warps else 0.0,
        cost.efficiency,
        cost.worst,
    )


def _touched_bytes(traffic: Traffic) -> int:
    """Return how many bytes of global memory are touched, by any access."""
    marks_of: dict[Memory, Array] = {}
    for item in traffic.rows.values():
        if item.kind == "global" and item.memory is not None and item.marks is not None:
            marks_of[item.memory] = item.marks | marks_of.get(item.memory, np.False_)
    return sum(int(np.count_nonzero(marks)) * memory.cell_bytes for memory, marks in marks_of.items())
