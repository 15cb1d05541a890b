"""Scalar and index expressions, shared by Relax shapes and TIR."""

from typing import ClassVar, Literal

from relax_core.ir.node import Node, node

BinaryKind = Literal[
    "+", "-", "*", "/", "//", "%", "truncdiv", "truncmod", "min", "max",
    "==", "!=", "<", "<=", ">", ">=", "and", "or", "&", "|", "^", "<<", ">>",
]  # fmt: skip
UnaryKind = Literal["-", "not", "~"]

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
class Intrinsic(PrimExpr):
    """A call of a scalar intrinsic, such as `exp`, `sqrt`, `pow`; `name` is TVM's without prefix."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("args",)
    name: str
    args: tuple[PrimExpr, ...]
    dtype: str


def dtype_of(expr: PrimExpr) -> str:
    """Return the dtype of any scalar expression."""
    dtype = getattr(expr, "dtype", None)
    assert isinstance(dtype, str), f"{type(expr).__name__} has no dtype"
    return dtype


def const(value: bool | int | float, dtype: str | None = None) -> IntImm | FloatImm:
    """Make a literal; the dtype defaults to bool, int64 or float32 by the Python type."""
    match value:
        case bool():
            return IntImm(int(value), dtype or "bool")
        case int() if dtype is None or not dtype.startswith(("float", "bfloat")):
            return IntImm(value, dtype or "int64")
        case _:
            return FloatImm(float(value), dtype or "float32")


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
