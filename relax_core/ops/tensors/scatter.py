"""Operators that write at places that tensors of indices give, into a copy of the data."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from relax_core.ir.expr import Call, Type
from relax_core.ir.prim import PrimExpr, const
from relax_core.ir.tir import Buffer
from relax_core.ops.attributes import flag_at, integer_tensor_at, require_rank, same_sizes, word_at
from relax_core.ops.kernels.lowering import Lowering, lowered
from relax_core.ops.kernels.scalar import add, as_index, div, greatest, least, mul
from relax_core.ops.kernels.te import load
from relax_core.ops.operands import (
    broadcast,
    call_name,
    common_dtype,
    int_at,
    is_absent,
    normal_axis,
    tensor_at,
    tensors_at,
)
from relax_core.ops.schema import DATA
from relax_core.ops.spec import OpSpec, OpTypeError, Param, Value
from relax_core.ops.tensors.gather import broadcast_places, index_shape, tuple_length, wrapped

Array: TypeAlias = "np.ndarray[Any, Any]"

_SEE = "tvm/src/relax/op/tensor/manipulate.cc"
_WORDS = ("update", "add", "mul", "mean", "max", "min")
_INDICES, _UPDATES = Param("indices", "tensor"), Param("updates", "tensor")
_REDUCTION = Param("reduction", "prim", "string", default="update")


def _mean(old: PrimExpr, new: PrimExpr) -> PrimExpr:
    return div(add(old, new), 2)


def _update(old: PrimExpr, new: PrimExpr) -> PrimExpr:
    return new


_COMBINE = MappingProxyType({"update": _update, "add": add, "mul": mul, "mean": _mean, "max": greatest, "min": least})


def _numpy_mean(old: Any, new: Any) -> Any:
    return (old + new) / 2


def _numpy_update(old: Any, new: Any) -> Any:
    return new


_FUNCTIONS: Mapping[str, Any] = MappingProxyType(
    {
        "update": _numpy_update,
        "add": np.add,
        "mul": np.multiply,
        "mean": _numpy_mean,
        "max": np.maximum,
        "min": np.minimum,
    }
)


def _infer_scatter_elements(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the type of the data; indices and updates have one shape, and its rank."""
    data, updates = tensor_at(call, arg_types, 0), tensor_at(call, arg_types, 2)
    indices = integer_tensor_at(call, arg_types, 1)
    common_dtype(call, (data, updates))
    word_at(call, arg_types, 4, _WORDS)
    if data.ndim is not None:
        normal_axis(call, int_at(call, arg_types, 3), data.ndim)
        for item in (indices, updates):
            require_rank(call, item, data.ndim, "indices and updates")
    if indices.dims is not None and updates.dims is not None:
        same_sizes(call, list(zip(indices.dims, updates.dims, strict=True)), (indices, updates))
    return data


def _build_scatter_elements(lowering: Lowering) -> Buffer:
    data, indices, updates = (lowering.input(k, hint) for k, hint in enumerate(("data", "indices", "updates")))
    axis = normal_axis(lowering.call, int_at(lowering.call, lowering.arg_types, 3), len(data.shape))
    combine = _COMBINE[word_at(lowering.call, lowering.arg_types, 4)]
    result = lowering.copy(data)

    def element(*at: PrimExpr) -> tuple[tuple[PrimExpr, ...], PrimExpr]:
        place = wrapped(as_index(load(indices, at)), data.shape[axis])
        where = (*at[:axis], place, *at[axis + 1 :])
        return where, combine(load(result, where), load(updates, at))

    return lowering.builder.scatter(result, updates.shape, element, "T_scatter")


def _evaluate_scatter_elements(args: tuple[Value, ...]) -> Value:
    result, indices, updates, axis = np.array(args[0]), np.asarray(args[1]), np.asarray(args[2]), int(args[3])
    function = _FUNCTIONS[args[4]]
    for at in np.ndindex(updates.shape):
        where = list(at)
        where[axis] = int(indices[at])
        result[tuple(where)] = function(result[tuple(where)], updates[at])
    return result


