"""What a kernel does to memory, access by access: how often, how much of it, how far apart, how soon again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from relax_core.analysis.cost.float_operations import operations_in
from relax_core.inside.heat import HeatCounter, Row
from relax_core.inside.owners import Owners, flat_index
from relax_core.inside.probes import Query
from relax_core.inside.reading import Reader, values_of
from relax_core.inside.reuse import reuse_distances
from relax_core.inside.sites import Level, Site
from relax_core.ir.integer.evaluate import NoValueError, evaluate
from relax_core.ir.node import postorder
from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.ir.tir import BufferLoad, BufferStore, For

COUNTED: Final = 1 << 25
"""Statements from the start that are counted."""
LINE_BYTES: Final = 64


@dataclass(frozen=True, slots=True, eq=False)
class Accessed:
    """The accesses of a row over the run. `stride` is `None` where it depends on values, or there is no loop."""

    row: Row
    count: int
    footprint: int
    line_count: int
    per_loop: tuple[tuple[Level, int], ...]
    stride: int | None
    reuse: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """All of them; `is_whole` tells whether all statements were counted."""

    rows: tuple[Accessed, ...]
    operations: int
    footprint_bytes: int
    looked_at: int
    is_whole: bool


def report(counter: HeatCounter) -> Report:
    """Count what a run touches; its position stays."""
    stepper = counter.stepper
    heat = counter.count(COUNTED)
    counts, runs = tuple(item.copy() for item in heat.counts), heat.runs.copy()
    looked_at, distances = reuse_distances(counter)
    levels = {level for row in counter.rows if row.site is not None for level in row.site.loops}
    of_level = {level: _in_one_iteration(counter, level) for level in levels}
    rows = [
        Accessed(
            row,
            int(count.sum(dtype=np.int64)),
            int(np.count_nonzero(count)),
            _line_count(count, row.buffer.dtype),
            () if row.site is None else tuple((level, of_level[level][number]) for level in row.site.loops),
            _stride(counter, row),
            distances.get(number),
        )
        for number, (row, count) in enumerate(zip(counter.rows, counts, strict=True))
    ]
    operations = sum(int(runs[site.number]) * _operations(site) for site in stepper.layout.sites)
    touched = 0
    for buffer in stepper.layout.buffers:
        whole = [count for row, count in zip(counter.rows, counts, strict=True) if row.buffer is buffer]
        if whole:
            touched += int(np.count_nonzero(sum(whole[1:], whole[0]))) * np.dtype(buffer.dtype).itemsize
    copied = {site.node for site in stepper.layout.sites if runs[site.number]}
    told = tuple(item for item in rows if item.count or item.row.site is None or item.row.site.node not in copied)
    return Report(told, operations, touched, looked_at, stepper.total is not None and stepper.total <= COUNTED)


def _in_one_iteration(counter: HeatCounter, level: Level) -> list[int]:
    """Return how many elements each row touches in the first iteration of a loop."""
    stepper, here = counter.stepper, counter.stepper.clock
    if not stepper.find(Query(level.first, level.end), after=-1):
        return [0] * len(counter.rows)
    site, begun = stepper.site, stepper.clock
    loops = () if site is None else site.loops
    around = loops[: loops.index(level) + 1] if level in loops else ()
    wanted = tuple((item.number, value) for item in around if (value := stepper.value_of(item)) is not None)
    if stepper.total is None or stepper.total > COUNTED:
        # The end of the iteration may be far away.
        counts = counter.count(begun + COUNTED, Query(level.first, level.end, wanted), first=begun).counts
    else:
        if not stepper.find(Query(level.first, level.end, wanted, is_negated=True)):
            stepper.run_to_end()
        counts = counter.count(stepper.clock, first=begun).counts
    stepper.move_to(here)
    return [int(np.count_nonzero(item)) for item in counts]


def _line_count(count: Any, dtype: str) -> int:
    per_line = max(LINE_BYTES // np.dtype(dtype).itemsize, 1)
    return len(np.unique(np.flatnonzero(count) // per_line))


def _stride(counter: HeatCounter, row: Row) -> int | None:
    """Return how far the next iteration of the innermost loop is away in memory, in elements."""
    stepper = counter.stepper
    site = row.site
    inner = None if site is None else next((item for item in reversed(site.loops) if item.slot is not None), None)
    touch = next((item for item in counter.touches if counter.rows[counter.row_of(item)] is row), None)
    if site is None or inner is None or touch is None:
        return None
    here = stepper.clock
    if not stepper.find(Query(site.number, site.number + 1), after=-1):
        return None
    values = values_of(site, stepper.memory)
    assert isinstance(inner.node, For), "a loop with values is a `for`"
    step = (
        1
        if inner.node.step is None
        else Reader(values, stepper.memory, Owners(stepper.function)).value(inner.node.step)
    )
    flat = flat_index(touch.buffer, touch.indices)
    found = [_flat(flat, _moved(site, inner, values, by), counter) for by in (0, step)]
    stepper.move_to(here)
    return None if None in found else int(found[1]) - int(found[0])


def _moved(site: Site, loop: Level, values: Mapping[PrimVar, Any], by: int) -> dict[PrimVar, Any]:
    """Return the values in the iteration `by` further on; those that depend on memory have none."""
    assert loop.slot is not None, "a loop with values"
    found = {**values, loop.slot.var: values[loop.slot.var] + by}
    changed = {loop.slot.var}
    for slot in site.slots:
        if slot.value is None:
            continue
        parts = list(postorder(slot.value))
        if any(isinstance(part, BufferLoad) for part in parts):
            found[slot.var] = None
        elif changed & {part for part in parts if isinstance(part, PrimVar)}:
            found[slot.var] = _plain(slot.value, found)
            changed.add(slot.var)
    return found


def _flat(expr: PrimExpr, values: Mapping[PrimVar, Any], counter: HeatCounter) -> Any:
    if any(isinstance(part, BufferLoad) for part in postorder(expr)):
        return None
    return Reader(values, counter.stepper.memory, Owners(counter.stepper.function)).value(expr)


def _plain(expr: PrimExpr, values: Mapping[PrimVar, Any]) -> Any:
    try:
        return evaluate(expr, {var: value for var, value in values.items() if value is not None})
    except NoValueError:
        return None


def _operations(site: Site) -> int:
    """Return how many operations on floats one run of a statement is."""
    return operations_in(site.node.value) if isinstance(site.node, BufferStore) else 0
