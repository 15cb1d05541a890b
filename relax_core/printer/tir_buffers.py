"""Print buffers: their shapes, what is said of their memory, and regions of them."""

from collections.abc import Iterator
from dataclasses import dataclass

from relax_core.ir.prim import IntImm, PointerVar, PrimExpr, PrimVar
from relax_core.ir.tir import Buffer, BufferRegion
from relax_core.printer.literals import quoted
from relax_core.printer.printed import Part, Piece, joined, plain_text
from relax_core.printer.scalars import ScalarPrinter
from relax_core.printer.spelling import Wording
from relax_core.printer.types import is_quoted


@dataclass(frozen=True, slots=True)
class BufferPrinter:
    """Prints buffers with the names and scalars of one prim func."""

    spelling: Wording
    scalars: ScalarPrinter

    def definition(
        self, buffer: Buffer, call: str, first: "Part | None" = None, *, is_signature: bool = False
    ) -> Iterator[Part]:
        """Show `T.<call>(first, shape, dtype, ...)`."""
        yield f"T.{call}("
        if first is not None:
            yield from (first, ", ")
        yield from (self.shape(buffer.shape, is_signature=is_signature), f', "{buffer.dtype}"')
        yield from (self._layout(buffer), ")")

    def _layout(self, buffer: Buffer) -> Iterator[Part]:
        if buffer.strides:
            yield from (", strides=", self.shape(buffer.strides))
        if buffer.elem_offset is not None:
            yield from (", elem_offset=", self.scalars.show(buffer.elem_offset))
        if buffer.scope != "global":
            yield f", scope={quoted(buffer.scope)}"
        for name, value in buffer.attrs:
            yield f", {name}={quoted(value) if name == 'buffer_type' and isinstance(value, str) else value}"

    def shape(self, values: tuple[PrimExpr, ...], *, is_signature: bool = False) -> Iterator[Part]:
        """Show `(n, 4)`, with the comma that a single dimension needs."""
        shown = joined(self._dim(item, is_signature=is_signature) for item in values)
        yield from ("(", shown, ",)" if len(values) == 1 else ")")

    def _dim(self, value: PrimExpr, *, is_signature: bool) -> Piece:
        if is_signature and is_quoted(self.spelling, value):
            return Piece(value, (quoted(plain_text((self.scalars.show(value),))),))
        return self.scalars.show(value)

    def region(self, region: BufferRegion) -> Iterator[Part]:
        """Show `A[i, 0:4]`."""
        yield Piece(region.buffer, (self.scalars.name(region.buffer),))
        yield "["
        ranges = zip(region.starts, region.extents, strict=True)
        yield joined(self._range(start, extent) for start, extent in ranges) if region.starts else "()"
        yield "]"

    def _range(self, start: PrimExpr, extent: PrimExpr) -> Iterator[Part]:
        yield self.scalars.show(start)
        if not isinstance(extent, IntImm) or extent.value != 1:
            yield from (":", self.stop(start, extent))

    def stop(self, start: PrimExpr, extent: PrimExpr) -> Iterator[Part]:
        """Show the end of a range so that it reads back as the same extent."""
        match start, extent:
            case IntImm(), IntImm():
                yield self.scalars.show(IntImm(start.value + extent.value, start.dtype))
            case IntImm(value=0), _:
                yield self.scalars.show(extent)
            case _:
                yield from (self.scalars.show(start, 9), " + ", self.scalars.show(extent, 10))


def type_of_variable(var: PrimVar) -> str:
    """Return the type of a variable: `T.int32`, `T.handle("float32", "global")`."""
    if isinstance(var, PointerVar):
        return f'T.handle("{var.element}", {quoted(var.scope)})'
    return f"T.{var.dtype}"
