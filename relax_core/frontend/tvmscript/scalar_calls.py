"""Calls that give scalars: `T.exp(x)`, `T.max(a, b)`, `T.Cast("float32", x)`, `T.Select(c, a, b)` ..."""

import ast
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Protocol

import numpy as np

from relax_core.frontend.tvmscript.context import Context, source_of
from relax_core.ir.prim import Binary, BinaryKind, Cast, Intrinsic, PrimExpr, Select, Unary, const, dtype_of

DTYPE = re.compile(r"(?:u?int(?:1|4|8|16|32|64)|float(?:16|32|64)|bfloat16|float8_\w+|bool|handle)$")


class NotScalarCall(Exception):
    """The name is no known call that gives a scalar."""


class Reader(Protocol):
    """The part of the scalar reader that calls need."""

    context: Context

    def read(self, node: ast.expr) -> PrimExpr: ...
    def unified(self, a: ast.expr, b: ast.expr) -> tuple[PrimExpr, PrimExpr]: ...
    def as_dtype(self, node: ast.expr, dtype: str) -> PrimExpr: ...


BINARY_CALLS: Mapping[str, BinaryKind] = MappingProxyType(
    {
        "min": "min", "max": "max", "floordiv": "//", "floormod": "%", "truncdiv": "truncdiv", "truncmod": "truncmod",
        "Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "FloorDiv": "//", "FloorMod": "%", "Mod": "truncmod",
        "Min": "min", "Max": "max", "EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">=",
        "And": "and", "Or": "or", "shift_left": "<<", "shift_right": ">>", "bitwise_and": "&", "bitwise_or": "|",
        "bitwise_xor": "^", "div": "/",
    }
)  # fmt: skip
FLOAT_CALLS = (
    "exp", "exp2", "exp10", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "tanh", "sigmoid", "sin", "cos", "tan",
    "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "erf", "floor", "ceil", "round", "trunc",
    "nearbyint", "abs", "popcount", "clz",
)  # fmt: skip
TEST_CALLS = ("isnan", "isinf", "isfinite")
PAIR_CALLS = ("pow", "atan2", "fmod", "hypot", "copysign", "ldexp", "nextafter")
RENAMED: Mapping[str, str] = MappingProxyType({"fabs": "abs", "power": "pow", "Cast": "cast", "if_then_else": "select"})


def is_dtype(name: str) -> bool:
    """Tell whether `name` is the name of a scalar dtype."""
    return DTYPE.match(name) is not None


def scalar_call(reader: Reader, name: str, node: ast.Call) -> PrimExpr:
    """Read the call `T.<name>(...)`; raises `NotScalarCall` for a name that is not here."""
    special = _SPECIAL.get(name)
    if special is not None:
        return special(reader, node)
    plain = RENAMED.get(name, name)
    span = reader.context.span(node)
    if op := BINARY_CALLS.get(plain):
        a, b = reader.unified(*_arguments(reader, node, 2))
        is_test = op in ("==", "!=", "<", "<=", ">", ">=", "and", "or")
        return Binary(op, a, b, "bool" if is_test else dtype_of(a), span=span)
    if plain in FLOAT_CALLS or plain in TEST_CALLS:
        value = reader.read(_arguments(reader, node, 1)[0])
        return Intrinsic(plain, (value,), "bool" if plain in TEST_CALLS else dtype_of(value), span=span)
    if plain in PAIR_CALLS:
        a, b = reader.unified(*_arguments(reader, node, 2))
        return Intrinsic(plain, (a, b), dtype_of(a), span=span)
    raise NotScalarCall(name)


def _arguments(reader: Reader, node: ast.Call, count: int) -> list[ast.expr]:
    found = [*node.args, *(item.value for item in node.keywords if item.arg in ("a", "b", "x", "y", "x1", "x2"))]
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


def _dtype(reader: Reader, node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and is_dtype(node.value):
        return node.value
    raise reader.context.fail("PA006", node, f'expected a dtype, such as "float32", got `{source_of(node)}`')


def _cast_first(reader: Reader, node: ast.Call) -> PrimExpr:
    dtype, value = _named(reader, node, ("dtype", "value"))
    return Cast(reader.read(value), _dtype(reader, dtype), span=reader.context.span(node))


def _cast_last(reader: Reader, node: ast.Call) -> PrimExpr:
    if node.args and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
        return _cast_first(reader, node)
    value, dtype = _named(reader, node, ("value", "dtype"))
    return Cast(reader.read(value), _dtype(reader, dtype), span=reader.context.span(node))


def _select(is_lazy: bool) -> Callable[[Reader, ast.Call], PrimExpr]:
    def read(reader: Reader, node: ast.Call) -> PrimExpr:
        condition, *branches = _arguments(reader, node, 3)
        a, b = reader.unified(*branches)
        return Select(reader.read(condition), a, b, dtype_of(a), is_lazy, span=reader.context.span(node))

    return read


def _ceildiv(reader: Reader, node: ast.Call) -> PrimExpr:
    a, b = reader.unified(*_arguments(reader, node, 2))
    dtype = dtype_of(a)
    span = reader.context.span(node)
    above = Binary("-", Binary("+", a, b, dtype, span=span), const(1, dtype), dtype, span=span)
    return Binary("//", above, b, dtype, span=span)


def _not(reader: Reader, node: ast.Call) -> PrimExpr:
    return Unary("not", reader.read(_arguments(reader, node, 1)[0]), "bool", span=reader.context.span(node))


def _bitwise_not(reader: Reader, node: ast.Call) -> PrimExpr:
    value = reader.read(_arguments(reader, node, 1)[0])
    return Unary("~", value, dtype_of(value), span=reader.context.span(node))


def _likely(reader: Reader, node: ast.Call) -> PrimExpr:
    """`T.likely(x)` is `x`: a hint to a code generator for GPUs."""
    return reader.read(_arguments(reader, node, 1)[0])


def _limit(is_upper: bool) -> Callable[[Reader, ast.Call], PrimExpr]:
    def read(reader: Reader, node: ast.Call) -> PrimExpr:
        dtype = _dtype(reader, _arguments(reader, node, 1)[0] if node.args else node)
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
    dtype, value = _named(reader, node, ("dtype", "value"))
    return Intrinsic("reinterpret", (reader.read(value),), _dtype(reader, dtype), span=reader.context.span(node))


_SPECIAL: Mapping[str, Callable[[Reader, ast.Call], PrimExpr]] = MappingProxyType(
    {
        "Cast": _cast_first,
        "cast": _cast_last,
        "Select": _select(False),
        "if_then_else": _select(True),
        "ceildiv": _ceildiv,
        "Not": _not,
        "bitwise_not": _bitwise_not,
        "likely": _likely,
        "min_value": _limit(False),
        "max_value": _limit(True),
        "infinity": _infinity,
        "reinterpret": _reinterpret,
    }
)
KNOWN_CALLS = (*_SPECIAL, *BINARY_CALLS, *FLOAT_CALLS, *TEST_CALLS, *PAIR_CALLS, *RENAMED)
