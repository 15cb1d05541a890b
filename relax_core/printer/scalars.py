"""Print scalar expressions and types."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from relax_core.ir.intrinsics import KEYWORD, default_dtype, is_known
from relax_core.ir.node import Node
from relax_core.ir.prim import (
    Binary,
    Cast,
    CommReducer,
    FloatImm,
    IntImm,
    Intrinsic,
    LetExpr,
    PrimExpr,
    PrimList,
    PrimVar,
    Select,
    StringImm,
    Unary,
)
from relax_core.ir.tir import BufferLoad, BufferRef
from relax_core.printer.literals import number, quoted
from relax_core.printer.printed import Part, Piece, joined

_PRECEDENCE: Mapping[str, int] = MappingProxyType(
    {
        "or": 1, "and": 2, "==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "|": 5, "^": 6, "&": 7, "<<": 8, ">>": 8,
        "+": 9, "-": 9, "*": 10, "/": 10, "//": 10, "%": 10,
    }
)  # fmt: skip
_NOT, _UNARY = 3, 11
# Operations by the names that TVM reads without folding constants.
_CLASSES: Mapping[str, str] = MappingProxyType(
    {
        "+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "//": "FloorDiv", "%": "FloorMod", "==": "EQ", "!=": "NE",
        "<": "LT", "<=": "LE", ">": "GT", ">=": "GE", "and": "And", "or": "Or",
    }
)  # fmt: skip
_COMPARISON = 4


@dataclass(frozen=True, slots=True)
class ScalarPrinter:
    """Prints scalar expressions; a bare integer literal is of `int_dtype`.

    `variables` are the buffers of one element that the text calls by their names; `module_name` stands before the
    functions of the module.
    """

    name: Callable[[Node], str]
    int_dtype: str
    variables: Collection[Node] = ()
    module_name: str = ""

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
            case Intrinsic():
                yield self._call(expr)
            case BufferLoad(buffer=buffer, indices=indices):
                yield self.element(buffer, indices)
            case _:
                yield self._argument(expr)

    def _call(self, call: Intrinsic) -> Iterator[Part]:
        match call:
            case Intrinsic(name="None"):
                yield "None"
                return
            case Intrinsic(name="global", args=(StringImm(value=name), *rest)):
                module = f"{self.module_name}." if self.module_name else ""
                yield from (f"{module}{name}(", joined(self.show(item) for item in rest), ")")
                return
            case Intrinsic(name="pointer_type", args=words):
                yield from ("T.handle(", joined(self.show(item) for item in words), ").ty")
                return
            case _:
                pass
        is_kept = is_known(call.name) or call.name in ("Ramp", "Broadcast", "Shuffle")
        args: list[Part] = []
        for item in call.args:
            match item:
                case Intrinsic(name=name, args=(StringImm(value=key), value)) if name == KEYWORD:
                    args.append(Piece(item, (f"{key}=", self.show(value))))
                case _:
                    args.append(self.show(item, typed=not is_kept))
        if is_known(call.name) and default_dtype(call.name, call.args) != call.dtype:
            args.append(f'dtype="{call.dtype}"')
        yield from (f"T.{call.name}(", joined(args), ")")

    def _argument(self, expr: PrimExpr) -> Iterator[Part]:
        """Show what stands among the arguments of an intrinsic."""
        match expr:
            case BufferRef(buffer=buffer, is_pointer=is_pointer):
                yield from (Piece(buffer, (self.name(buffer),)), ".data" if is_pointer else "")
            case PrimList(items=items):
                yield from ("[", joined(self.show(item) for item in items), "]")
            case LetExpr(var=var, value=value, body=body):
                yield from ("T.Let(", self.show(body), ", where={", Piece(var, (self.name(var),)), ": ")
                yield from (self.show(value, typed=True), "})")
            case CommReducer(params=params, results=results, identity=identity):
                yield from ("T.comm_reducer(lambda ", joined(Piece(item, (self.name(item),)) for item in params), ": ")
                shown = joined(self.show(item) for item in results)
                yield from ("(", shown, ")") if len(results) > 1 else shown
                yield from (", [", joined(self.show(item, typed=True) for item in identity), "])")
            case _:
                raise AssertionError(type(expr).__name__)

    def element(self, buffer: Node, indices: tuple[PrimExpr, ...]) -> Iterator[Part]:
        """Show `A[i, j]`."""
        if buffer in self.variables:
            yield Piece(buffer, (self.name(buffer),))
            return
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
        own = None if self.int_dtype == "int32" and _is_folded(expr) else _PRECEDENCE.get(expr.op)
        if own is None:
            name = "T." + (_CLASSES.get(expr.op) or expr.op)
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


def _is_folded(expr: Binary) -> bool:
    """Tell whether TVM would read something else than the operation, such as `x` for `x + 0`."""
    a = expr.a.value if isinstance(expr.a, IntImm | FloatImm) else None
    b = expr.b.value if isinstance(expr.b, IntImm | FloatImm) else None
    if expr.op not in _CLASSES or (a is None and b is None):
        return False
    if a is not None and b is not None:
        return True
    match expr.op:
        case "+" | "-":
            return 0 in (a, b)
        case "*":
            return 0 in (a, b) or 1 in (a, b)
        case "/" | "//" | "%":
            return a == 0 or b == 1
        case "and" | "or":
            return True
        case _:
            return False
