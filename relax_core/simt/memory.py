"""Memory of a launch: bytes that threads share, and what each thread has for its own."""

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from relax_core.ir.tir import Buffer
from relax_core.ops.kernels.numbers import Plain, is_array
from relax_core.simt.lanes import Array, Lanes
from relax_core.simt.values import Partly, Value, lanes_first, with_undefined

Bools: TypeAlias = npt.NDArray[np.bool_]
Kind: TypeAlias = Literal["global", "shared", "warp"]


class Memory:
    """Memory that several threads see: all of a launch ("global"), or those of a block or of a warp, once for each.

    A cell is as large as the smallest element of a buffer in it; of each is known whether it was ever written.
    """

    def __init__(self, name: str, kind: Kind, raw: Array, cell_bytes: int, copies: int = 1) -> None:
        self.name = name
        self.kind: Kind = kind
        self.raw = raw
        """All copies one behind the other, as bytes."""
        self.cell_bytes = cell_bytes
        self.bytes_each = raw.size // copies
        self.written = np.zeros(raw.size // cell_bytes, np.bool_)
        self.is_all_written = False
        self.on_the_way: Bools | None = None
        """Which cells an asynchronous copy goes to that nobody has waited for; `None` if no copy ever went here."""
        self.sources: Array | None = None
        """How many copies that nobody has waited for come from each cell; `None` if no copy ever came from here."""

    def clear(self) -> None:
        """Be as it was made."""
        self.raw[:], self.written[:], self.is_all_written = 0, False, False
        self.on_the_way = self.sources = None

    def copied(self) -> tuple[Array, ...]:
        """Return what is there, to come back to."""
        kept = (self.raw, self.written, np.asarray(self.is_all_written), self.on_the_way, self.sources)
        return tuple(np.zeros(0) if item is None else item.copy() for item in kept)

    def restore(self, kept: tuple[Array, ...]) -> None:
        """Be as when a copy was made."""
        raw, written, is_all_written, on_the_way, sources = kept
        self.raw[:], self.written[:], self.is_all_written = raw, written, bool(is_all_written)
        self.on_the_way = on_the_way.copy() if on_the_way.size else None
        self.sources = sources.copy() if sources.size else None

    def note_written(self, cells: Array) -> None:
        """Note that cells hold values."""
        if not self.is_all_written:
            self.written[cells] = True

    def note_undefined(self, cells: Array) -> None:
        """Note that cells hold values that are undefined."""
        self.written[cells] = False
        self.is_all_written = False

    def settle(self) -> None:
        """Find out whether every cell was written, so that reads need not ask."""
        self.is_all_written = self.is_all_written or bool(self.written.all())


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A buffer of a launch: elements of `dtype`, or vectors of `lanes` of them, in a memory from a byte on."""

    buffer: Buffer
    memory: Memory
    dtype: "np.dtype[Any]"
    lanes: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0
    """In elements of `dtype`."""


@dataclass(slots=True, eq=False)
class Registers:
    """A buffer of which each thread has its own copy: a row of all lanes for each element, `None` while undefined."""

    buffer: Buffer
    dtype: "np.dtype[Any]"
    lanes: int
    shape: tuple[int, ...]
    rows: list[Value | None] = field(default_factory=list[Value | None])

    def load(self, index: Plain, lanes: Lanes) -> Value:
        """Return the elements at `index`, which is in range; a vector index gives a vector."""
        if not is_array(index):
            return self._row(index, lanes)
        if index.ndim == 2:
            if index.shape[0] == 1:
                return _joined([self._row(int(item), lanes) for item in index[0]], lanes)
            return _joined([self.load(index[:, at], lanes) for at in range(index.shape[1])], lanes)
        found = np.zeros((lanes.count, *((self.lanes,) if self.lanes > 1 else ())), self.dtype)
        undefined = np.zeros(lanes.count, np.bool_)
        for number in np.unique(index):
            here = index == number
            row = self._row(int(number), lanes)
            if isinstance(row, Partly):
                undefined[here] = row.undefined[here]
                row = row.data
            found[here] = lanes_first(row, lanes.count)[here]
        return with_undefined(found, undefined)

    def store(self, index: Plain, value: Value, mask: Bools | None, lanes: Lanes) -> None:
        """Store one element, or one vector, of each lane of `mask`."""
        if not is_array(index):
            self._put(index, value, mask, lanes)
            return
        if index.ndim == 2:
            for at in range(index.shape[1]):
                part = index[:, at] if index.shape[0] > 1 else int(index[0, at])
                self.store(part, _lane_of_vector(value, at), mask, lanes)
            return
        for number in np.unique(index if mask is None else index[mask]):
            here = index == number
            self._put(int(number), value, here if mask is None else here & mask, lanes)

    def _row(self, index: int, lanes: Lanes) -> Value:
        found = self.rows[index]
        if found is not None:
            return found
        shape = (1, self.lanes) if self.lanes > 1 else (lanes.count,)
        return Partly(np.zeros(shape, self.dtype), np.ones(lanes.count, np.bool_))

    def _put(self, index: int, value: Value, mask: Bools | None, lanes: Lanes) -> None:
        if mask is None:
            self.rows[index] = value
            return
        old = self._row(index, lanes)
        old_data, new_data = (item.data if isinstance(item, Partly) else item for item in (old, value))
        old_rows, new_rows = (lanes_first(np.asarray(item, self.dtype), lanes.count) for item in (old_data, new_data))
        data = np.where(mask if new_rows.ndim == 1 else mask[:, None], new_rows, old_rows)
        undefined = np.zeros(lanes.count, np.bool_)
        for item, here in ((old, ~mask), (value, mask)):
            if isinstance(item, Partly):
                undefined |= item.undefined & here
        self.rows[index] = with_undefined(data, undefined)


def _joined(parts: list[Value], lanes: Lanes) -> Value:
    """Make vectors of numbers, or of the elements of vectors."""
    undefined = np.zeros(lanes.count, np.bool_)
    columns: list[Array] = []
    for part in parts:
        if isinstance(part, Partly):
            undefined |= part.undefined
            part = part.data
        column = lanes_first(part, lanes.count)
        columns.append(column if column.ndim == 2 else column[:, None])
    return with_undefined(np.concatenate(columns, axis=1), undefined)


def _lane_of_vector(value: Value, at: int) -> Value:
    if isinstance(value, Partly):
        return Partly(_lane_of_vector(value.data, at), value.undefined)
    if not is_array(value) or value.ndim < 2:
        return value
    column = value[:, at]
    return column if column.shape[0] > 1 else column[0]
