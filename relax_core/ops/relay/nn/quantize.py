"""Relay's operators of quantized programs (`qnn.`): each takes the scales and zero points of its operands.

Products are computed on the integers; the others take the numbers that the integers stand for, and quantize again.
"""

from dataclasses import replace
from types import MappingProxyType

from relax_core.ir.expr import Expr
from relax_core.ops.relay.derive import derived
from relax_core.ops.relay.entry import op
from relax_core.ops.relay.nn.convolution import check_weight, check_windows, convolution_attrs
from relax_core.ops.relay.nn.neural import check_dense, dense_pack, dense_pack_type, matmul_type, transposed
from relax_core.ops.relay.nn.pooling import pool_attrs
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.tensor.elementwise import arithmetic, identity
from relax_core.ops.relay.tensor.manipulate import joined
from relax_core.ops.relay.translation import (
    Rule,
    alike,
    along,
    cast,
    dtype_of,
    fields,
    rank,
    relax,
    scalar,
    size,
    untranslated,
)
from relax_core.ops.spec import REQUIRED

_ONE = "x scale zero_point output_scale output_zero_point"

_TWO = "lhs rhs lhs_scale lhs_zero_point rhs_scale rhs_zero_point output_scale output_zero_point"

_PRODUCT = "data weight input_zero_point kernel_zero_point input_scale kernel_scale"

_AXES = MappingProxyType({"lhs_axis": -1, "rhs_axis": -1})

_UNARY = ("tanh", "exp", "sqrt", "rsqrt", "erf", "sigmoid", "log", "abs")

_LIMITS = ((1, -128.0, 127.0), (2, 0.0, 255.0), (3, -2147483648.0, 2147483647.0))
"""The least and the greatest of what the second argument of the simulating operators names by number; 0 is no type."""

_SUM = "int32"


def _quantized(value: Expr, scale: Expr, zero: Expr, dtype: str, axis: int = -1) -> Expr:
    return relax("quantize", value, scale, cast(zero, "int32"), axis, dtype)


def _real(value: Expr, scale: Expr, zero: Expr, axis: int = -1) -> Expr:
    return relax("dequantize", value, scale, cast(zero, "int32"), axis, "float32")


def _quantize(call: RelayCall) -> Expr:
    data, scale, zero = call.exprs
    return _quantized(data, scale, zero, call.dtype("out_dtype"), call.int_("axis"))


def _dequantize(call: RelayCall) -> Expr:
    data, scale, zero = call.exprs
    return relax("dequantize", data, scale, cast(zero, "int32"), call.int_("axis"), call.dtype("out_dtype"))


def _average_pool(call: RelayCall) -> Expr:
    data, scale, zero, out_scale, out_zero = call.exprs
    pooled = alike("nn.avg_pool2d")(replace(call, exprs=(_real(data, scale, zero),)))
    return _quantized(pooled, out_scale, out_zero, dtype_of(call))


def _requantize(call: RelayCall) -> Expr:
    data, scale, zero, out_scale, out_zero = call.exprs
    axis = call.int_("axis")
    return _quantized(_real(data, scale, zero, axis), out_scale, out_zero, call.dtype("out_dtype"), axis)


def _binary(name: str) -> Rule:
    def rule(call: RelayCall) -> Expr:
        a, b, a_scale, a_zero, b_scale, b_zero, scale, zero = call.exprs
        left, right = _real(a, a_scale, a_zero), _real(b, b_scale, b_zero)
        return _quantized(relax(name, left, right), scale, zero, dtype_of(call))

    return rule


def _unary(name: str) -> Rule:
    def rule(call: RelayCall) -> Expr:
        data, scale, zero, out_scale, out_zero = call.exprs
        return _quantized(relax(name, _real(data, scale, zero)), out_scale, out_zero, dtype_of(call))

    return rule


def _leaky_relu(call: RelayCall) -> Expr:
    data, scale, zero, out_scale, out_zero = call.exprs
    value = relax("nn.leakyrelu", _real(data, scale, zero), call.number("alpha"))
    return _quantized(value, out_scale, out_zero, dtype_of(call))


