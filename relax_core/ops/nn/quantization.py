"""Quantization: floats as integers with a scale and a zero point."""

from typing import Any, TypeAlias

import numpy as np

from relax_core.ir.expr import Call, TensorType, Type
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.prim import PrimExpr, const
from relax_core.ir.tir import Buffer
from relax_core.ops.attributes import out_dtype_at, same_sizes
from relax_core.ops.dtypes import limits
from relax_core.ops.kernels.extremes import greater_of, lesser_of
from relax_core.ops.kernels.lowering import Lowering, lowered
from relax_core.ops.kernels.scalar import add, call, cast, div, greatest, least, mul, sub
from relax_core.ops.kernels.te import highest, load, lowest
from relax_core.ops.operands import call_name, int_at, normal_axis, require_float, tensor_at
from relax_core.ops.schema import DATA, LAST_AXIS
from relax_core.ops.spec import OpSpec, OpTypeError, Param, Value
from relax_core.ops.steps import converted, is_float

Array: TypeAlias = "np.ndarray[Any, Any]"

_SEE = "tvm/src/relax/op/tensor/qdq.cc"


def _infer(default: str):
    def infer(call_: Call, arg_types: tuple[Type, ...]) -> Type:
        """Infer the shape of the data; scale and zero point are single or have the size of the axis."""
        data = tensor_at(call_, arg_types, 0)
        if default == "int8":
            require_float(call_, data)
        axis = normal_axis(call_, int_at(call_, arg_types, 3), len(data.dims)) if data.dims else 0
        for k in (1, 2):
            item = tensor_at(call_, arg_types, k)
            if item.ndim not in (None, 0, 1):
                raise OpTypeError("TY013", (f"{call_name(call_)} expects a scale of rank 0 or 1, got ", item))
            is_one = item.dims is None or not item.dims or constant_value(item.dims[0]) == 1
            if data.dims and not is_one and item.dims:
                same_sizes(call_, [(data.dims[axis], item.dims[0])], (data, item))
        return TensorType(data.shape, out_dtype_at(call_, 4) or default, data.ndim)

    return infer


def _parameter(lowering: Lowering, index: int, hint: str, axis: int):
    buffer = lowering.input(index, hint)

    def at(indices: tuple[PrimExpr, ...]) -> PrimExpr:
        if not buffer.shape:
            return load(buffer, ())
        return load(buffer, (const(0) if constant_value(buffer.shape[0]) == 1 else indices[axis],))

    return at


def _start(lowering: Lowering):
    data = lowering.input(0, "data")
    rank = len(data.shape)
    axis = normal_axis(lowering.call, int_at(lowering.call, lowering.arg_types, 3), rank) if rank else 0
    return data, _parameter(lowering, 1, "scale", axis), _parameter(lowering, 2, "zero_point", axis)


def _held(value: PrimExpr, dtype: str) -> PrimExpr:
    """Hold a value in the range of `dtype` and convert it."""
    low, high = getattr(lowest(dtype), "value", 0), getattr(highest(dtype), "value", 0)
    return cast(greatest(least(value, high), low), dtype)


def _build_quantize(lowering: Lowering) -> Buffer:
    data, scale, zero = _start(lowering)
    dtype = lowering.result.dtype

    def element(*at: PrimExpr) -> PrimExpr:
        scaled = div(load(data, at), cast(scale(at), data.dtype))
        rounded = call("nearbyint", scaled) if "int" in dtype else scaled
        return _held(add(rounded, cast(zero(at), data.dtype)), dtype)

    return lowering.compute(data.shape, element, "quantized")


def _build_dequantize(lowering: Lowering) -> Buffer:
    data, scale, zero = _start(lowering)
    dtype = lowering.result.dtype
    wide = "float32" if "float" in data.dtype else "int32"

    def element(*at: PrimExpr) -> PrimExpr:
        offset = sub(cast(load(data, at), wide), cast(zero(at), wide))
        value = mul(cast(offset, "float32"), cast(scale(at), "float32"))
        return value if dtype == "float32" else _held(value, dtype)

    return lowering.compute(data.shape, element, "dequantized")


def _along(value: Value, axis: int, rank: int) -> Array:
    array = np.asarray(value)
    if array.size == 1:
        return array.reshape(())
    shape = [1] * rank
    shape[axis] = -1
    return array.reshape(shape)


def _held_values(values: Array, dtype: str) -> Array:
    """Hold values in the range of `dtype`, whose ends are rounded to that of the values, and convert them."""
    low, high = (np.asarray(limit).astype(values.dtype) for limit in limits(dtype))
    return converted(greater_of(lesser_of(values, high), low), dtype)


def _evaluate_quantize(args: tuple[Value, ...]) -> Value:
    data, axis, dtype = np.asarray(args[0]), int(args[3]), args[4]
    with np.errstate(all="ignore"):
        scaled = data / _along(args[1], axis, data.ndim).astype(data.dtype)
        rounded = np.rint(scaled) if "int" in dtype else scaled
        return _held_values(rounded + _along(args[2], axis, data.ndim).astype(data.dtype), dtype)


def _evaluate_dequantize(args: tuple[Value, ...]) -> Value:
    data, axis, dtype = np.asarray(args[0]), int(args[3]), args[4]
    wide = np.dtype(np.float32 if is_float(data) else np.int32)
    with np.errstate(all="ignore"):
        offset = converted(data, wide) - converted(_along(args[2], axis, data.ndim), wide)
        value = offset.astype(np.float32) * _along(args[1], axis, data.ndim).astype(np.float32)
        return value if dtype == "float32" else _held_values(value, dtype)


def _params(dtype: str) -> tuple[Param, ...]:
    return (
        DATA,
        Param("scale", "tensor"),
        Param("zero_point", "tensor"),
        LAST_AXIS,
        Param("out_dtype", "dtype", default=dtype),
    )


SPECS = (
    OpSpec("relax.quantize", _params("int8"), _infer("int8"), "Divide by the scale, add the zero point, round, hold.",
           evaluate=_evaluate_quantize, legalize=lowered("quantize", _build_quantize), pattern_kind="broadcast",
           see=_SEE),
    OpSpec("relax.dequantize", _params("float32"), _infer("float32"), "Subtract the zero point, multiply by the scale.",
           evaluate=_evaluate_dequantize, legalize=lowered("dequantize", _build_dequantize),
           pattern_kind="broadcast", see=_SEE),
)  # fmt: skip
