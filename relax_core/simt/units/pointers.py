"""Pointers as arguments of calls: memory counted as one row, from an element on."""

from math import prod

from relax_core.ir.node import Node
from relax_core.ir.prim import IntImm, Intrinsic, PrimExpr, PrimVar
from relax_core.ir.tir import Buffer, BufferLoad, BufferRef
from relax_core.jit.calls.arguments import contiguous_strides
from relax_core.ops.kernels.numbers import Plain
from relax_core.simt.expressions import Expressions
from relax_core.simt.lanes import Mask
from relax_core.simt.memory import Registers, View
from relax_core.simt.state import Place, unsupported
from relax_core.simt.values import data_of


class Pointers:
    """Reads pointers in the lanes of a state; the rows that they point into are buffers of their own."""

    def __init__(self, expressions: Expressions) -> None:
        self._expressions = expressions
        self._row_of: dict[tuple[object, str], Buffer] = {}

    def row(self, pointer: PrimExpr, mask: Mask) -> tuple[Buffer, Plain]:
        """Return a row of memory, and the element that a pointer points to.

        Raises:
            RunError: GP010, nothing is known of the memory.
        """
        match pointer:
            case BufferRef(buffer=buffer):
                return self._flat(self._known(buffer, pointer), pointer), 0
            case Intrinsic(name="address_of", args=(BufferLoad(buffer=buffer, indices=indices),)):
                place = self._known(buffer, pointer)
                offset: Plain = 0
                for index, stride in zip(indices, _strides(place), strict=True):
                    offset = offset + data_of(self._expressions.evaluate(index, mask)) * stride
                return self._flat(place, pointer), offset
            case Intrinsic(name="tvm_access_ptr", args=(_, base, offset, *_)):
                row, first = self.row(base, mask)
                return row, first + data_of(self._expressions.evaluate(offset, mask))
            case PrimVar():
                return self._of_variable(pointer), 0
            case _:
                return unsupported(pointer, "memory that is pointed to in this way")

    def _known(self, buffer: Buffer, node: Node) -> Place:
        place = self._expressions.state.places.get(buffer)
        return unsupported(node, f"the memory of `{buffer.name}`") if place is None else place

    def _flat(self, place: Place, node: Node) -> Buffer:
        if place.lanes > 1:
            unsupported(node, f"a pointer into the vectors of `{place.buffer.name}`")
        if isinstance(place, View) and place.strides != contiguous_strides(place.shape):
            unsupported(node, f"a pointer into `{place.buffer.name}`, which has strides,")
        key = (place.memory if isinstance(place, View) else id(place.rows), place.dtype.name)
        found = self._row_of.get(key)
        if found is None:
            count = prod(place.shape)
            found = Buffer(place.buffer.name, (IntImm(count),), place.buffer.dtype, scope=place.buffer.scope)
            self._row_of[key] = found
        size = (prod(place.shape),)
        self._expressions.state.places[found] = (
            View(found, place.memory, place.dtype, 1, size, (1,), place.offset)
            if isinstance(place, View)
            else Registers(found, place.dtype, 1, size, place.rows)
        )
        return found

    def _of_variable(self, pointer: PrimVar) -> Buffer:
        state = self._expressions.state
        storage = state.storage.get(pointer)
        if isinstance(storage, Registers):
            return self._flat(storage, pointer)
        place = next(
            (item for item in state.places.values() if isinstance(item, View) and item.memory is storage), None
        )
        return unsupported(pointer, f"the memory of `{pointer.name}`") if place is None else self._flat(place, pointer)


def _strides(place: Place) -> tuple[int, ...]:
    return place.strides if isinstance(place, View) else contiguous_strides(place.shape)
