"""Operators that pick elements by index."""

import math

import numpy as np

from relax_core.ir.expr import Call, PrimType, TensorType, Type
from relax_core.ir.prim import Cast, PrimExpr, Select, binary, const, dtype_of
from relax_core.ops.kernels.scalar import both
from relax_core.ops.kernels.te import FuncBuilder, clamp, known, load
from relax_core.ops.operands import int_at, is_absent, literal_at, normal_axis, require_float, scalar_at, tensor_at
from relax_core.ops.schema import X
from relax_core.ops.spec import Legalized, OpSpec, OpTypeError, Param, Value

_MODES = ("fast", "wrap", "clip", "nan")


def _axis(call: Call, arg_types: tuple[Type, ...], data: TensorType) -> int | None:
    """Return the axis of `take`; it may be absent for a vector only."""
    if not is_absent(call, 2):
        axis = int_at(call, arg_types, 2)
        return axis if data.ndim is None else normal_axis(call, axis, data.ndim)
    if data.ndim not in (None, 1):
        raise OpTypeError("TY013", ("take without axis expects a tensor of rank 1, got ", data), "give axis=")
    return 0


def _indices(call: Call, arg_types: tuple[Type, ...]) -> TensorType:
    """Return the type of the indices; an integer on the host reads like one of rank 0."""
    found = arg_types[1]
    is_integer = isinstance(found, PrimType) and "int" in found.dtype
    return TensorType((), "int64") if is_integer else tensor_at(call, arg_types, 1)


def _infer_take(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer `(*a, n, *b)` taken at `(*i,)` along the axis of `n` as `(*a, *i, *b)`; a host integer is `()`."""
    data, indices = tensor_at(call, arg_types, 0), _indices(call, arg_types)
    if indices.dtype is not None and "int" not in indices.dtype:
        raise OpTypeError("TY033", ("take expects integer indices, got ", indices))
    if literal_at(call, arg_types, 3) not in _MODES:
        raise OpTypeError("TY018", f"take has the modes {', '.join(_MODES)}")
    if literal_at(call, arg_types, 3) == "nan" and data.dtype is not None:
        require_float(call, data)
    axis = _axis(call, arg_types, data)
    if data.ndim is None or indices.ndim is None or axis is None:
        return TensorType(None, data.dtype)
    if data.dims is None or indices.dims is None:
        return TensorType(None, data.dtype, data.ndim - 1 + indices.ndim)
    return TensorType((*data.dims[:axis], *indices.dims, *data.dims[axis + 1 :]), data.dtype)


def _legalize_take(call: Call, arg_types: tuple[Type, ...], out_type: Type) -> Legalized | None:
    data, where, result = known(arg_types[0]), known(_indices(call, arg_types)), known(out_type)
    is_host = isinstance(arg_types[1], PrimType)
    number = scalar_at(call, arg_types, 1) if is_host else None
    if data is None or where is None or result is None or (is_host and number is None):
        return None
    axis = _axis(call, arg_types, data.type)
    assert axis is not None, "the rank is known"
    mode = literal_at(call, arg_types, 3)
    builder = FuncBuilder("take")
    source = builder.input(call.args[0], data, "x")
    chosen = None if is_host else builder.input(call.args[1], where, "indices")
    own = None if number is None else builder.own(number)
    width = len(where.dims)

    def element(*indices: PrimExpr) -> PrimExpr:
        index = own if chosen is None else load(chosen, indices[axis : axis + width])
        assert index is not None, "the index is a tensor or a scalar"
        index = index if dtype_of(index) == "int64" else Cast(index, "int64")
        extent = source.shape[axis]
        if mode == "wrap":
            index = binary("%", index, extent)
        elif mode == "clip":
            index = clamp(index, const(0), binary("-", extent, const(1)))
        value = load(source, (*indices[:axis], index, *indices[axis + width :]))
        if mode != "nan":
            return value
        is_inside = both(binary("<=", const(0), index), binary("<", index, extent))
        return Select(is_inside, value, const(math.nan, data.dtype), data.dtype, is_lazy=True)

    return builder.finish(builder.compute(builder.shape(result.dims), element, "T_take", axis="ax"), result)


def _evaluate_take(args: tuple[Value, ...]) -> Value:
    data, indices, axis, mode = np.asarray(args[0]), np.asarray(args[1]), args[2], args[3]
    place = 0 if axis is None else int(axis)
    match mode:
        case "clip":
            return np.asarray(np.take(data, indices, axis=place, mode="clip"))
        case "wrap":
            return np.asarray(np.take(data, indices, axis=place, mode="wrap"))
        case "nan":
            is_inside = (indices >= 0) & (indices < data.shape[place])
            found = np.take(data, np.where(is_inside, indices, 0), axis=place)
            shown = is_inside.reshape(*indices.shape, *(1,) * (data.ndim - 1 - place % data.ndim))
            return np.where(shown, found, np.asarray(np.nan, data.dtype)).astype(data.dtype)
        case _:
            return np.asarray(np.take(data, indices, axis=place))


SPECS = (
    OpSpec(
        "relax.take",
        (
            X,
            Param("indices", "tensor"),
            Param("axis", "prim", "int64", default=None),
            Param("mode", "prim", "string", default="fast"),
        ),
        _infer_take,
        "Pick slices along an axis.",
        evaluate=_evaluate_take,
        legalize=_legalize_take,
        pattern_kind="injective",
        see="tvm/src/relax/op/tensor/index.cc",
    ),
)
