"""Operators on quantized tensors and on images, in Relax.

Products are computed on the integers; the others take the numbers that the integers stand for, and quantize again.
"""

from dataclasses import replace
from types import MappingProxyType

from relax_core.ir.expr import Expr
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.to_relax_composed import dense_pack
from relax_core.ops.relay.to_relax_elementwise import along
from relax_core.ops.relay.to_relax_make import (
    Rule,
    Rules,
    cast,
    dtype_of,
    fields,
    rank,
    relax,
    scalar,
    size,
    untranslated,
)
from relax_core.ops.relay.to_relax_neural import RULES as NEURAL_RULES
from relax_core.ops.relay.to_relax_neural import transposed

_UNARY = ("tanh", "exp", "sqrt", "rsqrt", "erf", "sigmoid", "log", "abs")


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
    pooled = NEURAL_RULES["nn.avg_pool2d"](replace(call, exprs=(_real(data, scale, zero),)))
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


def _dense(call: RelayCall) -> Expr:
    data, weight, zero, weight_zero = call.exprs[:4]
    return relax("matmul", _shifted(data, zero), transposed(_shifted(weight, weight_zero), 2))


def _batch_matmul(call: RelayCall) -> Expr:
    a, b = (_shifted(call.exprs[k], call.exprs[k + 2]) for k in range(2))
    a = transposed(a, rank(call)) if call.flag("transpose_a") else a
    return relax("matmul", a, transposed(b, rank(call, 1)) if call.flag("transpose_b") else b)


def _convolution(name: str) -> Rule:
    def rule(call: RelayCall) -> Expr:
        data, weight, zero, weight_zero = call.exprs[:4]
        shifted = (_shifted(data, zero), _shifted(weight, weight_zero))
        attrs = {**call.attrs, "out_dtype": "int32"}
        return NEURAL_RULES[name](replace(call, exprs=shifted, attrs=attrs))

    return rule


def _concatenate(call: RelayCall) -> Expr:
    _, _, _, out_scale, out_zero = call.exprs
    parts = zip(fields(call), fields(call, 1), fields(call, 2), strict=True)
    joined = relax("concat", tuple(_real(*part) for part in parts), call.int_("axis"))
    dtype = call.tensors()[0].dtype
    return _quantized(joined, out_scale, out_zero, dtype or "int8")


_LIMITS = ((1, -128.0, 127.0), (2, 0.0, 255.0), (3, -2147483648.0, 2147483647.0))
"""The least and the greatest of what the second argument of the simulating operators names by number; 0 is no type."""


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
    return dense_pack(replace(call, exprs=shifted, attrs={**call.attrs, "out_dtype": "int32"}))


def _affine_grid(call: RelayCall) -> Expr:
    return relax("image.affine_grid", call.exprs[0], call.ints("target_shape"))


def _grid_sample(call: RelayCall) -> Expr:
    words = (call.text("method"), call.text("layout"), call.text("padding_mode"))
    return relax("image.grid_sample", *call.exprs, *words, call.flag("align_corners"))


RULES: Rules = MappingProxyType(
    {
        "qnn.quantize": _quantize,
        "qnn.dequantize": _dequantize,
        "qnn.requantize": _requantize,
        "qnn.add": _binary("add"),
        "qnn.subtract": _binary("subtract"),
        "qnn.mul": _binary("multiply"),
        **{f"qnn.{name}": _unary(name) for name in _UNARY},
        "qnn.leaky_relu": _leaky_relu,
        "qnn.avg_pool2d": _average_pool,
        "qnn.softmax": _softmax,
        "qnn.hardswish": _hardswish,
        "qnn.dense": _dense,
        "qnn.contrib_dense_pack": _dense_pack,
        "qnn.simulated_quantize": _simulated_quantize,
        "qnn.simulated_dequantize": _simulated_dequantize,
        "relay.op.annotation.simulated_quantize": _simulated_annotation,
        "qnn.batch_matmul": _batch_matmul,
        "qnn.conv2d": _convolution("nn.conv2d"),
        "qnn.conv2d_transpose": _convolution("nn.conv2d_transpose"),
        "qnn.concatenate": _concatenate,
        "image.affine_grid": _affine_grid,
        "image.grid_sample": _grid_sample,
    }
)