def _softmax(call: RelayCall) -> Expr:
    data, scale, zero, out_scale, out_zero = call.exprs
    value = relax("nn.softmax", _real(data, scale, zero), call.int_("axis"))
    return _quantized(value, out_scale, out_zero, dtype_of(call))


def _hardswish(call: RelayCall) -> Expr:
    data, scale, zero, out_scale, out_zero = call.exprs
    x = _real(data, scale, zero)
    gate = relax("clip", relax("add", x, scalar(3.0, "float32")), 0.0, 6.0)
    value = relax("divide", relax("multiply", x, gate), scalar(6.0, "float32"))
    return _quantized(value, out_scale, out_zero, dtype_of(call))


def _shifted(value: Expr, zero: Expr) -> Expr:
    return relax("subtract", cast(value, "int32"), cast(zero, "int32"))


def _wanted(call: RelayCall, total: Expr) -> Expr:
    """Return sums of products, which are computed in 32 bits, in the dtype that the call wants."""
    dtype = call.dtype("out_dtype") or _SUM
    return total if dtype == _SUM else cast(total, dtype)


def _dense(call: RelayCall) -> Expr:
    data, weight, zero, weight_zero = call.exprs[:4]
    return _wanted(call, relax("matmul", _shifted(data, zero), transposed(_shifted(weight, weight_zero), 2)))


def _batch_matmul(call: RelayCall) -> Expr:
    a, b = (_shifted(call.exprs[k], call.exprs[k + 2]) for k in range(2))
    a = transposed(a, rank(call)) if call.flag("transpose_a") else a
    return relax("matmul", a, transposed(b, rank(call, 1)) if call.flag("transpose_b") else b)


def _convolution(name: str) -> Rule:
    def rule(call: RelayCall) -> Expr:
        data, weight, zero, weight_zero = call.exprs[:4]
        shifted = (_shifted(data, zero), _shifted(weight, weight_zero))
        attrs = {**call.attrs, "out_dtype": _SUM}
        return _wanted(call, alike(name)(replace(call, exprs=shifted, attrs=attrs)))

    return rule


def _check_scales(call: RelayCall) -> None:
    counts = [len(call.tensors(index)) for index in range(3)]
    if len(set(counts)) > 1:
        raise call.refuse(f"expects a scale and a zero point for each tensor, got {', '.join(map(str, counts))}")


def _concatenate(call: RelayCall) -> Expr:
    _, _, _, out_scale, out_zero = call.exprs
    parts = zip(fields(call), fields(call, 1), fields(call, 2), strict=True)
    joined = relax("concat", tuple(_real(*part) for part in parts), call.int_("axis"))
    dtype = call.tensors()[0].dtype
    return _quantized(joined, out_scale, out_zero, dtype or "int8")


def _simulated(call: RelayCall) -> tuple[Expr, Expr, Expr, Expr]:
    """Return the data, whether it is left alone, and the scale and the zero point along their axis."""
    data, code, *vectors = call.exprs
    axis, dtype = call.int_("axis") % max(rank(call), 1), dtype_of(call)
    scale, zero = (
        cast(along(call, item, axis) if rank(call, k) == 1 and size(call, 0, k) > 1 else item, dtype)
        for k, item in enumerate(vectors, 2)
    )
    return data, _is(call, code, 0), scale, zero


def _is(call: RelayCall, code: Expr, number: int) -> Expr:
    return relax("equal", code, scalar(number, dtype_of(call, 1)))


def _simulated_quantize(call: RelayCall) -> Expr:
    """Scale, round and hold within what the type has, as numbers of the same dtype."""
    data, is_free, scale, zero = _simulated(call)
    dtype = dtype_of(call)
    shifted = relax("add", relax("round", relax("divide", data, scale)), zero)
    low, high = scalar(0.0, dtype), scalar(0.0, dtype)
    for number, *limits in _LIMITS:
        is_it = _is(call, call.exprs[1], number)
        low, high = (
            relax("where", is_it, scalar(limit, dtype), found) for limit, found in zip(limits, (low, high), strict=True)
        )
    return relax("where", is_free, data, relax("minimum", relax("maximum", shifted, low), high))


