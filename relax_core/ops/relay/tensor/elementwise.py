"""Relay's operators on elements: functions of one element, arithmetic and comparison with broadcasting."""

import math
from dataclasses import replace
from types import MappingProxyType

from relax_core.ir.expr import Expr, TensorType, Type
from relax_core.ops.relay.dims import broadcast
from relax_core.ops.relay.entry import op
from relax_core.ops.relay.show import show_type
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.translation import (
    Rule,
    along,
    cast,
    dtype_of,
    rank,
    relax,
    scalar,
    untranslated,
)
from relax_core.ops.spec import REQUIRED

_UNARY = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos",
    "cosh", "erf", "exp", "floor", "log", "negative", "round", "rsqrt", "sigmoid",
    "sign", "sin", "sinh", "sqrt", "tan", "tanh", "logical_not", "bitwise_not",
)  # fmt: skip

_BINARY = (
    "add", "subtract", "multiply", "divide", "floor_divide", "power", "maximum", "minimum", "mod",
    "floor_mod", "left_shift", "right_shift", "bitwise_and", "bitwise_or",
    "bitwise_xor", "logical_and", "logical_or", "logical_xor",
)  # fmt: skip

_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")

_FIXED_POINT = MappingProxyType({"multiplier": REQUIRED, "shift": REQUIRED})

_INTEGERS = ("int", "uint")


def identity(call: RelayCall) -> Type:
    """Relation: the result is like the first argument, a tensor."""
    return call.tensor()


def broadcast_tensors(call: RelayCall, tensors: tuple[TensorType, ...], dtype: str | None) -> TensorType:
    """Return the tensor that `tensors` broadcast to."""
    dims = tensors[0].dims
    for item in tensors[1:]:
        dims = None if dims is None or item.dims is None else broadcast(call, dims, item.dims)
    return TensorType(dims, dtype)


def common_dtype(call: RelayCall, tensors: tuple[TensorType, ...]) -> str | None:
    """Return the dtype that all of `tensors` have."""
    known = tuple(dict.fromkeys(item.dtype for item in tensors if item.dtype is not None))
    if len(known) > 1:
        raise call.refuse(
            f"expects equal dtypes, got {' and '.join(show_type(item) for item in tensors)}",
            f'convert one with cast(%x, dtype="{known[0]}")',
        )
    return known[0] if known else None


def arithmetic(call: RelayCall) -> Type:
    """Relation: both arguments broadcast, and their dtypes are equal."""
    tensors = (call.tensor(0), call.tensor(1))
    if tensors[0] is tensors[1]:
        return tensors[0]
    return broadcast_tensors(call, tensors, common_dtype(call, tensors))


def comparison(call: RelayCall) -> Type:
    """Relation: both arguments broadcast, and their dtypes are equal; the result is of truth values."""
    tensors = (call.tensor(0), call.tensor(1))
    common_dtype(call, tensors)
    return broadcast_tensors(call, tensors, "bool")


def predicate(call: RelayCall) -> Type:
    """Relation: truth values in the shape of the argument."""
    return replace(call.tensor(), dtype="bool")


def _cast_type(call: RelayCall) -> Type:
    """Relation: the argument with the dtype of the attribute."""
    if not call.dtype():
        raise call.refuse('expects a dtype, such as "float32", as `dtype`', code="RY010")
    return replace(call.tensor(), dtype=call.dtype())


def _cast_like_type(call: RelayCall) -> Type:
    return replace(call.tensor(), dtype=call.tensor(1).dtype)


def _where_type(call: RelayCall) -> Type:
    values = (call.tensor(1), call.tensor(2))
    return broadcast_tensors(call, (call.tensor(0), *values), common_dtype(call, values))


def _logarithm(base: float) -> Rule:
    def rule(call: RelayCall) -> Expr:
        return relax("divide", relax("log", call.exprs[0]), scalar(math.log(base), dtype_of(call)))

    return rule


def _trunc_divide(call: RelayCall) -> Expr:
    quotient = relax("divide", *call.exprs)
    return quotient if dtype_of(call).startswith(_INTEGERS) else relax("trunc", quotient)


def _copy(call: RelayCall) -> Expr:
    return call.exprs[0]


def _clip(call: RelayCall) -> Expr:
    return relax("clip", call.exprs[0], call.number("a_min"), call.number("a_max"))


