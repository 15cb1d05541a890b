"""Relay's operators on elements: functions of one element, arithmetic and comparison with broadcasting."""

from dataclasses import replace
from types import MappingProxyType

from relax_core.ir.types import TensorType, Type
from relax_core.ops.relay.dims import broadcast
from relax_core.ops.relay.show import show_type
from relax_core.ops.relay.spec import RelayCall, op
from relax_core.ops.spec import REQUIRED

BITS = "Relax has no such operation on bits"


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


def cast(call: RelayCall) -> Type:
    """Relation: the argument with the dtype of the attribute."""
    if not call.dtype():
        raise call.refuse('expects a dtype, such as "float32", as `dtype`', code="RY010")
    return replace(call.tensor(), dtype=call.dtype())


def _cast_like(call: RelayCall) -> Type:
    return replace(call.tensor(), dtype=call.tensor(1).dtype)


def _where(call: RelayCall) -> Type:
    values = (call.tensor(1), call.tensor(2))
    return broadcast_tensors(call, (call.tensor(0), *values), common_dtype(call, values))


_UNARY_RELAX = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos",
    "cosh", "erf", "exp", "floor", "log", "negative", "round", "rsqrt", "sigmoid",
    "sign", "sin", "sinh", "sqrt", "tan", "tanh", "logical_not", "bitwise_not",
)  # fmt: skip
_BINARY_RELAX = (
    "add", "subtract", "multiply", "divide", "floor_divide", "power", "maximum", "minimum", "mod",
    "floor_mod", "left_shift", "right_shift", "bitwise_and", "bitwise_or",
    "bitwise_xor", "logical_and", "logical_or", "logical_xor",
)  # fmt: skip
_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
_FIXED_POINT = MappingProxyType({"multiplier": REQUIRED, "shift": REQUIRED})

SPECS = (
    *(op(name, "data", identity, relax=f"relax.{name}") for name in _UNARY_RELAX),
    *(op(name, "lhs rhs", arithmetic, relax=f"relax.{name}") for name in _BINARY_RELAX),
    *(op(name, "lhs rhs", comparison, relax=f"relax.{name}") for name in _COMPARISONS),
    *(op(f"is{name}", "data", predicate, relax=f"relax.is{name}") for name in ("nan", "finite", "inf")),
    op("trunc", "data", identity, relax="relax.trunc"),
    op("log2", "data", identity, why="log divided by the constant log(2)"),
    op("log10", "data", identity, why="log divided by the constant log(10)"),
    op("trunc_divide", "lhs rhs", arithmetic, relax="relax.divide"),
    op("trunc_mod", "lhs rhs", arithmetic, relax="relax.mod"),
    *(op(f"fast_{name}", "data", identity, relax=f"relax.{name}") for name in ("exp", "tanh", "erf")),
    op("copy", "data", identity, why="the value itself: Relax values do not change"),
    op("clip", "data", identity, {"a_min": REQUIRED, "a_max": REQUIRED}, relax="relax.clip"),
    op("cast", "data", cast, {"dtype": REQUIRED}, relax="relax.astype"),
    op("cast_like", "data dtype_like", _cast_like, relax="relax.astype"),
    op("reinterpret", "data", cast, {"dtype": REQUIRED}, why=BITS),
    op("where", "condition x y", _where, relax="relax.where"),
    op("fixed_point_multiply", "data", identity, _FIXED_POINT, why="integer arithmetic of quantized programs"),
    op("fixed_point_multiply_per_axis", "x m lshift rshift", identity,
       {"is_lshift_required": False, "is_rshift_required": False, "axes": ()},
       why="integer arithmetic of quantized programs"),
    op("nn.relu", "data", identity, relax="relax.nn.relu"),
    op("nn.leaky_relu", "data", identity, {"alpha": 0.25}, relax="relax.nn.leakyrelu"),
    op("nn.softmax", "data", identity, {"axis": -1}, relax="relax.nn.softmax"),
    op("nn.fast_softmax", "data", identity, {"axis": -1}, relax="relax.nn.softmax"),
    op("nn.log_softmax", "data", identity, {"axis": -1}, relax="relax.nn.log_softmax"),
    op("nn.lrn", "data", identity, {"size": 5, "axis": 1, "bias": 2.0, "alpha": 1e-05, "beta": 0.75},
       why="local response normalisation is not an operator of Relax"),
    op("nn.l2_normalize", "data", identity, {"eps": REQUIRED, "axis": ()}, why="divide by the root of a sum"),
)  # fmt: skip
