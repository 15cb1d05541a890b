"""How often, and when last, a run touches each element: counted by the instrumented kernel in arrays beside its own."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Final

import numpy as np

from relax_core.inside import control
from relax_core.inside.instrument import Instrumented, instrument, word
from relax_core.inside.memory import Array
from relax_core.inside.probes import ANYWHERE, Query
from relax_core.inside.sites import Site
from relax_core.inside.stepper import Stepper
from relax_core.inside.touches import Touch, touches_of
from relax_core.ir.prim import IntImm, binary
from relax_core.ir.tir import Buffer, BufferLoad, BufferStore, Stmt

CELL_LIMIT: Final = 1 << 26
"""Counters that are kept, of all statements together: where it would be more, only those of whole buffers."""


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """Accesses that are counted together: those of one statement, or of all, to one buffer in one direction."""

    site: Site | None
    buffer: Buffer
    is_write: bool


@dataclass(frozen=True, slots=True, eq=False)
class Heat:
    """The counts of each row from one statement to before another, and when each element was last touched."""

    rows: tuple[Row, ...]
    counts: tuple[Array, ...]
    last: tuple[Array, ...]
    """For each buffer, in the order of the layout, the number of the last statement that touched it; -1: none did."""
    runs: Array
    """How often each site ran."""
    query: Query
    first: int
    clock: int

    def of(self, buffer: Buffer, *, is_write: bool | None = None, site: int | None = None) -> Array:
        """Return the counts of a buffer, of one direction or both, of one statement or all."""
        chosen = [
            count
            for row, count in zip(self.rows, self.counts, strict=True)
            if row.buffer is buffer
            and (is_write is None or row.is_write == is_write)
            and (site is None or row.site is None or row.site.number == site)
        ]
        return sum(chosen[1:], chosen[0]) if chosen else np.zeros((), np.int32)


@dataclass(slots=True, eq=False)
class HeatCounter:
    """Counts the accesses of a run; what was counted last is gone on with."""

    stepper: Stepper
    rows: tuple[Row, ...] = ()
    touches: tuple[Touch, ...] = ()
    _latest: Heat | None = None
    _numbers: dict[Touch, int] = field(default_factory=dict[Touch, int])

    def __post_init__(self) -> None:
        layout, memory = self.stepper.layout, self.stepper.memory
        self.touches = touches_of(layout)
        cells = sum(prod(memory.array_of[item.buffer].shape) for item in self.touches)
        is_whole = cells > CELL_LIMIT
        found: dict[tuple[int, Buffer, bool], Row] = {}
        for item in self.touches:
            key = (-1 if is_whole else item.site.number, item.buffer, item.is_write)
            row = found.setdefault(key, Row(None if is_whole else item.site, item.buffer, item.is_write))
            self._numbers[item] = list(found.values()).index(row)
        self.rows = tuple(found.values())

    def row_of(self, touch: Touch) -> int:
        """Return the number of the row that an access is counted in."""
        return self._numbers[touch]

    def count(self, until: int, query: Query = ANYWHERE, first: int = 0) -> Heat:
        """Return the counts of what runs from statement `first` to before `until`; the position of the run stays.

        Of `query` the place and the values of loops hold: only such statements are counted.
        """
        stepper, here = self.stepper, self.stepper.clock
        until = until if stepper.total is None else min(until, stepper.total)
        latest = self._latest
        if latest is not None and (latest.query, latest.first) == (query, first) and latest.clock <= until:
            first = latest.clock
        else:
            shapes = [stepper.memory.array_of[item].shape for item in stepper.layout.buffers]
            counts = tuple(np.zeros(stepper.memory.array_of[row.buffer].shape, np.int32) for row in self.rows)
            last = tuple(np.full(shape, -1, np.int64) for shape in shapes)
            runs = np.zeros(len(stepper.layout.sites), np.int64)
            latest = Heat(self.rows, counts, last, runs, query, first, first)
        stepper.move_to(first)
        stepper.run_program("heat", self._program, (*latest.counts, *latest.last, latest.runs), until, query)
        clock = stepper.clock
        stepper.move_to(here)
        self._latest = replace(latest, clock=clock)
        return self._latest

    def _program(self) -> Instrumented:
        layout = self.stepper.layout
        counts = [Buffer(f"count_{number}", row.buffer.shape, "int32") for number, row in enumerate(self.rows)]
        last = [Buffer(f"last_{buffer.name}", buffer.shape, "int64") for buffer in layout.buffers]
        number_of = {buffer: number for number, buffer in enumerate(layout.buffers)}
        of_site: dict[int, list[Stmt]] = {}
        for item in self.touches:
            count, when = counts[self._numbers[item]], last[number_of[item.buffer]]
            more = binary("+", BufferLoad(count, item.indices), IntImm(1, "int32"))
            body = (BufferStore(count, item.indices, more), BufferStore(when, item.indices, word(control.CLOCK)))
            of_site.setdefault(item.site.number, []).extend(item.counted(stmt) for stmt in body)

        runs = Buffer("runs", (IntImm(len(layout.sites)),), "int64")

        def extra(site: Site) -> tuple[Stmt, ...]:
            place = (IntImm(site.number),)
            run = BufferStore(runs, place, binary("+", BufferLoad(runs, place), IntImm(1)))
            return (run, *of_site.get(site.number, ()))

        return instrument(layout.function, layout.name, extra=extra, beside=(*counts, *last, runs))


def distinct(counts: Sequence[Array]) -> int:
    """Return how many elements are touched at all."""
    whole = sum(counts[1:], counts[0])
    return int(np.count_nonzero(whole))
