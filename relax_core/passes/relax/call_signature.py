"""What the kernel of an operator call depends on, as a value that is cheap to compare."""

from collections.abc import Mapping
from typing import TypeAlias

from relax_core.ir.expr import Call, DataTypeImm, Expr, Null, Op, PrimValue, ShapeExpr, TensorType, Tuple, Type, Var
from relax_core.ir.node import Node
from relax_core.ir.prim import FloatImm, IntImm, PrimExpr, StringImm

Signature: TypeAlias = tuple[object, ...]


class _OpenError(Exception):
    """A part has no cheap value."""


def call_signature(call: Call, type_of: Mapping[Node, Type]) -> Signature | None:
    """Return a value such that calls of equal ones have equal kernels; `None` if there is no cheap one.

    Only calls on tensors of static shapes have one: symbolic dimensions are told apart by the structure of the kernel.
    """
    if call.attrs or call.type_args or not isinstance(call.op, Op):
        return None
    places: dict[Var, int] = {}
    try:
        args = tuple(_argument(item, places, type_of) for item in call.args)
        return call.op.name, _type(type_of.get(call)), args
    except _OpenError:
        return None


def _argument(value: Expr, places: dict[Var, int], type_of: Mapping[Node, Type]) -> object:
    match value:
        case Var():
            # The same variable twice is another kernel than two variables of the same type.
            return "var", places.setdefault(value, len(places)), _type(type_of.get(value))
        case PrimValue(value=number):
            return "prim", _number(number)
        case ShapeExpr(values=values):
            return "shape", tuple(map(_number, values))
        case Tuple(fields=fields):
            return "tuple", tuple(_argument(item, places, type_of) for item in fields)
        case DataTypeImm(value=dtype):
            return "dtype", dtype
        case Null():
            return "null"
        case _:
            raise _OpenError


def _number(value: PrimExpr) -> object:
    match value:
        case IntImm() | FloatImm():
            return type(value).__name__, value.dtype, repr(value.value)
        case StringImm(value=text):
            return "string", text
        case _:
            raise _OpenError


def _type(type_: Type | None) -> object:
    match type_:
        case TensorType(shape=tuple() as dims, dtype=dtype, vdevice=vdevice):
            return tuple(map(_number, dims)), dtype, vdevice
        case _:
            raise _OpenError
