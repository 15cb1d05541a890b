"""Relay types as text."""

from collections.abc import Callable
from typing import assert_never

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
from relax_core.ir.prim import AnyDim, IntImm, PrimExpr, PrimVar


class NotRelay(Exception):
    """A construct that Relay text has no words for; the message names it."""


def relay_type(type_: Type, name_of: Callable[[TypeVar], str]) -> str:
    """Return a type as text.

    Raises:
        NotRelay: the type is one of Relax only.
    """
    match type_:
        case TensorType(shape=(), dtype=str(dtype)):
            return dtype
        case TensorType(dtype=str(dtype)) if type_.dims is not None:
            dims = [_dim(item) for item in type_.dims]
            return f"Tensor[({', '.join(dims)}{',' * (len(dims) == 1)}), {dtype}]"
        case TensorType(shape=None, dtype=None, ndim=None):
            return "Tensor"
        case TupleType():
            fields = [relay_type(item, name_of) for item in type_.fields]
            return f"({', '.join(fields)}{',' * (len(fields) == 1)})"
        case FuncType() if type_.params is not None:
            params = ", ".join(relay_type(item, name_of) for item in type_.params)
            variables = f"[{', '.join(name_of(item) for item in type_.type_params)}]" if type_.type_params else ""
            return f"fn {variables}({params}) -> {relay_type(type_.ret, name_of)}"
        case AdtType():
            return f"{type_.name}[{', '.join(relay_type(item, name_of) for item in type_.args)}]"
        case TypeVar():
            return name_of(type_)
        case RefType():
            return f"ref({relay_type(type_.value, name_of)})"
        case ObjectType():
            return "_"
        case TensorType() | FuncType() | ShapeType() | PrimType():
            raise NotRelay(f"the type {type(type_).__name__} without its parts")
        case _:
            assert_never(type_)


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
