"""Read scalar expressions: dimensions of Relax shapes and the expressions of TIR."""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, NamedTuple

from relax_core.frontend.tvmscript.context import Context, source_of
from relax_core.frontend.tvmscript.literal.numbers import number_of, truth_of
from relax_core.frontend.tvmscript.names import DTYPES, qualified, suggestion
from relax_core.frontend.tvmscript.scalar.operands import is_condition, is_float, unfit
from relax_core.frontend.tvmscript.scalar.scalar_calls import KNOWN_CALLS, NotScalarCall, is_dtype, scalar_call
from relax_core.frontend.tvmscript.unread import refuse_repeated
from relax_core.ir.prim import (
    COMPARISONS,
    LOGICAL,
    Binary,
    BinaryKind,
    Cast,
    FloatImm,
    IntImm,
    Intrinsic,
    PrimExpr,
    Select,
    StringImm,
    Unary,
    binary,
    bits_of,
    broadcast,
    const,
    dtype_of,
    lanes_of,
    scalar_of,
    vector_of,
)
from relax_core.source import Span

BINARY: Mapping[type[ast.AST], BinaryKind] = MappingProxyType(
    {
        ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
        ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
        ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
        ast.And: "and", ast.Or: "or",
    }
)  # fmt: skip
_LARGEST = 1 << 63


