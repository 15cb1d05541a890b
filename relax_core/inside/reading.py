"""What a stopped run reads and writes: its statement computed here, access by access, on the memory as it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from relax_core.inside.memory import Memory
from relax_core.inside.owners import Owners
from relax_core.inside.sites import Site
from relax_core.ir.node import children
from relax_core.ir.prim import (
    Binary,
    Cast,
    FloatImm,
    IntImm,
    Intrinsic,
    LetExpr,
    PrimExpr,
    PrimVar,
    Select,
    Unary,
    dtype_of,
    lanes_of,
    scalar_of,
)
from relax_core.ir.tir import AssertStmt, Buffer, BufferLoad, BufferRef, BufferStore, Evaluate, IfThenElse, Stmt
from relax_core.ops.kernels.numbers import BINARY, FUNCTIONS, UNARY, cast, numpy_type, of_dtype

# Its stubs leave parts unknown.
_numpy: Any = np
UNKNOWN: Final = None
"""The value of what is not computed here, such as what a call returns."""


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """An element of memory that a statement touches: of a view, `buffer` is the one with the memory.

    `value` is what it holds before the statement runs, `None` if that is not known.
    """

    node: BufferLoad | BufferStore
    buffer: Buffer
    indices: tuple[int, ...]
    is_write: bool
    is_inside: bool
    value: Any = UNKNOWN


class Reader:
    """Computes expressions where a run is stopped, and notes what they read."""

    def __init__(self, values: Mapping[PrimVar, Any], memory: Memory, owners: Owners) -> None:
        self._values = dict(values)
        self._memory = memory
        self._owners = owners
        self.accesses: list[Access] = []

    def statement(self, stmt: Stmt) -> Any:
        """Note what a statement touches; return what it stores, or what decides it."""
        with np.errstate(all="ignore"):
            match stmt:
                case BufferStore(buffer=buffer, indices=indices, value=value):
                    found = self.value(value)
                    self._touch(stmt, buffer, indices, is_write=True)
                    return found
                case IfThenElse(condition=condition) | AssertStmt(condition=condition):
                    return self.value(condition)
                case Evaluate(value=value):
                    return self.value(value)
                case _:
                    return UNKNOWN

    def value(self, expr: PrimExpr) -> Any:
        """Return the value of an expression, `UNKNOWN` if it cannot be told here."""
        match expr:
            case IntImm(value=value, dtype=dtype):
                return bool(value) if dtype == "bool" else value
            case FloatImm(value=value, dtype=dtype):
                return numpy_type(scalar_of(dtype)).type(value)
            case PrimVar():
                return self._values.get(expr, UNKNOWN)
            case Binary(op="and" | "or" as op, a=a, b=b):
                first = self.value(a)
                return self.value(b) if first is UNKNOWN or bool(first) == (op == "and") else first
            case Binary(op=op, a=a, b=b):
                return self._applied(BINARY[op], expr, (a, b))
            case Unary(op=op, a=a):
                return self._applied(UNARY["not" if op == "~" and expr.dtype == "bool" else op], expr, (a,))
            case Cast(value=value, dtype=dtype):
                found = self.value(value)
                return UNKNOWN if found is UNKNOWN else cast(found, scalar_of(dtype))
            case Select(condition=condition, true_value=yes, false_value=no):
                return self._selected(condition, yes, no)
            case LetExpr(var=var, value=value, body=body):
                self._values[var] = self.value(value)
                return self.value(body)
            case BufferLoad(buffer=buffer, indices=indices):
                return self._touch(expr, buffer, indices, is_write=False)
            case Intrinsic():
                return self._called(expr)
            case _:
                return UNKNOWN

    def _selected(self, condition: PrimExpr, yes: PrimExpr, no: PrimExpr) -> Any:
        found: Any = self.value(condition)
        if found is UNKNOWN or np.ndim(found):
            both: tuple[Any, Any] = self.value(yes), self.value(no)
            if any(item is UNKNOWN for item in (found, *both)):
                return UNKNOWN
            return _numpy.where(found, *both)
        return self.value(yes if found else no)

    def _called(self, call: Intrinsic) -> Any:
        match call.name, call.args:
            case "Ramp", (base, stride, _):
                start, step = self.value(base), self.value(stride)
                if start is UNKNOWN or step is UNKNOWN:
                    return UNKNOWN
                return start + step * _numpy.arange(lanes_of(dtype_of(call)))
            case "Broadcast", (value, _):
                found = self.value(value)
                return UNKNOWN if found is UNKNOWN else _numpy.full(lanes_of(dtype_of(call)), found)
            case name, args if name in FUNCTIONS:
                return self._applied(FUNCTIONS[name], call, args)
            case _:
                for part in children(call):
                    if isinstance(part, PrimExpr) and not isinstance(part, BufferRef):
                        self.value(part)
                return UNKNOWN

    def _applied(self, function: Any, expr: PrimExpr, parts: tuple[PrimExpr, ...]) -> Any:
        values: list[Any] = [self.value(item) for item in parts]
        if any(item is UNKNOWN for item in values):
            return UNKNOWN
        try:
            found = function(*values)
        except (ArithmeticError, TypeError, ValueError):
            return UNKNOWN
        return of_dtype(found, scalar_of(dtype_of(expr)))

    def _touch(self, node: "BufferLoad | BufferStore", buffer: Buffer, indices: Any, *, is_write: bool) -> Any:
        place = self._owners.place(buffer, indices)
        own, where = place or (buffer, indices)
        found = [self.value(item) for item in where]
        if any(item is UNKNOWN for item in found):
            return UNKNOWN
        if not any(isinstance(item, np.ndarray) for item in found):
            return self._element(node, own, tuple(map(int, found)), is_write=is_write, is_known=place is not None)
        rows: list[list[int]] = [row.tolist() for row in np.broadcast_arrays(*found)]
        cells = zip(*rows, strict=True)
        values = [self._element(node, own, cell, is_write=is_write, is_known=place is not None) for cell in cells]
        if any(item is UNKNOWN for item in values):
            return UNKNOWN
        return _numpy.asarray(values)

    def _element(
        self,
        node: "BufferLoad | BufferStore",
        buffer: Buffer,
        indices: tuple[int, ...],
        *,
        is_write: bool,
        is_known: bool,
    ) -> Any:
        array = self._memory.array_of.get(buffer) if is_known else None
        is_inside = array is None or all(0 <= item < size for item, size in zip(indices, array.shape, strict=False))
        value = array[indices] if array is not None and is_inside else UNKNOWN
        self.accesses.append(Access(node, buffer, indices, is_write, is_inside, value))
        return value


def values_of(site: Site, memory: Memory) -> dict[PrimVar, Any]:
    """Return the values of the variables around a statement, those of the text and symbolic sizes."""
    found: dict[PrimVar, Any] = dict(memory.sizes)
    for slot in site.slots:
        value = memory.reals[slot.word] if slot.is_float else int(memory.words[slot.word])
        dtype = slot.var.dtype
        found[slot.var] = numpy_type(dtype).type(value) if slot.is_float else bool(value) if dtype == "bool" else value
    return found
