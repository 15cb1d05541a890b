"""A perfect nest of loops around one block or store: its axes, and its accesses as sums over them."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Literal

from relax_core.ir.integer.affine import Affine, overlapping
from relax_core.ir.prim import PrimVar
from relax_core.ir.tir import Block, Buffer, BufferLoad, BufferStore, For
from relax_core.jit.lowering.memory.storage import Storage


@dataclass(frozen=True, slots=True)
class Axis:
    """A loop of the nest: its variable goes from 0 to `extent`, exclusive."""

    loop: For
    extent: int
    kind: Literal["spatial", "reduce"]

    @property
    def var(self) -> PrimVar:
        """The variable of the loop."""
        return self.loop.var


@dataclass(frozen=True, slots=True)
class Access:
    """A load or store: where its element lies, counted in elements from the buffer's first.

    `offset` is a sum over the axes' variables and over variables around the nest. All elements that the nest
    touches lie in the buffer, each index in its own dimension.
    """

    node: BufferLoad | BufferStore
    storage: Storage
    offset: Affine

    @property
    def buffer(self) -> Buffer:
        """The buffer that is read or written."""
        return self.node.buffer


@dataclass(frozen=True, slots=True)
class Nest:
    """Loops, outermost first, around `update`, with the store `init` where all reductions start.

    `values` gives the variables of the block as sums over the axes' variables; `accesses` are those of both stores.
    """

    axes: tuple[Axis, ...]
    block: Block | None
    init: BufferStore | None
    update: BufferStore
    values: Mapping[PrimVar, Affine]
    accesses: Mapping[BufferLoad | BufferStore, Access]

    @property
    def spatial(self) -> tuple[Axis, ...]:
        """The axes of which each value writes elements of its own."""
        return tuple(axis for axis in self.axes if axis.kind == "spatial")

    @property
    def reduce(self) -> tuple[Axis, ...]:
        """The axes over which the update accumulates."""
        return tuple(axis for axis in self.axes if axis.kind == "reduce")

    @property
    def overlapping(self) -> Axis | None:
        """A spatial axis of which different values may write the same element; `None` if there is none."""
        offset = self.accesses[self.update].offset
        return overlapping((axis, offset.of(axis.var), axis.extent) for axis in self.spatial)

    @property
    def work(self) -> int:
        """How often the update runs."""
        return prod(axis.extent for axis in self.axes)
