"""Print statements that hold those behind them: as a line of the list, or as `with ...:`."""

from collections import Counter
from collections.abc import Iterator
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
from relax_core.printer.printed import Part, Piece, joined
from relax_core.printer.scalars import ScalarPrinter
from relax_core.printer.tir_buffers import BufferPrinter, type_of_variable

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

    def line(self, stmt: ScopedStmt) -> Iterator[Part]:
        """Show the statement as a line whose scope is the rest of the list."""
        if isinstance(stmt, LetStmt):
            type_ = type_of_variable(stmt.var)
            # The plain form is a variable that can be assigned again.
            shown = f": T.let[{type_}] = " if self.is_latest else f": {type_} = "
            yield from (self._name(stmt.var), shown, self.scalars.show(stmt.value))
            return
        defined = self._defined(stmt)
        if isinstance(stmt, DeclBuffer) and stmt.buffer in self.scalars.variables:
            yield from (self._name(stmt.buffer), f": T.{stmt.buffer.dtype}")
            return
        if defined is not None:
            yield from (self._name(defined), " = ")
        yield self._call(stmt)

    def head(self, stmt: ScopedStmt) -> Iterator[Part]:
        """Show the statement as `with ...:`."""
        yield from ("with ", self._call(stmt))
        defined = self._defined(stmt)
        if defined is not None:
            yield from (" as ", self._name(defined))
        yield ":"

    def _name(self, node: Node) -> Piece:
        return Piece(node, (self.scalars.name(node),))

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

    def _call(self, stmt: ScopedStmt) -> Iterator[Part]:
        match stmt:
            case LetStmt(var=var, value=value):
                yield from ("T.bind(" if self.is_latest else "T.LetStmt(", self.scalars.show(value))
                yield f", {type_of_variable(var)})"
            case AttrStmt(subject=subject, key=key, value=value):
                yield from ("T.attr(", self.scalars.show(subject), f", {quoted(key)}, ", self.scalars.show(value), ")")
            case LaunchThread(var=var, tag=tag, extent=extent):
                thread: Part = quoted(tag) if self.launches[var] < SHARED else self._name(var)
                yield from ("T.launch_thread(", thread, ", ", self.scalars.show(extent), ")")
            case Allocate():
                yield self._allocate(stmt)
            case DeclBuffer():
                yield self._declare(stmt)
            case BufferRealize(region=region, scope=scope, condition=condition):
                yield from ("T.realize(", Piece(region, self.buffers.region(region)), f", {quoted(scope)}")
                yield from () if condition is None else (", ", self.scalars.show(condition))
                yield ")"

    def _allocate(self, stmt: Allocate) -> Iterator[Part]:
        yield from ("T.allocate([", joined(self.scalars.show(item) for item in stmt.extents), f'], "{stmt.dtype}", ')
        yield quoted(stmt.scope)
        if stmt.condition is not None:
            yield from (", condition=", self.scalars.show(stmt.condition))
        yield f", annotations={attributes(stmt.annotations)})" if stmt.annotations else ")"

    def _declare(self, stmt: DeclBuffer) -> Iterator[Part]:
        """In 2022 a declared buffer without a pointer has memory of its own."""
        is_unknown = isinstance(stmt.pointer, Intrinsic) and stmt.pointer.name == UNKNOWN_POINTER
        call = "alloc_buffer" if stmt.pointer is None and self.is_latest else "Buffer" if is_unknown else "decl_buffer"
        parts = [*self.buffers.definition(stmt.buffer, call)]
        yield from parts[:-1]
        if stmt.pointer is not None and not is_unknown:
            yield from (", data=", self.scalars.show(stmt.pointer))
        yield f", annotations={attributes(stmt.annotations)})" if stmt.annotations else ")"
