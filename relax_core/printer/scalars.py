"""Print scalar expressions and types."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from relax_core.ir.intrinsics import KEYWORD, default_dtype, is_known
from relax_core.ir.node import Node
from relax_core.ir.notation.infix import NOT, PRECEDENCE, UNARY, left_precedence
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
from relax_core.printer.emitter import Emitter
from relax_core.printer.literals import number, quoted

# Operations by the names that TVM reads without folding constants.
_CLASSES: Mapping[str, str] = MappingProxyType(
    {
        "+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "//": "FloorDiv", "%": "FloorMod", "==": "EQ", "!=": "NE",
        "<": "LT", "<=": "LE", ">": "GT", ">=": "GE", "and": "And", "or": "Or",
    }
)  # fmt: skip
_NUMBERS = (IntImm, FloatImm)


@dataclass(slots=True, eq=False)
class ScalarPrinter:
    """Prints scalar expressions; a bare integer literal is of `int_dtype`.

    `variables` are the buffers of one element that the text calls by their names; `module_name` stands before the
    functions of the module.
    """

    name: Callable[[Node], str]
    int_dtype: str
    variables: Collection[Node] = ()
    module_name: str = ""
    emitter: Emitter = field(default_factory=Emitter)

    def show(self, expr: PrimExpr, precedence: int = 0, *, typed: bool = False) -> str:
        """Show an expression in a place that binds with `precedence`; with `typed` a literal says its dtype."""
        if isinstance(expr, PrimVar):
            return self.emitter.mark(expr, self.name(expr))
        if isinstance(expr, IntImm):
            return self.emitter.mark(expr, self._int(expr, typed=typed))
        return self.emitter.mark(expr, self.emitter.nested(self._text, expr, precedence))

    def shown(self, items: Iterable[PrimExpr], *, typed: bool = False) -> str:
        """Show expressions with commas between them."""
        if typed:
            return ", ".join([self.show(item, typed=True) for item in items])
        mark, name, is_wide = self.emitter.mark, self.name, self.int_dtype == "int64"
        shown: list[str] = []
        for item in items:
            # Most are variables and sizes, which are shown at once.
            if type(item) is PrimVar:
                shown.append(mark(item, name(item)))
            elif type(item) is IntImm and is_wide and item.dtype == "int64":
                shown.append(mark(item, str(item.value)))
            else:
                shown.append(self.show(item))
        return ", ".join(shown)

    def variable(self, node: Node) -> str:
        """Show the name of a variable or a buffer."""
        return self.emitter.mark(node, self.name(node))

    def variables_of(self, nodes: Iterable[Node]) -> str:
        """Show names with commas between them."""
        mark, name = self.emitter.mark, self.name
        return ", ".join([mark(item, name(item)) for item in nodes])

    def quoted(self, expr: PrimExpr) -> str:
        """Show an expression in quotes."""
        emitter = Emitter()
        return self.emitter.mark(expr, quoted(emitter.whole(replace(self, emitter=emitter).show(expr))))

    def _text(self, expr: PrimExpr, precedence: int) -> str:
        match expr:
            case Binary():
                return self._binary(expr, precedence)
            case BufferLoad(buffer=buffer, indices=indices):
                return self.element(buffer, indices)
            case FloatImm(value=value, dtype=dtype):
                text = repr(value) if number(value) == repr(value) else f'"{value}"'
                return f"T.{dtype}({text})"
            case Cast(value=value, dtype=dtype):
                return f'T.Cast("{dtype}", {self.show(value)})'
            case Intrinsic(name="reinterpret", args=(value,), dtype=dtype):
                return f'T.reinterpret("{dtype}", {self.show(value)})'
            case Intrinsic():
                return self._call(expr)
            case StringImm(value=text):
                return quoted(text)
            case Unary():
                return self._unary(expr, precedence)
            case Select(condition=condition, true_value=a, false_value=b, is_lazy=is_lazy):
                are_plain = isinstance(a, IntImm) and isinstance(b, IntImm)
                name = "T.if_then_else" if is_lazy else "T.Select"
                return f"{name}({self.show(condition)}, {self.shown((a, b), typed=are_plain)})"
            case _:
                return self._argument(expr)

    def _call(self, call: Intrinsic) -> str:
        match call:
            case Intrinsic(name="None"):
                return "None"
            case Intrinsic(name="global", args=(StringImm(value=name), *rest)):
                module = f"{self.module_name}." if self.module_name else ""
                return f"{module}{name}({self.shown(rest)})"
            case Intrinsic(name="pointer_type", args=words):
                return f"T.handle({self.shown(words)}).ty"
            case Intrinsic(name="dictionary", args=items):
                return "{" + ", ".join(map(self._item, items)) + "}"
            case _:
                pass
        is_operator = is_known(call.name)
        is_kept = is_operator or call.name in ("Ramp", "Broadcast", "Shuffle")
        args: list[str] = []
        for item in call.args:
            match item:
                case Intrinsic(name=name, args=(StringImm(value=key), value)) if name == KEYWORD:
                    args.append(self.emitter.mark(item, f"{key}={self.show(value)}"))
                case _:
                    args.append(self.show(item, typed=not is_kept))
        if is_operator and default_dtype(call.name, call.args) != call.dtype:
            args.append(f'dtype="{call.dtype}"')
        return f"T.{call.name}({', '.join(args)})"

    def _item(self, item: PrimExpr) -> str:
        """Show `"key": value` of a dictionary, whose numbers are Python's."""
        match item:
            case Intrinsic(args=(StringImm(value=key), IntImm(value=value, dtype="bool"))):
                return self.emitter.mark(item, f"{quoted(key)}: {bool(value)}")
            case Intrinsic(args=(StringImm(value=key), value)):
                return self.emitter.mark(item, f"{quoted(key)}: {self.show(value)}")
            case _:
                raise AssertionError(type(item).__name__)

    def _argument(self, expr: PrimExpr) -> str:
        """Show what stands among the arguments of an intrinsic."""
        match expr:
            case BufferRef(buffer=buffer, is_pointer=is_pointer):
                # In TVM the name of a scalar with memory of its own is its value.
                part = ".source.data" if buffer in self.variables else ".data"
                return f"{self.variable(buffer)}{part}" if is_pointer else self.variable(buffer)
            case PrimList(items=items):
                return f"[{self.shown(items)}]"
            case LetExpr(var=var, value=value, body=body):
                shown = self.show(body)
                return f"T.Let({shown}, where={{{self.variable(var)}: {self.show(value, typed=True)}}})"
            case CommReducer(params=params, results=results, identity=identity):
                names = self.variables_of(params)
                combined = f"({self.shown(results)})" if len(results) > 1 else self.shown(results)
                return f"T.comm_reducer(lambda {names}: {combined}, [{self.shown(identity, typed=True)}])"
            case _:
                raise AssertionError(type(expr).__name__)

    def element(self, buffer: Node, indices: tuple[PrimExpr, ...]) -> str:
        """Show `A[i, j]`."""
        if buffer in self.variables:
            return self.variable(buffer)
        shown = self.shown(indices) if indices else "()"
        return f"{self.emitter.mark(buffer, self.name(buffer))}[{shown}]"

    def _int(self, expr: IntImm, *, typed: bool) -> str:
        value, dtype = expr.value, expr.dtype
        # A bare literal beyond 32 bits is int64 in either dialect.
        if dtype == self.int_dtype and not typed and (dtype == "int64" or -(1 << 31) <= value < 1 << 31):
            return str(value)
        return f"T.{dtype}({bool(value) if dtype == 'bool' else value})"

    def _binary(self, expr: Binary, precedence: int) -> str:
        a, b = expr.a, expr.b
        # Two literals say their dtype, and with one TVM may fold the operation.
        has_literal = type(a) in _NUMBERS or type(b) in _NUMBERS
        typed = has_literal and isinstance(a, IntImm) and isinstance(b, IntImm)
        is_folded = has_literal and self.int_dtype == "int32" and _is_folded(expr)
        own = None if is_folded else PRECEDENCE.get(expr.op)
        if own is None:
            return f"T.{_CLASSES.get(expr.op) or expr.op}({self.shown((a, b), typed=typed)})"
        text = f"{self.show(a, left_precedence(own), typed=typed)} {expr.op} {self.show(b, own + 1, typed=typed)}"
        return f"({text})" if own < precedence else text

    def _unary(self, expr: Unary, precedence: int) -> str:
        own = NOT if expr.op == "not" else UNARY
        text = f"{'not ' if expr.op == 'not' else expr.op}{self.show(expr.a, own, typed=True)}"
        return f"({text})" if own < precedence else text


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
