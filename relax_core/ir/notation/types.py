"""Types as text: one walk over their kinds, which every audience spells in its own way."""

from abc import ABC, abstractmethod
from collections.abc import Iterable

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


class TypeNotation(ABC):
    """How one audience (TVMScript, Relay, messages of either, labels) spells types; a subclass spells each kind.

    Methods that write a type with parts are given the text of the parts.
    """

    __slots__ = ()

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
                return self.fields(self.parts(fields))
            case FuncType(params=params, ret=ret):
                return self.function(type_, None if params is None else self.parts(params), self.part(ret))
            case ObjectType():
                return self.object()
            case AdtType(name=name, args=args):
                return self.adt(name, self.parts(args))
            case TypeVar():
                return self.variable(type_)
            case RefType(value=value):
                return self.ref(self.part(value))

    def part(self, type_: Type) -> str:
        """Return a type that is a part of another one as text."""
        return self.show(type_)

    def parts(self, types: Iterable[Type]) -> list[str]:
        """Return each of several parts as text."""
        return [self.part(item) for item in types]

    @abstractmethod
    def tensor(self, type_: TensorType) -> str:
        """Spell a tensor."""

    @abstractmethod
    def shape(self, type_: ShapeType) -> str:
        """Spell a shape."""

    @abstractmethod
    def prim(self, type_: PrimType) -> str:
        """Spell a host scalar."""

    def fields(self, fields: list[str]) -> str:
        """Spell a tuple."""
        return tuple_text(fields)

    @abstractmethod
    def function(self, type_: FuncType, params: list[str] | None, ret: str) -> str:
        """Spell a function; `params` is `None` if its parameters are unknown."""

    def object(self) -> str:
        """Spell the type of any value."""
        return "_"

    def adt(self, name: str, args: list[str]) -> str:
        """Spell an algebraic data type."""
        return f"{name}[{', '.join(args)}]" if args else name

    def variable(self, type_: TypeVar) -> str:
        """Spell a type variable."""
        return type_.name

    def ref(self, value: str) -> str:
        """Spell a reference."""
        return f"ref({value})"


def tuple_text(parts: list[str]) -> str:
    """Write a tuple as Python does, with the comma that a single part needs."""
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
