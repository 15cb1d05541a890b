"""What the local functions of a function capture."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeVar

from relax_core.ir.expr import (
    OBJECT,
    Function,
    MatchCast,
    PrimType,
    ShapeType,
    TensorType,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.node import Node, children, outside, preorder
from relax_core.ir.prim import Binary, Cast, Intrinsic, PrimVar, Select, Unary
from relax_core.ir.rewriting.substitute import free_symbols, free_vars, type_nodes, types_in

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class LocalFunction:
    """A local function: its binding, the values that it captures, and the dimensions that nothing else gives it."""

    binding: VarBinding
    function: Function
    captures: tuple[Var, ...]
    symbols: tuple[PrimVar, ...]

    @property
    def var(self) -> Var:
        """The variable that the text binds it to."""
        return self.binding.var

    @property
    def captured(self) -> tuple[Var | PrimVar, ...]:
        """What is captured, in the order in which the function uses it; what it only passes on stands behind."""
        places = {item: place for place, item in enumerate(preorder(self.function.body))}
        return tuple(sorted((*self.captures, *self.symbols), key=lambda item: places.get(item, len(places))))

    @property
    def is_closure(self) -> bool:
        """Tell whether anything is captured."""
        return bool(self.captures or self.symbols)


def local_bindings(function: Function) -> tuple[VarBinding, ...]:
    """Return the bindings of the functions that stand directly in `function`, in order, not those inside them."""
    return tuple(
        item
        for item in outside(function.body, Function)
        if isinstance(item, VarBinding) and isinstance(item.value, Function)
    )


def local_functions(function: Function, type_of: Mapping[Node, Type]) -> tuple[LocalFunction, ...]:
    """Return the local functions of `function` with their captures.

    A function that refers to another local function captures what that one captures, to a fixpoint; so a reference
    needs nothing but the other's global name and captures, and functions may refer to each other.
    """
    bindings = local_bindings(function)
    own = {item.var: free_vars(item.value) for item in bindings}
    captures = {var: dict.fromkeys(item for item in used if item not in own) for var, used in own.items()}
    _close_over(captures, own, {var: frozenset() for var in own})
    outer = _bound_directly(function)
    bound = {item.var: _given_symbols(item, captures[item.var], type_of, outer) for item in bindings}
    symbols: dict[Var, dict[PrimVar, None]] = {}
    for item in bindings:
        types = [captured_type(type_of.get(part, OBJECT)) for part in captures[item.var]]
        used = (*_open_symbols(item.value), *(symbol for type_ in types for symbol in free_symbols(type_)))
        symbols[item.var] = dict.fromkeys(symbol for symbol in used if symbol not in bound[item.var])
    _close_over(symbols, own, bound)
    return tuple(
        LocalFunction(item, item.value, tuple(captures[item.var]), tuple(symbols[item.var]))
        for item in bindings
        if isinstance(item.value, Function)
    )


def _close_over(
    needed: dict[Var, dict[K, None]], own: Mapping[Var, tuple[Var, ...]], given: Mapping[Var, AbstractSet[K]]
) -> None:
    """Let each function need what the local functions that it refers to need, unless it is given."""
    is_growing = True
    while is_growing:
        is_growing = False
        for var, used in own.items():
            for other in used:
                added = [item for item in needed.get(other, ()) if item not in needed[var] and item not in given[var]]
                needed[var].update(dict.fromkeys(added))
                is_growing = is_growing or bool(added)


def _given_symbols(
    binding: VarBinding, captures: Iterable[Var], type_of: Mapping[Node, Type], outer: AbstractSet[PrimVar]
) -> frozenset[PrimVar]:
    """The symbols that a local function gets from its parameters and captures, and those that it binds.

    A cast to one of the `outer` symbols compares with it, and binds nothing.
    """
    function = binding.value
    assert isinstance(function, Function), "the value of a local function's binding"
    given = [item.annotation for item in function.params] + [type_of.get(item) for item in captures]
    symbols = [symbol for type_ in given for symbol in binding_symbols(type_)]
    casts = (item for item in preorder(function) if isinstance(item, MatchCast))
    symbols += [symbol for cast in casts for symbol in free_symbols(cast.type) if symbol not in outer]
    return frozenset(symbols)


def _bound_directly(function: Function) -> frozenset[PrimVar]:
    """The symbols that the parameters and the casts of `function` bind, those of local functions left out."""
    types = [item.annotation for item in function.params]
    types += [item.type for item in outside(function.body, Function) if isinstance(item, MatchCast)]
    return frozenset(symbol for type_ in types for symbol in binding_symbols(type_))


def _open_symbols(function: Node) -> tuple[PrimVar, ...]:
    """The symbols in `function`, except inside nested functions those that their own parameters give."""
    found: dict[PrimVar, None] = {}
    stack: list[tuple[Node, frozenset[PrimVar]]] = [(function, frozenset())]
    while stack:
        current, given = stack.pop()
        if isinstance(current, Function) and current is not function:
            given |= {symbol for item in current.params for symbol in binding_symbols(item.annotation)}
        parts = (part for type_ in types_in(current) for item in type_nodes(type_) for part in preorder(item))
        for part in (current, *parts):
            if isinstance(part, PrimVar) and part not in given:
                found[part] = None
        stack.extend((item, given) for item in reversed(children(current)))
    return tuple(found)


def captured_type(type_: Type) -> Type:
    """Return the type of the parameter for a captured value: what a scalar was computed from is left out."""
    match type_:
        case PrimType(dtype=dtype, value=Binary() | Unary() | Cast() | Intrinsic() | Select()):
            return PrimType(dtype)
        case TupleType(fields=fields):
            return TupleType(tuple(map(captured_type, fields)))
        case _:
            return type_


def binding_symbols(type_: Type | None) -> tuple[PrimVar, ...]:
    """Return the symbols that a value of `type_` gives: those that are a dimension of their own."""
    match type_:
        case TensorType(shape=tuple() as dims) | ShapeType(values=tuple() as dims):
            return tuple(item for item in dims if isinstance(item, PrimVar))
        case PrimType(value=PrimVar() as value):
            return (value,)
        case TupleType(fields=fields):
            return tuple(symbol for item in fields for symbol in binding_symbols(item))
        case _:
            return ()
