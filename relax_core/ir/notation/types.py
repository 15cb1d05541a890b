"""Types as text: one walk over them for messages, labels and Relay, which differ in how each kind is spelled."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from relax_core.ir.expr import (
    AdtType,
    FuncType,
    ObjectType,
    PrimType,
    RefType,
    ShapeType,
    TensorType,
    TupleType,
    Type,
    TypeVar,
)


@dataclass(frozen=True, slots=True)
class TypeNotation:
    """How one audience spells the kinds of types; what writes a type with parts is given the text of the parts."""

    tensor: Callable[[TensorType], str]
    shape: Callable[[ShapeType], str]
    prim: Callable[[PrimType], str]
    fields: Callable[[list[str]], str]
    """Writes a tuple."""
    function: Callable[[FuncType, list[str] | None, str], str]
    """Is given the parameters, `None` if they are unknown, and the result."""
    object: str
    ref: str = "ref({})"
    plain_adt: str = "{}"
    """An ADT without arguments."""
    name_of: Callable[[TypeVar], str] = lambda variable: variable.name

    def show(self, type_: Type) -> str:
        """Return a type as text."""
        match type_:
            case TensorType():
                return self.tensor(type_)
            case ShapeType():
                return self.shape(type_)
            case PrimType():
                return self.prim(type_)
            case TupleType(fields=fields):
                return self.fields(self.all_of(fields))
            case FuncType(params=params, ret=ret):
                return self.function(type_, None if params is None else self.all_of(params), self.show(ret))
            case ObjectType():
                return self.object
            case AdtType(name=name, args=()):
                return self.plain_adt.format(name)
            case AdtType(name=name, args=args):
                return f"{name}[{', '.join(self.all_of(args))}]"
            case TypeVar():
                return self.name_of(type_)
            case RefType(value=value):
                return self.ref.format(self.show(value))

    def all_of(self, types: Iterable[Type]) -> list[str]:
        """Return each of several types as text."""
        return [self.show(item) for item in types]


def tuple_text(parts: list[str]) -> str:
    """Write a tuple as Python does, with the comma that a single part needs."""
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
