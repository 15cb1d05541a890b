"""Operators on elements, in Relax."""

import math
from types import MappingProxyType

from relax_core.ir.expr import Expr
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.to_relax_make import (
    Rule,
    Rules,
    axis_of,
    cast,
    dtype_of,
    inserted,
    rank,
    relax,
    scalar,
    untranslated,
)

SAME = (
    "abs acos acosh asin asinh atan atanh ceil cos cosh erf exp floor log negative round rsqrt sigmoid sign sin sinh "
    "sqrt tan tanh logical_not bitwise_not isnan isfinite isinf trunc add subtract multiply divide floor_divide power "
    "maximum minimum mod floor_mod left_shift right_shift bitwise_and bitwise_or bitwise_xor logical_and logical_or "
    "logical_xor equal not_equal less less_equal greater greater_equal where nn.relu nn.batch_flatten zeros_like "
    "ones_like collapse_sum_like full_like nn.cross_entropy_with_logits"
)
RENAMED = MappingProxyType(
    {
        "fast_exp": "exp",
        "fast_tanh": "tanh",
        "fast_erf": "erf",
        "trunc_mod": "mod",
    }
)
_INTEGERS = ("int", "uint")


def _named(name: str) -> Rule:
    def rule(call: RelayCall) -> Expr:
        return relax(name, *call.exprs)

    return rule


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


def along(call: RelayCall, value: Expr, axis: int) -> Expr:
    """Return a vector shaped so that it broadcasts along `axis` of the first argument."""
    return inserted(value, tuple(range(1, rank(call) - axis)))


def _bias_add(call: RelayCall) -> Expr:
    data, bias = call.exprs
    return relax("add", data, along(call, bias, axis_of(call)))


def _leaky_relu(call: RelayCall) -> Expr:
    return relax("nn.leakyrelu", call.exprs[0], call.number("alpha"))


def _prelu(call: RelayCall) -> Expr:
    return relax("nn.prelu", *call.exprs, axis_of(call))


def _soft(name: str) -> Rule:
    def rule(call: RelayCall) -> Expr:
        return relax(name, call.exprs[0], call.int_("axis"))

    return rule


RULES: Rules = MappingProxyType(
    {
        **{name: _named(name) for name in SAME.split()},
        **{name: _named(target) for name, target in RENAMED.items()},
        "log2": _logarithm(2.0),
        "log10": _logarithm(10.0),
        "trunc_divide": _trunc_divide,
        "copy": _copy,
        "clip": _clip,
        "cast": _cast,
        "cast_like": _cast_like,
        "reinterpret": _reinterpret,
        "fixed_point_multiply": _fixed_point_multiply,
        "fixed_point_multiply_per_axis": _fixed_point_multiply_per_axis,
        "nn.bias_add": _bias_add,
        "nn.leaky_relu": _leaky_relu,
        "nn.prelu": _prelu,
        "nn.softmax": _soft("nn.softmax"),
        "nn.fast_softmax": _soft("nn.softmax"),
        "nn.log_softmax": _soft("nn.log_softmax"),
    }
)
