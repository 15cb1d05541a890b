"""Operators that cut, stack, repeat, reverse and interleave elements."""

from typing import Any, TypeAlias

import numpy as np

from relax_core.ir.expr import Call, Dims, TensorType, TupleType, Type
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.prim import PrimExpr, const
from relax_core.ir.tir import Buffer
from relax_core.ops.attributes import integer_tensor_at, optional_int_at, require_rank, same_sizes, scalars_at, word_at
from relax_core.ops.kernels.lowering import Lowering, lowered
from relax_core.ops.kernels.scalar import add, as_index, choose, floordiv, floormod, greatest, least, lt, mul, size, sub
from relax_core.ops.kernels.te import load
from relax_core.ops.operands import (
    ONE,
    call_name,
    common_dtype,
    int_at,
    ints_at,
    normal_axis,
    product,
    replaced,
    tensor_at,
    tensors_at,
)
from relax_core.ops.schema import DATA, X
from relax_core.ops.spec import OpSpec, OpTypeError, Param, Value, listed
from relax_core.ops.tensors.manipulate import split_index

Array: TypeAlias = "np.ndarray[Any, Any]"

_SEE = "tvm/src/relax/op/tensor/manipulate.cc"


def _cuts(call: Call, arg_types: tuple[Type, ...], extent: PrimExpr | None) -> list[tuple[PrimExpr, PrimExpr]] | int:
    """Return begin and end of the parts of `split`; only their number if the extent is not known."""
    if isinstance(arg_types[1], TupleType):
        given = scalars_at(call, arg_types, 1) or ()
        negative = [item for item in given if item is not None and (constant_value(item) or 0) < 0]
        if negative:
            raise OpTypeError("TY079", f"split at {constant_value(negative[0])}; the places count from 0")
        if extent is None or None in given:
            return len(given) + 1
        ends = [least(item, extent) for item in given if item is not None] + [extent]
        begins = [const(0), *ends[:-1]]
        return [(size(a), size(greatest(a, b))) for a, b in zip(begins, ends, strict=True)]
    count = int_at(call, arg_types, 1)
    if count < 1:
        raise OpTypeError("TY018", f"split needs at least one section, got {count}")
    if extent is None:
        return count
    part = size(floordiv(add(extent, count - 1), count))
    marks = [size(mul(part, k)) for k in range(count)]
    if constant_value(extent) is not None:
        marks = [size(least(item, extent)) for item in marks]
    return list(zip(marks, [*marks[1:], extent], strict=True))


