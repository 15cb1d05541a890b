"""Calls that give scalars: `T.exp(x)`, `T.max(a, b)`, `T.Cast("float32", x)`, `T.Select(c, a, b)` ..."""

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from types import MappingProxyType
from typing import Protocol

import numpy as np

from relax_core.frontend.tvmscript.context import Context, source_of
from relax_core.frontend.tvmscript.unread import tell_arguments
from relax_core.ir.intrinsics import FIRST, KEYWORD, LAST, RESULTS, default_dtype, is_known, says_dtype
from relax_core.ir.prim import (
    MAX_LANES,
    Binary,
    BinaryKind,
    Cast,
    FloatImm,
    IntImm,
    Intrinsic,
    PrimExpr,
    PrimList,
    Select,
    StringImm,
    Unary,
    const,
    dtype_of,
    is_dtype,
    lanes_of,
    scalar_of,
    vector_of,
)


class NotScalarCall(Exception):
    """The name is no known call that gives a scalar."""


class Reader(Protocol):
    """The part of the scalar reader that calls need."""

    context: Context

    def read(self, node: ast.expr) -> PrimExpr: ...
    def unified(self, a: ast.expr, b: ast.expr, *, op: BinaryKind | None = None) -> tuple[PrimExpr, PrimExpr]: ...
    def as_dtype(self, node: ast.expr, dtype: str) -> PrimExpr: ...
    def argument(self, node: ast.expr) -> PrimExpr: ...
    def combine(self, place: ast.expr, op: BinaryKind, a: PrimExpr, b: PrimExpr) -> PrimExpr: ...


BINARY_CALLS: Mapping[str, BinaryKind] = MappingProxyType(
    {
        "min": "min", "max": "max", "floordiv": "//", "floormod": "%", "truncdiv": "truncdiv", "truncmod": "truncmod",
        "Add": "+", "Sub": "-", "Mul": "*", "Div": "truncdiv", "FloorDiv": "//", "FloorMod": "%", "Mod": "truncmod",
        "Min": "min", "Max": "max", "EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">=",
        "And": "and", "Or": "or", "shift_left": "<<", "shift_right": ">>", "bitwise_and": "&", "bitwise_or": "|",
        "bitwise_xor": "^", "div": "truncdiv", "BitwiseAnd": "&",
        "BitwiseOr": "|", "BitwiseXor": "^", "LShift": "<<", "RShift": ">>", "indexdiv": "//", "indexmod": "%",
    }
)  # fmt: skip
FLOAT_CALLS = (
    "exp", "exp2", "exp10", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "tanh", "sigmoid", "sin", "cos", "tan",
    "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "erf", "floor", "ceil", "round", "trunc",
    "nearbyint", "abs", "popcount", "clz", "erfc", "expm1", "cbrt", "lgamma", "tgamma", "rint",
)  # fmt: skip
TEST_CALLS = ("isnan", "isinf", "isfinite")
PAIR_CALLS = ("pow", "atan2", "fmod", "hypot", "copysign", "ldexp", "nextafter")
RENAMED: Mapping[str, str] = MappingProxyType({"fabs": "abs", "power": "pow", "Cast": "cast", "if_then_else": "select"})


def scalar_call(reader: Reader, name: str, node: ast.Call) -> PrimExpr:
    """Read the call `T.<name>(...)`; raises `NotScalarCall` for a name that is not here."""
    special = _SPECIAL.get(name)
    if special is not None:
        return special(reader, node)
    plain = RENAMED.get(name, name)
    span = reader.context.span(node)
    if op := BINARY_CALLS.get(plain):
        first, second = _arguments(reader, node, 2)
        a, b = reader.unified(first, second, op=op)
        is_of_floats = op == "truncdiv" and scalar_of(dtype_of(a)).startswith(("float", "bfloat"))
        return reader.combine(node, "/" if is_of_floats else op, a, b)
    if plain in FLOAT_CALLS or plain in TEST_CALLS:
        value = reader.read(_arguments(reader, node, 1)[0])
        dtype = dtype_of(value)
        result = vector_of("bool", lanes_of(dtype)) if plain in TEST_CALLS else dtype
        return Intrinsic(plain, (value,), result, span=span)
    if plain in PAIR_CALLS:
        a, b = reader.unified(*_arguments(reader, node, 2))
        return Intrinsic(plain, (a, b), dtype_of(a), span=span)
    if is_known(plain):
        return intrinsic_call(reader, plain, node)
    raise NotScalarCall(name)