def _infer_scatter_nd(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Check that indices `(*i, m)` and updates `(*i, *r)` fit data `(*m, *r)`, which is the result's type."""
    data, updates = tensor_at(call, arg_types, 0), tensor_at(call, arg_types, 2)
    indices = integer_tensor_at(call, arg_types, 1)
    common_dtype(call, (data, updates))
    word_at(call, arg_types, 3, _WORDS)
    length = tuple_length(call, indices)
    if data.dims is None or indices.dims is None or length is None:
        return data
    if length > len(data.dims):
        raise OpTypeError("TY013", (f"scatter_nd picks {length} axes of ", data))
    wanted = (*indices.dims[:-1], *data.dims[length:])
    require_rank(call, updates, len(wanted), "updates")
    if updates.dims is not None:
        same_sizes(call, list(zip(wanted, updates.dims, strict=True)), (indices, updates))
    return data


def _build_scatter_nd(lowering: Lowering) -> Buffer:
    data, indices, updates = (lowering.input(k, hint) for k, hint in enumerate(("data", "indices", "updates")))
    combine = _COMBINE[word_at(lowering.call, lowering.arg_types, 3)]
    width, length = len(indices.shape) - 1, lowering.number(indices.shape[-1])
    result = lowering.copy(data)

    def element(*at: PrimExpr) -> tuple[tuple[PrimExpr, ...], PrimExpr]:
        picked = (load(indices, (*at[:width], const(k))) for k in range(length))
        places = tuple(wrapped(as_index(item), extent) for item, extent in zip(picked, data.shape, strict=False))
        where = (*places, *at[width:])
        return where, combine(load(result, where), load(updates, at))

    return lowering.builder.scatter(result, updates.shape, element, "T_scatter_nd")


def _evaluate_scatter_nd(args: tuple[Value, ...]) -> Value:
    result, indices, updates = np.array(args[0]), np.asarray(args[1]), np.asarray(args[2])
    function = _FUNCTIONS[args[3]]
    for at in np.ndindex(indices.shape[:-1]):
        where = tuple(int(item) for item in indices[at])
        result[where] = function(result[where], updates[at])
    return result


def _infer_index_put(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Check that there is a tensor of indices per axis; the result has the type of the data."""
    data, values = tensor_at(call, arg_types, 0), tensor_at(call, arg_types, 2)
    tensors = tensors_at(call, arg_types, 1)
    common_dtype(call, (data, values))
    dims = index_shape(call, tensors)
    if data.ndim is not None and len(tensors) != data.ndim:
        raise OpTypeError(
            "TY013", f"{call_name(call)} expects {data.ndim} tensors of indices, one per axis, got {len(tensors)}"
        )
    if dims is not None and values.dims is not None:
        broadcast(call, dims, values.dims)
    return data


def _build_index_put(lowering: Lowering) -> Buffer:
    data, indices = lowering.input(0, "data"), lowering.fields(1, "index")
    values = lowering.operand(2, "values")
    types = tensors_at(lowering.call, lowering.arg_types, 1)
    dims = index_shape(lowering.call, types)
    is_adding = flag_at(lowering.call, lowering.arg_types, 3)
    result = lowering.copy(data)
    extents = lowering.builder.shape(lowering.need(dims))

    def element(*at: PrimExpr) -> tuple[tuple[PrimExpr, ...], PrimExpr]:
        where = broadcast_places(indices, at, data.shape)
        value = values(*at)
        return where, add(load(result, where), value) if is_adding else value

    return lowering.builder.scatter(result, extents, element, "T_index_put")


def _evaluate_index_put(args: tuple[Value, ...]) -> Value:
    result = np.array(args[0])
    places = tuple(np.asarray(item) for item in args[1])
    if args[3]:
        np.add.at(result, places, np.asarray(args[2]))
    else:
        result[places] = args[2]
    return result


def _infer_take_backward(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the type of the data that was read."""
    integer_tensor_at(call, arg_types, 2)
    tensor_at(call, arg_types, 0)
    data = tensor_at(call, arg_types, 1)
    if data.ndim is not None:
        _take_axis(call, arg_types, data.ndim)
    return data


def _take_axis(call: Call, arg_types: tuple[Type, ...], rank: int) -> int:
    return 0 if is_absent(call, 3) else normal_axis(call, int_at(call, arg_types, 3), rank)


def _build_take_backward(lowering: Lowering) -> Buffer:
    grad, data, indices = (lowering.input(k, hint) for k, hint in enumerate(("output_grad", "x", "indices")))
    axis = _take_axis(lowering.call, lowering.arg_types, len(data.shape))
    width = len(indices.shape)
    result = lowering.compute(data.shape, lambda *_: _zero(data.dtype), "T_zeros")

    def element(*at: PrimExpr) -> tuple[tuple[PrimExpr, ...], PrimExpr]:
        place = wrapped(as_index(load(indices, at[axis : axis + width])), data.shape[axis])
        where = (*at[:axis], place, *at[axis + width :])
        return where, add(load(result, where), load(grad, at))

    return lowering.builder.scatter(result, grad.shape, element, "take_backward")


def _zero(dtype: str) -> PrimExpr:
    return const(0.0 if "float" in dtype else 0, dtype)


def _evaluate_take_backward(args: tuple[Value, ...]) -> Value:
    grad, data, indices = (np.asarray(item) for item in args[:3])
    axis = 0 if args[3] is None else int(args[3]) % data.ndim
    result = np.zeros_like(data)
    flat = np.moveaxis(grad.reshape(*grad.shape[:axis], -1, *data.shape[axis + 1 :]), axis, 0)
    np.add.at(np.moveaxis(result, axis, 0), indices.ravel(), flat)
    return result


SPECS = (
    OpSpec("relax.scatter_elements",
           (DATA, _INDICES, _UPDATES, Param("axis", "prim", "int64", default=0), _REDUCTION),
           _infer_scatter_elements, "Write elements along an axis by their index.",
           evaluate=_evaluate_scatter_elements, legalize=lowered("scatter_elements", _build_scatter_elements),
           see=_SEE),
    OpSpec("relax.scatter_nd", (DATA, _INDICES, _UPDATES, _REDUCTION), _infer_scatter_nd,
           "Write parts by tuples of indices.", evaluate=_evaluate_scatter_nd,
           legalize=lowered("scatter_nd", _build_scatter_nd), see=_SEE),
    OpSpec("relax.index_put",
           (DATA, Param("indices", "tuple"), Param("values", "tensor"),
            Param("accumulate", "prim", "bool", default=False)),
           _infer_index_put, "Write values by one tensor of indices per axis.", evaluate=_evaluate_index_put,
           legalize=lowered("index_put", _build_index_put), see=_SEE),
    OpSpec("relax.grad.take_backward",
           (Param("output_grad", "tensor"), Param("x", "tensor"), _INDICES,
            Param("axis", "prim", "int64", default=None), Param("mode", "prim", "string", default=None)),
           _infer_take_backward, "The gradient of take: add up what each element was taken for.",
           evaluate=_evaluate_take_backward, legalize=lowered("take_backward", _build_take_backward),
           see="tvm/src/relax/op/tensor/grad.cc"),
)  # fmt: skip
