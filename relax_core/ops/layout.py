"""Layouts of tensors, such as "NCHW", "NHWC" or the packed "NCHW4c", which splits an axis into blocks."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from relax_core.ir.expr import Call, Dims, TensorType
from relax_core.ir.prim import PrimExpr, const
from relax_core.ops.kernels.scalar import add, floordiv, floormod, mul, size
from relax_core.ops.operands import call_name
from relax_core.ops.spec import OpTypeError

Array: TypeAlias = "np.ndarray[Any, Any]"


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a layout: a capital letter, or a block of `factor` elements of the axis `letter`."""

    letter: str
    factor: int | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """The axes of a tensor in memory."""

    name: str
    axes: tuple[Axis, ...]

    def block(self, letter: str) -> int:
        """Return the size of the blocks of an axis; 1 if it is not split."""
        return next((axis.factor for axis in self.axes if axis.letter == letter and axis.factor), 1)

    def extent(self, dims: Dims, letter: str) -> PrimExpr:
        """Return the full size of an axis of a tensor with sizes `dims`."""
        place = next(k for k, axis in enumerate(self.axes) if axis.letter == letter and axis.factor is None)
        return size(mul(dims[place], self.block(letter)))

    def shape(self, extents: Mapping[str, PrimExpr]) -> Dims:
        """Return the sizes in this layout of a tensor with the full sizes `extents`."""
        return tuple(
            const(axis.factor) if axis.factor else size(floordiv(extents[axis.letter], self.block(axis.letter)))
            for axis in self.axes
        )

    def indices(self, at: Mapping[str, PrimExpr]) -> tuple[PrimExpr, ...]:
        """Return the indices in this layout of the element at the full coordinates `at`."""
        made: list[PrimExpr] = []
        for axis in self.axes:
            block, index = self.block(axis.letter), at[axis.letter]
            if axis.factor:
                made.append(size(floormod(index, block)))
            else:
                made.append(index if block == 1 else size(floordiv(index, block)))
        return tuple(made)

    def coordinates(self, indices: tuple[PrimExpr, ...]) -> dict[str, PrimExpr]:
        """Return the full coordinates of the element at `indices`."""
        at: dict[str, PrimExpr] = {}
        for axis, index in zip(self.axes, indices, strict=True):
            scaled = index if axis.factor else mul(index, self.block(axis.letter))
            if not axis.factor and self.block(axis.letter) == 1:
                scaled = index
            at[axis.letter] = add(at[axis.letter], scaled) if axis.letter in at else scaled
        return at

    def unpacked(self, data: Array, order: str) -> Array:
        """Return `data`, which is in this layout, with whole axes in `order`."""
        places: list[int] = []
        sizes: list[int] = []
        for letter in order:
            found = [k for k, axis in enumerate(self.axes) if axis.letter == letter]
            found.sort(key=lambda k: self.axes[k].factor is not None)
            places += found
            sizes.append(int(np.prod([data.shape[k] for k in found])))
        return np.transpose(data, places).reshape(sizes)

    def packed(self, data: Array, order: str) -> Array:
        """Return `data`, whose axes are in `order`, in this layout."""
        split: list[int] = []
        names: list[Axis] = []
        for letter, extent in zip(order, data.shape, strict=True):
            block = self.block(letter)
            split += [extent // block, block] if block > 1 else [extent]
            names += [Axis(letter), Axis(letter, block)] if block > 1 else [Axis(letter)]
        return np.ascontiguousarray(np.transpose(data.reshape(split), [names.index(axis) for axis in self.axes]))


def parse_layout(call: Call, name: str, letters: str) -> Layout:
    """Read a layout that has the axes `letters`; TY038 if it does not."""
    axes = tuple(
        Axis(letter.upper(), int(digits) if digits else None) for digits, letter in re.findall(r"(\d*)([A-Za-z])", name)
    )
    whole = [axis.letter for axis in axes if axis.factor is None]
    blocks = [axis.letter for axis in axes if axis.factor is not None]
    if sorted(whole) != sorted(letters) or len(set(blocks)) != len(blocks) or not set(blocks) <= set(whole):
        raise OpTypeError(
            "TY038",
            f'{call_name(call)} has no layout "{name}"',
            f"a layout orders the axes {', '.join(letters)}; a number and a small letter at the end make blocks",
        )
    return Layout(name, axes)


def require_layout(call: Call, tensor: TensorType, layout: Layout, what: str) -> None:
    """Raise TY013 unless the rank is that of the layout, or unknown."""
    if tensor.ndim not in (None, len(layout.axes)):
        raise OpTypeError(
            "TY013",
            (
                f'{call_name(call)} expects {what} of rank {len(layout.axes)}, its layout is "{layout.name}", got ',
                tensor,
            ),
        )
