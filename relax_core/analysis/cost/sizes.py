"""Sizes where symbolic dimensions have values: of expressions, of tensors, of what a function is called with."""

from collections.abc import Mapping
from math import prod
from typing import TypeAlias

from relax_core.ir.expr import PrimType, ShapeType, TensorType, TupleType, Type
from relax_core.ir.integer.evaluate import NoValueError, evaluate
from relax_core.ir.node import preorder
from relax_core.ir.prim import PrimExpr, PrimVar, bytes_of

Sizes: TypeAlias = Mapping[PrimVar, int]
_TENSOR = "the size of a tensor"


class UnknownCostError(Exception):
    """What a program costs cannot be told from its text; the message says why."""


def size_of(expr: PrimExpr, sizes: Sizes, what: str) -> int:
    """Return the value of a size.

    Raises:
        UnknownCostError: it depends on more than `sizes`; the message says `what` is not known.
    """
    found = known_size(expr, sizes)
    if found is None:
        raise UnknownCostError(f"{what} is not known before the run")
    return found


def known_size(expr: PrimExpr, sizes: Sizes) -> int | None:
    """Return the value of a size, `None` if it depends on more than `sizes`."""
    if any(not isinstance(part, PrimExpr) for part in preorder(expr)):
        # It depends on what is in a buffer.
        return None
    try:
        found = evaluate(expr, sizes)
    except NoValueError:
        return None
    return found if isinstance(found, int) else None


def type_bytes(type_: Type | None, sizes: Sizes) -> int:
    """Return how many bytes the tensors of a type take.

    Raises:
        UnknownCostError: a size of one is not known.
    """
    match type_:
        case TupleType(fields=fields):
            return sum(type_bytes(item, sizes) for item in fields)
        case TensorType(shape=tuple() as dims, dtype=str(dtype)):
            return bytes_of(dtype, prod(size_of(dim, sizes, _TENSOR) for dim in dims))
        case TensorType():
            raise UnknownCostError(f"{_TENSOR} is not known before the run")
        case _:
            return 0


def bind_sizes(declared: Type | None, given: Type | None, outer: Sizes, sizes: dict[PrimVar, int]) -> None:
    """Give the variables that are sizes in `declared` the values that those of `given` have, which `outer` tells."""
    match declared, given:
        case (TensorType(shape=tuple() as dims), TensorType(shape=tuple() as known)) | (
            ShapeType(values=tuple() as dims), ShapeType(values=tuple() as known)
        ):  # fmt: skip
            pairs = tuple(zip(dims, known, strict=False))
        case PrimType(value=PrimExpr() as dim), PrimType(value=PrimExpr() as value):
            pairs = ((dim, value),)
        case TupleType(fields=parts), TupleType(fields=found):
            for part, other in zip(parts, found, strict=False):
                bind_sizes(part, other, outer, sizes)
            return
        case _:
            return
    for dim, size in pairs:
        value = known_size(size, outer)
        if isinstance(dim, PrimVar) and value is not None:
            sizes.setdefault(dim, value)
