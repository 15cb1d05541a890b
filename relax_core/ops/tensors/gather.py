"""Operators that read at places that tensors of indices give, and one-hot encoding."""

from collections.abc import Sequence

import numpy as np

from relax_core.ir.expr import Call, Dims, TensorType, Type
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.prim import PrimExpr, const, dtype_of
from relax_core.ir.tir import Buffer
from relax_core.ops.arithmetic.elementwise import require_bool
from relax_core.ops.attributes import integer_tensor_at, require_integer, require_rank
from relax_core.ops.kernels.lowering import Lowering, lowered
from relax_core.ops.kernels.scalar import add, as_index, cast, choose, eq, lt
from relax_core.ops.kernels.te import load
from relax_core.ops.operands import (
    broadcast,
    broadcast_types,
    call_name,
    common_dtype,
    int_at,
    normal_axis,
    scalar_at,
    tensor_at,
    tensors_at,
)
from relax_core.ops.schema import DATA, X
from relax_core.ops.spec import OpSpec, OpTypeError, Param, Value

_SEE = "tvm/src/relax/op/tensor/manipulate.cc"


def wrapped(index: PrimExpr, extent: PrimExpr) -> PrimExpr:
    """Return an index that counts from the end if it is negative."""
    return choose(lt(index, 0), add(index, extent), index)


