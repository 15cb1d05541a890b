"""Slices with steps: read from a tensor, or written into it; padding."""

from typing import Any, TypeAlias

import numpy as np

from relax_core.ir.expr import Call, TensorType, Type
from relax_core.ir.integer.prove import constant_value, prove_different
from relax_core.ir.prim import PrimExpr, const
from relax_core.ir.tir import Buffer
from relax_core.ops.attributes import flag_at, float_at, integer_tensor_at, require_rank, scalars_at, word_at
from relax_core.ops.kernels.lowering import Lowering, lowered
from relax_core.ops.kernels.scalar import (
    add,
    both,
    choose,
    eq,
    floordiv,
    floormod,
    greatest,
    le,
    least,
    lit,
    lt,
    mul,
    size,
    sub,
)
from relax_core.ops.kernels.te import load
from relax_core.ops.operands import common_dtype, int_at, ints_at, normal_axes, normal_axis, scalar_at, tensor_at
from relax_core.ops.schema import DATA, X
from relax_core.ops.spec import OpSpec, OpTypeError, Param, Value

Array: TypeAlias = "np.ndarray[Any, Any]"
_SEE = "tvm/src/relax/op/tensor/index.cc"
_MODES = ("constant", "reflect", "replicate", "circular", "edge")


def clamped(index: PrimExpr, extent: PrimExpr, *, is_backward: bool) -> PrimExpr:
    """Return where a slice's bound lies: a negative one counts from the end, and all are held in range."""
    low, high = (const(-1), sub(extent, 1)) if is_backward else (const(0), extent)
    fixed = constant_value(index)
    if fixed is None:
        index = choose(lt(index, 0), add(index, extent), index)
        return size(least(greatest(index, low), high))
    if fixed < 0:
        return size(least(greatest(add(extent, fixed), low), high))
    return size(least(index, high))


def _length(begin: PrimExpr, end: PrimExpr, step: int) -> PrimExpr:
    if step > 0:
        room = add(sub(end, begin), step - 1)
    else:
        room = add(sub(begin, end), -step - 1)
    length = size(floordiv(size(room), abs(step)))
    fixed = constant_value(length)
    return const(max(0, fixed)) if fixed is not None else length


def _slices(
    call: Call, arg_types: tuple[Type, ...], rank: int, dims: tuple[PrimExpr, ...]
) -> dict[int, tuple[PrimExpr, PrimExpr, int]] | None:
    """Return per axis begin, end and step; `None` if a bound is not known before the run."""
    axes = normal_axes(call, ints_at(call, arg_types, 1) or (), rank)
    begins, ends = scalars_at(call, arg_types, 2) or (), scalars_at(call, arg_types, 3) or ()
    steps = ints_at(call, arg_types, 4) or (1,) * len(axes)
    if not len(axes) == len(begins) == len(ends) == len(steps):
        raise OpTypeError(
            "TY018", f"strided_slice expects as many begins, ends and strides as axes, which are {len(axes)}"
        )
    if 0 in steps:
        raise OpTypeError("TY018", "strided_slice expects strides that are not 0")
    found: dict[int, tuple[PrimExpr, PrimExpr, int]] = {}
    is_inbound = flag_at(call, arg_types, 5)
    for axis, begin, end, step in zip(axes, begins, ends, steps, strict=True):
        if begin is None or end is None:
            return None
        if is_inbound:
            _check_inbound(begin, end, step, dims[axis])
        else:
            begin, end = (clamped(item, dims[axis], is_backward=step < 0) for item in (begin, end))
        found[axis] = begin, end, step
    return found


def _check_inbound(begin: PrimExpr, end: PrimExpr, step: int, extent: PrimExpr) -> None:
    """Refuse bounds that are provably not inside an axis, as `assume_inbound` says they are."""
    first, last, count = constant_value(begin), constant_value(end), constant_value(extent)
    if first is None or last is None or count is None:
        return
    least, most = (0, count) if step > 0 else (-1, count - 1)
    if not (least <= first <= most and least <= last <= most):
        message = f"strided_slice from {first:,} to {last:,} leaves an axis of {count:,} elements"
        raise OpTypeError("TY079", message, "leave assume_inbound=True out, so that the bounds are cut to the axis")