@dataclass(slots=True)
class ScalarReader:
    """Reads scalar expressions; `name` says what a name is, `access` reads a subscript or gives `None`.

    A bare integer has `int_dtype` unless the other operand of an operation says otherwise. `other` reads what only
    TIR has among its expressions, or gives `None`.
    """

    context: Context
    name: Callable[[ast.Name], PrimExpr]
    access: Callable[[ast.Subscript], PrimExpr]
    int_dtype: str
    other: Callable[[ast.expr], PrimExpr | None] | None = None

    def argument(self, node: ast.expr) -> PrimExpr:
        """Read an argument of an intrinsic, which may be more than a scalar: a buffer, a list, an absent value."""
        found = self.other(node) if self.other is not None else None
        return self.read(node) if found is None else found

    def read(self, node: ast.expr) -> PrimExpr:
        """Read one expression."""
        match node:
            case ast.Name():
                return self.name(node)
            case ast.Constant():
                return self.literal(node)
            case ast.BinOp():
                return self._chain(node)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.Subscript():
                return self.access(node)
            case ast.Call():
                return self._call(node)
            case ast.Compare():
                return self._compare(node)
            case ast.BoolOp(op=op, values=values):
                result = self.read(values[0])
                for value in values[1:]:
                    result = self.combine(node, BINARY[type(op)], result, self.read(value))
                return result
            case ast.IfExp(test=test, body=body, orelse=orelse) if (chosen := truth_of(self.context, test)) is not None:
                # A condition that the text knows is Python's, as in TVM.
                return self.read(body if chosen else orelse)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                a, b = self.unified(body, orelse)
                return Select(self.read(test), a, b, dtype_of(a), is_lazy=True, span=self.context.span(node))
            case ast.Attribute() if (found := self._number(node)) is not None:
                return found
            case _:
                found = self.other(node) if self.other is not None else None
                if found is None:
                    raise self.context.fail("PA009", node, f"expected a scalar expression, got `{source_of(node)}`")
                return found

    def literal(self, node: ast.Constant, dtype: str | None = None) -> PrimExpr:
        """Read a literal as `dtype`, by default bool, `int_dtype` or float32."""
        span = self.context.span(node)
        match node.value:
            case bool(value):
                return IntImm(int(value), "bool", span=span)
            case int(value) if not -_LARGEST <= value < 2 * _LARGEST:
                raise self.context.fail("PA010", node, "the integer does not fit 64 bits")
            case int(value):
                default = self.int_dtype if -(1 << 31) <= value < (1 << 31) else "int64"
                return literal_of(value, dtype or default, span)
            case float(value):
                return FloatImm(
                    value, dtype if dtype and dtype.startswith(("float", "bfloat")) else "float32", span=span
                )
            case str(value):
                return StringImm(value, span=span)
            case _:
                raise self.context.fail("PA009", node, f"expected a number, got `{source_of(node)}`")

    def _is_bare(self, node: ast.expr) -> bool:
        """Tell whether `node` is a number that Python computes: it has no dtype of its own."""
        match node:
            case ast.Constant(value=value):
                return not isinstance(value, str)
            case ast.Name() | ast.Subscript():
                return False
            case _:
                return number_of(self.context, node) is not None

    def _number(self, node: ast.expr) -> PrimExpr | None:
        """Read a number that Python would compute, such as `np.finfo("float32").max`; `None` if `node` is none."""
        number = number_of(self.context, node)
        return None if number is None else self.literal(ast.copy_location(ast.Constant(number), node))

    def as_dtype(self, node: ast.expr, dtype: str) -> PrimExpr:
        """Read an expression that has to be of `dtype`: a bare literal becomes it, anything else is cast."""
        value = self.read(node)
        if dtype_of(value) == dtype or dtype in ("handle", "string") or dtype_of(value) in ("string", "handle"):
            return value
        if lanes_of(dtype) > 1 and lanes_of(dtype_of(value)) == 1:
            return broadcast(self.as_dtype(node, scalar_of(dtype)), lanes_of(dtype))
        if self._is_bare(node) and isinstance(value, IntImm | FloatImm) and not _loses(value, dtype):
            return replace(const(value.value, dtype), span=value.span)
        return Cast(value, dtype, span=value.span)

    def unified(self, a: ast.expr, b: ast.expr, *, op: BinaryKind | None = None) -> tuple[PrimExpr, PrimExpr]:
        """Read two expressions, the operands of `op`, and bring them to one dtype."""
        return _unify(Operand(self.read(a), self._is_bare(a)), Operand(self.read(b), self._is_bare(b)), op)

    def combine(self, place: ast.expr, op: BinaryKind, a: PrimExpr, b: PrimExpr) -> PrimExpr:
        """Make `a op b` at `place`, whose operands have one dtype."""
        dtype = dtype_of(a)
        if op == "/" and dtype.startswith(("int", "uint")):
            raise self.context.fail("PA009", place, "`/` divides floats", "write `//`, or T.truncdiv")
        if why := unfit(op, a, b):
            raise self.context.fail("PA009", place, why)
        result = vector_of("bool", lanes_of(dtype)) if op in COMPARISONS or op in LOGICAL else dtype
        return Binary(op, a, b, result, span=self.context.span(place))

    def _chain(self, node: ast.BinOp) -> PrimExpr:
        """Read `a + b + c ...`, which leans to the left as deep as the chain is long, without recursion."""
        chain = [node]
        while isinstance(chain[-1].left, ast.BinOp):
            chain.append(chain[-1].left)
        result = self.read(chain[-1].left)
        plain = self._is_bare(chain[-1].left)
        for item in reversed(chain):
            right = self.read(item.right)
            result = self.operation(item, Operand(result, plain), Operand(right, self._is_bare(item.right)))
            plain = plain and self._is_bare(item.right)
        return result

    def operation(self, node: ast.BinOp, left: "Operand", right: "Operand") -> PrimExpr:
        """Make the operation of `node` from its operands; Python computes that of two bare numbers, as in TVM."""
        if left.is_literal and right.is_literal and (number := self._number(node)) is not None:
            return number
        if isinstance(node.op, ast.Pow):
            a, b = _unify(left, right, "*")
            return Intrinsic("pow", (a, b), dtype_of(a), span=self.context.span(node))
        op = BINARY.get(type(node.op))
        if op is None:
            raise self.context.fail("PA009", node, f"`{source_of(node)}` is no scalar operation")
        return self.combine(node, op, *_unify(left, right, op))

    def _unary(self, node: ast.UnaryOp) -> PrimExpr:
        return self.unary(node, self.read(node.operand))

    def unary(self, node: ast.UnaryOp, value: PrimExpr) -> PrimExpr:
        """Make the operation of `node` from its operand."""
        span = self.context.span(node)
        match node.op:
            case ast.USub() if self._is_bare(node.operand) and isinstance(value, IntImm | FloatImm):
                # 2147483648 does not fit an int32, and -2147483648 does.
                is_least = value.dtype == "int64" and value.value == 1 << 31 and self.int_dtype == "int32"
                return replace(value, value=-value.value, dtype="int32" if is_least else value.dtype, span=span)
            case ast.Invert() if self._is_bare(node.operand) and isinstance(value, IntImm):
                return replace(value, value=~value.value, span=span)
            case ast.USub():
                return Unary("-", value, dtype_of(value), span=span)
            case ast.UAdd():
                return value
            case ast.Not() if not is_condition(value):
                raise self.context.fail("PA009", node, "`not` takes a truth value, write x == 0 for a number")
            case ast.Not():
                return Unary("not", value, "bool", span=span)
            case _ if is_float(value):
                raise self.context.fail("PA009", node, "`~` takes integers, not floats")
            case _:
                return Unary("~", value, dtype_of(value), span=span)

    def comparison(self, node: ast.Compare, left: "Operand", right: "Operand") -> PrimExpr:
        """Make the one comparison of `node` from its operands."""
        op = BINARY.get(type(node.ops[0]))
        if op is None:
            raise self.context.fail("PA009", node, f"`{source_of(node)}` is no scalar comparison")
        return self.combine(node, op, *_unify(left, right, op))

    def _compare(self, node: ast.Compare) -> PrimExpr:
        result: PrimExpr | None = None
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            op = BINARY.get(type(operator))
            if op is None:
                raise self.context.fail("PA009", node, f"`{source_of(node)}` is no scalar comparison")
            step = self.combine(node, op, *self.unified(left, right, op=op))
            result = step if result is None else self.combine(node, "and", result, step)
            left = right
        assert result is not None
        return result

    def _call(self, node: ast.Call) -> PrimExpr:
        refuse_repeated(self.context, node)
        match node.func:
            case ast.Attribute(value=inner, attr="astype") if not _is_tir(node.func, self.context):
                return Cast(self.read(inner), self._dtype_argument(node), span=self.context.span(node))
            case _:
                pass
        name = qualified(node.func, self.context.aliases)
        if name is None or not name.startswith("tir."):
            found = self.other(node) if self.other is not None else None
            found = found or self._number(node)
            if found is not None:
                return found
            raise self.context.fail("PA009", node, f"expected a scalar expression, got `{source_of(node)}`")
        short = name.removeprefix("tir.")
        short = DTYPES.get(short, short)
        if is_dtype(short):
            return self._typed_literal(node, short)
        try:
            return scalar_call(self, short, node)
        except NotScalarCall:
            found = self.other(node) if self.other is not None else None
            if found is not None:
                return found
            hint = suggestion(short, KNOWN_CALLS, "T.")
            message = f"`{source_of(node.func)}` is not known here"
            raise self.context.fail("PA004", node.func, message, hint) from None

    def _dtype_argument(self, node: ast.Call) -> str:
        match [*node.args, *(item.value for item in node.keywords)]:
            case [ast.Constant(value=str(dtype))] if is_dtype(dtype):
                return dtype
            case _:
                raise self.context.fail("PA006", node, 'expected one dtype, such as "float32"')

    def _typed_literal(self, node: ast.Call, dtype: str) -> PrimExpr:
        """Read `T.int64(4)`, `T.float32("inf")`, `T.bool(True)`, or a cast `T.float32(x)`."""
        span = self.context.span(node)
        if len(node.args) != 1 or node.keywords:
            raise self.context.fail("PA006", node, f"expected one value in `{source_of(node)}`")
        argument = node.args[0]
        if dtype == "handle":
            raise self.context.unsupported(node, f"`{source_of(node)}` as a value", "give it a name: p = T.handle()")
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            try:
                return FloatImm(float(argument.value), dtype, span=span)
            except ValueError:
                raise self.context.fail("PA010", argument, "expected a number") from None
        value = self.read(argument)
        if lanes_of(dtype) > 1 and lanes_of(dtype_of(value)) == 1:
            return broadcast(self.as_dtype(argument, scalar_of(dtype)), lanes_of(dtype))
        if self._is_bare(argument) and isinstance(value, IntImm | FloatImm):
            return literal_of(value.value if dtype != "bool" else bool(value.value), dtype, span)
        return Cast(value, dtype, span=span)


