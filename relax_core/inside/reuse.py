"""How soon an element is touched again: what the run touches first, in order, and the distances in it."""

from collections.abc import Mapping
from math import prod
from statistics import median_low
from typing import Final

import numpy as np

from relax_core.inside import control
from relax_core.inside.heat import HeatCounter
from relax_core.inside.instrument import Instrumented, instrument, put, word
from relax_core.inside.memory import Array
from relax_core.inside.owners import flat_index
from relax_core.inside.sites import Site
from relax_core.ir.prim import Cast, IntImm, PrimExpr, binary
from relax_core.ir.tir import Buffer, BufferStore, IfThenElse, SeqStmt, Stmt

LOOKED_AT: Final = 1 << 14
"""Accesses from the start that are looked at."""


def reuse_distances(counter: HeatCounter) -> tuple[int, Mapping[int, int]]:
    """Return how many accesses were looked at, and the median distance of the rows in which elements recur.

    A distance is the number of other elements that are touched between two touches of one.
    """
    stepper, here = counter.stepper, counter.stepper.clock
    elements, rows = np.zeros(LOOKED_AT, np.int64), np.zeros(LOOKED_AT, np.int64)
    stepper.move_to(0)
    stepper.memory.words[control.QUERY] = 0
    stepper.run_program("reuse", lambda: _program(counter), (elements, rows), control.NEVER)
    count = min(int(stepper.memory.words[control.QUERY]), LOOKED_AT)
    stepper.move_to(here)
    found: dict[int, list[int]] = {}
    for row, distance in zip(rows[:count].tolist(), _distances(elements[:count]), strict=True):
        if distance >= 0:
            found.setdefault(row, []).append(distance)
    return count, {row: median_low(distances) for row, distances in found.items()}


def _program(counter: HeatCounter) -> Instrumented:
    layout, memory = counter.stepper.layout, counter.stepper.memory
    elements, rows = (Buffer(name, (IntImm(LOOKED_AT),), "int64") for name in ("elements", "rows"))
    first: dict[Buffer, int] = {}
    total = 0
    for buffer in layout.buffers:
        first[buffer] = total
        total += prod(memory.array_of[buffer].shape)
    next_place = word(control.QUERY)
    of_site: dict[int, list[Stmt]] = {}
    for item in counter.touches:
        flat = flat_index(item.buffer, tuple(_wide(index) for index in item.indices))
        element = binary("+", _wide(flat), IntImm(first[item.buffer]))
        noted = SeqStmt(
            (
                BufferStore(elements, (next_place,), element),
                BufferStore(rows, (next_place,), IntImm(counter.row_of(item))),
                put(control.QUERY, binary("+", next_place, IntImm(1))),
            )
        )
        is_room = binary("<", next_place, IntImm(LOOKED_AT))
        of_site.setdefault(item.site.number, []).append(item.counted(IfThenElse(is_room, noted)))
    is_full = binary(">=", next_place, IntImm(LOOKED_AT))
    stop = IfThenElse(is_full, put(control.TARGET, word(control.CLOCK)))

    def extra(site: Site) -> tuple[Stmt, ...]:
        return (*of_site.get(site.number, ()), stop)

    return instrument(layout.function, layout.name, extra=extra, beside=(elements, rows))


def _wide(expr: PrimExpr) -> PrimExpr:
    return Cast(expr, "int64")


def _distances(elements: Array) -> list[int]:
    """Return for each touch how many other elements were touched since the last one of it, -1 if it is the first.

    A binary indexed tree holds a 1 at the latest touch of each element: n log n.
    """
    count = len(elements)
    tree = [0] * (count + 1)

    def add(at: int, by: int) -> None:
        at += 1
        while at <= count:
            tree[at] += by
            at += at & -at

    def before(at: int) -> int:
        found = 0
        while at > 0:
            found += tree[at]
            at -= at & -at
        return found

    last: dict[int, int] = {}
    distances: list[int] = []
    for at, element in enumerate(elements.tolist()):
        old = last.get(element, -1)
        distances.append(-1 if old < 0 else before(at) - before(old + 1))
        if old >= 0:
            add(old, -1)
        add(at, 1)
        last[element] = at
    return distances
