"""The state of typing one group of Relay functions, and how its problems are told."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from relax_core.check.relay.application import Applications
from relax_core.check.relay.solver import ClashError, Solver, parts, rebuilt
from relax_core.diagnostics import Diagnostic, Severity
from relax_core.ir.expr import (
    OBJECT,
    AdtType,
    Call,
    Constant,
    Expr,
    Function,
    FuncType,
    GlobalVar,
    ObjectType,
    Op,
    TensorType,
    TupleGetItem,
    Type,
    TypeVar,
    Var,
)
from relax_core.ir.node import Node
from relax_core.ir.relay import Constructor, TypeData
from relax_core.ops.relay.show import show_type
from relax_core.source import Span

UNKNOWN = OBJECT
"""The type of a value that is already reported; it fits everywhere."""

MAX_DEPTH = 64
MAX_SIZE = 4096
MAX_CHAIN = 4

Reason = tuple[str, Span]


@dataclass(slots=True)
class Context:
    """What is known while functions that call each other are typed."""

    signature_of: dict[str, Type]
    data_of: Mapping[str, TypeData]
    solver: Solver = field(default_factory=Solver)
    type_of: dict[Node, Type] = field(default_factory=dict[Node, Type])
    value_of: dict[Var, Expr] = field(default_factory=dict[Var, Expr])
    type_args: dict[Node, tuple[Type, ...]] = field(default_factory=dict[Node, "tuple[Type, ...]"])
    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])
    function_name: str = ""
    fallback: Node | None = None
    entered: set[Node] = field(default_factory=set[Node])
    has_errors: bool = False
    has_cut_type: bool = False
    unruled: set[str] = field(default_factory=set[str])
    applied: Applications = field(default_factory=Applications)
    measures: dict[Type, tuple[int, int]] = field(default_factory=dict[Type, "tuple[int, int]"])

    def report(
        self,
        node: Node | None,
        code: str,
        message: str,
        hint: str = "",
        *,
        severity: Severity = "error",
        related: tuple[Reason, ...] = (),
    ) -> Type:
        """Add a diagnostic at `node` and return the type that silences users of its value."""
        span = node.span if node is not None and node.span is not None else None
        if span is None and self.fallback is not None:
            span = self.fallback.span
        where = "" if span is not None or not self.function_name else f"in @{self.function_name}: "
        self.diagnostics.append(Diagnostic(code, where + message, span, hint, severity, related))
        self.has_errors = self.has_errors or severity == "error"
        return UNKNOWN

    def show(self, type_: Type) -> str:
        """Return a type as text, with what is known of its holes."""
        return show_type(self.solver.resolved(type_))

    def unify(self, node: Node, expected: Type, given: Type, code: str, what: str, *because: Expr) -> Type:
        """Make two types equal, or say that `what` is `given` and not `expected`; return the common type.

        `because` are expressions whose types matter: the places that they have them from are added.
        """
        self.solver.place = node
        try:
            return self.solver.unify(given, expected)
        except ClashError as clash:
            self._clash(node, clash, code, f"{what} is {self.show(given)}, expected {self.show(expected)}", because)
            return expected

    def _clash(self, node: Node, clash: ClashError, code: str, words: str, because: tuple[Expr, ...]) -> None:
        message = f"{words}: {clash.words}" if clash.words else words
        related = tuple(reason for expr in because for reason in self.reasons(expr) if reason[1] != node.span)
        self.report(node, code, message, _hint(clash), related=related)

    def reasons(self, expr: Expr) -> tuple[Reason, ...]:
        """Say where an expression has its type from: a declaration, a let, an operator; the nearest first."""
        found: list[Reason] = []
        while len(found) < MAX_CHAIN:
            type_ = self.type_of.get(expr)
            if type_ is None:
                break
            shown = self.show(type_)
            words, span, following = self._reason(expr, shown)
            if words and span is not None:
                found.append((words, span))
            if following is None:
                break
            expr = following
        return tuple(found)

    def _reason(self, expr: Expr, shown: str) -> tuple[str, Span | None, Expr | None]:
        match expr:
            case Var(name=name) if expr.annotation is not None:
                return f"%{name} is declared as {shown}", expr.span, None
            case Var(name=name) if expr in self.value_of:
                return f"%{name} is {shown}: it is the value bound here", expr.span, self.value_of[expr]
            case Var(name=name):
                type_ = self.type_of[expr]
                place = self.solver.filled_at.get(type_) if isinstance(type_, TypeVar) else None
                if place is None or place.span is None:
                    return f"%{name} is {shown}: it is bound here", expr.span, None
                return f"%{name} is {shown}: its use here says so", place.span, None
            case Call(op=Op(name=name)):
                return f"`{name}` gives {shown}", expr.span, None
            case Call(op=GlobalVar(name=name)):
                return f"@{name} gives {shown}", expr.span, None
            case Call(op=Constructor(name=name)):
                return f"{name} makes {shown}", expr.span, None
            case TupleGetItem(tuple_value=value, index=index):
                return f"field {index} is {shown}", expr.span, value
            case Constant() | Function():
                return f"this is {shown}", expr.span, None
            case _:
                return "", None, None

    def intake(self, type_: Type, node: Node, words: str) -> Type:
        """Return a declared type with a hole for each `_`."""
        match type_:
            case ObjectType():
                return self.solver.hole(node, words)
            case TensorType(shape=None, dtype=None):
                return type_
            case _:
                return rebuilt(type_, lambda item: self.intake(item, node, words))

    def limited(self, node: Node, type_: Type) -> Type:
        """Return `type_`, or the unknown type with a note if it is so large that nobody could read it."""
        depth, size = self._measure(type_, 0)
        if (depth <= MAX_DEPTH and size <= MAX_SIZE) or (depth <= 2 and size <= 64 * MAX_SIZE):
            return type_
        if self.has_cut_type:
            return UNKNOWN
        self.has_cut_type = True
        self.report(node, "RY014", "the type is too large to be followed further", severity="note")
        return UNKNOWN

    def _measure(self, type_: Type, level: int) -> tuple[int, int]:
        """Return how deep and how large a type is; what lies `MAX_DEPTH` levels down is not looked at."""
        if level > MAX_DEPTH:
            return 1, 1
        current = self.solver.find(type_)
        known = self.measures.get(current)
        if known is None:
            inner = [self._measure(item, level + 1) for item in parts(current)]
            known = (1 + max((depth for depth, _ in inner), default=0), 1 + sum(size for _, size in inner))
            if self.solver.open_hole(current) is None and known[0] + level <= MAX_DEPTH:
                self.measures[current] = known
        return known


def _hint(clash: ClashError) -> str:
    for side in (clash.a, clash.b):
        if isinstance(side, TypeVar) and side.name != "_":
            return f"{side.name} is a type parameter: whatever type the caller chooses must do"
    return ""


def place_of(expr: Expr, holder: Node) -> Node:
    """Return where to report something about an operand: names stand for their definition, so `holder` is the place."""
    return holder if isinstance(expr, Var | GlobalVar | Constructor | Op) or expr.span is None else expr


def constructor_type(constructor: Constructor, data: TypeData | None) -> FuncType:
    """Return the type of a constructor as a function."""
    params = () if data is None else data.type_params
    return FuncType(constructor.field_types, AdtType(constructor.type_name, params), type_params=params)