def intrinsic_call(reader: Reader, name: str, node: ast.Call) -> PrimExpr:
    """Read a call that is kept as it stands: its arguments in order, what is said by name behind them."""
    args = [reader.argument(item) for item in node.args]
    said: str | None = None
    for item in node.keywords:
        match item:
            case ast.keyword(arg="dtype", value=value):
                said = _dtype(reader, value, "void", "") or "void"
            case ast.keyword(arg=str(key), value=value):
                args.append(Intrinsic(KEYWORD, (StringImm(key), reader.argument(value)), "handle"))
            case _:
                raise reader.context.fail("PA006", item.value, "arguments are not unpacked here")
    if said is not None and RESULTS.get(name) == FIRST and not says_dtype(args):
        args.insert(0, StringImm(said))
    if said is not None and RESULTS.get(name) == LAST:
        args.append(StringImm(said))
    dtype = said or default_dtype(name, args)
    return Intrinsic(name, tuple(args), dtype, span=reader.context.span(node))


def _arguments(reader: Reader, node: ast.Call, count: int) -> list[ast.expr]:
    found = [*node.args, *(item.value for item in node.keywords if item.arg not in ("dtype", "span"))]
    if len(found) != count or any(isinstance(item, ast.Starred) for item in found):
        words = "one argument" if count == 1 else f"{count} arguments"
        raise reader.context.fail("PA006", node, f"`{source_of(node.func)}` takes {words}, got {len(found)}")
    return found


def _named(reader: Reader, node: ast.Call, names: tuple[str, ...]) -> list[ast.expr]:
    found = dict(zip(names, node.args, strict=False))
    found.update((item.arg, item.value) for item in node.keywords if item.arg in names)
    if len(found) != len(names) or len(node.args) + len(node.keywords) != len(names):
        raise reader.context.fail("PA006", node, f"`{source_of(node.func)}` takes {', '.join(names)}")
    return [found[name] for name in names]


def _dtype(reader: Reader, node: ast.expr, *others: str) -> str:
    match node:
        case ast.Constant(value=str(text)) if is_dtype(text) or text in others:
            return text
        case ast.Attribute(value=ast.Call(func=ast.Attribute(attr=name)), attr="ty") | ast.Attribute(attr=name) if (
            is_dtype(name)
        ):
            return name
        case ast.Name() | ast.Attribute(attr="dtype") if isinstance(made := reader.argument(node), StringImm):
            return made.value
        case _:
            pass
    raise reader.context.fail_dtype("PA006", node)


def _cast_first(reader: Reader, node: ast.Call) -> PrimExpr:
    dtype, value = _named(reader, node, ("dtype", "value"))
    return Cast(reader.read(value), _dtype(reader, dtype), span=reader.context.span(node))


def _cast_last(reader: Reader, node: ast.Call) -> PrimExpr:
    if node.args and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
        return _cast_first(reader, node)
    value, dtype = _named(reader, node, ("value", "dtype"))
    return Cast(reader.read(value), _dtype(reader, dtype), span=reader.context.span(node))


def _select(*, is_lazy: bool) -> Callable[[Reader, ast.Call], PrimExpr]:
    def read(reader: Reader, node: ast.Call) -> PrimExpr:
        condition, first, second = _arguments(reader, node, 3)
        # TVM's `Select` wants branches of one dtype, and its `if_then_else` widens them as an operation does.
        a, b = reader.unified(first, second, op="+" if is_lazy else None)
        return Select(reader.read(condition), a, b, dtype_of(a), is_lazy, span=reader.context.span(node))

    return read


