"""Relay types as text."""

from collections.abc import Callable
from typing import NoReturn

from relax_core.ir.expr import FuncType, PrimType, ShapeType, TensorType, Type, TypeVar
from relax_core.ir.notation.types import TypeNotation, tuple_text
from relax_core.ir.prim import AnyDim, IntImm, PrimExpr, PrimVar


class NotRelay(Exception):
    """A construct that Relay text has no words for; the message names it."""


def relay_type(type_: Type, name_of: Callable[[TypeVar], str]) -> str:
    """Return a type as text.

    Raises:
        NotRelay: the type is one of Relax only.
    """

    def function(type_: FuncType, params: list[str] | None, ret: str) -> str:
        if params is None:
            _refuse(type_)
        variables = f"[{', '.join(map(name_of, type_.type_params))}]" if type_.type_params else ""
        return f"fn {variables}({', '.join(params)}) -> {ret}"

    return TypeNotation(_tensor, _refuse, _refuse, tuple_text, function, "_", plain_adt="{}[]", name_of=name_of).show(
        type_
    )


def _tensor(type_: TensorType) -> str:
    match type_:
        case TensorType(shape=(), dtype=str(dtype)):
            return dtype
        case TensorType(dtype=str(dtype)) if type_.dims is not None:
            return f"Tensor[{tuple_text([_dim(item) for item in type_.dims])}, {dtype}]"
        case TensorType(shape=None, dtype=None, ndim=None):
            return "Tensor"
        case _:
            _refuse(type_)


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
