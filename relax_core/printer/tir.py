"""Print prim funcs."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from relax_core.ir.equality import structural_equal
from relax_core.ir.node import preorder
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar
from relax_core.ir.tir import (
    AssertStmt,
    Block,
    Buffer,
    BufferParam,
    BufferRegion,
    BufferStore,
    Evaluate,
    For,
    IfThenElse,
    IterVar,
    LetStmt,
    PrimFunc,
    SeqStmt,
    Stmt,
    While,
)
from relax_core.printer.literals import attributes, quoted
from relax_core.printer.naming import FunctionNames
from relax_core.printer.printed import Layout, Part, Piece, joined, plain_text
from relax_core.printer.scalars import ScalarPrinter
from relax_core.printer.spelling import Wording
from relax_core.printer.types import is_quoted


@dataclass(frozen=True, slots=True)
class PrimFuncPrinter:
    """Prints one prim func. `extents` are those of the loops around the place that start at 0."""

    spelling: Wording
    names: FunctionNames
    extents: dict[PrimVar, PrimExpr] = field(default_factory=dict[PrimVar, PrimExpr])

    @property
    def scalars(self) -> ScalarPrinter:
        """The printer of scalar expressions in TIR, where a bare integer is int32."""
        return ScalarPrinter(self.names.__getitem__, "int32")

    def show(self, function: PrimFunc, name: str) -> Iterator[Part]:
        """Show the function under a name."""
        flags = [*(["private=True"] if function.is_private else []), *self.spelling.prim_func_flags]
        yield f"@T.prim_func({', '.join(flags)})" if flags else "@T.prim_func"
        inline = {item.handle: item for item in function.buffers if item.is_inline}
        params = joined(self._param(item, inline.get(item)) for item in function.params)
        yield from (Layout.NEWLINE, f"def {name}(", params, "):", Layout.DEEPER)
        if function.attrs:
            yield from (Layout.NEWLINE, f"T.func_attr({attributes(function.attrs)})")
        yield self._declarations(function)
        for item in function.buffers:
            if not item.is_inline:
                yield from (Layout.NEWLINE, Piece(item, self._match(item)))
        yield self._body(function.body)
        yield Layout.BACK

    def _param(self, param: PrimVar, inline: BufferParam | None) -> Piece:
        if inline is None:
            return Piece(param, (f"{self.names[param]}: T.{param.dtype}",))
        return Piece(inline, (Piece(param, (self._buffer(inline.buffer),)),))

    def _buffer(self, buffer: Buffer) -> Iterator[Part]:
        yield Piece(buffer, (self.names[buffer],))
        yield from (": T.Buffer(", self._shape(buffer.shape, is_signature=True), f', "{buffer.dtype}"')
        yield from (self._layout(buffer), ")")

    def _layout(self, buffer: Buffer) -> Iterator[Part]:
        if buffer.strides:
            yield from (", strides=", self._shape(buffer.strides))
        if buffer.elem_offset is not None:
            yield from (", elem_offset=", self.scalars.show(buffer.elem_offset))
        if buffer.scope != "global":
            yield f", scope={quoted(buffer.scope)}"

    def _shape(self, values: tuple[PrimExpr, ...], *, is_signature: bool = False) -> Iterator[Part]:
        shown = joined(self._dim(item, is_signature=is_signature) for item in values)
        yield from ("(", shown, ",)" if len(values) == 1 else ")")

    def _dim(self, value: PrimExpr, *, is_signature: bool) -> Piece:
        if is_signature and is_quoted(self.spelling, value):
            return Piece(value, (quoted(plain_text((self.scalars.show(value),))),))
        return self.scalars.show(value)

    def _match(self, param: BufferParam) -> Iterator[Part]:
        buffer = param.buffer
        yield Piece(buffer, (self.names[buffer],))
        yield from (" = T.match_buffer(", Piece(param.handle, (self.names[param.handle],)), ", ")
        yield from (self._shape(buffer.shape), f', "{buffer.dtype}"', self._layout(buffer), ")")

    def _declarations(self, function: PrimFunc) -> Iterator[Part]:
        """Show `n = T.int64()` for the dimensions that are bound from the arguments' shapes.

        Where a buffer stands in the signature, 2022 and 2026 know its int64 dimensions from there.
        """
        inline = signature_symbols(function)
        for symbol in _free_symbols(function):
            if symbol in inline and self.spelling.name != "2023":
                continue
            made = f'T.var("{symbol.dtype}")' if self.spelling.name == "2022" else f"T.{symbol.dtype}()"
            yield from (Layout.NEWLINE, Piece(symbol, (self.names[symbol],)), f" = {made}")

    def _body(self, body: Stmt) -> Iterator[Part]:
        """Show the body; a root block that only allocates is left out, as its buffers make it again."""
        match body:
            case Block(name="root", iter_vars=(), init=None, predicate=None, annotations=()) if (
                body.alloc_buffers and body.reads is None and body.writes is None
            ):
                yield Piece(body, self._root(body))
            case _:
                yield self._stmt(body)

    def _root(self, block: Block) -> Iterator[Part]:
        yield self._allocations(block)
        yield self._stmt(block.body)

    def _allocations(self, block: Block) -> Iterator[Part]:
        for buffer in block.alloc_buffers:
            yield from (Layout.NEWLINE, Piece(buffer, (self.names[buffer],)))
            yield from (f" = T.{self.spelling.alloc_buffer}(", self._shape(buffer.shape), f', "{buffer.dtype}"')
            yield from (self._layout(buffer), ")")

    def _stmt(self, stmt: Stmt) -> Iterator[Part]:
        match stmt:
            case SeqStmt(stmts=stmts):
                for item in stmts:
                    yield self._stmt(item)
            case For():
                yield self._loop(stmt)
            case LetStmt(body=body):
                yield from (Layout.NEWLINE, Piece(stmt, self._let(stmt)), self._stmt(body))
            case _:
                yield from (Layout.NEWLINE, Piece(stmt, self._simple(stmt)))

    def _simple(self, stmt: Stmt) -> Iterator[Part]:
        match stmt:
            case BufferStore(buffer=buffer, indices=indices, value=value):
                yield from (self.scalars.element(buffer, indices), " = ", self.scalars.show(value))
            case Block():
                yield self._block(stmt)
            case IfThenElse(condition=condition, then_body=then, else_body=other):
                yield from ("if ", self.scalars.show(condition), ":", self._indented(then))
                if other is not None:
                    yield from (Layout.NEWLINE, "else:", self._indented(other))
            case While(condition=condition, body=body):
                yield from ("while ", self.scalars.show(condition), ":", self._indented(body))
            case AssertStmt(condition=condition, message=message):
                yield from ("assert ", self.scalars.show(condition), f", {quoted(message)}" if message else "")
            case Evaluate(value=value):
                yield from ("T.evaluate(", self.scalars.show(value), ")")
            case _:
                raise AssertionError(type(stmt).__name__)

    def _indented(self, body: Stmt) -> Iterator[Part]:
        yield from (Layout.DEEPER, self._stmt(body), Layout.BACK)

    def _let(self, stmt: LetStmt) -> Iterator[Part]:
        dtype = f"T.{stmt.var.dtype}"
        # In 2026 the plain form is a variable that can be assigned again.
        shown = (
            f"{self.names[stmt.var]}: T.let[{dtype}]"
            if self.spelling.name == "2026"
            else f"{self.names[stmt.var]}: {dtype}"
        )
        yield from (Piece(stmt.var, (shown,)), " = ", self.scalars.show(stmt.value))

    def _loop(self, loop: For) -> Iterator[Part]:
        """Show a loop; a nest of plain loops is one `T.grid`."""
        nest = _nest(loop)
        for item in nest:
            if _starts_at_zero(item):
                self.extents[item.var] = item.extent
        yield Layout.NEWLINE
        yield self._nested(nest, 0, self._header(nest))

    def _nested(self, nest: list[For], depth: int, header: Part) -> Part:
        """The pieces of the loops of a nest contain each other, the innermost holds the text."""
        if depth == len(nest) - 1:
            return Piece(nest[depth], (header, self._indented(nest[-1].body)))
        return Piece(nest[depth], (self._nested(nest, depth + 1, header),))

    def _header(self, nest: list[For]) -> Iterator[Part]:
        yield from ("for ", joined(Piece(item.var, (self.names[item.var],)) for item in nest), " in ")
        if len(nest) > 1:
            yield from ("T.grid(", joined(self.scalars.show(item.extent) for item in nest), "):")
            return
        loop = nest[0]
        is_plain = loop.kind == "serial" and not loop.annotations
        yield "range(" if is_plain else f"T.{loop.kind}("
        if _starts_at_zero(loop):
            yield self.scalars.show(loop.extent)
        else:
            yield from (self.scalars.show(loop.start), ", ", self._stop(loop.start, loop.extent))
        if loop.thread is not None:
            yield f", thread={quoted(loop.thread)}"
        if loop.annotations:
            yield f", annotations={attributes(loop.annotations)}"
        yield "):"

    def _stop(self, start: PrimExpr, extent: PrimExpr) -> Iterator[Part]:
        """Show the end of a range so that it reads back as the same extent."""
        match start, extent:
            case IntImm(), IntImm():
                yield self.scalars.show(IntImm(start.value + extent.value, start.dtype))
            case IntImm(value=0), _:
                yield self.scalars.show(extent)
            case _:
                yield from (self.scalars.show(start, 9), " + ", self.scalars.show(extent, 10))

    def _block(self, block: Block) -> Iterator[Part]:
        name = quoted(block.name) if block.name else ""
        yield from (f"with T.{self.spelling.block}({name}):", Layout.DEEPER)
        yield self._axes(block.iter_vars)
        if block.predicate is not None:
            yield from (Layout.NEWLINE, "T.where(", self.scalars.show(block.predicate), ")")
        for word, regions in (("reads", block.reads), ("writes", block.writes)):
            if regions is not None:
                shown = joined(Piece(item, self._region(item)) for item in regions)
                yield from (Layout.NEWLINE, f"T.{word}(", shown, ")")
        if block.annotations:
            yield from (Layout.NEWLINE, f"T.{self.spelling.block_attr}({attributes(block.annotations)})")
        yield self._allocations(block)
        if block.init is not None:
            yield from (Layout.NEWLINE, "with T.init():", self._indented(block.init))
        yield from (self._stmt(block.body), Layout.BACK)

    def _axes(self, axes: tuple[IterVar, ...]) -> Iterator[Part]:
        if not axes:
            return
        if all(self._is_remapped(item) for item in axes):
            kinds = "".join("S" if item.kind == "spatial" else "R" for item in axes)
            yield from (Layout.NEWLINE, joined(Piece(item.var, (self.names[item.var],)) for item in axes))
            bindings = joined(Piece(item, (self.scalars.show(item.binding),)) for item in axes)
            yield from (f' = T.axis.remap("{kinds}", [', bindings, "])")
            return
        for item in axes:
            yield from (Layout.NEWLINE, Piece(item, self._axis(item)))

    def _axis(self, axis: IterVar) -> Iterator[Part]:
        yield from (Piece(axis.var, (self.names[axis.var],)), f" = T.axis.{axis.kind}(", self.scalars.show(axis.extent))
        yield from (", ", self.scalars.show(axis.binding), ")")

    def _is_remapped(self, axis: IterVar) -> bool:
        extent = self.extents.get(axis.binding) if isinstance(axis.binding, PrimVar) else None
        if extent is None or axis.kind == "opaque":
            return False
        return extent is axis.extent or (isinstance(extent, IntImm) and structural_equal(extent, axis.extent))

    def _region(self, region: BufferRegion) -> Iterator[Part]:
        yield from (Piece(region.buffer, (self.names[region.buffer],)), "[")
        ranges = zip(region.starts, region.extents, strict=True)
        yield joined(self._range(start, extent) for start, extent in ranges) if region.starts else "()"
        yield "]"

    def _range(self, start: PrimExpr, extent: PrimExpr) -> Iterator[Part]:
        yield self.scalars.show(start)
        if not isinstance(extent, IntImm) or extent.value != 1:
            yield from (":", self._stop(start, extent))


def _starts_at_zero(loop: For) -> bool:
    return isinstance(loop.start, IntImm) and loop.start.value == 0


def _is_plain(loop: For) -> bool:
    return _starts_at_zero(loop) and loop.kind == "serial" and not loop.annotations and loop.thread is None


def _nest(loop: For) -> list[For]:
    """Return the loops that `T.grid` can join: plain ones directly inside each other, with independent extents."""
    nest = [loop]
    loop_vars = {loop.var}
    while _is_plain(nest[-1]) and isinstance(inner := nest[-1].body, For) and _is_plain(inner):
        if any(node in loop_vars for node in preorder(inner.extent)):
            break
        nest.append(inner)
        loop_vars.add(inner.var)
    return nest


def _free_symbols(function: PrimFunc) -> list[PrimVar]:
    """Return the variables that nothing in the function binds, in the order of the text."""
    bound: set[PrimVar] = set(function.params)
    found: dict[PrimVar, None] = {}
    for node in preorder(function):
        if isinstance(node, For | LetStmt | IterVar):
            bound.add(node.var)
        elif isinstance(node, PrimVar):
            found.setdefault(node)
    return [item for item in found if item not in bound]


def signature_symbols(function: PrimFunc) -> set[PrimVar]:
    """Return the int64 dimensions of the buffers in the signature."""
    nodes = {node for item in function.buffers if item.is_inline for node in preorder(item.buffer)}
    return {item for item in nodes if isinstance(item, PrimVar) and item.dtype == "int64"}
