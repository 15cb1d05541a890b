"""Zeros of a declared type."""

from collections.abc import Callable, Mapping
from typing import Any

from relax_core.ir.expr import PrimType, ShapeType, TensorType, TupleType, Type
from relax_core.ir.integer.evaluate import NoValueError, evaluate
from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.ops.show import show_type
from relax_core.vm.objects.values import Array, ShapeValue


class NoZerosError(Exception):
    """There are no zeros of a type; the text says why."""


def zeros_of(type_: Type, sizes: Mapping[PrimVar, int], allocate: Callable[[tuple[int, ...], str], Array]) -> Any:
    """Return zeros of a type whose symbolic dimensions have `sizes`.

    Raises:
        NoZerosError: a size is not known, or the type has no zeros.
    """
    match type_:
        case TensorType(shape=tuple() as dims, dtype=str(dtype)):
            return allocate(_evaluated(dims, type_, sizes), dtype)
        case PrimType(dtype="string"):
            return ""
        case PrimType(dtype=dtype):
            return False if dtype == "bool" else 0.0 if dtype.startswith(("float", "bfloat")) else 0
        case ShapeType(values=tuple() as values):
            return ShapeValue(_evaluated(values, type_, sizes))
        case TupleType(fields=()):
            return None
        case TupleType(fields=fields):
            return tuple(zeros_of(field, sizes, allocate) for field in fields)
        case _:
            raise NoZerosError(f"there are no zeros of {show_type(type_)}")


def _evaluated(dims: tuple[PrimExpr, ...], type_: Type, sizes: Mapping[PrimVar, int]) -> tuple[int, ...]:
    try:
        return tuple(int(evaluate(item, sizes)) for item in dims)
    except NoValueError:
        words = f"what its call declares, {show_type(type_)}, has a size that the run does not tell"
        raise NoZerosError(words) from None