def _infer_strided_slice(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the number of steps from begin to end per axis; negative bounds count from the end."""
    data = tensor_at(call, arg_types)
    if data.dims is None:
        return TensorType(None, data.dtype, data.ndim)
    slices = _slices(call, arg_types, len(data.dims), data.dims)
    if slices is None:
        return TensorType(None, data.dtype, data.ndim)
    return TensorType(tuple(_length(*slices[k]) if k in slices else dim for k, dim in enumerate(data.dims)), data.dtype)


def _build_strided_slice(lowering: Lowering) -> Buffer:
    data = lowering.input(0)
    assert isinstance(lowering.arg_types[0], TensorType)
    dims = lowering.arg_types[0].dims or ()
    slices = _slices(lowering.call, lowering.arg_types, len(dims), dims) or {}
    begins = {axis: (lowering.builder.own(begin), step) for axis, (begin, _, step) in slices.items()}

    def element(*indices: PrimExpr) -> PrimExpr:
        return load(
            data,
            tuple(
                add(begins[k][0], mul(index, begins[k][1])) if k in begins else index for k, index in enumerate(indices)
            ),
        )

    return lowering.compute(lowering.shape(), element, "T_strided_slice")


def _bound(value: int, extent: int, *, is_backward: bool) -> int:
    value = value + extent if value < 0 else value
    return max(-1, min(value, extent - 1)) if is_backward else max(0, min(value, extent))


def _picked(extent: int, begin: int, end: int, step: int) -> list[int]:
    is_backward = step < 0
    return list(
        range(_bound(begin, extent, is_backward=is_backward), _bound(end, extent, is_backward=is_backward), step)
    )


def _evaluate_strided_slice(args: tuple[Value, ...]) -> Value:
    data, axes, begins, ends = np.asarray(args[0]), args[1], args[2], args[3]
    steps = args[4] or (1,) * len(axes)
    for axis, begin, end, step in zip(axes, begins, ends, steps, strict=True):
        data = np.take(data, _picked(data.shape[axis], begin, end, step), axis=axis)
    return data


def _infer_dynamic(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the rank only: the bounds are tensors, one element per axis."""
    data = tensor_at(call, arg_types)
    for k in (1, 2, 3):
        bounds = integer_tensor_at(call, arg_types, k)
        require_rank(call, bounds, 1, "bounds")
        if bounds.dims is not None and data.ndim is not None and prove_different(bounds.dims[0], const(data.ndim)):
            raise OpTypeError("TY037", (f"dynamic_strided_slice expects {data.ndim} bounds, got ", bounds))
    return TensorType(None, data.dtype, data.ndim)


def _evaluate_dynamic(args: tuple[Value, ...]) -> Value:
    data, begins, ends, steps = (np.asarray(item) for item in args)
    for axis in range(data.ndim):
        bounds = (int(item[axis]) for item in (begins, ends, steps))
        data = np.take(data, _picked(data.shape[axis], *bounds), axis=axis)
    return data


def _infer_slice_scatter(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the type of the data; the source has its rank and dtype."""
    data, source = tensor_at(call, arg_types, 0), tensor_at(call, arg_types, 1)
    dtype = common_dtype(call, (data, source))
    for k in (2, 3, 4):
        scalar_at(call, arg_types, k)
    if data.ndim is not None:
        normal_axis(call, int_at(call, arg_types, 5), data.ndim)
        require_rank(call, source, data.ndim, "a source")
    return TensorType(data.shape, dtype, data.ndim)


def _build_slice_scatter(lowering: Lowering) -> Buffer:
    data, source = lowering.input(0, "data"), lowering.input(1, "src")
    begin, end, step = (lowering.scalar(k) for k in (2, 3, 4))
    axis = normal_axis(lowering.call, int_at(lowering.call, lowering.arg_types, 5), len(data.shape))
    extent = data.shape[axis]
    begin, end = (clamped(item, extent, is_backward=False) for item in (begin, end))

    def element(*indices: PrimExpr) -> PrimExpr:
        offset = sub(indices[axis], begin)
        is_chosen = both(le(begin, indices[axis]), lt(indices[axis], end), eq(floormod(offset, step), 0))
        place = (*indices[:axis], floordiv(offset, step), *indices[axis + 1 :])
        return choose(is_chosen, load(source, place), load(data, indices))

    return lowering.compute(data.shape, element, "T_slice_scatter")


def _evaluate_slice_scatter(args: tuple[Value, ...]) -> Value:
    data, source, begin, end, step, axis = args
    result = np.array(data)
    where = [slice(None)] * result.ndim
    where[int(axis)] = slice(int(begin), int(end), int(step))
    result[tuple(where)] = source
    return result


def _widths(call: Call, arg_types: tuple[Type, ...], rank: int) -> list[tuple[int, int]]:
    flat = ints_at(call, arg_types, 1) or ()
    if len(flat) != 2 * rank:
        raise OpTypeError("TY018", f"nn.pad expects {2 * rank} widths, before and after each axis, got {list(flat)}")
    return list(zip(flat[::2], flat[1::2], strict=True))


def _infer_pad(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer each size with the two widths of its axis added."""
    data = tensor_at(call, arg_types)
    word_at(call, arg_types, 2, _MODES)
    if data.ndim is None:
        return data
    widths = _widths(call, arg_types, data.ndim)
    if data.dims is None:
        return TensorType(None, data.dtype, data.ndim)
    return TensorType(tuple(size(add(dim, sum(pair))) for dim, pair in zip(data.dims, widths, strict=True)), data.dtype)


def _build_pad(lowering: Lowering) -> Buffer:
    data = lowering.input(0)
    widths = _widths(lowering.call, lowering.arg_types, len(data.shape))
    mode = word_at(lowering.call, lowering.arg_types, 2)
    fill = lit(float_at(lowering.call, lowering.arg_types, 3), data.dtype)

    def element(*indices: PrimExpr) -> PrimExpr:
        places, conditions = list[PrimExpr](), list[PrimExpr]()
        for index, extent, (before, after) in zip(indices, data.shape, widths, strict=True):
            place = sub(index, before) if before else index
            if before or after:
                conditions += [le(0, place), lt(place, extent)] if mode == "constant" else []
                place = _mirrored(mode, place, extent)
            places.append(place)
        value = load(data, tuple(places))
        return choose(both(*conditions), value, fill) if conditions else value

    return lowering.compute(lowering.shape(), element, "PadInput")


def _mirrored(mode: str, place: PrimExpr, extent: PrimExpr) -> PrimExpr:
    """Return where an element outside the data is read."""
    match mode:
        case "reflect":
            low = choose(lt(place, 0), sub(0, place), place)
            return choose(lt(low, extent), low, sub(sub(mul(extent, 2), 2), low))
        case "replicate" | "edge":
            return greatest(least(place, sub(extent, 1)), 0)
        case "circular":
            return floormod(place, extent)
        case _:
            return place


def _evaluate_pad(args: tuple[Value, ...]) -> Value:
    data, flat = np.asarray(args[0]), args[1]
    widths = list(zip(flat[::2], flat[1::2], strict=True))
    match args[2]:
        case "constant":
            return np.pad(data, widths, constant_values=data.dtype.type(args[3]))
        case "reflect":
            return np.pad(data, widths, mode="reflect")
        case "circular":
            return np.pad(data, widths, mode="wrap")
        case _:
            return np.pad(data, widths, mode="edge")


SPECS = (
    OpSpec("relax.strided_slice",
           (X, Param("axes", "axes"), Param("begin", "axes"), Param("end", "axes"),
            Param("strides", "axes", default=None), Param("assume_inbound", "prim", "bool", default=False)),
           _infer_strided_slice, "Elements from begin to end with a stride, per axis.",
           evaluate=_evaluate_strided_slice, legalize=lowered("strided_slice", _build_strided_slice),
           pattern_kind="injective", see=_SEE),
    OpSpec("relax.dynamic_strided_slice",
           (X, Param("begin", "tensor"), Param("end", "tensor"), Param("strides", "tensor")), _infer_dynamic,
           "A slice whose bounds are tensors.", evaluate=_evaluate_dynamic, see=_SEE, realized_by="evaluation",
           reason="The size of its result depends on the values of the bounds."),
    OpSpec("relax.slice_scatter",
           (Param("input_tensor", "tensor"), Param("src", "tensor"), Param("start", "prim", "int64"),
            Param("end", "prim", "int64"), Param("step", "prim", "int64"), Param("axis", "prim", "int64", default=0)),
           _infer_slice_scatter, "Write a tensor over a slice of another.", evaluate=_evaluate_slice_scatter,
           legalize=lowered("slice_scatter", _build_slice_scatter), see="tvm/src/relax/op/tensor/manipulate.cc"),
    OpSpec("relax.nn.pad",
           (DATA, Param("pad_width", "axes"), Param("pad_mode", "prim", "string", default="constant"),
            Param("pad_value", "prim", "float64", default=0.0)),
           _infer_pad, "Add elements before and after each axis.", evaluate=_evaluate_pad,
           legalize=lowered("pad", _build_pad), pattern_kind="injective", see="tvm/src/relax/op/nn/nn.cc"),
)  # fmt: skip
