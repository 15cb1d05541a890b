"""Operators on elements beyond the basic ones: trigonometry, bits, tests of floats, fused multiplication."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from relax_core.ir.expr import Call, TensorType, Type
from relax_core.ir.prim import BinaryKind, Intrinsic, PrimExpr, Unary, binary, const, dtype_of
from relax_core.ops.arithmetic.elementwise import (
    Combine2,
    binary_spec,
    infer_arithmetic,
    infer_logical,
    intrinsic_spec,
    is_float,
    legalize_map,
    rounding_spec,
    unary_spec,
)
from relax_core.ops.kernels.extremes import greater_of
from relax_core.ops.kernels.scalar import add, both, call, choose, either, eq, greatest, mul, sub
from relax_core.ops.operands import broadcast_types, call_name, common_dtype, require_float, tensor_at
from relax_core.ops.spec import OpSpec, OpTypeError, Param, Value
from relax_core.ops.steps import is_float as is_float_array
from relax_core.ops.steps import require_divisors, require_shifts

Array: TypeAlias = "np.ndarray[Any, Any]"


def _infer_test(call_: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer bool in the shape of the operand."""
    return replace(tensor_at(call_, arg_types), dtype="bool")


def _test(name: str):
    def element(x: PrimExpr) -> PrimExpr:
        return Intrinsic(name, (x,), "bool") if is_float(x) else const(name == "isfinite")

    return element


def _require_bits(call_: Call, tensor: TensorType) -> None:
    if tensor.dtype is not None and "int" not in tensor.dtype and tensor.dtype != "bool":
        raise OpTypeError("TY033", (f"{call_name(call_)} expects integers or bool, got ", tensor))


def _infer_bits(call_: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer two operands of one dtype, integers or bool, which broadcast."""
    for k in range(2):
        _require_bits(call_, tensor_at(call_, arg_types, k))
    return infer_arithmetic(call_, arg_types)


def _infer_not(call_: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the type of the operand, which must be of integers or bool."""
    tensor = tensor_at(call_, arg_types)
    _require_bits(call_, tensor)
    return tensor


def _bits(kind: BinaryKind) -> Combine2:
    return lambda a, b: binary(kind, a, b)


def _fma(a: PrimExpr, b: PrimExpr, c: PrimExpr) -> PrimExpr:
    return either(both(a, b), c) if dtype_of(a) == "bool" else add(mul(a, b), c)


def _not(x: PrimExpr) -> PrimExpr:
    return Unary("not" if dtype_of(x) == "bool" else "~", x, dtype_of(x))


def _floor_mod(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    return sub(a, mul(b, call("floor", binary("/", a, b)))) if is_float(a) else binary("%", a, b)


def _log_add_exp(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    # Of two equal infinities the difference would be a NaN.
    sum_of_two = add(greatest(a, b), call("log1p", call("exp", sub(0.0, call("abs", sub(a, b))))))
    return choose(eq(a, b), add(a, math.log(2)), sum_of_two)


def _numpy_log_add_exp(a: Array, b: Array) -> Array:
    return np.where(a == b, a + a.dtype.type(math.log(2)), greater_of(a, b) + np.log1p(np.exp(-np.abs(a - b))))


def _rest(a: Array, b: Array) -> Array:
    if is_float_array(a):
        return np.subtract(a, b * np.floor(a / b))
    require_divisors(a, b)
    return np.mod(a, b)


def _shifted(function: Callable[..., Array]) -> Callable[[Array, Array], Array]:
    def shift(a: Array, b: Array) -> Array:
        require_shifts(a, b)
        return function(a, b)

    return shift


def _infer_two_floats(call_: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer two operands of one dtype, which must be of floats, and which broadcast."""
    for k in range(2):
        require_float(call_, tensor_at(call_, arg_types, k))
    return infer_arithmetic(call_, arg_types)


def _infer_fma(call_: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer three operands of one dtype, which broadcast."""
    tensors = tuple(tensor_at(call_, arg_types, k) for k in range(3))
    return broadcast_types(call_, tensors, common_dtype(call_, tensors))


def _evaluate_fma(args: tuple[Value, ...]) -> Value:
    a, b, c = (np.asarray(item) for item in args)
    with np.errstate(all="ignore"):
        result: Array = a * b + c
    return result


def _float_test(name: str, function: Any, summary: str) -> OpSpec:
    return unary_spec(name, _test(name), function, summary, infer=_infer_test, block=f"T_{name}")


def _relax_only(name: str, combine: Combine2, function: Callable[..., Any], summary: str) -> OpSpec:
    """Describe an operator on two floats that Relay has not."""
    return binary_spec(name, combine, function, summary, infer=_infer_two_floats)


SPECS = (
    *(
        intrinsic_spec(name, function, summary)
        for name, function, summary in (
            ("tan", np.tan, "Tangent."),
            ("acos", np.arccos, "Inverse of the cosine."),
            ("asin", np.arcsin, "Inverse of the sine."),
            ("atan", np.arctan, "Inverse of the tangent."),
            ("cosh", np.cosh, "Hyperbolic cosine."),
            ("sinh", np.sinh, "Hyperbolic sine."),
            ("acosh", np.arccosh, "Inverse of the hyperbolic cosine."),
            ("asinh", np.arcsinh, "Inverse of the hyperbolic sine."),
            ("atanh", np.arctanh, "Inverse of the hyperbolic tangent."),
        )
    ),
    rounding_spec("trunc", "trunc", np.trunc, "Round towards zero."),
    _float_test("isnan", np.isnan, "Tell whether elements are not a number."),
    _float_test("isinf", np.isinf, "Tell whether elements are infinite."),
    _float_test("isfinite", np.isfinite, "Tell whether elements are finite numbers."),
    unary_spec("bitwise_not", _not, np.invert, "Flip all bits.", infer=_infer_not, block="T_bitwise_not"),
    binary_spec("bitwise_and", _bits("&"), np.bitwise_and, "And of the bits.", infer=_infer_bits),
    binary_spec("bitwise_or", _bits("|"), np.bitwise_or, "Or of the bits.", infer=_infer_bits),
    binary_spec("bitwise_xor", _bits("^"), np.bitwise_xor, "Exclusive or of the bits.", infer=_infer_bits),
    binary_spec("left_shift", _bits("<<"), _shifted(np.left_shift), "Shift bits to the left.", infer=_infer_bits),
    binary_spec("right_shift", _bits(">>"), _shifted(np.right_shift), "Shift bits to the right.", infer=_infer_bits),
    binary_spec("logical_xor", _bits("!="), np.logical_xor, "Logical exclusive or.", infer=infer_logical),
    binary_spec("floor_mod", _floor_mod, _rest, "Remainder with the sign of the second."),
    _relax_only("atan2", lambda a, b: call("atan2", a, b), np.arctan2, "Angle of a point."),
    _relax_only("log_add_exp", _log_add_exp, _numpy_log_add_exp, "Logarithm of the sum of exponentials."),
    OpSpec(
        "relax.ewise_fma",
        tuple(Param(name, "tensor") for name in ("x1", "x2", "x3")),
        _infer_fma,
        "Multiply and add, element by element.",
        evaluate=_evaluate_fma,
        legalize=legalize_map("ewise_fma", "T_fma", _fma),
        pattern_kind="broadcast",
        see="tvm/src/relax/op/tensor/ternary.cc",
    ),
)  # fmt: skip