def _joined(op: BinaryKind) -> Callable[[Reader, ast.Call], PrimExpr]:
    """Read `T.all(a, b, c)` and `T.any(a, b, c)`, which join conditions from the left."""

    def read(reader: Reader, node: ast.Call) -> PrimExpr:
        if not node.args:
            raise reader.context.fail("PA006", node, f"`{source_of(node.func)}` takes conditions")
        tell_arguments(reader.context, node, None)
        conditions = [reader.read(item) for item in node.args]
        return reduce(lambda a, b: reader.combine(node, op, a, b), conditions)

    return read


def _ceildiv(reader: Reader, node: ast.Call) -> PrimExpr:
    a, b = reader.unified(*_arguments(reader, node, 2))
    dtype = dtype_of(a)
    span = reader.context.span(node)
    above = Binary("-", Binary("+", a, b, dtype, span=span), const(1, dtype), dtype, span=span)
    return Binary("//", above, b, dtype, span=span)


def _const(reader: Reader, node: ast.Call) -> PrimExpr:
    """`T.const(1, "float32")` is the literal in that dtype, int32 or float32 by itself."""
    if len(node.args) + len(node.keywords) == 1:
        return reader.read(node.args[0] if node.args else node.keywords[0].value)
    value, dtype = _named(reader, node, ("value", "dtype"))
    return reader.as_dtype(value, _dtype(reader, dtype))


def _not(reader: Reader, node: ast.Call) -> PrimExpr:
    return Unary("not", reader.read(_arguments(reader, node, 1)[0]), "bool", span=reader.context.span(node))


def _bitwise_not(reader: Reader, node: ast.Call) -> PrimExpr:
    value = reader.read(_arguments(reader, node, 1)[0])
    return Unary("~", value, dtype_of(value), span=reader.context.span(node))


def _limit(*, is_upper: bool) -> Callable[[Reader, ast.Call], PrimExpr]:
    def read(reader: Reader, node: ast.Call) -> PrimExpr:
        dtype = _dtype(reader, _arguments(reader, node, 1)[0])
        if dtype.startswith(("int", "uint")) and dtype not in ("int1", "int4", "uint1", "uint4"):
            limits = np.iinfo(dtype)
            value: int | float = int(limits.max if is_upper else limits.min)
        elif dtype in ("float16", "float32", "float64"):
            value = float(np.finfo(dtype).max if is_upper else np.finfo(dtype).min)
        else:
            raise reader.context.fail("PA006", node, f"no limits are known of {dtype}")
        return const(value, dtype)

    return read


def _infinity(reader: Reader, node: ast.Call) -> PrimExpr:
    return const(float("inf"), _dtype(reader, _arguments(reader, node, 1)[0]))


def _reinterpret(reader: Reader, node: ast.Call) -> PrimExpr:
    """Read `T.reinterpret("int32", x)`, until 2022 `T.reinterpret(x, dtype="int32")`."""
    match node:
        case ast.Call(args=[value], keywords=[ast.keyword(arg="dtype", value=dtype)]):
            pass
        case _:
            dtype, value = _named(reader, node, ("dtype", "value"))
    return Intrinsic("reinterpret", (reader.read(value),), _dtype(reader, dtype), span=reader.context.span(node))


def _vector(reader: Reader, node: ast.Call, dtype: str, lanes: PrimExpr) -> str:
    """Return the dtype of a vector of so many lanes; of a number that is not written out it is not known."""
    if not isinstance(lanes, IntImm) or lanes.value <= 0:
        return "handle"
    if lanes.value > MAX_LANES:
        message = f"a vector of {lanes.value:,} lanes; the most are {MAX_LANES:,}"
        raise reader.context.fail("PA058", node, message, "write a loop")
    return vector_of(dtype, lanes.value)