def literal_of(value: int | float, dtype: str, span: Span) -> IntImm | FloatImm:
    """Make a literal at its place."""
    return const(value, dtype, span=span)


def _is_tir(node: ast.expr, context: Context) -> bool:
    return (qualified(node, context.aliases) or "").startswith("tir.")


def _loses(value: IntImm | FloatImm, dtype: str) -> bool:
    """Tell whether a literal cannot be of `dtype`: a float as an integer, an integer beyond 32 bits as an int32."""
    if isinstance(value, FloatImm):
        return dtype.startswith(("int", "uint", "bool"))
    return dtype == "int32" and not -(1 << 31) <= value.value < 1 << 31


_FOLLOWED: Final[tuple[BinaryKind, ...]] = ("==", "!=", "<<", ">>", "&", "|", "^", "and", "or")
"""The operations that take a bare literal as of the other operand's dtype, as TVM's bit operations do."""
LITERAL_BITS: Final = 32


class Operand(NamedTuple):
    """An operand of a scalar operation, and whether it is a bare literal, which has no dtype of its own."""

    value: PrimExpr
    is_literal: bool


def _unify(left: Operand, right: Operand, op: BinaryKind | None = None) -> tuple[PrimExpr, PrimExpr]:
    """Bring two operands to one dtype: a bare literal follows the other operand, else the narrower one is cast.

    As in TVM a bare literal has 32 bits where `op` computes, so `x + 3` of an int8 `x` is computed in int32.
    """
    (a, is_a_literal), (b, is_b_literal) = left, right
    da, db = dtype_of(a), dtype_of(b)
    if da == db:
        return a, b
    la, lb = lanes_of(da), lanes_of(db)
    if la != lb and 1 in (la, lb):
        a = a if la > 1 else broadcast(_as_element(a, scalar_of(db), is_literal=is_a_literal), lb)
        return a, (b if lb > 1 else broadcast(_as_element(b, scalar_of(da), is_literal=is_b_literal), la))
    if "handle" in (da, db) or "string" in (da, db):
        return a, b
    if is_b_literal and not is_a_literal and isinstance(b, IntImm | FloatImm) and not _loses(b, da):
        wide = _computing_dtype(b, da, op)
        return _as_element(a, wide, is_literal=False), replace(const(b.value, wide), span=b.span)
    if is_a_literal and not is_b_literal and isinstance(a, IntImm | FloatImm) and not _loses(a, db):
        wide = _computing_dtype(a, db, op)
        return replace(const(a.value, wide), span=a.span), _as_element(b, wide, is_literal=False)
    return _widened(a, b)


def _computing_dtype(literal: IntImm | FloatImm, dtype: str, op: BinaryKind | None) -> str:
    """Return the dtype in which `op` takes a bare literal and an operand of `dtype`."""
    if (
        op is None
        or op in _FOLLOWED
        or bits_of(dtype) >= LITERAL_BITS
        or dtype.startswith(("float", "bfloat")) != (isinstance(literal, FloatImm))
    ):
        return dtype
    return "float32" if isinstance(literal, FloatImm) else "int32"


def _as_element(value: PrimExpr, dtype: str, *, is_literal: bool) -> PrimExpr:
    """Bring a scalar to the dtype of the lanes that it is repeated in."""
    if is_literal and isinstance(value, IntImm | FloatImm) and not _loses(value, dtype):
        return replace(const(value.value, dtype), span=value.span)
    return value if dtype_of(value) == dtype else Cast(value, dtype, span=value.span)


def _widened(a: PrimExpr, b: PrimExpr) -> tuple[PrimExpr, PrimExpr]:
    da, db = dtype_of(a), dtype_of(b)
    widest = dtype_of(binary("+", Cast(a, da), Cast(b, db)))
    return (a if da == widest else Cast(a, widest, span=a.span)), (b if db == widest else Cast(b, widest, span=b.span))
