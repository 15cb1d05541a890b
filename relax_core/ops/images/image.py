"""Images: resizing, sampling at a grid, and the grid of an affine mapping."""

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from relax_core.ir.expr import Call, Op, TensorType, Type
from relax_core.ir.prim import PrimExpr, const
from relax_core.ir.tir import Buffer
from relax_core.ops.attributes import flag_at, float_at, out_dtype_at, require_rank, scalars_at, word_at
from relax_core.ops.kernels.lowering import Lowering, lowered
from relax_core.ops.kernels.scalar import add, both, call, cast, choose, div, greatest, inside, le, least, lt, mul, sub
from relax_core.ops.kernels.te import load
from relax_core.ops.layout import Layout, parse_layout, require_layout
from relax_core.ops.operands import call_name, int_at, require_float, shape_at, tensor_at
from relax_core.ops.schema import DATA
from relax_core.ops.spec import Evaluate, OpSpec, OpTypeError, Param, Value
from relax_core.ops.steps import InSteps, converted, is_float, wide

Array: TypeAlias = "np.ndarray[Any, Any]"

_SEE = "tvm/src/relax/op/image/resize.cc"
_METHODS = ("nearest_neighbor", "linear", "cubic")
_MODES = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn")
_ROUNDING = ("", "round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
_SPATIAL = ("", "W", "HW", "DHW")


@dataclass(frozen=True, slots=True)
class _Resize:
    """How a resize finds and weighs the elements that it reads.

    `crop` are the ends of the part of an axis that is resized, as fractions of it; what lies outside is `outside`.
    """

    method: str
    mode: str
    rounding: str
    alpha: float
    excludes: bool
    outside: float = 0.0
    crop: tuple[PrimExpr, PrimExpr] | None = None

    @property
    def taps(self) -> range:
        """How far from the found index elements are read."""
        return {"nearest_neighbor": range(1), "linear": range(2)}.get(self.method, range(-1, 3))

    @property
    def way(self) -> str:
        """How nearest_neighbor rounds."""
        return self.rounding or ("round" if self.mode == "align_corners" else "floor")


def _rank(call_: Call) -> int:
    return int(call_name(call_)[-2])


def _layout(call_: Call, arg_types: tuple[Type, ...]) -> Layout:
    return parse_layout(call_, word_at(call_, arg_types, 3), f"NC{_SPATIAL[_rank(call_)]}")


def _infer_resize(call_: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the given sizes at the spatial axes."""
    data, shape, layout = tensor_at(call_, arg_types), shape_at(call_, arg_types, 1), _layout(call_, arg_types)
    letters = _SPATIAL[_rank(call_)]
    require_layout(call_, data, layout, "data")
    word_at(call_, arg_types, 4, _METHODS)
    word_at(call_, arg_types, 5, (*_MODES, "tf_crop_and_resize"))
    word_at(call_, arg_types, 6, _ROUNDING)
    if shape.ndim not in (None, len(letters)):
        raise OpTypeError("TY013", f"{call_name(call_)} expects {len(letters)} sizes, got {shape.ndim}")
    dtype = out_dtype_at(call_, 10) or data.dtype
    if data.dims is None or shape.values is None:
        return TensorType(None, dtype, len(layout.axes))
    extents = {letter: layout.extent(data.dims, letter) for letter in "NC"}
    extents |= dict(zip(letters, shape.values, strict=True))
    return TensorType(layout.shape(extents), dtype)


def _read(call_: Call, arg_types: tuple[Type, ...]) -> _Resize:
    return _Resize(
        word_at(call_, arg_types, 4),
        word_at(call_, arg_types, 5),
        word_at(call_, arg_types, 6),
        float_at(call_, arg_types, 7),
        int_at(call_, arg_types, 8) == 1,
        float_at(call_, arg_types, 9),
    )


def _cropped_at(lowering: Lowering, resize: _Resize, number: int, rank: int) -> _Resize:
    """Return `resize` for the spatial axis `number`: a crop takes its ends from the region of interest."""
    if resize.mode != "tf_crop_and_resize":
        return resize
    region = scalars_at(lowering.call, lowering.arg_types, 2) or ()
    ends = tuple(item for item in region if item is not None)
    if len(ends) != 2 * rank:
        lowering.need(None)
    start, end = (cast(lowering.builder.own(ends[k]), "float32") for k in (number, number + rank))
    return replace(resize, crop=(start, end))


def _source(resize: _Resize, index: PrimExpr, old: PrimExpr, new: PrimExpr) -> PrimExpr:
    """Return the coordinate in the data of an element of the result, a float."""
    at, before, after = (cast(item, "float32") for item in (index, old, new))
    scale = div(before, after)
    if resize.crop is not None:
        start, end = resize.crop
        whole = sub(before, 1.0)
        steps = add(mul(start, whole), div(mul(at, sub(end, start), whole), greatest(sub(after, 1.0), 1.0)))
        return choose(lt(1.0, after), steps, mul(add(start, end), 0.5, whole))
    match resize.mode:
        case "align_corners":
            return mul(div(sub(before, 1.0), greatest(sub(after, 1.0), 1.0)), at)
        case "asymmetric":
            return mul(scale, at)
        case "tf_half_pixel_for_nn":
            return mul(add(at, 0.5), scale)
        case "pytorch_half_pixel":
            return choose(lt(1.0, after), sub(mul(add(at, 0.5), scale), 0.5), 0)
        case _:
            return sub(mul(add(at, 0.5), scale), 0.5)


def _nearest(way: str, at: PrimExpr) -> PrimExpr:
    match way:
        case "round":
            return call("nearbyint", at)
        case "round_prefer_floor":
            return call("ceil", sub(at, 0.5))
        case "round_prefer_ceil":
            return call("floor", add(at, 0.5))
        case "ceil":
            return call("ceil", sub(at, 1e-5))
        case _:
            return call("floor", add(at, 1e-5))


def _weights(resize: _Resize, offset: PrimExpr) -> list[PrimExpr]:
    """Return the weights of the taps; `offset` is the distance from the index in [0, 1)."""
    alpha = resize.alpha
    if resize.method == "nearest_neighbor":
        return [const(1.0, "float32")]
    if resize.method == "linear":
        return [sub(1.0, offset), offset]
    square, cube = mul(offset, offset), mul(offset, offset, offset)
    return [
        mul(add(sub(cube, mul(square, 2.0)), offset), alpha),
        add(sub(mul(cube, alpha + 2), mul(square, 3 + alpha)), 1.0),
        sub(add(mul(cube, -(alpha + 2)), mul(square, 3 + 2 * alpha)), mul(offset, alpha)),
        add(mul(cube, -alpha), mul(square, alpha)),
    ]


def _build_resize(lowering: Lowering) -> Buffer:
    """Resize one axis after the other, the last first; each reads the elements around a coordinate, held in range."""
    resize = _read(lowering.call, lowering.arg_types)
    layout = _layout(lowering.call, lowering.arg_types)
    letters = _SPATIAL[_rank(lowering.call)]
    current, shape = lowering.input(0), lowering.shape()
    dtype = lowering.result.dtype
    wide = dtype if "float" in dtype else "float32"
    for number, letter in reversed(tuple(enumerate(letters))):
        is_last = number == 0
        place = next(k for k, axis in enumerate(layout.axes) if axis.letter == letter)
        sizes = (*current.shape[:place], shape[place], *current.shape[place + 1 :])
        along = _cropped_at(lowering, resize, number, len(letters))
        current = _resized(lowering, along, current, sizes, place, wide if not is_last else dtype)
    return current


def _resized(
    lowering: Lowering, resize: _Resize, data: Buffer, sizes: tuple[PrimExpr, ...], place: int, dtype: str
) -> Buffer:
    old, new = data.shape[place], sizes[place]

    def element(*at: PrimExpr) -> PrimExpr:
        source = _source(resize, at[place], old, new)
        floor = _nearest(resize.way, source) if resize.method == "nearest_neighbor" else call("floor", source)
        weights = _weights(resize, sub(source, floor))
        is_inside = None if resize.crop is None else both(le(0.0, source), le(source, cast(sub(old, 1), "float32")))

        def result(value: PrimExpr) -> PrimExpr:
            whole = cast(value, dtype)
            return whole if is_inside is None else choose(is_inside, whole, resize.outside)

        index = cast(floor, "int64")
        total: PrimExpr | None = None
        norm: PrimExpr | None = None
        for tap, weight in zip(resize.taps, weights, strict=True):
            where = add(index, tap)
            if resize.excludes and resize.method == "cubic":
                weight = choose(inside(where, old), weight, 0)
                norm = weight if norm is None else add(norm, weight)
            held = greatest(least(where, sub(old, 1)), 0)
            value = load(data, (*at[:place], held, *at[place + 1 :]))
            if resize.method == "nearest_neighbor":
                return result(value)
            product = mul(cast(value, "float32"), weight)
            total = product if total is None else add(total, product)
        assert total is not None
        return result(total if norm is None else div(total, norm))

    return lowering.compute(sizes, element, "resize")


def _coordinates(mode: str, old: int, new: int) -> Array:
    at, before, after = np.arange(new, dtype=np.float32), np.float32(old), np.float32(new)
    scale = before / after if new else before
    match mode:
        case "align_corners":
            return (before - 1) / np.maximum(after - 1, np.float32(1)) * at
        case "asymmetric":
            return scale * at
        case "tf_half_pixel_for_nn":
            return (at + np.float32(0.5)) * scale
        case _:
            half = np.float32(0.5)
            return np.zeros(1, np.float32) if mode == "pytorch_half_pixel" and new == 1 else (at + half) * scale - half


def _rounded(way: str, at: Array) -> Array:
    match way:
        case "round":
            return np.rint(at)
        case "round_prefer_floor":
            return np.ceil(at - 0.5)
        case "round_prefer_ceil":
            return np.floor(at + 0.5)
        case "ceil":
            return np.ceil(at - 1e-5)
        case _:
            return np.floor(at + 1e-5)


def _tap_weights(resize: _Resize, offset: Array) -> list[Array]:
    """Return the weights of the taps at distances from the index, with the operations of `_weights`."""
    alpha = resize.alpha
    if resize.method == "nearest_neighbor":
        return [np.ones_like(offset)]
    if resize.method == "linear":
        return [1 - offset, offset]
    square, cube = offset * offset, offset * offset * offset
    return [
        (cube - square * 2 + offset) * alpha,
        cube * (alpha + 2) - square * (3 + alpha) + 1,
        cube * -(alpha + 2) + square * (3 + 2 * alpha) - offset * alpha,
        cube * -alpha + square * alpha,
    ]


def _cropped(start: float, end: float, old: int, new: int) -> Array:
    """Return the coordinates from `start` to `end`, which are fractions of the axis."""
    first, last, whole = np.float32(start), np.float32(end), np.float32(old) - 1
    if new == 1:
        return np.asarray([(first + last) * np.float32(0.5) * whole])
    at = np.arange(new, dtype=np.float32)
    return first * whole + at * (last - first) * whole / np.maximum(np.float32(new) - 1, np.float32(1))


def _mixed(resize: _Resize, data: Array, source: Array) -> Array:
    """Return what is read of the last axis at coordinates: the element itself, or a sum in float32 of several."""
    old = data.shape[-1]
    floor = _rounded(resize.way, source) if resize.method == "nearest_neighbor" else np.floor(source)
    index = converted(floor, "int64")
    total = np.zeros((), np.float32)
    norm = np.zeros((), np.float32)
    for number, (tap, weight) in enumerate(zip(resize.taps, _tap_weights(resize, source - floor), strict=True)):
        where = index + tap
        if resize.excludes and resize.method == "cubic":
            weight = np.where((where >= 0) & (where < old), weight, np.float32(0))
            norm = norm + weight
        value = data[..., np.clip(where, 0, old - 1)]
        if resize.method == "nearest_neighbor":
            return value
        product = value.astype(np.float32) * weight
        total = total + product if number else product
    return total / norm if norm.ndim else total


def _evaluate_resize(rank: int) -> Evaluate:
    def evaluate(args: tuple[Value, ...]) -> Value:
        order = f"NC{_SPATIAL[rank]}"
        layout = parse_layout(Call(Op(f"relax.image.resize{rank}d"), ()), args[3], order)
        resize = _Resize(args[4], args[5], args[6], float(args[7]), args[8] == 1)
        original = np.asarray(args[0])
        data, dtype = layout.unpacked(original, order), np.dtype(args[10] or original.dtype)
        between = dtype if is_float(np.empty(0, dtype)) else np.dtype(np.float32)
        for k in reversed(range(rank)):
            old, new = data.shape[k + 2], int(args[1][k])
            is_crop = resize.mode == "tf_crop_and_resize"
            source = _coordinates(resize.mode, old, new)
            if is_crop:
                source = _cropped(float(args[2][k]), float(args[2][k + rank]), old, new)
            mixed = converted(_mixed(resize, np.moveaxis(data, k + 2, -1), source), between if k else dtype)
            if is_crop:
                mixed[..., (source < 0) | (source > old - 1)] = np.asarray(float(args[9])).astype(mixed.dtype)
            data = np.moveaxis(mixed, -1, k + 2)
        return layout.packed(data, order)

    return InSteps(evaluate)


def _infer_affine_grid(call_: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer `(n, r, r + 1)` and `r` sizes as `(n, r, *sizes)`."""
    data, shape = tensor_at(call_, arg_types), shape_at(call_, arg_types, 1)
    require_rank(call_, data, 3, "matrices")
    require_float(call_, data)
    flag_at(call_, arg_types, 2)
    if data.dims is None or shape.values is None:
        return TensorType(None, data.dtype, None if shape.ndim is None else shape.ndim + 2)
    return TensorType((data.dims[0], const(len(shape.values)), *shape.values), data.dtype)


def _build_affine_grid(lowering: Lowering) -> Buffer:
    data, shape = lowering.input(0), lowering.shape()
    is_aligned = flag_at(lowering.call, lowering.arg_types, 2)
    rank, dtype = len(shape) - 2, data.dtype

    def coordinate(index: PrimExpr, extent: PrimExpr) -> PrimExpr:
        at, whole = cast(index, dtype), cast(extent, dtype)
        if is_aligned:
            return sub(div(mul(at, 2.0), sub(whole, 1.0)), 1.0)
        return sub(div(add(mul(at, 2.0), 1.0), whole), 1.0)

    def element(*at: PrimExpr) -> PrimExpr:
        value = load(data, (at[0], at[1], const(rank)))
        for k in range(rank):
            value = add(
                value, mul(load(data, (at[0], at[1], const(rank - 1 - k))), coordinate(at[k + 2], shape[k + 2]))
            )
        return value

    return lowering.compute(shape, element, "affine_grid")


@InSteps
def _evaluate_affine_grid(args: tuple[Value, ...]) -> Value:
    data = np.asarray(args[0])
    matrix, sizes = wide(data), tuple(int(size) for size in args[1])
    rank, number = len(sizes), matrix.dtype.type
    result = np.broadcast_to(matrix[:, :, rank].reshape(*matrix.shape[:2], *[1] * rank), (*matrix.shape[:2], *sizes))
    for k, size_ in enumerate(sizes):
        at, whole = np.arange(size_).astype(matrix.dtype), number(size_)
        along = at * number(2) / (whole - number(1)) - 1 if args[2] else (at * number(2) + 1) / whole - 1
        factor = matrix[:, :, rank - 1 - k].reshape(*matrix.shape[:2], *[1] * rank)
        result = result + factor * along.reshape([-1 if j == k else 1 for j in range(rank)])
    return np.asarray(result).astype(data.dtype)


def _resize_spec(rank: int, rounding: str) -> OpSpec:
    name = f"resize{rank}d"
    params = (
        DATA,
        Param("size", "shape"),
        Param("roi", "axes", default=(0.0,) * (2 * rank)),
        Param("layout", "prim", "string", default=f"NC{_SPATIAL[rank]}"),
        Param("method", "prim", "string", default="linear"),
        Param("coordinate_transformation_mode", "prim", "string", default="half_pixel"),
        Param("rounding_method", "prim", "string", default=rounding),
        Param("cubic_alpha", "prim", "float64", default=-0.75),
        Param("cubic_exclude", "prim", "int64", default=0),
        Param("extrapolation_value", "prim", "float64", default=0.0),
        Param("out_dtype", "dtype", default=None),
    )
    return OpSpec(f"relax.image.{name}", params, _infer_resize, "Resize by interpolation.",
                  evaluate=_evaluate_resize(rank), legalize=lowered(name, _build_resize), see=_SEE)  # fmt: skip


SPECS = (
    _resize_spec(2, "round"),
    _resize_spec(3, ""),
    OpSpec("relax.image.affine_grid",
           (DATA, Param("size", "shape"), Param("align_corners", "prim", "bool", default=True)), _infer_affine_grid,
           "Where an affine mapping samples an image.", evaluate=_evaluate_affine_grid,
           legalize=lowered("affine_grid", _build_affine_grid), see=_SEE),
)  # fmt: skip