def _simulated_dequantize(call: RelayCall) -> Expr:
    data, is_free, scale, zero = _simulated(call)
    return relax("where", is_free, data, relax("multiply", relax("subtract", data, zero), scale))


def _simulated_annotation(call: RelayCall) -> Expr:
    """Scale, hold within the bounds, round and scale back; of kind 0 the data itself."""
    data, scale, low, high = call.exprs
    if call.int_("kind") == 0:
        return data
    if call.text("rounding") != "round":
        raise untranslated(call, f"the rounding is {call.text('rounding')}, not round")
    held = relax("minimum", relax("maximum", relax("divide", data, scale), low), high)
    return relax("multiply", relax("round", held), scale)


def _dense_pack(call: RelayCall) -> Expr:
    data, weight, zero, weight_zero = call.exprs[:4]
    shifted = (_shifted(data, zero), _shifted(weight, weight_zero))
    return _wanted(call, dense_pack(replace(call, exprs=shifted, attrs={**call.attrs, "out_dtype": _SUM})))


SPECS = (
    op("qnn.quantize", "data output_scale output_zero_point", _quantize, {"out_dtype": "int8", "axis": -1},
       relax="quantize"),
    op("qnn.dequantize", "data input_scale input_zero_point", _dequantize, {"out_dtype": "float32", "axis": -1},
       relax="dequantize"),
    op("qnn.requantize", "data input_scale input_zero_point output_scale output_zero_point", _requantize,
       {"axis": -1, "rounding": "None", "compute_dtype": "None", "out_dtype": "int8"}),
    op("qnn.simulated_quantize", "data out_dtype output_scale output_zero_point", _simulated_quantize, {"axis": -1},
       relation=identity),
    op("qnn.simulated_dequantize", "data in_dtype input_scale input_zero_point", _simulated_dequantize, {"axis": -1},
       relation=identity),
    *(op(f"qnn.{name}", _TWO, _binary(relax), _AXES, relation=arithmetic)
      for name, relax in (("add", "add"), ("subtract", "subtract"), ("mul", "multiply"))),
    op("qnn.dense", _PRODUCT, _dense, {"units": None, "out_dtype": _SUM}, check=check_dense),
    op("qnn.contrib_dense_pack", _PRODUCT, _dense_pack,
       {"units": None, "out_dtype": _SUM, "weight_layout": "NC"}, relation=dense_pack_type),
    op("qnn.batch_matmul", "x y x_zero_point y_zero_point x_scale y_scale", _batch_matmul,
       {"out_dtype": _SUM, "transpose_a": False, "transpose_b": True}, relation=matmul_type),
    op("qnn.conv2d", _PRODUCT, _convolution("nn.conv2d"), {**convolution_attrs(2), "out_dtype": _SUM},
       check=check_weight),
    op("qnn.conv2d_transpose", _PRODUCT, _convolution("nn.conv2d_transpose"),
       {**convolution_attrs(2), "kernel_layout": "IOHW", "output_padding": (0, 0), "out_dtype": _SUM},
       check=check_windows),
    op("qnn.concatenate", "data input_scales input_zero_points output_scale output_zero_point", _concatenate,
       {"axis": 0}, relation=derived(joined("concat"), _check_scales)),
    op("qnn.leaky_relu", _ONE, _leaky_relu, {"alpha": REQUIRED}, relation=identity),
    op("qnn.softmax", _ONE, _softmax, {"axis": -1}, relation=identity),
    op("qnn.avg_pool2d", "data input_scale input_zero_point output_scale output_zero_point", _average_pool,
       {**pool_attrs("NCHW", "count_include_pad"), "pool_size": REQUIRED}, check=check_windows),
    *(op(f"qnn.{name}", _ONE, _unary(name), relation=identity) for name in _UNARY),
    op("qnn.hardswish", _ONE, _hardswish, relation=identity),
    op("relay.op.annotation.simulated_quantize", "data dom_scale clip_min clip_max", _simulated_annotation,
       {"kind": 0, "sign": True, "rounding": "round"}, relation=identity),
)  # fmt: skip
