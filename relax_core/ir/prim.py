"""Scalar and index expressions, shared by Relax shapes and TIR."""

import re
from typing import ClassVar, Literal, TypeGuard

from relax_core.ir.node import Node, node
from relax_core.source import Span

BinaryKind = Literal[
    "+", "-", "*", "/", "//", "%", "truncdiv", "truncmod", "min", "max",
    "==", "!=", "<", "<=", ">", ">=", "and", "or", "&", "|", "^", "<<", ">>",
]  # fmt: skip
UnaryKind = Literal["-", "not", "~"]

_DTYPE = re.compile(
    r"(?:u?int(?:1|2|4|8|16|32|64)|float(?:16|32|64)|bfloat16|bool|handle"
    r"|float8_(?:e3m4|e4m3(?:b11fnuz|fnuz|fn)?|e5m2(?:fnuz)?|e8m0fnu)|float6_(?:e2m3fn|e3m2fn)|float4_e2m1fn)"
    r"(?:x[1-9]\d{0,5})?\Z"
)
MAX_LANES = 65_535
"""A vector has no more: TVM counts them in 16 bits."""
COMPARISONS: tuple[BinaryKind, ...] = ("==", "!=", "<", "<=", ">", ">=")
LOGICAL: tuple[BinaryKind, ...] = ("and", "or")


@node
class PrimExpr(Node):
    """The base of scalar expressions. `dtype` is a NumPy-like name: "int64", "float32", "bool"."""

    CHILDREN: ClassVar[tuple[str, ...]] = ()


@node
class PrimVar(PrimExpr):
    """A symbolic dimension, a loop variable, a scalar or handle parameter ("handle")."""

    name: str
    dtype: str = "int64"


@node
class PointerVar(PrimVar):
    """A handle that says what it points to: elements of dtype `element` in memory of kind `scope`."""

    element: str = "float32"
    scope: str = "global"


@node
class IntImm(PrimExpr):
    """An integer or, with dtype "bool", a truth value 0 or 1."""

    value: int
    dtype: str = "int64"


@node
class FloatImm(PrimExpr):
    """A floating-point literal."""

    value: float
    dtype: str = "float32"


@node
class AnyDim(PrimExpr):
    """A dimension of unknown size, Relay's `?`; no two of them are known to be equal."""

    dtype: str = "int64"


@node
class StringImm(PrimExpr):
    """A string literal; its dtype is "string"."""

    value: str
    dtype: str = "string"


@node
class Binary(PrimExpr):
    """A binary operation. `//` and `%` round towards minus infinity; `/` is of floats."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("a", "b")
    op: BinaryKind
    a: PrimExpr
    b: PrimExpr
    dtype: str


@node
class Unary(PrimExpr):
    """Negation, logical not or bitwise not."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("a",)
    op: UnaryKind
    a: PrimExpr
    dtype: str


@node
class Cast(PrimExpr):
    """A conversion of `value` to `dtype`; floats to integers truncate."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("value",)
    value: PrimExpr
    dtype: str


@node
class Select(PrimExpr):
    """`true_value` if `condition` else `false_value`.

    With `is_lazy` (`T.if_then_else`) only the chosen side is evaluated, otherwise (`T.Select`) both may be.
    """

    CHILDREN: ClassVar[tuple[str, ...]] = ("condition", "true_value", "false_value")
    condition: PrimExpr
    true_value: PrimExpr
    false_value: PrimExpr
    dtype: str
    is_lazy: bool = True


@node
class LetExpr(PrimExpr):
    """`body` where `var` is `value`: `T.Let(body, where={var: value})`."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("var", "value", "body")
    var: PrimVar
    value: PrimExpr
    body: PrimExpr
    dtype: str


@node
class PrimList(PrimExpr):
    """A list among the arguments of an intrinsic, such as the vectors and the lanes of `T.Shuffle`."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("items",)
    items: tuple[PrimExpr, ...]
    dtype: str = "list"


@node
class CommReducer(PrimExpr):
    """A commutative reduction: `results` of `params` (all left ones, then all right ones), from `identity`."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("params", "results", "identity")
    params: tuple[PrimVar, ...]
    results: tuple[PrimExpr, ...]
    identity: tuple[PrimExpr, ...]
    dtype: str = "handle"


