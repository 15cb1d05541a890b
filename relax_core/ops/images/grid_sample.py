"""Sampling an image where a grid says."""

import itertools
from typing import Any, TypeAlias

import numpy as np

from relax_core.ir.expr import Call, Op, TensorType, Type
from relax_core.ir.prim import PrimExpr, const
from relax_core.ir.tir import Buffer
from relax_core.ops.attributes import flag_at, require_rank, same_sizes, word_at
from relax_core.ops.kernels.extremes import greater_of, lesser_of
from relax_core.ops.kernels.lowering import Lowering, lowered
from relax_core.ops.kernels.scalar import add, both, call, cast, choose, div, greatest, le, least, lit, lt, mul, sub
from relax_core.ops.kernels.te import load
from relax_core.ops.layout import parse_layout, require_layout
from relax_core.ops.operands import tensor_at
from relax_core.ops.schema import DATA
from relax_core.ops.spec import OpSpec, Param, Value
from relax_core.ops.steps import InSteps, converted

Array: TypeAlias = "np.ndarray[Any, Any]"

_METHODS, _PADDINGS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
_ALPHA = -0.75


def _spatial(arg_types: tuple[Type, ...]) -> str:
    grid = arg_types[1]
    return "DHW" if isinstance(grid, TensorType) and grid.ndim == 5 else "HW"


