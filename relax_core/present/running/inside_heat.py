"""Presents buffers of a kernel as grids: how often each element was touched, how long ago, and what it holds."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.inside.heat import Heat, HeatCounter
from relax_core.inside.probes import ANYWHERE, Query
from relax_core.inside.report import COUNTED
from relax_core.inside.stepper import Stepper
from relax_core.ir.tir import Buffer
from relax_core.present.running.inside import Listing, shown
from relax_core.present.running.inside_models import HeatView

Array = npt.NDArray[Any]
STEPS: Final = 5
TEXT_CELLS: Final = 4096
"""Cells of a window that have room for a text."""
OVERVIEW_SIDE: Final = 96
SIDE_LIMIT: Final = 512


class Walked(Protocol):
    """A run inside a kernel."""

    @property
    def counter(self) -> HeatCounter: ...

    @property
    def listing(self) -> Listing: ...


class Asked(Protocol):
    """What is asked of a buffer; see `HeatOf`."""

    @property
    def clock(self) -> int: ...
    @property
    def buffer(self) -> str: ...
    @property
    def what(self) -> str: ...
    @property
    def spell(self) -> str: ...
    @property
    def loop(self) -> int: ...
    @property
    def statement_line(self) -> int: ...
    @property
    def axes(self) -> tuple[int, ...]: ...
    @property
    def fixed(self) -> tuple[int, ...]: ...
    @property
    def top(self) -> int: ...
    @property
    def left(self) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def columns(self) -> int: ...


def present_heat(walked: Walked, asked: Asked) -> HeatView:
    """Present a window of a buffer.

    Raises:
        CompileError: TI004, there is no such buffer, or the axes are none of it.
    """
    stepper = walked.counter.stepper
    stepper.move_to(asked.clock)
    buffer = next((item for item in stepper.layout.buffers if item.name == asked.buffer), None)
    if buffer is None:
        names = ", ".join(f"`{item.name}`" for item in stepper.layout.buffers)
        raise CompileError((Diagnostic("TI004", f"there is no buffer `{asked.buffer}`", hint=f"there are {names}"),))
    heat = None if asked.what == "value" else _counted(walked, asked)
    numbers = stepper.memory.array_of[buffer] if heat is None else _numbers(heat, walked, asked, buffer)
    levels, legend = levels_of(numbers, asked.what, asked.clock)
    counts = np.zeros(0, np.int64) if heat is None else _numbers(heat, walked, asked, buffer, "count")
    return window_of(
        Grid(buffer.name, numbers, levels, legend, lambda item: _text(item, asked.what), counts,
             _most(numbers, asked.what), 0 if heat is None else heat.first),
        asked,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """A number for each element of a buffer, its step of colour, and what the steps mean."""

    name: str
    numbers: Array
    levels: npt.NDArray[np.uint8]
    legend: tuple[str, ...]
    text_of: Callable[[Any], str]
    counts: Array
    """How often each element was touched, if that is known."""
    most: int = 0
    since: int = 0


def window_of(grid: Grid, asked: Asked) -> HeatView:
    """Present the window of a grid that is asked for, and all of it in small.

    Raises:
        CompileError: TI004, the axes are none of the buffer.
    """
    numbers, levels = grid.numbers, grid.levels
    axes = _axes(numbers.ndim, asked.axes)
    fixed = tuple(
        min(max(asked.fixed[axis] if axis < len(asked.fixed) else 0, 0), max(size - 1, 0))
        for axis, size in enumerate(numbers.shape)
    )
    plane, steps = _plane(numbers, axes, fixed), _plane(levels, axes, fixed)
    top, left = _begin(asked.top, plane.shape[0]), _begin(asked.left, plane.shape[1])
    rows, columns = min(asked.rows, SIDE_LIMIT), min(asked.columns, SIDE_LIMIT)
    part, part_steps = (item[top : top + rows, left : left + columns] for item in (plane, steps))
    whole = _pooled(steps)
    return HeatView(
        grid.name, numbers.shape, axes, fixed, top, left, part.shape[0], part.shape[1],
        tuple(map(grid.text_of, part.ravel())) if part.size <= TEXT_CELLS else (),
        _digits(part_steps), grid.legend,
        _digits(whole), whole.shape[0], whole.shape[1], plane.shape[0], plane.shape[1],
        int(np.count_nonzero(grid.counts)), int(grid.counts.sum(dtype=np.int64)), grid.most, grid.since,
    )  # fmt: skip


def _axes(rank: int, asked: tuple[int, ...]) -> tuple[int, int]:
    if rank < 2:
        return -1, rank - 1
    if not asked:
        return rank - 2, rank - 1
    if len(asked) != 2 or asked[0] == asked[1] or not all(0 <= axis < rank for axis in asked):
        message = f"the axes {', '.join(map(str, asked))} are not two of the {rank} of this buffer"
        raise CompileError((Diagnostic("TI004", message),))
    return asked[0], asked[1]


def _begin(at: int, size: int) -> int:
    return min(max(at, 0), max(size - 1, 0))


def _counted(walked: Walked, asked: Asked) -> Heat:
    stepper = walked.counter.stepper
    match asked.spell:
        case "whole":
            return walked.counter.count(COUNTED)
        case "iteration":
            return walked.counter.count(asked.clock, _iteration(stepper, asked.loop), _since(asked.clock))
        case _:
            return walked.counter.count(asked.clock, first=_since(asked.clock))


def _since(clock: int) -> int:
    """Return from which statement on is counted: behind very many the first ones are left out."""
    return max(clock // COUNTED - 1, 0) * COUNTED


def _iteration(stepper: Stepper, number: int) -> Query:
    """Return what looks for the statements of the iteration that a loop is in."""
    site = stepper.site
    level = next((item for item in site.levels if item.number == number), None) if site is not None else None
    if site is None or level is None:
        return ANYWHERE
    wanted: list[tuple[int, int]] = []
    for item in site.levels:
        value = stepper.value_of(item)
        if value is not None:
            wanted.append((item.number, value))
        if item is level:
            break
    return Query(level.first, level.end, tuple(wanted))


def _numbers(heat: Heat, walked: Walked, asked: Asked, buffer: Buffer, what: str = "") -> Array:
    """Return the counts of a buffer, or the numbers of the statements that touched it last."""
    stepper = walked.counter.stepper
    shape = stepper.memory.array_of[buffer].shape
    if (what or asked.what) == "age":
        return heat.last[stepper.layout.buffers.index(buffer)]
    sites = [site.number for site in stepper.layout.sites if walked.listing.line_of(site.node) == asked.statement_line]
    if not asked.statement_line:
        return np.broadcast_to(heat.of(buffer), shape)
    found = np.zeros(shape, np.int64)
    for site in sites:
        found = found + heat.of(buffer, site=site)
    return found


def levels_of(numbers: Array, what: str, clock: int) -> tuple[npt.NDArray[np.uint8], tuple[str, ...]]:
    """Return a step of colour for each number, 0 for what was not touched, and what the others mean."""
    if numbers.size == 0:
        return np.zeros(numbers.shape, np.uint8), ()
    if what == "count":
        most = int(numbers.max())
        edges = [most * step // STEPS for step in range(STEPS + 1)]
        return _steps_of_counts(numbers, most), tuple(_counts(low + 1, high) for low, high in pairwise(edges))
    if what == "age":
        # The latest fifth of the statements has the strongest colour.
        steps = (numbers * STEPS // max(clock, 1) + 1).clip(0, STEPS).astype(np.uint8)
        edges = [clock * step // STEPS for step in range(STEPS + 1)]
        return steps, tuple(f"{low:,}-{max(high - 1, low):,}" for low, high in pairwise(edges))
    return _levels_of_values(numbers)


def _counts(low: int, high: int) -> str:
    """Say which counts have a step of colour; it may have none."""
    return "" if high < low else f"{high:,}" if high == low else f"{low:,}-{high:,}"


def _steps_of_counts(counts: Array, most: int) -> npt.NDArray[np.uint8]:
    # Most counts are small: a table of their steps takes half the time of dividing a million of them.
    is_small = most < counts.size
    found = np.ceil((np.arange(most + 1) if is_small else counts) * (STEPS / max(most, 1))).astype(np.uint8)
    return found[counts] if is_small else found


def _levels_of_values(values: Array) -> tuple[npt.NDArray[np.uint8], tuple[str, ...]]:
    plain = values.astype(np.float64)
    is_finite = np.isfinite(plain)
    finite = plain if is_finite.all() else plain[is_finite]
    if not finite.size:
        return np.zeros(values.shape, np.uint8), ()
    low, high = float(finite.min()), float(finite.max())
    scale = (STEPS - 1e-9) / (high - low) if high > low else 0.0
    steps = np.zeros(values.shape, np.uint8)
    steps[is_finite] = (finite.ravel() - low) * scale + 1
    edges = [low + (high - low) * step / STEPS for step in range(STEPS + 1)]
    return steps, tuple(f"{one:.3g} to {other:.3g}" for one, other in pairwise(edges))


def _plane(array: Array, axes: tuple[int, int], fixed: tuple[int, ...]) -> Array:
    """Return the rows and columns of two axes; a vector is one row."""
    if axes[0] < 0:
        return array.reshape(1, -1)
    picked = array[tuple(slice(None) if axis in axes else fixed[axis] for axis in range(array.ndim))]
    return picked if axes[0] < axes[1] else picked.T


def _pooled(steps: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return the greatest step in each block of so many rows and columns that there are few blocks."""
    by = [max(-(-size // OVERVIEW_SIDE), 1) for size in steps.shape]
    if 0 in steps.shape:
        return np.zeros((0, 0), np.uint8)
    firsts: list[Any] = [np.arange(0, size, step) for size, step in zip(steps.shape, by, strict=True)]
    return np.maximum.reduceat(np.maximum.reduceat(steps, firsts[0], axis=0), firsts[1], axis=1)


def _most(numbers: Array, what: str) -> int:
    return int(numbers.max()) if what == "count" and numbers.size else 0


def _digits(steps: npt.NDArray[np.uint8]) -> str:
    return (steps + ord("0")).astype(np.uint8).tobytes().decode("ascii")


def _text(item: Any, what: str) -> str:
    if what == "value":
        return shown(item, 3)
    return "" if (what == "age" and item < 0) or (what == "count" and item == 0) else str(item)
