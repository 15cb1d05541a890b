"""A perfect loop nest around one block or store: its axes, and its accesses as affine forms of them."""

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
    """A loop of the nest, whose variable takes the values `[0, extent)`."""

    loop: For
    extent: int
    kind: Literal["spatial", "reduce"]

    @property
    def var(self) -> PrimVar:
        """The variable of the loop."""
        return self.loop.var


@dataclass(frozen=True, slots=True)
class Access:
    """A load or store, by the row-major offset of its element in the buffer, in elements.

    `offset` is affine in the axes' variables and in variables around the nest. Every index is proven in bounds, each
    in its own dimension.
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
    """Loops, outermost first, around `update`, and the store `init` that initialises its reduction, if there is one.

    `values` are the block's variables as affine forms of the axes; `accesses` are those of both stores.
    """

    axes: tuple[Axis, ...]
    block: Block | None
    init: BufferStore | None
    update: BufferStore
    values: Mapping[PrimVar, Affine]
    accesses: Mapping[BufferLoad | BufferStore, Access]

    @property
    def spatial(self) -> tuple[Axis, ...]:
        """The axes that the output is indexed by."""
        return tuple(axis for axis in self.axes if axis.kind == "spatial")

    @property
    def reduce(self) -> tuple[Axis, ...]:
        """The axes over which the update accumulates."""
        return tuple(axis for axis in self.axes if axis.kind == "reduce")

    @property
    def overlapping(self) -> Axis | None:
        """A spatial axis along which iterations may store to the same element; `None` if there is none."""
        offset = self.accesses[self.update].offset
        return overlapping((axis, offset.of(axis.var), axis.extent) for axis in self.spatial)

    @property
    def work(self) -> int:
        """The number of iterations of the nest: how often the update is executed."""
        return prod(axis.extent for axis in self.axes)