def _infer_grid_sample(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer data `(n, c, ...)` at a grid `(n, r, *sizes)` as `(n, c, *sizes)`."""
    data, grid = tensor_at(call, arg_types, 0), tensor_at(call, arg_types, 1)
    letters = _spatial(arg_types)
    layout = parse_layout(call, word_at(call, arg_types, 3), f"NC{letters}")
    require_layout(call, data, layout, "data")
    require_rank(call, grid, len(letters) + 2, "a grid")
    word_at(call, arg_types, 2, _METHODS)
    word_at(call, arg_types, 4, _PADDINGS)
    flag_at(call, arg_types, 5)
    if data.dims is None or grid.dims is None:
        return TensorType(None, data.dtype, len(letters) + 2)
    same_sizes(call, [(layout.extent(data.dims, "N"), grid.dims[0]), (grid.dims[1], const(len(letters)))], (data, grid))
    extents = {"N": grid.dims[0], "C": layout.extent(data.dims, "C")}
    extents |= dict(zip(letters, grid.dims[2:], strict=True))
    return TensorType(layout.shape(extents), data.dtype)


def _folded(at: PrimExpr, extent: PrimExpr, *, is_aligned: bool) -> PrimExpr:
    """Reflect a coordinate at the edges, or at the centres of the outermost elements."""
    whole = cast(extent, "float32")
    low, span = (lit(0, "float32"), sub(whole, 1.0)) if is_aligned else (lit(-0.5, "float32"), whole)
    distance = call("abs", sub(at, low))
    period = mul(span, 2.0)
    rest = sub(distance, mul(period, call("floor", div(distance, period))))
    inner = add(choose(lt(span, rest), sub(period, rest), rest), low)
    return choose(lt(0.0, span), _held(inner, extent), 0)


def _held(at: PrimExpr, extent: PrimExpr) -> PrimExpr:
    return greatest(least(at, sub(cast(extent, "float32"), 1.0)), 0.0)


def _weight(method: str, distance: PrimExpr) -> PrimExpr:
    d = call("abs", distance)
    match method:
        case "nearest":
            return lit(1, "float32")
        case "bilinear":
            return sub(1.0, d)
        case _:
            square, cube = mul(d, d), mul(d, d, d)
            near = add(sub(mul(cube, _ALPHA + 2), mul(square, _ALPHA + 3)), 1.0)
            far = mul(sub(add(sub(cube, mul(square, 5.0)), mul(d, 8.0)), 4.0), _ALPHA)
            return choose(le(d, 1.0), near, choose(lt(d, 2.0), far, 0))


def _build(lowering: Lowering) -> Buffer:
    """Sum over the taps of each axis; a tap outside the data counts as zeros, the edge, or the reflected element."""
    call_, types = lowering.call, lowering.arg_types
    data, grid = lowering.input(0, "data"), lowering.input(1, "grid")
    letters = _spatial(types)
    layout = parse_layout(call_, word_at(call_, types, 3), f"NC{letters}")
    method, padding = word_at(call_, types, 2), word_at(call_, types, 4)
    is_aligned = flag_at(call_, types, 5)

    def taps(at: dict[str, PrimExpr], k: int) -> list[tuple[PrimExpr, PrimExpr]]:
        extent = layout.extent(data.shape, letters[k])
        place = tuple(at[letter] for letter in letters)
        raw = add(cast(load(grid, (at["N"], const(len(letters) - 1 - k), *place)), "float32"), 1.0)
        whole = cast(extent, "float32")
        where = mul(raw, 0.5, sub(whole, 1.0)) if is_aligned else mul(sub(mul(raw, whole), 1.0), 0.5)
        if method != "bicubic" and padding != "zeros":
            where = _held(where, extent) if padding == "border" else _folded(where, extent, is_aligned=is_aligned)
        return [_tap(where, extent, offset) for offset in _offsets(method)]

    def _tap(where: PrimExpr, extent: PrimExpr, offset: int) -> tuple[PrimExpr, PrimExpr]:
        index = add(call("nearbyint" if method == "nearest" else "floor", where), float(offset))
        weight = _weight(method, sub(where, index))
        if padding == "zeros":
            weight = choose(both(le(0.0, index), lt(index, cast(extent, "float32"))), weight, 0)
        elif padding == "reflection":
            index = _folded(index, extent, is_aligned=is_aligned)
        return cast(_held(index, extent), "int64"), weight

    def element(*indices: PrimExpr) -> PrimExpr:
        at = layout.coordinates(indices)
        axes = [taps(at, k) for k in range(len(letters))]
        total: PrimExpr = lit(0, "float32")
        for chosen in itertools.product(*axes):
            source = {**at, **{letter: index for letter, (index, _) in zip(letters, chosen, strict=True)}}
            value = cast(load(data, layout.indices(source)), "float32")
            total = add(total, mul(value, *(weight for _, weight in chosen)))
        return cast(total, data.dtype)

    return lowering.compute(lowering.shape(), element, "grid_sample")


def _offsets(method: str) -> range:
    return range(1) if method == "nearest" else range(2) if method == "bilinear" else range(-1, 3)


def _reflected(at: Array, extent: int, *, is_aligned: bool) -> Array:
    whole = np.float32(extent)
    low, span = (np.float32(0), whole - 1) if is_aligned else (np.float32(-0.5), whole)
    if span <= 0:
        return np.zeros_like(at)
    distance, period = np.abs(at - low), span * 2
    rest = distance - period * np.floor(distance / period)
    return _within(np.where(rest > span, period - rest, rest) + low, extent)


def _within(at: Array, extent: int) -> Array:
    """Hold a coordinate between the first element and the last; one that is a NaN is the last."""
    return greater_of(lesser_of(at, np.float32(extent - 1)), np.float32(0))


def _cubic(distance: Array) -> Array:
    d, alpha = np.abs(distance), _ALPHA
    square, cube = d * d, d * d * d
    near = cube * (alpha + 2) - square * (alpha + 3) + 1
    return np.where(d <= 1, near, np.where(d < 2, (cube - square * 5 + d * 8 - 4) * alpha, 0))


@InSteps
def _evaluate_grid_sample(args: tuple[Value, ...]) -> Value:
    grid = np.asarray(args[1]).astype(np.float32)
    method, padding, is_aligned = args[2], args[4], bool(args[5])
    letters = "DHW" if grid.ndim == 5 else "HW"
    layout = parse_layout(Call(Op("relax.image.grid_sample"), ()), args[3], f"NC{letters}")
    data = layout.unpacked(np.asarray(args[0]), f"NC{letters}")
    result = np.zeros((*data.shape[:2], *grid.shape[2:]), np.float32)
    sizes = data.shape[2:]
    for batch in range(data.shape[0]):
        axes: list[list[tuple[Array, Array]]] = []
        for k, extent in enumerate(sizes):
            # The grid holds x first, the axes of the data begin with the slowest.
            raw = grid[batch, len(sizes) - 1 - k] + 1
            at = raw * 0.5 * np.float32(extent - 1) if is_aligned else (raw * np.float32(extent) - 1) * 0.5
            if method != "bicubic" and padding == "border":
                at = _within(at, extent)
            elif method != "bicubic" and padding == "reflection":
                at = _reflected(at, extent, is_aligned=is_aligned)
            axes.append(_taps(at, extent, method, padding, is_aligned=is_aligned))
        _mix(result[batch], data[batch].astype(np.float32), axes)
    return converted(layout.packed(result, f"NC{letters}"), data.dtype)


def _taps(at: Array, extent: int, method: str, padding: str, *, is_aligned: bool) -> list[tuple[Array, Array]]:
    """Return per tap the index along an axis and its weight, which is 0 outside the data."""
    floor = np.rint(at) if method == "nearest" else np.floor(at)
    made: list[tuple[Array, Array]] = []
    for tap in _offsets(method):
        where = floor + tap
        distance = at - where
        weight = np.ones_like(at) if method == "nearest" else 1 - np.abs(distance)
        weight = _cubic(distance) if method == "bicubic" else weight
        if padding == "zeros":
            weight = np.where((where >= 0) & (where < extent), weight, 0)
        elif padding == "reflection":
            where = _reflected(where, extent, is_aligned=is_aligned)
        made.append((converted(_within(where, extent), "int64"), weight.astype(np.float32)))
    return made


def _mix(result: Array, data: Array, axes: list[list[tuple[Array, Array]]]) -> None:
    """Add the products of the taps of all axes, in the order in which a prim func adds them."""
    for chosen in itertools.product(*axes):
        value = data[(slice(None), *(index for index, _ in chosen))]
        for _, weight in chosen:
            value = value * weight
        result += value


SPECS = (
    OpSpec("relax.image.grid_sample",
           (DATA, Param("grid", "tensor"), Param("method", "prim", "string", default="bilinear"),
            Param("layout", "prim", "string", default="NCHW"),
            Param("padding_mode", "prim", "string", default="zeros"),
            Param("align_corners", "prim", "bool", default=False)),
           _infer_grid_sample, "Sample an image where a grid says.", evaluate=_evaluate_grid_sample,
           legalize=lowered("grid_sample", _build), see="tvm/src/relax/op/image/resize.cc"),
)  # fmt: skip
