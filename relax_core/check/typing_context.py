"""The state of typing one function: types found, symbols in scope, diagnostics."""

from collections.abc import Iterator, Mapping, MutableMapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

from relax_core.check.kept.alike import AlikeCalls
from relax_core.check.prim.prim_purity import is_pure_prim_func
from relax_core.check.unify import UNKNOWN
from relax_core.diagnostics import Diagnostic, Severity
from relax_core.ir.expr import (
    OBJECT,
    Binding,
    Call,
    Dims,
    Expr,
    Function,
    FuncType,
    GlobalVar,
    ObjectType,
    PrimType,
    ShapeType,
    TensorType,
    Tuple,
    TupleType,
    Type,
    Var,
)
from relax_core.ir.node import Node
from relax_core.ir.prim import IntImm, PrimVar, const
from relax_core.ir.rewriting.substitute import free_symbols, map_type
from relax_core.ir.tir import PrimFunc
from relax_core.ops.show import show_type
from relax_core.source import Span

Signature: TypeAlias = FuncType | PrimFunc


_MOST = 4


def origins(node: Node, type_of: Mapping[Node, Type]) -> tuple[tuple[str, Span], ...]:
    """Return for each variable that a call is given its type and the place of its definition."""
    if not isinstance(node, Call):
        return ()
    found: dict[Span, str] = {}
    for var in _variables(node.args):
        type_ = type_of.get(var)
        if var.span is not None and type_ is not None and not isinstance(type_, ObjectType):
            found[var.span] = f"{var.name} is {show_type(type_)}"
    return tuple((words, span) for span, words in found.items())[:_MOST]


def _variables(args: tuple[Expr, ...]) -> Iterator[Var]:
    for arg in args:
        match arg:
            case Var():
                yield arg
            case Tuple(fields=fields):
                yield from (item for item in fields if isinstance(item, Var))
            case _:
                pass


@dataclass(frozen=True, slots=True)
class Earlier:
    """What typing an earlier form of a function gave, its bindings, and the globals that it rests on, by identity."""

    type_of: Mapping[Node, Type]
    signature_of: Mapping[str, Signature | None]
    bindings: AbstractSet[Binding]
    alike: AlikeCalls | None = None


NOTHING_EARLIER = Earlier(MappingProxyType({}), MappingProxyType({}), frozenset())


@dataclass(slots=True)
class TypingContext:
    """What is known while a function is typed.

    `signature_of` tells by name what the module's globals are. `home_symbols_of` holds for a variable bound to a
    local function the symbols of its surroundings, which a call of it does not bind anew.
    """

    signature_of: dict[str, Signature]
    function_name: str = ""
    type_of: dict[Node, Type] = field(default_factory=dict[Node, Type])
    symbols: dict[PrimVar, None] = field(default_factory=dict[PrimVar, None])
    home_symbols_of: dict[Var, set[PrimVar]] = field(default_factory=dict[Var, set[PrimVar]])
    used_globals: dict[str, GlobalVar] = field(default_factory=dict[str, GlobalVar])
    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])
    fallback: Node | None = None
    retyping_depth: int = 0
    is_pure_of: MutableMapping[PrimFunc, bool] = field(default_factory=dict[PrimFunc, bool])
    """What is known of prim funcs; the others are looked into when they are met."""
    earlier: Earlier = NOTHING_EARLIER
    bindings: set[Binding] = field(default_factory=set[Binding])
    """Those that were typed."""
    alike: AlikeCalls = field(default_factory=AlikeCalls)

    def is_pure(self, prim_func: PrimFunc) -> bool:
        """Tell whether a prim func is pure; its body is read once."""
        found = self.is_pure_of.get(prim_func)
        if found is None:
            found = self.is_pure_of[prim_func] = is_pure_prim_func(prim_func)
        return found

    def report(self, node: Node, code: str, message: str, hint: str = "", severity: Severity = "error") -> Type:
        """Add a diagnostic at `node` and return the type that silences users of its value."""
        span = node.span if node.span is not None else None if self.fallback is None else self.fallback.span
        where = "" if span is not None or not self.function_name else f"in {self.function_name}: "
        related = origins(node, self.type_of) if code.startswith("TY") else ()
        self.diagnostics.append(Diagnostic(code, where + message, span, hint, severity, related))
        return UNKNOWN

    def resolve(self, type_: Type) -> Type:
        """Return a declared type with shape variables replaced by their dimensions where those are known."""
        match type_:
            case TensorType(shape=tuple()) | ShapeType() | PrimType() | ObjectType():
                return type_
            case _:
                return self._resolve(type_)

    def _resolve(self, type_: Type) -> Type:

        def change_var(var: Var) -> "Var | Dims":
            match self.type_of.get(var):
                case ShapeType(values=tuple() as values):
                    return values
                case _:
                    return var

        resolved = map_type(type_, lambda expr: expr, change_var)
        match resolved:
            case TensorType(shape=None, ndim=0):
                return TensorType((), resolved.dtype, vdevice=resolved.vdevice)
            case TensorType(shape=Var() as var, ndim=None):
                return TensorType(var, resolved.dtype, self._rank_of(var), resolved.vdevice)
            case _:
                return resolved

    def _rank_of(self, var: Var) -> int | None:
        match self.type_of.get(var):
            case ShapeType(ndim=ndim):
                return ndim
            case _:
                return None

    def bind_symbols_of(self, type_: Type) -> tuple[PrimVar, ...]:
        """Bring the symbols of `type_` into scope and return those that were not in it."""
        match type_:
            case TensorType(shape=tuple() as dims) | ShapeType(values=tuple() as dims) if all(
                type(item) is IntImm or item in self.symbols for item in dims
            ):
                return ()
            case _:
                pass
        added = tuple(symbol for symbol in free_symbols(type_) if symbol not in self.symbols)
        self.symbols.update(dict.fromkeys(added))
        return added

    def declare(self, var: Var) -> Type:
        """Give a parameter the type of its annotation, an object without one."""
        type_ = OBJECT if var.annotation is None else self.resolve(var.annotation)
        self.type_of[var] = type_
        self.bind_symbols_of(type_)
        return type_


def constant_type(shape: tuple[int, ...], dtype: str) -> TensorType:
    """Return the type of a tensor literal."""
    return TensorType(tuple(const(size) for size in shape), dtype)


def declared_signature(function: Function, ret: Type) -> FuncType:
    """Return the type of `function` if its result is of type `ret`."""
    params = tuple(OBJECT if param.annotation is None else param.annotation for param in function.params)
    return FuncType(params, ret, function.is_pure)


def fields_of(name: str, type_: TupleType) -> str:
    """Write out the fields of a tuple that a variable holds, as the inputs of a call: `(t[0], t[1])`."""
    count = len(type_.fields)
    if count > 3:
        return f"({name}[0], ..., {name}[{count - 1}])"
    items = ", ".join(f"{name}[{k}]" for k in range(count))
    return f"({items},)" if count == 1 else f"({items})"


def contradicted(given: Type, expected: Type, words: str) -> str:
    """Return `: words`, or nothing where the words only repeat the two types."""
    return "" if words == f"{show_type(given)} is not {show_type(expected)}" else f": {words}"


def show_callee(callee: Expr) -> str:
    """Return the name of a callee for a message."""
    return str(getattr(callee, "name", "the function"))
