"""Print prim funcs."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from relax_core.frontend.tvmscript.literals import MADE
from relax_core.frontend.tvmscript.tir_block import BUFFER
from relax_core.ir.attrs import Attrs, AttrValue
from relax_core.ir.equality import structural_equal
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import CommReducer, IntImm, Intrinsic, LetExpr, PrimExpr, PrimVar
from relax_core.ir.tir import (
    Allocate,
    AssertStmt,
    AttrStmt,
    Block,
    Buffer,
    BufferParam,
    BufferRealize,
    BufferStore,
    DeclBuffer,
    Evaluate,
    For,
    IfThenElse,
    IterVar,
    LaunchThread,
    LetStmt,
    MatchRegion,
    PrimFunc,
    ScopedStmt,
    SeqStmt,
    Stmt,
    While,
)
from relax_core.printer.literals import attributes, quoted
from relax_core.printer.naming import FunctionNames
from relax_core.printer.printed import Layout, Part, Piece, joined
from relax_core.printer.scalars import ScalarPrinter
from relax_core.printer.spelling import Wording
from relax_core.printer.tir_buffers import BufferPrinter, type_of_variable
from relax_core.printer.tir_scoped import SHARED, ScopedPrinter


@dataclass(frozen=True, slots=True)
class PrimFuncPrinter:
    """Prints one prim func.

    `ranges` are the loops around the place; `variables` the buffers that the text calls variables; `launches` tells
    how often a variable numbers threads.
    """

    spelling: Wording
    names: FunctionNames
    module_name: str = ""
    ranges: dict[PrimVar, For] = field(default_factory=dict[PrimVar, For])
    variables: set[Node] = field(default_factory=set[Node])
    launches: Counter[PrimVar] = field(default_factory=Counter[PrimVar])
    buffers_by_name: dict[str, Buffer] = field(default_factory=dict[str, Buffer])

    @property
    def scalars(self) -> ScalarPrinter:
        """The printer of scalar expressions in TIR, where a bare integer is int32."""
        return ScalarPrinter(self.names.__getitem__, "int32", self.variables, self.module_name)

    @property
    def buffers(self) -> BufferPrinter:
        """The printer of buffers."""
        return BufferPrinter(self.spelling, self.scalars)

    def show(self, function: PrimFunc, name: str) -> Iterator[Part]:
        """Show the function under a name."""
        flags = [*(["private=True"] if function.is_private else [])]
        flags += () if function.is_s_tir is False else self.spelling.prim_func_flags
        yield f"@T.prim_func({', '.join(flags)})" if flags else "@T.prim_func"
        inline = {item.handle: item for item in function.buffers if self._is_inline(item)}
        params = joined(self._param(item, inline.get(item)) for item in function.params)
        result = f" -> T.{function.ret_dtype}" if function.ret_dtype is not None else ""
        yield from (Layout.NEWLINE, f"def {name}(", params, f"){result}:", Layout.DEEPER)
        if function.attrs:
            yield from (Layout.NEWLINE, f"T.func_attr({attributes(function.attrs)})")
        yield self._declarations(function)
        for item in function.buffers:
            if not self._is_inline(item):
                yield from (Layout.NEWLINE, Piece(item, self._match(item)))
        yield self._body(function.body)
        yield Layout.BACK

    def _is_inline(self, param: BufferParam) -> bool:
        """Tell whether a buffer stands in the signature; apache-tvm 0.25 knows no dimensions there."""
        is_open = self.spelling.name == "2023" and any(isinstance(item, PrimVar) for item in preorder(param.buffer))
        return param.is_inline and not is_open

    def _param(self, param: PrimVar, inline: BufferParam | None) -> Piece:
        if inline is None:
            return Piece(param, (f"{self.names[param]}: {type_of_variable(param)}",))
        buffer = inline.buffer
        shown = (f"{self.names[buffer]}: ", self.buffers.definition(buffer, "Buffer", is_signature=True))
        return Piece(inline, (Piece(param, (Piece(buffer, shown),)),))

    def _match(self, param: BufferParam) -> Iterator[Part]:
        yield from (Piece(param.buffer, (self.names[param.buffer],)), " = ")
        handle = Piece(param.handle, (self.names[param.handle],))
        yield self.buffers.definition(param.buffer, "match_buffer", handle)

    def _declarations(self, function: PrimFunc) -> Iterator[Part]:
        """Show `n = T.int64()` for the dimensions that are bound from the arguments' shapes.

        Where a buffer stands in the signature, 2022 and 2026 know its int64 dimensions from there.
        """
        inline = signature_symbols(function)
        for node in preorder(function):
            match node:
                case Buffer(name=name):
                    self.buffers_by_name.setdefault(name, node)
                case DeclBuffer(buffer=buffer, is_scalar=True) if self.spelling.name != "2022":
                    self.variables.add(buffer)
                case LaunchThread(var=var):
                    self.launches[var] += 1
                    if self.launches[var] == SHARED:
                        yield from (
                            Layout.NEWLINE,
                            Piece(var, (self.names[var],)),
                            f" = T.env_thread({quoted(node.tag)})",
                        )
                case _:
                    pass
        for symbol in _free_symbols(function):
            if symbol in inline and self.spelling.name != "2023":
                continue
            is_2022 = self.spelling.name == "2022" and symbol.dtype != "handle"
            type_ = type_of_variable(symbol)
            made = f'T.var("{symbol.dtype}")' if is_2022 else type_ if type_.endswith(")") else f"{type_}()"
            yield from (Layout.NEWLINE, Piece(symbol, (self.names[symbol],)), f" = {made}")

    def _body(self, body: Stmt) -> Iterator[Part]:
        """Show the body; a root block that only allocates is left out, as its buffers make it again.

        In 2022 they make it only where there are other blocks.
        """
        match body:
            case Block(name="root", iter_vars=(), init=None, predicate=None, annotations=(), matches=()) if (
                body.alloc_buffers and body.reads is None and body.writes is None and self._makes_root(body)
            ):
                yield Piece(body, self._root(body))
            case _:
                yield self._stmt(body)

    def _makes_root(self, root: Block) -> bool:
        return self.spelling.name != "2022" or any(isinstance(item, Block) for item in preorder(root.body))

    def _root(self, block: Block) -> Iterator[Part]:
        yield self._allocations(block)
        yield self._stmt(block.body)

    def _allocations(self, block: Block) -> Iterator[Part]:
        for buffer in block.alloc_buffers:
            yield from (Layout.NEWLINE, Piece(buffer, (self.names[buffer],)), " = ")
            yield self.buffers.definition(buffer, self.spelling.alloc_buffer)
        for item in block.matches:
            yield from (Layout.NEWLINE, Piece(item, self._matched(item)))

    def _matched(self, match: MatchRegion) -> Iterator[Part]:
        yield from (Piece(match.buffer, (self.names[match.buffer],)), " = ")
        region = Piece(match.region, self.buffers.region(match.region))
        yield self.buffers.definition(match.buffer, "match_buffer", region)

    def _stmt(self, stmt: Stmt) -> Iterator[Part]:
        match stmt:
            case SeqStmt(stmts=stmts):
                for item in stmts[:-1]:
                    yield self._inside(item) if isinstance(item, ScopedStmt) else self._stmt(item)
                yield self._stmt(stmts[-1]) if stmts else ""
            case For():
                yield self._loop(stmt)
            case LetStmt() | AttrStmt() | LaunchThread() | Allocate() | DeclBuffer() | BufferRealize():
                yield from (Layout.NEWLINE, Piece(stmt, self._scoped().line(stmt)), self._stmt(stmt.body))
            case _:
                yield from (Layout.NEWLINE, Piece(stmt, self._simple(stmt)))

    def _scoped(self) -> ScopedPrinter:
        return ScopedPrinter(self.buffers, self.launches)

    def _inside(self, stmt: ScopedStmt) -> Iterator[Part]:
        """Show a statement whose scope ends before the list does: `with ...:`."""
        yield from (Layout.NEWLINE, Piece(stmt, (self._scoped().head(stmt), self._indented(stmt.body))))

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
            case AssertStmt():
                yield from ("assert ", self.scalars.show(stmt.condition), _message(stmt))
            case Evaluate(value=value):
                yield self._evaluation(value)
            case _:
                raise AssertionError(type(stmt).__name__)

    def _evaluation(self, value: PrimExpr) -> Iterator[Part]:
        match value:
            case Intrinsic(name="break_loop" | "continue_loop" as name, args=()):
                yield name.removesuffix("_loop")
            case Intrinsic(name="ret", args=(result,)) if self.spelling.name != "2022":
                yield from ("return ", self.scalars.show(result))
            case _:
                yield from ("T.evaluate(", self.scalars.show(value), ")")

    def _indented(self, body: Stmt) -> Iterator[Part]:
        yield from (Layout.DEEPER, self._stmt(body), Layout.BACK)

    def _loop(self, loop: For) -> Iterator[Part]:
        """Show a loop; a nest of plain loops is one `T.grid`."""
        nest = _nest(loop)
        for item in nest:
            self.ranges[item.var] = item
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
        if _starts_at_zero(loop) and loop.step is None:
            yield self.scalars.show(loop.extent)
        else:
            yield from (self.scalars.show(loop.start), ", ", self.buffers.stop(loop.start, loop.extent))
        if loop.step is not None:
            yield from (", " if is_plain else ", step=", self.scalars.show(loop.step))
        if loop.thread is not None:
            yield f", thread={quoted(loop.thread)}"
        if loop.annotations:
            yield f", annotations={attributes(loop.annotations)}"
        yield "):"

    def _block(self, block: Block) -> Iterator[Part]:
        name = quoted(block.name) if block.name else ""
        yield from (f"with T.{self.spelling.block}({name}):", Layout.DEEPER)
        yield self._axes(block.iter_vars)
        if block.predicate is not None:
            yield from (Layout.NEWLINE, "T.where(", self.scalars.show(block.predicate), ")")
        for word, regions in (("reads", block.reads), ("writes", block.writes)):
            if regions is not None:
                shown = joined(Piece(item, self.buffers.region(item)) for item in regions)
                yield from (Layout.NEWLINE, f"T.{word}(", shown, ")")
        if block.annotations:
            yield from (Layout.NEWLINE, f"T.{self.spelling.block_attr}({attributes(self._named(block.annotations))})")
        yield self._allocations(block)
        if block.init is not None:
            yield from (Layout.NEWLINE, "with T.init():", self._indented(block.init))
        yield from (self._stmt(block.body), Layout.BACK)

    def _named(self, attrs: Attrs) -> Attrs:
        """Replace the buffers that annotations list by their names here."""
        return tuple((key, self._named_value(value)) for key, value in attrs)

    def _named_value(self, value: AttrValue) -> AttrValue:
        match value:
            case ((str(mark), str(name)),) if mark == BUFFER:
                buffer = self.buffers_by_name.get(name)
                return ((f"{MADE}lambda", self.names[buffer] if buffer is not None else name),)
            case tuple():
                return tuple(self._named_value(item) for item in value)  # pyright: ignore[reportArgumentType]  # parts of plain data are plain data
            case _:
                return value

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
        yield from (Piece(axis.var, (self.names[axis.var],)), f" = T.axis.{axis.kind}(")
        if axis.start is None:
            yield self.scalars.show(axis.extent)
        else:
            yield from ("(", self.scalars.show(axis.start), ", ", self.buffers.stop(axis.start, axis.extent), ")")
        yield from (", ", self.scalars.show(axis.binding), ")")

    def _is_remapped(self, axis: IterVar) -> bool:
        loop = self.ranges.get(axis.binding) if isinstance(axis.binding, PrimVar) else None
        if loop is None or axis.kind not in ("spatial", "reduce"):
            return False
        start = None if _starts_at_zero(loop) else loop.start
        is_same_start = start is axis.start or (
            start is not None and axis.start is not None and _same(start, axis.start)
        )
        return is_same_start and _same(loop.extent, axis.extent)


def _same(a: PrimExpr, b: PrimExpr) -> bool:
    return a is b or (isinstance(a, IntImm) and structural_equal(a, b))


def _message(stmt: AssertStmt) -> str:
    """Return the message of an assertion with the comma before it."""
    if stmt.parts or stmt.kind != "RuntimeError":
        parts = ", ".join(quoted(item) for item in stmt.parts or (stmt.message,))
        return f", ({quoted(stmt.kind)}, [{parts}])"
    return f", {quoted(stmt.message)}" if stmt.message else ""


def _starts_at_zero(loop: For) -> bool:
    return isinstance(loop.start, IntImm) and loop.start.value == 0


def _is_plain(loop: For) -> bool:
    is_serial = loop.kind == "serial" and not loop.annotations and loop.thread is None
    return is_serial and _starts_at_zero(loop) and loop.step is None


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
        match node:
            case For() | LetStmt() | IterVar() | LaunchThread() | Allocate() | LetExpr():
                bound.add(node.var)
            case CommReducer(params=params):
                bound.update(params)
            case PrimVar():
                found.setdefault(node)
            case _:
                pass
    return [item for item in found if item not in bound]


def signature_symbols(function: PrimFunc) -> set[PrimVar]:
    """Return the int64 dimensions of the buffers in the signature."""
    nodes = {node for item in function.buffers if item.is_inline for node in preorder(item.buffer)}
    return {item for item in nodes if isinstance(item, PrimVar) and item.dtype == "int64"}
