"""Print statements that hold those behind them: as a line of the list, or as `with ...:`."""

from collections import Counter
from dataclasses import dataclass

from relax_core.ir.intrinsics import UNKNOWN_POINTER
from relax_core.ir.node import Node
from relax_core.ir.prim import Intrinsic, PrimVar
from relax_core.ir.tir import (
    Allocate,
    AttrStmt,
    BufferRealize,
    DeclBuffer,
    LaunchThread,
    LetStmt,
    ScopedStmt,
)
from relax_core.printer.literals import attributes, quoted
from relax_core.printer.scalars import ScalarPrinter
from relax_core.printer.tir_buffers import BufferPrinter, type_of_variable

ALLOC_BUFFER = "alloc_buffer"
# A variable that numbers threads so often is declared before.
SHARED = 2


@dataclass(frozen=True, slots=True)
class ScopedPrinter:
    """Prints the first line of a statement that holds others."""

    buffers: BufferPrinter
    launches: Counter[PrimVar]

    @property
    def scalars(self) -> ScalarPrinter:
        """The printer of scalars."""
        return self.buffers.scalars

    @property
    def is_latest(self) -> bool:
        """Tell whether the text is of 2023 or later, as apache-tvm 0.25 and 0.27 print it."""
        return self.buffers.spelling.name != "2022"

    def line(self, stmt: ScopedStmt) -> str:
        """Show the statement as a line whose scope is the rest of the list."""
        if isinstance(stmt, LetStmt):
            type_ = type_of_variable(stmt.var)
            # The plain form is a variable that can be assigned again.
            shown = f"T.let[{type_}]" if self.is_latest else type_
            return f"{self.scalars.variable(stmt.var)}: {shown} = {self.scalars.show(stmt.value)}"
        if isinstance(stmt, DeclBuffer) and stmt.buffer in self.scalars.variables:
            return f"{self.scalars.variable(stmt.buffer)}: T.{stmt.buffer.dtype}"
        defined = self._defined(stmt)
        head = "" if defined is None else f"{self.scalars.variable(defined)} = "
        return head + self._call(stmt)

    def head(self, stmt: ScopedStmt) -> str:
        """Show the statement as `with ...:`."""
        call, defined = self._call(stmt), self._defined(stmt)
        return f"with {call}:" if defined is None else f"with {call} as {self.scalars.variable(defined)}:"

    def _defined(self, stmt: ScopedStmt) -> Node | None:
        match stmt:
            case LetStmt(var=var) | Allocate(var=var):
                return var
            case LaunchThread(var=var):
                return var if self.launches[var] < SHARED else None
            case DeclBuffer(buffer=buffer):
                return buffer
            case AttrStmt() | BufferRealize():
                return None

    def _call(self, stmt: ScopedStmt) -> str:
        show = self.scalars.show
        match stmt:
            case LetStmt(var=var, value=value):
                return f"T.{'bind' if self.is_latest else 'LetStmt'}({show(value)}, {type_of_variable(var)})"
            case AttrStmt(subject=subject, key=key, value=value):
                return f"T.attr({show(subject)}, {quoted(key)}, {show(value)})"
            case LaunchThread(var=var, tag=tag, extent=extent):
                thread = quoted(tag) if self.launches[var] < SHARED else self.scalars.variable(var)
                return f"T.launch_thread({thread}, {show(extent)})"
            case Allocate():
                return self._allocate(stmt)
            case DeclBuffer():
                return self._declare(stmt)
            case BufferRealize(region=region, scope=scope, condition=condition):
                shown = f"T.realize({self.buffers.region(region)}, {quoted(scope)}"
                return f"{shown})" if condition is None else f"{shown}, {show(condition)})"

    def _allocate(self, stmt: Allocate) -> str:
        shown = f'T.allocate([{self.scalars.shown(stmt.extents)}], "{stmt.dtype}", {quoted(stmt.scope)}'
        if stmt.condition is not None:
            shown += f", condition={self.scalars.show(stmt.condition)}"
        return f"{shown}{_annotations(stmt)})"

    def _declare(self, stmt: DeclBuffer) -> str:
        """Where `T.alloc_buffer` makes a buffer of a block, a declared one without a pointer has memory of its own."""
        is_unknown = isinstance(stmt.pointer, Intrinsic) and stmt.pointer.name == UNKNOWN_POINTER
        is_allocated = stmt.pointer is None and self.buffers.spelling.alloc_buffer != ALLOC_BUFFER
        call = ALLOC_BUFFER if is_allocated else "Buffer" if is_unknown else "decl_buffer"
        shown = f"T.{call}({self.buffers.given(stmt.buffer)}"
        if stmt.pointer is not None and not is_unknown:
            shown += f", data={self.scalars.show(stmt.pointer)}"
        return f"{shown}{_annotations(stmt)})"


def _annotations(stmt: Allocate | DeclBuffer) -> str:
    return f", annotations={attributes(stmt.annotations)}" if stmt.annotations else ""