def _cast(call: RelayCall) -> Expr:
    return cast(call.exprs[0], call.dtype())


def _cast_like(call: RelayCall) -> Expr:
    return cast(call.exprs[0], dtype_of(call, 1))


def _reinterpret(call: RelayCall) -> Expr:
    return relax("memory.view", call.exprs[0], dtype=call.dtype())


def _fixed_point_multiply(call: RelayCall) -> Expr:
    """`x * multiplier * 2**shift / 2**31`, rounded up, in 64 bits.

    See: tvm/src/target/intrin_rule.cc, q_multiply_shift
    """
    shift = call.int_("shift")
    wide = cast(call.exprs[0], "int64")
    left = relax("left_shift", wide, scalar(shift, "int64")) if shift > 0 else wide
    total = 31 + max(0, -shift)
    product = relax("multiply", left, scalar(call.int_("multiplier"), "int64"))
    rounded = relax("add", product, scalar(1 << (total - 1), "int64"))
    return cast(relax("right_shift", rounded, scalar(total, "int64")), dtype_of(call))


def _fixed_point_multiply_per_axis(call: RelayCall) -> Expr:
    """The same with a multiplier and two shifts for each index of an axis, which vectors hold.

    See: tvm/src/target/intrin_rule.cc, q_multiply_shift_per_axis
    """
    data, *vectors = call.exprs
    axes = call.ints("axes")
    if len(axes) != 1:
        raise untranslated(call, f"the vectors go along one axis, not {len(axes)}")
    factor, left, right = (cast(along(call, item, axes[0] % rank(call)), "int64") for item in vectors)
    wide: Expr = cast(data, "int64")
    if call.flag("is_lshift_required"):
        wide = relax("left_shift", wide, left)
    total = relax("add", right, scalar(31, "int64"))
    half = relax("left_shift", scalar(1, "int64"), relax("subtract", total, scalar(1, "int64")))
    rounded = relax("add", relax("multiply", wide, factor), half)
    return cast(relax("right_shift", rounded, total), dtype_of(call))


_PER_AXIS = MappingProxyType({"is_lshift_required": False, "is_rshift_required": False, "axes": ()})

SPECS = (
    *(op(name, "data", name, relation=identity) for name in _UNARY),
    *(op(name, "lhs rhs", name, relation=arithmetic) for name in _BINARY),
    *(op(name, "lhs rhs", name, relation=comparison) for name in _COMPARISONS),
    *(op(f"is{name}", "data", f"is{name}", relation=predicate) for name in ("nan", "finite", "inf")),
    op("trunc", "data", "trunc", relation=identity),
    op("log2", "data", _logarithm(2.0), relation=identity),
    op("log10", "data", _logarithm(10.0), relation=identity),
    op("trunc_divide", "lhs rhs", _trunc_divide, relax="divide", relation=arithmetic),
    op("trunc_mod", "lhs rhs", "mod", relation=arithmetic),
    *(op(f"fast_{name}", "data", name, relation=identity) for name in ("exp", "tanh", "erf")),
    op("copy", "data", _copy, relation=identity),
    op("clip", "data", _clip, {"a_min": REQUIRED, "a_max": REQUIRED}, relax="clip", relation=identity),
    op("cast", "data", _cast, {"dtype": REQUIRED}, relax="astype", relation=_cast_type),
    op("cast_like", "data dtype_like", _cast_like, relax="astype", relation=_cast_like_type),
    op("reinterpret", "data", _reinterpret, {"dtype": REQUIRED}, relation=_cast_type),
    op("where", "condition x y", "where", relation=_where_type),
    op("fixed_point_multiply", "data", _fixed_point_multiply, _FIXED_POINT, relation=identity),
    op("fixed_point_multiply_per_axis", "x m lshift rshift", _fixed_point_multiply_per_axis, _PER_AXIS,
       relation=identity),
    op("nn.relu", "data", "nn.relu", relation=identity),
    op("nn.leaky_relu", "data", "nn.leakyrelu", {"alpha": 0.25}, relation=identity),
    op("nn.softmax", "data", "nn.softmax", {"axis": -1}, relation=identity),
    op("nn.fast_softmax", "data", "nn.softmax", {"axis": -1}, relation=identity),
    op("nn.log_softmax", "data", "nn.log_softmax", {"axis": -1}, relation=identity),
)  # fmt: skip