@node
class Intrinsic(PrimExpr):
    """A call of an intrinsic, such as `exp`, `pow`, `call_extern`, `Ramp`; `name` is TVM's without prefix.

    Strings among the arguments, dtypes included, are `StringImm`; the dtype of a vector ends in its lanes: "int32x4".
    """

    CHILDREN: ClassVar[tuple[str, ...]] = ("args",)
    name: str
    args: tuple[PrimExpr, ...]
    dtype: str


def dtype_of(expr: PrimExpr) -> str:
    """Return the dtype of any scalar expression."""
    dtype = getattr(expr, "dtype", None)
    assert isinstance(dtype, str), f"{type(expr).__name__} has no dtype"
    return dtype


def is_dtype(name: str) -> bool:
    """Tell whether `name` is the name of a dtype: of a scalar, of a vector, or "handle"."""
    return _DTYPE.match(name) is not None


def scalar_of(dtype: str) -> str:
    """Return the dtype of one lane: "float32" of "float32x4"."""
    head, times, lanes = dtype.rpartition("x")
    return head if times and lanes.isdecimal() else dtype


def lanes_of(dtype: str) -> int:
    """Return the number of lanes: 4 of "float32x4", 1 of a scalar."""
    scalar = scalar_of(dtype)
    return 1 if scalar == dtype else int(dtype[len(scalar) + 1 :])


def vector_of(dtype: str, lanes: int) -> str:
    """Return the dtype of a vector with the elements of `dtype`."""
    scalar = scalar_of(dtype)
    return scalar if lanes == 1 else f"{scalar}x{lanes}"


def bits_of(dtype: str) -> int:
    """Return the number of bits of one value, all lanes together; 0 if the name does not say."""
    digits = re.match(r"[a-z]+(\d+)", scalar_of(dtype))
    return lanes_of(dtype) * (int(digits[1]) if digits else 8 if scalar_of(dtype) == "bool" else 0)


def bytes_of(dtype: str, count: int) -> int:
    """Return how many bytes `count` values take; values of less than a byte are packed."""
    return -(-count * (bits_of(dtype) or 8) // 8)


def broadcast(value: PrimExpr, lanes: int) -> PrimExpr:
    """Repeat a scalar in every lane of a vector."""
    return Intrinsic("Broadcast", (value, IntImm(lanes, "int32")), vector_of(dtype_of(value), lanes), span=value.span)


def const(value: int | float, dtype: str | None = None, *, span: Span | None = None) -> IntImm | FloatImm:
    """Make a literal; the dtype defaults to bool, int64 or float32 by the Python type."""
    match value:
        case bool():
            return IntImm(int(value), dtype or "bool", span=span)
        case int() if dtype is None or not dtype.startswith(("float", "bfloat")):
            return IntImm(value, dtype or "int64", span=span)
        case _:
            return FloatImm(float(value), dtype or "float32", span=span)


def is_number(expr: object, value: int) -> TypeGuard[IntImm]:
    """Tell whether `expr` is the literal integer `value`, of any dtype."""
    return isinstance(expr, IntImm) and expr.value == value


def binary(op: BinaryKind, a: PrimExpr, b: PrimExpr) -> PrimExpr:
    """Make a binary operation with the dtype that the operands give.

    A literal takes the dtype of the other operand; int32 with int64 gives int64.
    """
    da, db = dtype_of(a), dtype_of(b)
    if da != db:
        a, b = _unify(a, b)
        da = dtype_of(a)
    dtype = "bool" if op in COMPARISONS or op in LOGICAL else da
    return Binary(op, a, b, dtype)


def _unify(a: PrimExpr, b: PrimExpr) -> tuple[PrimExpr, PrimExpr]:
    """Bring two operands to one dtype: a literal follows the other, the wider one wins."""
    da, db = dtype_of(a), dtype_of(b)
    match a, b:
        case _, (IntImm() | FloatImm()) if not (da.startswith("int") and isinstance(b, FloatImm)):
            return a, const(b.value, da)
        case ((IntImm() | FloatImm()), _) if not (db.startswith("int") and isinstance(a, FloatImm)):
            return const(a.value, db), b
        case _:
            wider = max(da, db, key=_rank)
            return (a if da == wider else Cast(a, wider)), (b if db == wider else Cast(b, wider))


def _rank(dtype: str) -> tuple[int, int]:
    kind = 0 if dtype == "bool" else 1 if dtype.startswith("uint") else 2 if dtype.startswith("int") else 3
    digits = "".join(ch for ch in dtype if ch.isdigit())
    return kind, int(digits or "0")
