"""What the threads of a warp, or of a block, tell each other: shuffles, the mask of active lanes, reductions."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias

import numpy as np

from relax_core.ops.kernels.numbers import Plain
from relax_core.simt.lanes import WARP, Array, Lanes, Mask
from relax_core.simt.memory import Bools
from relax_core.simt.values import Partly, Value, data_of, lanes_first, with_undefined

Combine: TypeAlias = Callable[[tuple[Value, ...], tuple[Value, ...]], tuple[Value, ...]]
SHUFFLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "tvm_warp_shuffle": "lane", "tvm_warp_shuffle_up": "up", "tvm_warp_shuffle_down": "down",
        "tvm_warp_shuffle_xor": "xor", "cuda.__shfl_sync": "lane", "cuda.__shfl_up_sync": "up",
        "cuda.__shfl_down_sync": "down", "cuda.__shfl_xor_sync": "xor",
    }
)  # fmt: skip


def active_mask(mask: Mask, lanes: Lanes) -> Array:
    """Return in each lane the bits of the lanes of its warp that take part."""
    bits = np.where(lanes.full(mask), 1 << (lanes.inside % WARP), 0).astype(np.uint64)
    found = np.zeros(lanes.block_count * lanes.grid.warp_count, np.uint64)
    np.add.at(found, lanes.warp, bits)
    return found[lanes.warp].astype(np.uint32)


def source_lanes(how: str, amount: Plain, width: Plain, lanes: Lanes) -> Array:
    """Return for each lane the lane of the batch whose value a shuffle gives it."""
    lane = lanes.inside % WARP
    base = lane // width * width
    match how:
        case "lane":
            wanted = base + amount % width
        case "up":
            wanted = np.where(lane - amount >= base, lane - amount, lane)
        case "down":
            wanted = np.where(lane + amount < base + width, lane + amount, lane)
        case _:
            other = lane ^ amount
            wanted = np.where(other < base + width, other, lane)
    return np.arange(lanes.count) - lane + wanted


def shuffled(value: Value, source: Array, mask: Mask, named: Plain, lanes: Lanes) -> tuple[Value, Bools]:
    """Return the values of other lanes, and which lanes read one that does not take part or that `named` leaves out.

    A lane behind the last thread of the block has an undefined value as well, but is no fault: apache-tvm reduces over
    few threads so, and nobody looks at what comes of it.
    """
    active, own = lanes.full(mask), np.arange(lanes.count)
    is_there = lanes.inside - own + source < lanes.grid.thread_count
    safe = np.where(is_there, source, own)
    bit = (lanes.inside[safe] % WARP).astype(np.uint64)
    is_named = lanes_first(data_of(named), lanes.count).astype(np.uint64) >> bit & 1
    lost = active & ~(active[safe] & is_there & (is_named == 1))
    data = lanes_first(data_of(value), lanes.count)[safe]
    undefined = lost if not isinstance(value, Partly) else lost | value.undefined[safe]
    return with_undefined(data, undefined), lost & is_there


def all_reduced(values: Sequence[Value], axes: Sequence[int], combine: Combine, lanes: Lanes) -> tuple[Value, ...]:
    """Reduce over the threads of each block that differ only along `axes` (0 is x): every one gets the result.

    Halves are combined, the lanes of a warp first, as apache-tvm lowers it.
    """
    extents = lanes.grid.along("threadIdx")
    order = [2 - axis for axis in sorted(axes)]
    parts = [_Grid.of(value, (lanes.block_count, *reversed(extents)), lanes) for value in values]
    for axis in order:
        while (extent := parts[0].data.shape[axis + 1]) > 1:
            step = _step(extent)
            left, right = (
                [item.cut(axis + 1, 0, step) for item in parts],
                [item.cut(axis + 1, step, extent) for item in parts],
            )
            parts = _combined(left, right, axis + 1, combine)
    shape = (lanes.block_count, *reversed(extents))
    return tuple(item.spread(shape) for item in parts)


def _step(extent: int) -> int:
    """Return how many values of an axis stay: the largest power of two below their number."""
    return 1 << (extent - 1).bit_length() - 1


class _Grid:
    """Values as an array of blocks and the axes z, y, x."""

    def __init__(self, data: Array, undefined: Array) -> None:
        self.data = data
        self.undefined = undefined

    @staticmethod
    def of(value: Value, shape: tuple[int, ...], lanes: Lanes) -> "_Grid":
        undefined = value.undefined if isinstance(value, Partly) else np.zeros(lanes.count, np.bool_)
        return _Grid(lanes_first(data_of(value), lanes.count).reshape(shape), undefined.reshape(shape))

    def cut(self, axis: int, start: int, stop: int) -> "_Grid":
        chosen = tuple(slice(start, stop) if at == axis else slice(None) for at in range(self.data.ndim))
        return _Grid(self.data[chosen], self.undefined[chosen])

    def spread(self, shape: tuple[int, ...]) -> Value:
        data = np.broadcast_to(self.data, shape).reshape(-1)
        return with_undefined(data, np.broadcast_to(self.undefined, shape).reshape(-1))


def _combined(left: list[_Grid], right: list[_Grid], axis: int, combine: Combine) -> list[_Grid]:
    """Combine what has a partner; the rest of the left stays."""
    count = right[0].data.shape[axis]
    paired = [item.cut(axis, 0, count) for item in left]
    rest = [item.cut(axis, count, item.data.shape[axis]) for item in left]
    made = combine(tuple(item.data for item in paired), tuple(item.data for item in right))
    found: list[_Grid] = []
    for result, one, two, alone in zip(made, paired, right, rest, strict=True):
        data = np.concatenate([np.broadcast_to(data_of(result), one.data.shape), alone.data], axis=axis)
        found.append(_Grid(data, np.concatenate([one.undefined | two.undefined, alone.undefined], axis=axis)))
    return found