def _infer_split(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the parts: as many equal ones as the number says, the last may be smaller; or cut at the given indices.

    A single part is a tensor and no tuple, as in TVM.
    """
    data, axis = tensor_at(call, arg_types), int_at(call, arg_types, 2)
    if data.ndim is not None:
        axis = normal_axis(call, axis, data.ndim)
    cuts = _cuts(call, arg_types, None if data.dims is None else data.dims[axis])
    if isinstance(cuts, int) or data.dims is None:
        count = cuts if isinstance(cuts, int) else len(cuts)
        return data if count == 1 else TupleType((TensorType(None, data.dtype, data.ndim),) * count)
    if len(cuts) == 1:
        return data
    dims = data.dims
    return TupleType(tuple(TensorType(replaced(dims, axis, size(sub(b, a))), data.dtype) for a, b in cuts))


def _build_split(lowering: Lowering) -> list[Buffer]:
    call, types = lowering.call, lowering.arg_types
    data = lowering.input(0)
    axis = normal_axis(call, int_at(call, types, 2), len(data.shape))
    shapes = [lowering.shape(k) for k in range(len(lowering.results))]
    assert isinstance(types[0], TensorType)
    cuts = _cuts(call, types, lowering.need(types[0].dims)[axis])
    assert not isinstance(cuts, int), "the sizes are known"
    begins = [lowering.builder.own(begin) for begin, _ in cuts]
    name = "T_split" if isinstance(types[1], TupleType) else "T_split_sections"

    def part(shape: Dims, begin: PrimExpr) -> Buffer:
        def element(*indices: PrimExpr) -> PrimExpr:
            is_first = constant_value(begin) == 0
            return load(data, indices if is_first else replaced(indices, axis, add(indices[axis], begin)))

        return lowering.compute(shape, element, name)

    return [part(shape, begin) for shape, begin in zip(shapes, begins, strict=True)]


def _evaluate_split(args: tuple[Value, ...]) -> Value:
    data, axis = np.asarray(args[0]), int(args[2])
    extent = data.shape[axis]
    if not isinstance(args[1], int):
        ends = [*(min(int(item), extent) for item in args[1]), extent]
        begins = [0, *ends[:-1]]
    else:
        part = -(-extent // int(args[1]))
        begins = [min(part * k, extent) for k in range(int(args[1]))]
        ends = [*begins[1:], extent]
    first, *rest = (np.take(data, np.arange(a, max(a, b)), axis=axis) for a, b in zip(begins, ends, strict=True))
    return (first, *rest) if rest else first


def _infer_stack(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer a further axis of the number of tensors, whose shapes are equal."""
    tensors, axis = tensors_at(call, arg_types), int_at(call, arg_types, 1)
    dtype = common_dtype(call, tensors)
    ranks = {item.ndim for item in tensors if item.ndim is not None}
    if len(ranks) > 1 or not tensors:
        raise OpTypeError("TY016", ("stack expects equal ranks, got ", *listed(tensors)))
    if not ranks:
        return TensorType(None, dtype)
    rank = ranks.pop()
    axis = normal_axis(call, axis, rank + 1)
    known = [item.dims for item in tensors if item.dims is not None]
    for other in known[1:]:
        same_sizes(call, list(zip(known[0], other, strict=True)), tensors)
    if not known:
        return TensorType(None, dtype, rank + 1)
    return TensorType((*known[0][:axis], const(len(tensors)), *known[0][axis:]), dtype)


def _build_stack(lowering: Lowering) -> Buffer:
    tensors = lowering.fields(0)
    axis = normal_axis(lowering.call, int_at(lowering.call, lowering.arg_types, 1), len(lowering.result.dims))

    def element(*indices: PrimExpr) -> PrimExpr:
        rest = replaced(indices, axis)
        value = load(tensors[-1], rest)
        for k in reversed(range(len(tensors) - 1)):
            value = choose(lt(indices[axis], k + 1), load(tensors[k], rest), value)
        return value

    return lowering.compute(lowering.shape(), element, "T_stack")


def _evaluate_stack(args: tuple[Value, ...]) -> Value:
    return np.stack([np.asarray(item) for item in args[0]], axis=int(args[1]))


def _infer_repeat(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the size at the axis times the repeats; without an axis, of all elements in one."""
    data, times = tensor_at(call, arg_types), int_at(call, arg_types, 1)
    axis = optional_int_at(call, arg_types, 2)
    if axis is None:
        flat = None if data.dims is None else (size(mul(product(data.dims), times)),)
        return TensorType(flat, data.dtype, 1)
    if data.ndim is None:
        return data
    axis = normal_axis(call, axis, data.ndim)
    if data.dims is None:
        return TensorType(None, data.dtype, data.ndim)
    return TensorType(replaced(data.dims, axis, size(mul(data.dims[axis], times))), data.dtype)


def _build_repeat(lowering: Lowering) -> Buffer:
    data, times = lowering.input(0), int_at(lowering.call, lowering.arg_types, 1)
    axis = optional_int_at(lowering.call, lowering.arg_types, 2)

    def element(*indices: PrimExpr) -> PrimExpr:
        if axis is None:
            return load(data, split_index(floordiv(indices[0], times), data.shape))
        place = normal_axis(lowering.call, axis, len(data.shape))
        return load(data, replaced(indices, place, floordiv(indices[place], times)))

    return lowering.compute(lowering.shape(), element, "T_repeat")


def _evaluate_repeat(args: tuple[Value, ...]) -> Value:
    return np.repeat(np.asarray(args[0]), int(args[1]), axis=args[2])


def _infer_tile(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the sizes times the repeats, both filled up with ones in front."""
    data, times = tensor_at(call, arg_types), ints_at(call, arg_types, 1) or ()
    if data.ndim is None:
        return TensorType(None, data.dtype)
    rank = max(data.ndim, len(times))
    if data.dims is None:
        return TensorType(None, data.dtype, rank)
    dims = (ONE,) * (rank - data.ndim) + data.dims
    factors = (1,) * (rank - len(times)) + times
    return TensorType(tuple(size(mul(dim, k)) for dim, k in zip(dims, factors, strict=True)), data.dtype)


def _build_tile(lowering: Lowering) -> Buffer:
    data = lowering.input(0)

    def element(*indices: PrimExpr) -> PrimExpr:
        last = indices[len(indices) - len(data.shape) :]
        return load(data, tuple(floormod(index, dim) for index, dim in zip(last, data.shape, strict=True)))

    return lowering.compute(lowering.shape(), element, "T_tile")


def _evaluate_tile(args: tuple[Value, ...]) -> Value:
    return np.tile(np.asarray(args[0]), tuple(args[1]))


def infer_along(call: Call, arg_types: tuple[Type, ...]) -> TensorType:
    """Infer the type of the data; the axis must be one of its axes."""
    data, axis = tensor_at(call, arg_types), int_at(call, arg_types, 1)
    if data.ndim is not None:
        normal_axis(call, axis, data.ndim)
    return data


def _build_flip(lowering: Lowering) -> Buffer:
    data = lowering.input(0)
    axis = normal_axis(lowering.call, int_at(lowering.call, lowering.arg_types, 1), len(data.shape))

    def element(*indices: PrimExpr) -> PrimExpr:
        return load(data, replaced(indices, axis, sub(sub(data.shape[axis], 1), indices[axis])))

    return lowering.compute(data.shape, element, "T_flip")


def _evaluate_flip(args: tuple[Value, ...]) -> Value:
    return np.flip(np.asarray(args[0]), int(args[1]))


def _infer_meshgrid(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer one grid per vector, all of the vectors' sizes; "xy" exchanges the first two axes."""
    tensors = tensors_at(call, arg_types)
    dtype = common_dtype(call, tensors)
    word_at(call, arg_types, 1, ("ij", "xy"))
    for item in tensors:
        require_rank(call, item, 1, "vectors")
    dims = [item.dims[0] for item in tensors if item.dims is not None]
    if len(dims) < len(tensors):
        return TupleType((TensorType(None, dtype, len(tensors)),) * len(tensors))
    order = _mesh_order(call, arg_types, len(dims))
    return TupleType((TensorType(tuple(dims[k] for k in order), dtype),) * len(tensors))


def _mesh_order(call: Call, arg_types: tuple[Type, ...], count: int) -> tuple[int, ...]:
    is_swapped = word_at(call, arg_types, 1) == "xy" and count > 1
    return (1, 0, *range(2, count)) if is_swapped else tuple(range(count))


def _build_meshgrid(lowering: Lowering) -> list[Buffer]:
    vectors = lowering.fields(0)
    order = _mesh_order(lowering.call, lowering.arg_types, len(vectors))

    def grid(k: int) -> Buffer:
        axis = order.index(k)
        return lowering.compute(lowering.shape(k), lambda *i: load(vectors[k], (i[axis],)), "T_meshgrid")

    return [grid(k) for k in range(len(vectors))]


def _evaluate_meshgrid(args: tuple[Value, ...]) -> Value:
    return tuple(np.array(item) for item in np.meshgrid(*(np.asarray(item) for item in args[0]), indexing=args[1]))


def _infer_batch_flatten(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer `(b, *s) -> (b, product(s))`."""
    data = tensor_at(call, arg_types)
    if data.ndim == 0:
        raise OpTypeError("TY013", ("nn.batch_flatten expects a tensor of rank 1 or more, got ", data))
    dims = None if data.dims is None else (data.dims[0], size(product(data.dims[1:])))
    return TensorType(dims, data.dtype, 2)


def _build_batch_flatten(lowering: Lowering) -> Buffer:
    data = lowering.input(0, "data")

    def element(*indices: PrimExpr) -> PrimExpr:
        return load(data, (indices[0], *split_index(indices[1], data.shape[1:])))

    return lowering.compute(lowering.shape(), element, "T_batch_flatten")


def _evaluate_batch_flatten(args: tuple[Value, ...]) -> Value:
    data = np.asarray(args[0])
    return data.reshape(data.shape[0], int(np.prod(data.shape[1:])))


def _infer_pixel_shuffle(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer `(*b, c * r * r, h, w) -> (*b, c, h * r, w * r)`."""
    data, factor = tensor_at(call, arg_types), int_at(call, arg_types, 1)
    if data.ndim is not None and data.ndim < 3:
        raise OpTypeError("TY013", ("nn.pixel_shuffle expects a tensor of rank 3 or more, got ", data))
    if data.dims is None:
        return TensorType(None, data.dtype, data.ndim)
    *batch, channels, height, width = data.dims
    known = constant_value(channels)
    if factor < 1 or (known is not None and known % factor**2):
        raise OpTypeError("TY037", f"nn.pixel_shuffle cannot divide {known} channels by {factor} * {factor}")
    made = (floordiv(channels, factor**2), mul(height, factor), mul(width, factor))
    return TensorType((*batch, *map(size, made)), data.dtype)


def _build_pixel_shuffle(lowering: Lowering) -> Buffer:
    data, factor = lowering.input(0, "data"), int_at(lowering.call, lowering.arg_types, 1)

    def element(*indices: PrimExpr) -> PrimExpr:
        *batch, channel, y, x = indices
        within = add(mul(floormod(y, factor), factor), floormod(x, factor))
        source = add(mul(channel, factor**2), within)
        return load(data, (*batch, source, floordiv(y, factor), floordiv(x, factor)))

    return lowering.compute(lowering.shape(), element, "T_pixel_shuffle")


def _evaluate_pixel_shuffle(args: tuple[Value, ...]) -> Value:
    data, r = np.asarray(args[0]), int(args[1])
    *batch, channels, height, width = data.shape
    split = data.reshape(-1, channels // (r * r), r, r, height, width).transpose(0, 1, 4, 2, 5, 3)
    return split.reshape(*batch, channels // (r * r), height * r, width * r)


def _infer_reverse_sequence(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the type of the data; there is one length for each place of the batch axis."""
    data, lengths = tensor_at(call, arg_types, 0), integer_tensor_at(call, arg_types, 1)
    require_rank(call, lengths, 1, "lengths")
    if data.ndim is not None:
        batch = normal_axis(call, int_at(call, arg_types, 3), data.ndim)
        if normal_axis(call, int_at(call, arg_types, 2), data.ndim) == batch:
            raise OpTypeError("TY017", f"{call_name(call)} needs two different axes")
        if data.dims is not None and lengths.dims is not None:
            same_sizes(call, [(data.dims[batch], lengths.dims[0])], (data, lengths))
    return data


def _build_reverse_sequence(lowering: Lowering) -> Buffer:
    data, lengths = lowering.input(0, "data"), lowering.input(1, "seq_lengths")
    axis, batch = (
        normal_axis(lowering.call, int_at(lowering.call, lowering.arg_types, k), len(data.shape)) for k in (2, 3)
    )

    def element(*indices: PrimExpr) -> PrimExpr:
        length = as_index(load(lengths, (indices[batch],)))
        index = choose(lt(indices[axis], length), sub(sub(length, 1), indices[axis]), indices[axis])
        return load(data, replaced(indices, axis, index))

    return lowering.compute(data.shape, element, "T_reverse_sequence")


def _evaluate_reverse_sequence(args: tuple[Value, ...]) -> Value:
    data, lengths = np.asarray(args[0]), np.asarray(args[1])
    moved = np.moveaxis(data, (int(args[3]), int(args[2])), (0, 1)).copy()
    for k, length in enumerate(lengths):
        moved[k, : int(length)] = moved[k, : int(length)][::-1].copy()
    return np.moveaxis(moved, (0, 1), (int(args[3]), int(args[2])))


SPECS = (
    OpSpec("relax.split", (X, Param("indices_or_sections", "ints"), Param("axis", "prim", "int64", default=0)),
           _infer_split, "Cut into parts along an axis.", evaluate=_evaluate_split,
           legalize=lowered("split", _build_split), pattern_kind="injective", see=_SEE),
    OpSpec("relax.stack", (Param("tensors", "tuple"), Param("axis", "prim", "int64", default=0)), _infer_stack,
           "Join tensors along a new axis.", evaluate=_evaluate_stack, legalize=lowered("stack", _build_stack),
           pattern_kind="injective", see=_SEE),
    OpSpec("relax.repeat",
           (DATA, Param("repeats", "prim", "int64"), Param("axis", "prim", "int64", default=None)), _infer_repeat,
           "Repeat each element.", evaluate=_evaluate_repeat, legalize=lowered("repeat", _build_repeat),
           pattern_kind="injective", see=_SEE),
    OpSpec("relax.tile", (DATA, Param("repeats", "axes")), _infer_tile, "Repeat the whole along each axis.",
           evaluate=_evaluate_tile, legalize=lowered("tile", _build_tile), pattern_kind="injective", see=_SEE),
    OpSpec("relax.flip", (DATA, Param("axis", "prim", "int64")), infer_along, "Reverse along an axis.",
           evaluate=_evaluate_flip, legalize=lowered("flip", _build_flip), pattern_kind="injective", see=_SEE),
    OpSpec("relax.meshgrid", (Param("tensors", "tuple"), Param("indexing", "prim", "string", default="ij")),
           _infer_meshgrid, "Coordinates of a grid.", evaluate=_evaluate_meshgrid,
           legalize=lowered("meshgrid", _build_meshgrid), pattern_kind="injective", see=_SEE),
    OpSpec("relax.nn.batch_flatten", (DATA,), _infer_batch_flatten, "All axes but the first as one.",
           evaluate=_evaluate_batch_flatten, legalize=lowered("batch_flatten", _build_batch_flatten),
           pattern_kind="injective", see="tvm/src/relax/op/nn/nn.cc"),
    OpSpec("relax.nn.pixel_shuffle", (DATA, Param("upscale_factor", "prim", "int64")), _infer_pixel_shuffle,
           "Channels become blocks of pixels.", evaluate=_evaluate_pixel_shuffle,
           legalize=lowered("pixel_shuffle", _build_pixel_shuffle), pattern_kind="injective",
           see="tvm/src/relax/op/nn/nn.cc"),
    OpSpec("relax.reverse_sequence",
           (DATA, Param("seq_lengths", "tensor"), Param("seq_axis", "prim", "int64", default=1),
            Param("batch_axis", "prim", "int64", default=0)),
           _infer_reverse_sequence, "Reverse the beginning of each sequence of a batch.",
           evaluate=_evaluate_reverse_sequence, legalize=lowered("reverse_sequence", _build_reverse_sequence),
           pattern_kind="injective", see=_SEE),
)  # fmt: skip
