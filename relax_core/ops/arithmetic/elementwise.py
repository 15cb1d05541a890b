"""Operators on elements: arithmetic, comparison and logic with broadcasting, and functions of one element."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from relax_core.ir.expr import Call, TensorType, Type
from relax_core.ir.prim import (
    BinaryKind,
    Cast,
    FloatImm,
    IntImm,
    Intrinsic,
    PrimExpr,
    PrimVar,
    Select,
    Unary,
    binary,
    bits_of,
    const,
    dtype_of,
)
from relax_core.ops.arithmetic.power import integer_power, power_of
from relax_core.ops.dtypes import limits
from relax_core.ops.kernels.extremes import greater_of, lesser_of
from relax_core.ops.kernels.te import FuncBuilder, Operand, clamp, known
from relax_core.ops.operands import (
    broadcast_types,
    call_name,
    common_dtype,
    dtype_at,
    require_float,
    scalar_at,
    tensor_at,
    two_operands,
)
from relax_core.ops.schema import BINARY, DTYPE, UNARY, X
from relax_core.ops.spec import Infer, Legalize, Legalized, OpSpec, OpTypeError, Param, Value
from relax_core.ops.steps import converted, quotient, require_divisors
from relax_core.ops.steps import is_float as is_float_array

Combine2: TypeAlias = Callable[[PrimExpr, PrimExpr], PrimExpr]
Combine1: TypeAlias = Callable[[PrimExpr], PrimExpr]
Array: TypeAlias = "np.ndarray[Any, Any]"

_MOST = 2**63 - 1
_SEE_BINARY = "tvm/src/relax/op/tensor/binary.cc"
_SEE_UNARY = "tvm/src/relax/op/tensor/unary.cc"


def legalize_map(name: str, block: str, element: Callable[..., PrimExpr], *, axis: str = "ax") -> Legalize:
    """Return a legalization to one block: `element` of the operands' elements, which broadcast."""

    def legalize(call: Call, arg_types: tuple[Type, ...], out_type: Type) -> Legalized | None:
        tensors = [known(item) for item in arg_types if isinstance(item, TensorType)]
        result = known(out_type)
        if result is None:
            return None
        builder = FuncBuilder(name)
        operands: list[Operand] = []
        for arg, tensor, hint in zip(call.args, tensors, ("A", "B", "C"), strict=False):
            if tensor is None:
                return None
            operands.append(builder.operand(arg, tensor, hint))
        out = builder.compute(
            builder.shape(result.dims),
            lambda *indices: element(*(operand(*indices) for operand in operands)),
            block,
            axis=axis,
        )
        return builder.finish(out, result)

    return legalize