def _infer_gather_elements(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the shape of the indices, whose rank is that of the data."""
    data, indices = tensor_at(call, arg_types, 0), integer_tensor_at(call, arg_types, 1)
    if data.ndim is not None:
        normal_axis(call, int_at(call, arg_types, 2), data.ndim)
        require_rank(call, indices, data.ndim, "indices")
    return TensorType(indices.shape, data.dtype, indices.ndim if indices.ndim is not None else data.ndim)


def _build_gather_elements(lowering: Lowering) -> Buffer:
    data, indices = lowering.input(0, "data"), lowering.input(1, "indices")
    axis = normal_axis(lowering.call, int_at(lowering.call, lowering.arg_types, 2), len(data.shape))

    def element(*at: PrimExpr) -> PrimExpr:
        place = wrapped(as_index(load(indices, at)), data.shape[axis])
        return load(data, (*at[:axis], place, *at[axis + 1 :]))

    return lowering.compute(indices.shape, element, "T_gather")


def _evaluate_gather_elements(args: tuple[Value, ...]) -> Value:
    data, indices, axis = np.asarray(args[0]), np.asarray(args[1]), int(args[2])
    places = tuple(np.indices(indices.shape))
    return data[(*places[: axis % data.ndim], indices, *places[axis % data.ndim + 1 :])]


def tuple_length(call: Call, indices: TensorType) -> int | None:
    """Return how many axes a tensor of index tuples picks, which is its last size."""
    if indices.ndim == 0:
        raise OpTypeError("TY013", (f"{call_name(call)} expects indices of rank 1 or more, got ", indices))
    return None if indices.dims is None else constant_value(indices.dims[-1])


def _infer_gather_nd(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer data `(*b, *m, *r)` at indices `(*b, *i, len(m))` as `(*b, *i, *r)`."""
    data, indices = tensor_at(call, arg_types, 0), integer_tensor_at(call, arg_types, 1)
    batch = int_at(call, arg_types, 2)
    length = tuple_length(call, indices)
    if data.ndim is None or indices.ndim is None or length is None:
        return TensorType(None, data.dtype)
    if batch + length > data.ndim:
        raise OpTypeError("TY013", (f"gather_nd picks {batch + length} axes of ", data), "the last size of the indices")
    if data.dims is None or indices.dims is None:
        return TensorType(None, data.dtype, indices.ndim - 1 + data.ndim - batch - length)
    return TensorType((*indices.dims[:-1], *data.dims[batch + length :]), data.dtype)


def _build_gather_nd(lowering: Lowering) -> Buffer:
    data, indices = lowering.input(0, "data"), lowering.input(1, "indices")
    batch = int_at(lowering.call, lowering.arg_types, 2)
    length = lowering.number(indices.shape[-1])
    width = len(indices.shape) - 1

    def element(*at: PrimExpr) -> PrimExpr:
        picked = tuple(
            wrapped(as_index(load(indices, (*at[:width], const(k)))), data.shape[batch + k]) for k in range(length)
        )
        return load(data, (*at[:batch], *picked, *at[width:]))

    return lowering.compute(lowering.shape(), element, "T_gather_nd")


def _evaluate_gather_nd(args: tuple[Value, ...]) -> Value:
    data, indices, batch = np.asarray(args[0]), np.asarray(args[1]), int(args[2])
    places = tuple(np.moveaxis(indices, -1, 0))
    leading = np.indices(indices.shape[:-1])[:batch]
    return data[(*leading, *places)]


def index_shape(call: Call, tensors: Sequence[TensorType]) -> Dims | None:
    """Return the shape that tensors of indices broadcast to; `None` if it is not known."""
    for item in tensors:
        require_integer(call, item)
    dims: Dims | None = ()
    for item in tensors:
        dims = None if dims is None or item.dims is None else broadcast(call, dims, item.dims)
    return dims


def broadcast_places(
    indices: Sequence[Buffer], at: tuple[PrimExpr, ...], dims: Sequence[PrimExpr]
) -> tuple[PrimExpr, ...]:
    """Return the index along each axis at the place `at` of the broadcast tensors of indices."""

    def one(buffer: Buffer, extent: PrimExpr) -> PrimExpr:
        last = at[len(at) - len(buffer.shape) :]
        place = tuple(
            const(0) if constant_value(dim) == 1 else index for dim, index in zip(buffer.shape, last, strict=True)
        )
        return wrapped(as_index(load(buffer, place)), extent)

    return tuple(one(buffer, extent) for buffer, extent in zip(indices, dims, strict=False))


def _infer_index_tensor(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the broadcast shape of the indices, then the axes of the data that have none."""
    data, tensors = tensor_at(call, arg_types, 0), tensors_at(call, arg_types, 1)
    if not tensors:
        raise OpTypeError("TY016", "index_tensor expects at least one tensor of indices")
    dims = index_shape(call, tensors)
    if data.ndim is not None and len(tensors) > data.ndim:
        raise OpTypeError("TY013", (f"index_tensor got {len(tensors)} tensors of indices for ", data))
    if data.dims is None or dims is None:
        ranks = [item.ndim for item in tensors]
        known = [rank for rank in ranks if rank is not None]
        if data.ndim is None or len(known) < len(ranks):
            return TensorType(None, data.dtype)
        return TensorType(None, data.dtype, max(known) + data.ndim - len(tensors))
    return TensorType((*dims, *data.dims[len(tensors) :]), data.dtype)


def _build_index_tensor(lowering: Lowering) -> Buffer:
    data, indices = lowering.input(0, "data"), lowering.fields(1, "index")
    width = max(len(item.shape) for item in indices)

    def element(*at: PrimExpr) -> PrimExpr:
        return load(data, (*broadcast_places(indices, at[:width], data.shape), *at[width:]))

    return lowering.compute(lowering.shape(), element, "T_index")


def _evaluate_index_tensor(args: tuple[Value, ...]) -> Value:
    return np.asarray(args[0])[tuple(np.asarray(item) for item in args[1])]


def _infer_one_hot(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer a further axis of size `depth`; the dtype is that of the values."""
    indices, depth = integer_tensor_at(call, arg_types, 0), int_at(call, arg_types, 3)
    values = [scalar_at(call, arg_types, k) for k in (1, 2)]
    dtypes = {getattr(arg_types[k], "dtype", None) for k in (1, 2)}
    if len(dtypes) > 1 or depth < 1:
        raise OpTypeError("TY011" if depth > 0 else "TY018", "one_hot expects two values of one dtype and a depth > 0")
    dtype = next(iter(dtypes)) if values[0] is None else dtype_of(values[0])
    if indices.ndim is None:
        return TensorType(None, dtype)
    axis = normal_axis(call, int_at(call, arg_types, 4), indices.ndim + 1)
    if indices.dims is None:
        return TensorType(None, dtype, indices.ndim + 1)
    return TensorType((*indices.dims[:axis], const(depth), *indices.dims[axis:]), dtype)


def _build_one_hot(lowering: Lowering) -> Buffer:
    indices, on, off = lowering.input(0, "indices"), lowering.scalar(1), lowering.scalar(2)
    axis = normal_axis(lowering.call, int_at(lowering.call, lowering.arg_types, 4), len(lowering.result.dims))

    def element(*at: PrimExpr) -> PrimExpr:
        chosen = as_index(load(indices, (*at[:axis], *at[axis + 1 :])))
        return choose(eq(chosen, at[axis]), on, off)

    return lowering.compute(lowering.shape(), element, "T_one_hot")


def _evaluate_one_hot(args: tuple[Value, ...]) -> Value:
    indices, on, off, depth, axis = np.asarray(args[0]), args[1], args[2], int(args[3]), int(args[4])
    dtype = "bool" if isinstance(on, bool) else "int64" if isinstance(on, int) else "float32"
    places = np.expand_dims(indices, axis)
    shape = [1] * places.ndim
    shape[axis] = depth
    is_on = places == np.arange(depth).reshape(shape)
    return np.where(is_on, on, off).astype(dtype)


def _infer_masked_fill(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the broadcast of data and mask, which is bool; the value has rank 0 and the dtype of the data."""
    data, mask, fill = (tensor_at(call, arg_types, k) for k in range(3))
    require_bool(call, mask)
    require_rank(call, fill, 0, "a value")
    common_dtype(call, (data, fill))
    return broadcast_types(call, (data, mask), data.dtype)


def _build_masked_fill(lowering: Lowering) -> Buffer:
    data, mask, fill = (lowering.operand(k, hint) for k, hint in enumerate(("x", "mask", "value")))
    dtype = lowering.result.dtype
    return lowering.compute(lowering.shape(), lambda *i: choose(mask(*i), cast(fill(*i), dtype), data(*i)), "T_where")


def _evaluate_masked_fill(args: tuple[Value, ...]) -> Value:
    data = np.asarray(args[0])
    return np.where(np.asarray(args[1]), np.asarray(args[2]).astype(data.dtype), data)


SPECS = (
    OpSpec("relax.gather_elements", (DATA, Param("indices", "tensor"), Param("axis", "prim", "int64", default=0)),
           _infer_gather_elements, "Pick elements along an axis by their index.", evaluate=_evaluate_gather_elements,
           legalize=lowered("gather_elements", _build_gather_elements), pattern_kind="injective", see=_SEE),
    OpSpec("relax.gather_nd", (DATA, Param("indices", "tensor"), Param("batch_dims", "prim", "int64", default=0)),
           _infer_gather_nd, "Pick parts by tuples of indices.", evaluate=_evaluate_gather_nd,
           legalize=lowered("gather_nd", _build_gather_nd), pattern_kind="injective", see=_SEE),
    OpSpec("relax.index_tensor", (DATA, Param("indices", "tuple")), _infer_index_tensor,
           "Pick parts by one tensor of indices per axis, which broadcast.", evaluate=_evaluate_index_tensor,
           legalize=lowered("index_tensor", _build_index_tensor), pattern_kind="injective", see=_SEE),
    OpSpec("relax.one_hot",
           (Param("indices", "tensor"), Param("on_value", "prim"), Param("off_value", "prim"),
            Param("depth", "prim", "int64"), Param("axis", "prim", "int64", default=-1)),
           _infer_one_hot, "Encode each index as a row with one mark.", evaluate=_evaluate_one_hot,
           legalize=lowered("one_hot", _build_one_hot), pattern_kind="broadcast", see=_SEE),
    OpSpec("relax.masked_fill", (X, Param("mask", "tensor"), Param("value", "tensor")), _infer_masked_fill,
           "Replace elements where the mask holds.", evaluate=_evaluate_masked_fill,
           legalize=lowered("masked_fill", _build_masked_fill), pattern_kind="broadcast",
           see="tvm/python/tvm/relax/op/mask.py"),
)  # fmt: skip
