"""Short words for types, dtypes and scalar expressions, as graphs, registers and tables show them."""

import re

from relax_core.ir.expr import FuncType, PrimType, ShapeType, TensorType, TupleType, Type
from relax_core.ir.notation.show import show_prim
from relax_core.ir.notation.types import TypeNotation, tuple_text
from relax_core.ir.prim import PrimExpr

_DTYPE = re.compile(r"^(bfloat|float|uint|int)(\d+)$")


def dtype_text(dtype: str | None) -> str:
    """`f32` for `float32`; an unknown dtype is `?`."""
    if not dtype:
        return "?"
    match = _DTYPE.match(dtype)
    if match is None:
        return dtype
    return {"bfloat": "bf", "float": "f", "uint": "u", "int": "i"}[match[1]] + match[2]


def prim_text(expr: PrimExpr) -> str:
    """Print a scalar expression with the parentheses that it needs."""
    return show_prim(expr, is_short=True)


def dims_text(dims: tuple[PrimExpr, ...]) -> str:
    """`(m, k * 2)`, `(n,)`, `()`."""
    return tuple_text(list(map(prim_text, dims)))


def type_text(type_: Type | None) -> str:
    """Print a type for a node or a register: `(m, k) f32`, `Shape (n,)`, `Tuple()`, `Object`, `→ i64`."""
    return "" if type_ is None else _LABEL.show(type_)


class _Label(TypeNotation):
    __slots__ = ()

    def tensor(self, type_: TensorType) -> str:
        match type_.shape:
            case tuple() as dims:
                shape = dims_text(dims)
            case None:
                shape = f"rank {'?' if type_.ndim is None else type_.ndim}"
            case var:
                shape = var.name
        return f"{shape} {dtype_text(type_.dtype)}"

    def shape(self, type_: ShapeType) -> str:
        if type_.values is not None:
            return f"Shape {dims_text(type_.values)}"
        return "Shape" if type_.ndim is None else f"Shape rank {type_.ndim}"

    def prim(self, type_: PrimType) -> str:
        value = "" if type_.value is None else f" = {prim_text(type_.value)}"
        return f"Prim {dtype_text(type_.dtype)}{value}"

    def fields(self, fields: list[str]) -> str:
        return f"Tuple({', '.join(fields)})"

    def function(self, type_: FuncType, params: list[str] | None, ret: str) -> str:
        return f"({'…' if params is None else ', '.join(params)}) → {ret}"

    def object(self) -> str:
        return "Object"

    def ref(self, value: str) -> str:
        return f"Ref[{value}]"


_LABEL = _Label()


def is_void(type_: Type | None) -> bool:
    """Tell whether `type_` is that of a call which returns nothing."""
    return isinstance(type_, TupleType) and not type_.fields