def _ramp(reader: Reader, node: ast.Call) -> PrimExpr:
    base, stride, lanes = _named(reader, node, ("base", "stride", "lanes"))
    a, b = reader.unified(base, stride)
    count = reader.read(lanes)
    dtype = _vector(reader, node, dtype_of(a), count)
    return Intrinsic("Ramp", (a, b, count), dtype, span=reader.context.span(node))


def _broadcast(reader: Reader, node: ast.Call) -> PrimExpr:
    value, lanes = (reader.read(item) for item in _named(reader, node, ("value", "lanes")))
    dtype = _vector(reader, node, dtype_of(value), lanes)
    return Intrinsic("Broadcast", (value, lanes), dtype, span=reader.context.span(node))


def _shuffle(reader: Reader, node: ast.Call) -> PrimExpr:
    vectors, indices = (reader.argument(item) for item in _named(reader, node, ("vectors", "indices")))
    if not isinstance(vectors, PrimList) or not isinstance(indices, PrimList) or not vectors.items:
        raise reader.context.fail("PA006", node, "`T.Shuffle` takes a list of vectors and a list of lanes")
    dtype = vector_of(dtype_of(vectors.items[0]), max(len(indices.items), 1))
    return Intrinsic("Shuffle", (vectors, indices), dtype, span=reader.context.span(node))


def _literal(
    make: Callable[[str, int | float | str], PrimExpr | None],
) -> Callable[[Reader, ast.Call], PrimExpr]:
    """Read `T.IntImm("int32", 4)` and its kin."""

    def read(reader: Reader, node: ast.Call) -> PrimExpr:
        constants = [item.value for item in node.args if isinstance(item, ast.Constant)]
        values = [value for value in constants if isinstance(value, bool | int | float | str)]
        dtype = values[0] if len(values) > 1 else ""
        found = make(str(dtype), values[-1]) if values else None
        if found is None or len(values) != len(node.args):
            raise reader.context.fail("PA006", node, f"`{source_of(node)}` is no literal")
        return replace(found, span=reader.context.span(node))

    return read


def _int_imm(dtype: str, value: int | float | str) -> PrimExpr | None:
    return IntImm(int(value), dtype) if is_dtype(dtype) and isinstance(value, int) else None


def _float_imm(dtype: str, value: int | float | str) -> PrimExpr | None:
    return FloatImm(float(value), dtype) if is_dtype(dtype) and not isinstance(value, str) else None


def _string_imm(dtype: str, value: int | float | str) -> PrimExpr | None:
    return StringImm(value) if isinstance(value, str) else None


_SPECIAL: Mapping[str, Callable[[Reader, ast.Call], PrimExpr]] = MappingProxyType(
    {
        "Cast": _cast_first,
        "cast": _cast_last,
        "Select": _select(is_lazy=False),
        "if_then_else": _select(is_lazy=True),
        "ceildiv": _ceildiv,
        "all": _joined("and"),
        "any": _joined("or"),
        "const": _const,
        "Not": _not,
        "bitwise_not": _bitwise_not,
        "min_value": _limit(is_upper=False),
        "max_value": _limit(is_upper=True),
        "infinity": _infinity,
        "reinterpret": _reinterpret,
        "Ramp": _ramp,
        "ramp": _ramp,
        "Broadcast": _broadcast,
        "broadcast": _broadcast,
        "Shuffle": _shuffle,
        "BitwiseNot": _bitwise_not,
        "IntImm": _literal(_int_imm),
        "FloatImm": _literal(_float_imm),
        "StringImm": _literal(_string_imm),
    }
)
KNOWN_CALLS = (*_SPECIAL, *BINARY_CALLS, *FLOAT_CALLS, *TEST_CALLS, *PAIR_CALLS, *RENAMED, *RESULTS)
