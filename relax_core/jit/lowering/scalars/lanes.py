"""Vectors, lane by lane: the scalar expression that one lane of a vector is."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

from relax_core.ir.prim import (
    Binary,
    Cast,
    IntImm,
    Intrinsic,
    LetExpr,
    PrimExpr,
    PrimList,
    PrimVar,
    Select,
    StringImm,
    Unary,
    binary,
    const,
    dtype_of,
    lanes_of,
    scalar_of,
    vector_of,
)
from relax_core.ir.tir import Buffer, BufferLoad, BufferStore

# Intrinsics that make, cut or join vectors.
VECTOR_INTRINSICS = frozenset(("Ramp", "Broadcast", "Shuffle", "vectorlow", "vectorhigh", "vectorcombine"))
Access = TypeVar("Access", BufferLoad, BufferStore)
_NO_VARS: Mapping[PrimVar, tuple[PrimVar, ...]] = MappingProxyType({})
_NO_BUFFERS: Mapping[Buffer, Buffer] = MappingProxyType({})


class Lanes:
    """Takes vectors apart. `variables` are the scalars of each vector variable, `buffers` those of vectors."""

    def __init__(
        self,
        variables: Mapping[PrimVar, tuple[PrimVar, ...]] = _NO_VARS,
        buffers: Mapping[Buffer, Buffer] = _NO_BUFFERS,
    ) -> None:
        self.variables = variables
        self.buffers = buffers

    def of(self, expr: PrimExpr) -> tuple[PrimExpr, ...] | None:
        """Return all lanes of `expr`, itself if it is a scalar; `None` if it cannot be taken apart."""
        made = tuple(self.lane(expr, number) for number in range(lanes_of(dtype_of(expr))))
        return None if None in made else tuple(item for item in made if item is not None)

    def lane(self, expr: PrimExpr, number: int) -> PrimExpr | None:
        """Return one lane of `expr`, itself if it is a scalar; `None` if it cannot be taken apart."""
        if lanes_of(dtype_of(expr)) == 1 and not is_of_vectors(expr):
            return expr
        match expr:
            case Intrinsic(name=name) if name in VECTOR_INTRINSICS:
                return self._rearranged(expr, number)
            case PrimVar():
                return self.variables[expr][number] if expr in self.variables else None
            case BufferLoad():
                return self.access(expr, number)
            case Cast(value=value):
                inner = self.lane(value, number)
                return None if inner is None else replace(expr, value=inner, dtype=scalar_of(expr.dtype))
            case Unary(a=a):
                inner = self.lane(a, number)
                return None if inner is None else replace(expr, a=inner, dtype=scalar_of(expr.dtype))
            case Binary(a=a, b=b):
                x, y = self.lane(a, number), self.lane(b, number)
                return None if x is None or y is None else replace(expr, a=x, b=y, dtype=scalar_of(expr.dtype))
            case Select(condition=condition, true_value=a, false_value=b):
                parts = self._each((condition, a, b), number)
                if parts is None:
                    return None
                test, x, y = parts
                return replace(expr, condition=test, true_value=x, false_value=y, dtype=scalar_of(expr.dtype))
            case LetExpr(var=var, body=body) if lanes_of(var.dtype) == 1:
                inner = self.lane(body, number)
                return None if inner is None else replace(expr, body=inner, dtype=scalar_of(expr.dtype))
            case Intrinsic(args=args):
                made = self._each(args, number)
                return None if made is None else replace(expr, args=made, dtype=scalar_of(expr.dtype))
            case _:
                return None

    def access(self, access: Access, number: int) -> Access | None:
        """Return one lane of a load or store; the value of the store is left as it is."""
        scalars = self.buffers.get(access.buffer)
        inner = 1 if scalars is None else lanes_of(access.buffer.dtype)
        indices = self._each(access.indices, number // inner)
        if indices is None:
            return None
        if scalars is None:
            return replace(access, indices=indices)
        return replace(access, buffer=scalars, indices=(*indices, IntImm(number % inner, "int32")))

    def width(self, access: BufferLoad | BufferStore) -> int:
        """Return how many scalars a load or store takes."""
        inner = lanes_of(access.buffer.dtype)
        return inner * (lanes_of(dtype_of(access.indices[-1])) if access.indices else 1)

    def _each(self, exprs: tuple[PrimExpr, ...], number: int) -> tuple[PrimExpr, ...] | None:
        made = tuple(expr if isinstance(expr, StringImm) else self.lane(expr, number) for expr in exprs)
        return None if None in made else tuple(item for item in made if item is not None)

    def _rearranged(self, expr: Intrinsic, number: int) -> PrimExpr | None:
        match expr:
            case Intrinsic(name="Ramp", args=(base, stride, _)):
                width = lanes_of(dtype_of(base))
                return self._step(expr, (base, stride), (number // width, number % width))
            case Intrinsic(name="Broadcast", args=(value, _)):
                return self.lane(value, number % lanes_of(dtype_of(value)))
            case Intrinsic(name="Shuffle", args=(PrimList(items=vectors), PrimList(items=places))):
                place = places[number]
                return self._joined(vectors, place.value) if isinstance(place, IntImm) else None
            case Intrinsic(name="vectorlow", args=(*_, value)):
                return self.lane(value, number)
            case Intrinsic(name="vectorhigh", args=(*_, value)):
                return self.lane(value, number + lanes_of(expr.dtype))
            case Intrinsic(name="vectorcombine", args=(*_, a, b)):
                return self._joined((a, b), number)
            case _:
                return None

    def _step(self, expr: Intrinsic, parts: tuple[PrimExpr, PrimExpr], place: tuple[int, int]) -> PrimExpr | None:
        """Return `base + stride * count`, of the lane `inner` of the base."""
        count, inner = place
        base, stride = (self.lane(part, inner) for part in parts)
        if base is None or stride is None:
            return None
        if count == 0:
            return base
        if isinstance(stride, IntImm):
            distance: PrimExpr = IntImm(stride.value * count, stride.dtype)
        else:
            distance = binary("*", stride, const(count, dtype_of(stride)))
        return replace(binary("+", base, distance), span=expr.span)

    def _joined(self, vectors: tuple[PrimExpr, ...], place: int) -> PrimExpr | None:
        for vector in vectors:
            width = lanes_of(dtype_of(vector))
            if 0 <= place < width:
                return self.lane(vector, place)
            place -= width
        return None


def is_of_vectors(expr: PrimExpr) -> bool:
    """Tell whether `expr` is a scalar that is taken from vectors, such as a shuffle with one lane."""
    return isinstance(expr, Intrinsic) and expr.name in VECTOR_INTRINSICS


def scalars_of(var: PrimVar) -> tuple[PrimVar, ...]:
    """Make a variable for each lane of a vector variable."""
    dtype = vector_of(var.dtype, 1)
    return tuple(PrimVar(f"{var.name}[{number}]", dtype, span=var.span) for number in range(lanes_of(var.dtype)))
