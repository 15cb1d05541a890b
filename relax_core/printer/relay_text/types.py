"""Relay types as text."""

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import NoReturn

from relax_core.ir.expr import FuncType, PrimType, ShapeType, TensorType, TypeVar
from relax_core.ir.notation.types import TypeNotation, tuple_text
from relax_core.ir.prim import AnyDim, IntImm, PrimExpr, PrimVar


class NotRelay(Exception):
    """A construct that Relay text has no words for; the message names it."""


@dataclass(frozen=True, slots=True)
class RelayTypes(TypeNotation):
    """Types as Relay's text writes them; `name_of` names type variables.

    `show` raises `NotRelay` for a type that only Relax has.
    """

    name_of: Callable[[TypeVar], str] = attrgetter("name")

    def tensor(self, type_: TensorType) -> str:
        match type_:
            case TensorType(shape=(), dtype=str(dtype)):
                return dtype
            case TensorType(dtype=str(dtype)) if type_.dims is not None:
                return f"Tensor[{tuple_text([_dim(item) for item in type_.dims])}, {dtype}]"
            case TensorType(shape=None, dtype=None, ndim=None):
                return "Tensor"
            case _:
                _refuse(type_)

    def shape(self, type_: ShapeType) -> str:
        _refuse(type_)

    def prim(self, type_: PrimType) -> str:
        _refuse(type_)

    def function(self, type_: FuncType, params: list[str] | None, ret: str) -> str:
        if params is None:
            _refuse(type_)
        variables = f"[{', '.join(map(self.name_of, type_.type_params))}]" if type_.type_params else ""
        return f"fn {variables}({', '.join(params)}) -> {ret}"

    def adt(self, name: str, args: list[str]) -> str:
        return f"{name}[{', '.join(args)}]"

    def variable(self, type_: TypeVar) -> str:
        return self.name_of(type_)


def _refuse(type_: TensorType | ShapeType | PrimType | FuncType) -> NoReturn:
    raise NotRelay(f"the type {type(type_).__name__} without its parts")


def _dim(dim: PrimExpr) -> str:
    match dim:
        case IntImm():
            return str(dim.value)
        case AnyDim():
            return "?"
        case PrimVar():
            return dim.name
        case _:
            raise NotRelay("arithmetic on dimensions")
