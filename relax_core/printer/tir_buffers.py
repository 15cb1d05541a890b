"""Print buffers: their shapes, what is said of their memory, and regions of them."""

from dataclasses import dataclass

from relax_core.ir.prim import IntImm, PointerVar, PrimExpr, PrimVar, is_number
from relax_core.ir.tir import Buffer, BufferRegion
from relax_core.printer.literals import quoted
from relax_core.printer.scalars import ScalarPrinter
from relax_core.printer.spelling import Wording
from relax_core.printer.types import is_quoted


@dataclass(slots=True, eq=False)
class BufferPrinter:
    """Prints buffers with the names and scalars of one prim func."""

    spelling: Wording
    scalars: ScalarPrinter

    def definition(self, buffer: Buffer, call: str, first: str = "", *, is_signature: bool = False) -> str:
        """Show `T.<call>(first, shape, dtype, ...)`."""
        return f"T.{call}({self.given(buffer, first, is_signature=is_signature)})"

    def given(self, buffer: Buffer, first: str = "", *, is_signature: bool = False) -> str:
        """Show the arguments that define a buffer, behind `first` if there is one."""
        shape = self.shape(buffer.shape, is_signature=is_signature)
        return f'{first}{", " if first else ""}{shape}, "{buffer.dtype}"{self._layout(buffer)}'

    def _layout(self, buffer: Buffer) -> str:
        found: list[str] = []
        if buffer.strides:
            found.append(f", strides={self.shape(buffer.strides)}")
        if buffer.elem_offset is not None:
            found.append(f", elem_offset={self.scalars.show(buffer.elem_offset)}")
        if buffer.scope != "global":
            found.append(f", scope={quoted(buffer.scope)}")
        for name, value in buffer.attrs:
            found.append(f", {name}={quoted(value) if name == 'buffer_type' and isinstance(value, str) else value}")
        return "".join(found)

    def shape(self, values: tuple[PrimExpr, ...], *, is_signature: bool = False) -> str:
        """Show `(n, 4)`, with the comma that a single dimension needs."""
        shown = ", ".join([self._dim(item) for item in values]) if is_signature else self.scalars.shown(values)
        return f"({shown},)" if len(values) == 1 else f"({shown})"

    def _dim(self, value: PrimExpr) -> str:
        """Show a dimension of a signature."""
        if not isinstance(value, IntImm) and is_quoted(self.spelling, value):
            return self.scalars.quoted(value)
        return self.scalars.show(value)

    def region(self, region: BufferRegion) -> str:
        """Show `A[i, 0:4]`."""
        name = self.scalars.variable(region.buffer)
        starts, extents = region.starts, region.extents
        if not starts:
            shown = "()"
        elif [item for item in extents if not _is_one(item)]:
            shown = ", ".join([self._range(start, extent) for start, extent in zip(starts, extents, strict=True)])
        else:
            shown = self.scalars.shown(starts)
        return self.scalars.emitter.mark(region, f"{name}[{shown}]")

    def _range(self, start: PrimExpr, extent: PrimExpr) -> str:
        shown = self.scalars.show(start)
        return shown if _is_one(extent) else f"{shown}:{self.stop(start, extent)}"

    def stop(self, start: PrimExpr, extent: PrimExpr) -> str:
        """Show the end of a range so that it reads back as the same extent."""
        match start, extent:
            case IntImm(), IntImm():
                return self.scalars.show(IntImm(start.value + extent.value, start.dtype))
            case IntImm(value=0), _:
                return self.scalars.show(extent)
            case _:
                return f"{self.scalars.show(start, 9)} + {self.scalars.show(extent, 10)}"


def _is_one(extent: PrimExpr) -> bool:
    return is_number(extent, 1)


def type_of_variable(var: PrimVar) -> str:
    """Return the type of a variable: `T.int32`, `T.handle("float32", "global")`."""
    if isinstance(var, PointerVar):
        return f'T.handle("{var.element}", {quoted(var.scope)})'
    return f"T.{var.dtype}"
