"""Print scalar expressions and types."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from relax_core.ir.node import Node
from relax_core.ir.prim import (
    Binary,
    Cast,
    FloatImm,
    IntImm,
    Intrinsic,
    PrimExpr,
    PrimVar,
    Select,
    StringImm,
    Unary,
)
from relax_core.ir.tir import BufferLoad
from relax_core.printer.literals import number, quoted
from relax_core.printer.printed import Part, Piece, joined

_PRECEDENCE: Mapping[str, int] = MappingProxyType(
    {
        "or": 1, "and": 2, "==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "|": 5, "^": 6, "&": 7, "<<": 8, ">>": 8,
        "+": 9, "-": 9, "*": 10, "/": 10, "//": 10, "%": 10,
    }
)  # fmt: skip
_NOT, _UNARY = 3, 11
_COMPARISON = 4


@dataclass(frozen=True, slots=True)
class ScalarPrinter:
    """Prints scalar expressions; a bare integer literal is of `int_dtype`."""

    name: Callable[[Node], str]
    int_dtype: str

    def show(self, expr: PrimExpr, precedence: int = 0, *, typed: bool = False) -> Piece:
        """Show an expression in a place that binds with `precedence`; with `typed` a literal says its dtype."""
        return Piece(expr, self._parts(expr, precedence, typed))

    def _parts(self, expr: PrimExpr, precedence: int, typed: bool) -> Iterator[Part]:
        match expr:
            case PrimVar():
                yield self.name(expr)
            case IntImm():
                yield self._int(expr, typed)
            case FloatImm(value=value, dtype=dtype):
                text = repr(value) if number(value) == repr(value) else f'"{value}"'
                yield f"T.{dtype}({text})"
            case StringImm(value=text):
                yield quoted(text)
            case Binary():
                yield self._binary(expr, precedence)
            case Unary():
                yield self._unary(expr, precedence)
            case Cast(value=value, dtype=dtype):
                yield from (f'T.Cast("{dtype}", ', self.show(value), ")")
            case Select(condition=condition, true_value=a, false_value=b, is_lazy=is_lazy):
                yield "T.if_then_else(" if is_lazy else "T.Select("
                are_plain = isinstance(a, IntImm) and isinstance(b, IntImm)
                yield from joined((self.show(condition), self.show(a, typed=are_plain), self.show(b, typed=are_plain)))
                yield ")"
            case Intrinsic(name="reinterpret", args=(value,), dtype=dtype):
                yield from (f'T.reinterpret("{dtype}", ', self.show(value), ")")
            case Intrinsic(name=name, args=args):
                yield from (f"T.{name}(", joined(self.show(item, typed=True) for item in args), ")")
            case BufferLoad(buffer=buffer, indices=indices):
                yield self.element(buffer, indices)
            case _:
                raise AssertionError(type(expr).__name__)

    def element(self, buffer: Node, indices: tuple[PrimExpr, ...]) -> Iterator[Part]:
        """Show `A[i, j]`."""
        yield Piece(buffer, (self.name(buffer),))
        yield from ("[", joined(self.show(item) for item in indices) if indices else "()", "]")

    def _int(self, expr: IntImm, typed: bool) -> str:
        if expr.dtype == "bool":
            return f"T.bool({bool(expr.value)})"
        is_plain = expr.dtype == self.int_dtype and not typed
        # A bare literal beyond 32 bits is int64 in either dialect.
        fits = self.int_dtype == "int64" or -(1 << 31) <= expr.value < 1 << 31
        return str(expr.value) if is_plain and fits else f"T.{expr.dtype}({expr.value})"

    def _binary(self, expr: Binary, precedence: int) -> Iterator[Part]:
        typed = isinstance(expr.a, IntImm) and isinstance(expr.b, IntImm)
        own = _PRECEDENCE.get(expr.op)
        if own is None:
            name = "T." + expr.op
            yield from (name, "(", self.show(expr.a, typed=typed), ", ", self.show(expr.b, typed=typed), ")")
            return
        # Comparisons do not chain, so both of their operands bind tighter.
        left = own + 1 if own == _COMPARISON else own
        if own < precedence:
            yield "("
        yield from (self.show(expr.a, left, typed=typed), f" {expr.op} ", self.show(expr.b, own + 1, typed=typed))
        if own < precedence:
            yield ")"

    def _unary(self, expr: Unary, precedence: int) -> Iterator[Part]:
        own = _NOT if expr.op == "not" else _UNARY
        if own < precedence:
            yield "("
        yield "not " if expr.op == "not" else expr.op
        yield self.show(expr.a, own, typed=True)
        if own < precedence:
            yield ")"
