"""Operators that pick elements by index."""

import numpy as np

from relax_core.ir.expr import Call
from relax_core.ir.prim import Cast, PrimExpr, binary, const, dtype_of
from relax_core.ir.types import TensorType, Type
from relax_core.ops.operands import int_at, is_absent, literal_at, normal_axis, tensor_at
from relax_core.ops.schema import X
from relax_core.ops.show import show_type
from relax_core.ops.spec import Legalized, OpSpec, OpTypeError, Param, Value
from relax_core.ops.te import FuncBuilder, clamp, known, load

_MODES = ("fast", "wrap", "clip")


def _axis(call: Call, arg_types: tuple[Type, ...], data: TensorType) -> int | None:
    """Return the axis of `take`; it may be absent for a vector only."""
    if not is_absent(call, 2):
        axis = int_at(call, arg_types, 2)
        return axis if data.ndim is None else normal_axis(call, axis, data.ndim)
    if data.ndim not in (None, 1):
        raise OpTypeError("TY013", f"take without axis expects a tensor of rank 1, got {show_type(data)}", "give axis=")
    return 0


def _infer_take(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer `(*a, n, *b)` taken at `(*i,)` along the axis of `n` as `(*a, *i, *b)`."""
    data, indices = tensor_at(call, arg_types, 0), tensor_at(call, arg_types, 1)
    if indices.dtype is not None and "int" not in indices.dtype:
        raise OpTypeError("TY033", f"take expects integer indices, got {show_type(indices)}")
    if literal_at(call, arg_types, 3) not in _MODES:
        raise OpTypeError("TY018", f"take has the modes {', '.join(_MODES)}")
    axis = _axis(call, arg_types, data)
    if data.ndim is None or indices.ndim is None or axis is None:
        return TensorType(None, data.dtype)
    if data.dims is None or indices.dims is None:
        return TensorType(None, data.dtype, data.ndim - 1 + indices.ndim)
    return TensorType((*data.dims[:axis], *indices.dims, *data.dims[axis + 1 :]), data.dtype)


def _legalize_take(call: Call, arg_types: tuple[Type, ...], out_type: Type) -> Legalized | None:
    data, where, result = known(arg_types[0]), known(arg_types[1]), known(out_type)
    if data is None or where is None or result is None:
        return None
    axis = _axis(call, arg_types, data.type)
    assert axis is not None, "the rank is known"
    mode = literal_at(call, arg_types, 3)
    builder = FuncBuilder("take")
    source, chosen = builder.input(call.args[0], data, "x"), builder.input(call.args[1], where, "indices")
    width = len(chosen.shape)

    def element(*indices: PrimExpr) -> PrimExpr:
        index = load(chosen, indices[axis : axis + width])
        index = index if dtype_of(index) == "int64" else Cast(index, "int64")
        extent = source.shape[axis]
        if mode == "wrap":
            index = binary("%", index, extent)
        elif mode == "clip":
            index = clamp(index, const(0), binary("-", extent, const(1)))
        return load(source, (*indices[:axis], index, *indices[axis + width :]))

    return builder.finish(builder.compute(builder.shape(result.dims), element, "T_take", axis="ax"), result)


def _evaluate_take(args: tuple[Value, ...]) -> Value:
    data, indices, axis, mode = np.asarray(args[0]), np.asarray(args[1]), args[2], args[3]
    place = 0 if axis is None else int(axis)
    match mode:
        case "clip":
            return np.asarray(np.take(data, indices, axis=place, mode="clip"))
        case "wrap":
            return np.asarray(np.take(data, indices, axis=place, mode="wrap"))
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
        relay_name="take",
    ),
)