def infer_arithmetic(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer two operands of one dtype, which broadcast."""
    tensors = two_operands(call, arg_types)
    return broadcast_types(call, tensors, common_dtype(call, tensors))


def _infer_comparison(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer a comparison; as in TVM the dtypes may differ, and the prim func widens one."""
    tensors = two_operands(call, arg_types)
    return broadcast_types(call, tensors, "bool")


def infer_same(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the type of the operand."""
    return tensor_at(call, arg_types)


def infer_float(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the type of the operand, which must be of floats."""
    tensor = tensor_at(call, arg_types)
    require_float(call, tensor)
    return tensor


def is_float(expr: PrimExpr) -> bool:
    """Tell whether a scalar is a floating-point number."""
    return "float" in dtype_of(expr)


def _op(kind: BinaryKind) -> Combine2:
    return lambda a, b: binary(kind, a, b)


def _divide(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    return binary("/" if is_float(a) else "truncdiv", a, b)


def _floor_divide(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    return Intrinsic("floor", (binary("/", a, b),), dtype_of(a)) if is_float(a) else binary("//", a, b)


def _power(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    return Intrinsic("pow", (a, b), dtype_of(a)) if is_float(a) else integer_power(a, b)


def _plus(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    return binary("or" if dtype_of(a) == "bool" else "+", a, b)


def _floor_quotient(a: Array, b: Array) -> Array:
    if is_float_array(a):
        return np.floor(a / b)
    require_divisors(a, b)
    return np.floor_divide(a, b)


def _remainder(a: Array, b: Array) -> Array:
    require_divisors(a, b)
    return np.fmod(a, b)


def _difference(a: Array, b: Array) -> Array:
    return np.not_equal(a, b) if a.dtype == np.bool_ else np.subtract(a, b)


def _opposite(x: Array) -> Array:
    return x if x.dtype == np.bool_ else np.negative(x)


def _sign_of(x: Array) -> Array:
    return (x > 0).astype(np.int8) - (x < 0).astype(np.int8)


def _evaluate(function: Callable[..., Any]) -> Callable[[tuple[Value, ...]], Value]:
    """Return an evaluation that keeps the dtype of the first operand, or gives bool where the function does."""

    def evaluate(args: tuple[Value, ...]) -> Value:
        with np.errstate(all="ignore"):
            result = np.asarray(function(*(np.asarray(arg) for arg in args)))
        return result if result.dtype == np.bool_ else result.astype(np.asarray(args[0]).dtype)

    return evaluate


def binary_spec(
    name: str, combine: Combine2, function: Callable[..., Any], summary: str, *, infer: Infer = infer_arithmetic
) -> OpSpec:
    """Describe an operator on the elements of two tensors."""
    return OpSpec(
        f"relax.{name}",
        BINARY,
        infer,
        summary,
        evaluate=_evaluate(function),
        legalize=legalize_map(name, f"T_{name}", combine),
        pattern_kind="broadcast",
        see=_SEE_BINARY,
    )


def _compare(name: str, kind: BinaryKind, function: Callable[..., Any], summary: str) -> OpSpec:
    def compare(a: Array, b: Array) -> Array:
        unified = binary(kind, PrimVar("a", str(a.dtype)), PrimVar("b", str(b.dtype)))
        common = dtype_of(getattr(unified, "a", unified))
        return function(a.astype(common), b.astype(common))

    return binary_spec(name, _op(kind), compare, summary, infer=_infer_comparison)


def unary_spec(
    name: str,
    element: Combine1,
    function: Callable[..., Any],
    summary: str,
    *,
    infer: Infer = infer_same,
    block: str = "compute",
) -> OpSpec:
    """Describe an operator on the elements of one tensor."""
    return OpSpec(
        f"relax.{name}",
        UNARY,
        infer,
        summary,
        evaluate=_evaluate(function),
        legalize=legalize_map(
            "erf" if name == "erf" else f"tir_{name}", block, element, axis="i" if block == "compute" else "ax"
        ),
        pattern_kind="elementwise",
        see=_SEE_UNARY,
    )


def intrinsic_spec(name: str, function: Callable[..., Any], summary: str) -> OpSpec:
    """Describe an operator on floats that is a scalar intrinsic of the same name."""
    return unary_spec(name, intrinsic(name), function, summary, infer=infer_float)


def intrinsic(name: str) -> Combine1:
    """Return the application of the scalar intrinsic `name`, which keeps the dtype."""
    return lambda x: Intrinsic(name, (x,), dtype_of(x))


def rounding_spec(name: str, tir_name: str, function: Callable[..., Any], summary: str) -> OpSpec:
    """Describe an operator that rounds floats and leaves integers."""

    def element(x: PrimExpr) -> PrimExpr:
        return Intrinsic(tir_name, (x,), dtype_of(x)) if is_float(x) else x

    def round_floats(x: Array) -> Array:
        return function(x) if is_float_array(x) else x

    return unary_spec(name, element, round_floats, summary)


def _abs(x: PrimExpr) -> PrimExpr:
    if is_float(x):
        return Intrinsic("abs", (x,), dtype_of(x))
    return Select(binary("<", x, _like(0, x)), binary("-", _like(0, x), x), x, dtype_of(x), is_lazy=False)


def _like(value: int, x: PrimExpr) -> PrimExpr:
    """Return a number of the dtype of `x`, in which an unsigned -1 is the largest one."""
    dtype = dtype_of(x)
    if dtype.startswith("uint"):
        value %= 1 << bits_of(dtype)
    return const(float(value) if is_float(x) else value, dtype)


def _sign(x: PrimExpr) -> PrimExpr:
    dtype = dtype_of(x)
    below = Select(binary("<", x, _like(0, x)), _like(-1, x), _like(0, x), dtype, is_lazy=False)
    return Select(binary("<", _like(0, x), x), _like(1, x), below, dtype, is_lazy=False)


def _rsqrt(x: Array) -> Array:
    return 1 / np.sqrt(x)


def _evaluate_astype(args: tuple[Value, ...]) -> Value:
    with np.errstate(all="ignore"):
        return converted(np.asarray(args[0]), args[1])


def sigmoid(x: Array) -> Array:
    """Compute the logistic function in double precision, which no float32 overflows."""
    return np.asarray(1 / (1 + np.exp(-x.astype(np.float64)))).astype(x.dtype)


erf = np.vectorize(math.erf, otypes=[np.float64])


def infer_logical(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer two bool operands, which broadcast."""
    tensors = two_operands(call, arg_types)
    for tensor in tensors:
        require_bool(call, tensor)
    return broadcast_types(call, tensors, "bool")


def _infer_logical_not(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the type of the operand, which must be bool."""
    tensor = tensor_at(call, arg_types)
    require_bool(call, tensor)
    return tensor


def require_bool(call: Call, tensor: TensorType) -> None:
    """Raise TY033 unless the dtype is bool or unknown."""
    if tensor.dtype not in (None, "bool"):
        raise OpTypeError(
            "TY033",
            (f"{call_name(call)} expects a bool tensor, got ", tensor),
            "compare first, for example with R.not_equal(value, R.const(0))",
        )


def _infer_astype(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the shape of the operand with the given dtype."""
    return replace(tensor_at(call, arg_types), dtype=dtype_at(call, 1))


def _legalize_astype(call: Call, arg_types: tuple[Type, ...], out_type: Type) -> Legalized | None:
    dtype = dtype_at(call, 1)
    assert dtype is not None, "astype has a dtype"

    def element(x: PrimExpr) -> PrimExpr:
        return x if dtype_of(x) == dtype else Cast(x, dtype)

    return legalize_map("cast", "compute", element, axis="i")(call, arg_types, out_type)


def _infer_clip(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the type of the operand; the bounds are host scalars."""
    scalar_at(call, arg_types, 1)
    scalar_at(call, arg_types, 2)
    return tensor_at(call, arg_types)


def _legalize_clip(call: Call, arg_types: tuple[Type, ...], out_type: Type) -> Legalized | None:
    low, high = scalar_at(call, arg_types, 1), scalar_at(call, arg_types, 2)
    result = known(out_type)
    if result is None or low is None or high is None:
        return None
    builder = FuncBuilder("tir_clip")
    operand = builder.operand(call.args[0], result, "x")
    own_low, own_high = (_bound(builder.own(bound), result.dtype) for bound in (low, high))
    out = builder.compute(builder.shape(result.dims), lambda *indices: clamp(operand(*indices), own_low, own_high))
    return builder.finish(out, result)


def _bound(value: PrimExpr, dtype: str) -> PrimExpr:
    """Return a bound in the dtype of the data; one that is beyond it is the nearest number there."""
    match value:
        case IntImm(value=literal) | FloatImm(value=literal):
            return const(_bound_value(literal, dtype), dtype)
        case _ if dtype_of(value) == dtype:
            return value
        case _ if "float" in dtype or dtype_of(value) != "int64":
            return Cast(value, dtype)
        case _:
            low, high = (const(int(min(limit, _MOST)), "int64") for limit in limits(dtype))
            return Cast(clamp(value, low, high), dtype)


def _bound_value(value: float, dtype: str) -> float | int | bool:
    if "float" in dtype:
        return float(value)
    if dtype == "bool":
        return value > 0
    return int(converted(np.asarray(value, np.float64), dtype)) if isinstance(value, float) else _held(value, dtype)


def _held(value: int, dtype: str) -> int:
    low, high = limits(dtype)
    return int(min(max(value, low), high))


def _evaluate_clip(args: tuple[Value, ...]) -> Value:
    data = np.asarray(args[0])
    low, high = (np.asarray(_bound_value(bound, str(data.dtype))).astype(data.dtype) for bound in args[1:3])
    return greater_of(lesser_of(data, high), low)


def _infer_where(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the broadcast of condition and values; the condition is bool, the values have one dtype."""
    condition = tensor_at(call, arg_types, 0)
    require_bool(call, condition)
    values = (tensor_at(call, arg_types, 1), tensor_at(call, arg_types, 2))
    return broadcast_types(call, (condition, *values), common_dtype(call, values))


def _evaluate_where(args: tuple[Value, ...]) -> Value:
    yes: Array = np.asarray(args[1])
    return np.where(np.asarray(args[0]), yes, np.asarray(args[2]))


def _where(condition: PrimExpr, yes: PrimExpr, no: PrimExpr) -> PrimExpr:
    return Select(condition, yes, no, dtype_of(yes), is_lazy=False)


SPECS = (
    binary_spec("add", _plus, np.add, "Add, element by element."),
    binary_spec("subtract", _op("-"), _difference, "Subtract, element by element."),
    binary_spec("multiply", _op("*"), np.multiply, "Multiply, element by element."),
    binary_spec("divide", _divide, quotient, "Divide; integers truncate."),
    binary_spec("floor_divide", _floor_divide, _floor_quotient, "Divide and round down."),
    binary_spec("power", _power, power_of, "Raise the first to the power of the second."),
    binary_spec("maximum", _op("max"), greater_of, "The greater of two elements."),
    binary_spec("minimum", _op("min"), lesser_of, "The lesser of two elements."),
    binary_spec("mod", _op("truncmod"), _remainder, "Remainder with the sign of the first."),
    _compare("equal", "==", np.equal, "Tell whether elements are equal."),
    _compare("not_equal", "!=", np.not_equal, "Tell whether elements differ."),
    _compare("less", "<", np.less, "Tell whether the first is less."),
    _compare("less_equal", "<=", np.less_equal, "Tell whether the first is less or equal."),
    _compare("greater", ">", np.greater, "Tell whether the first is greater."),
    _compare("greater_equal", ">=", np.greater_equal, "Tell whether the first is greater or equal."),
    binary_spec("logical_and", _op("and"), np.logical_and, "Logical and.", infer=infer_logical),
    binary_spec("logical_or", _op("or"), np.logical_or, "Logical or.", infer=infer_logical),
    unary_spec("logical_not", lambda x: Unary("not", x, "bool"), np.logical_not, "Logical not.",
           infer=_infer_logical_not, block="T_logical_not"),
    unary_spec("abs", _abs, np.abs, "Absolute value."),
    unary_spec("negative", lambda x: binary("*", x, _like(-1, x)), _opposite, "Change the sign."),
    intrinsic_spec("exp", np.exp, "Exponential function."),
    intrinsic_spec("log", np.log, "Natural logarithm."),
    intrinsic_spec("sqrt", np.sqrt, "Square root."),
    intrinsic_spec("rsqrt", _rsqrt, "Reciprocal of the square root."),
    intrinsic_spec("sin", np.sin, "Sine."),
    intrinsic_spec("cos", np.cos, "Cosine."),
    intrinsic_spec("tanh", np.tanh, "Hyperbolic tangent."),
    intrinsic_spec("sigmoid", sigmoid, "Logistic function."),
    intrinsic_spec("erf", erf, "Gauss error function."),
    rounding_spec("floor", "floor", np.floor, "Round down."),
    rounding_spec("ceil", "ceil", np.ceil, "Round up."),
    rounding_spec("round", "nearbyint", np.rint, "Round to the nearest integer, halves to even."),
    unary_spec("sign", _sign, _sign_of, "-1, 0 or 1.", block="T_sign"),
    unary_spec("square", lambda x: binary("*", x, x), np.square, "Multiply with itself.", block="T_multiply"),
    OpSpec(
        "relax.astype", (X, DTYPE), _infer_astype, "Convert to another dtype.",
        evaluate=_evaluate_astype, legalize=_legalize_astype,
        pattern_kind="elementwise", see="tvm/src/relax/op/tensor/datatype.cc",
    ),
    OpSpec(
        "relax.clip", (X, Param("min", "prim"), Param("max", "prim")), _infer_clip, "Hold between two bounds.",
        evaluate=_evaluate_clip, legalize=_legalize_clip, pattern_kind="elementwise", see=_SEE_UNARY,
    ),
    OpSpec(
        "relax.where", (Param("condition", "tensor"), *BINARY), _infer_where, "Choose between two tensors.",
        evaluate=_evaluate_where,
        legalize=legalize_map("where", "T_where", _where), pattern_kind="broadcast",
        see="tvm/src/relax/op/tensor/search.cc",
    ),
)  # fmt: skip
