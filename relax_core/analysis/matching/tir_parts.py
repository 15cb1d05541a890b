"""The parts of a prim func."""

from collections.abc import Iterable, Iterator
from typing import Final

from relax_core.analysis.matching.parts import Outline, OutlineBuilder, Part, PartKind
from relax_core.ir.module import Definition
from relax_core.ir.node import Node, children, preorder
from relax_core.ir.prim import Binary, Cast, FloatImm, Intrinsic, PrimExpr, PrimVar, Select, StringImm, Unary
from relax_core.ir.tir import (
    Allocate,
    AssertStmt,
    AttrStmt,
    Block,
    Buffer,
    BufferLoad,
    BufferRealize,
    BufferRef,
    BufferStore,
    DeclBuffer,
    Evaluate,
    For,
    IfThenElse,
    LaunchThread,
    LetStmt,
    PrimFunc,
    SeqStmt,
    Stmt,
    While,
)

ROOT: Final = "root"
"""The block around the body of a prim func, which the text shows as a comment."""
_WIDENING: Final = ("Broadcast", "Ramp", "likely", "Shuffle")


def outline_of_prim_func(definition: Definition) -> Outline:
    """Return the parts of a prim func in the order of the text."""
    function = definition.function
    assert isinstance(function, PrimFunc)
    reader = _PrimReader(definition, function)
    return reader.outline(function)


class _PrimReader:
    """Goes through statements in order; what they are nested in is on the stack."""

    def __init__(self, definition: Definition, function: PrimFunc) -> None:
        self._made = OutlineBuilder(definition.var.name)
        self._part_of_buffer: dict[Buffer, Part] = {}
        self._part_of_var: dict[PrimVar, Part] = {}
        self._top = self._made.add("prim func", definition.var.name, function, None, definition)

    def outline(self, function: PrimFunc) -> Outline:
        buffers = {item.handle: item for item in function.buffers}
        for param in function.params:
            bound = buffers.get(param)
            if bound is None:
                part = self._made.add("parameter", param.name, param, self._top)
            else:
                part = self._made.add("parameter", bound.buffer.name, bound.buffer, self._top, bound, param)
                part.line = bound.span.line if bound.span is not None else part.line
                self._part_of_buffer[bound.buffer] = part
            self._part_of_var[param] = part
        stack: list[tuple[Stmt, Part]] = [(function.body, self._top)]
        while stack:
            stmt, parent = stack.pop()
            stack += reversed(tuple(self._enter(stmt, parent)))
        return self._made.done(is_prim=True)

    def _enter(self, stmt: Stmt, parent: Part) -> Iterator[tuple[Stmt, Part]]:
        """Make the part of a statement, and yield the statements in it."""
        match stmt:
            case SeqStmt(stmts=stmts):
                yield from ((item, parent) for item in stmts)
            case Block(init=init, body=body):
                part = self._block(stmt, parent)
                if init is not None:
                    yield init, part
                yield body, part
            case For(var=var, extent=extent, body=body):
                part = self._named("loop", var.name, stmt, parent, f"loop {stmt.thread or stmt.kind}", (extent,))
                self._made.part_of.setdefault(var, part)
                self._part_of_var[var] = part
                yield body, part
            case LaunchThread(var=var, tag=tag, extent=extent, body=body):
                part = self._named("loop", var.name, stmt, parent, f"loop {tag}", (extent,))
                self._part_of_var[var] = part
                yield body, part
            case LetStmt(var=var, value=value, body=body):
                part = self._named("let", var.name, stmt, parent, skeleton(value), (value,))
                self._part_of_var[var] = part
                yield body, parent
            case BufferStore(buffer=buffer, value=value):
                self._store(stmt, buffer, value, parent)
            case IfThenElse(condition=condition, then_body=yes, else_body=no):
                part = self._named("if", "", stmt, parent, skeleton(condition), (condition,))
                yield yes, part
                if no is not None:
                    yield no, part
            case _:
                yield from self._enter_other(stmt, parent)

    def _enter_other(self, stmt: Stmt, parent: Part) -> Iterator[tuple[Stmt, Part]]:
        match stmt:
            case DeclBuffer(buffer=buffer, pointer=pointer, body=body):
                self._buffer(stmt, buffer, pointer, parent)
                yield body, parent
            case Allocate(var=var, body=body):
                part = self._named("buffer", var.name, stmt, parent, "buffer", ())
                self._part_of_var[var] = part
                yield body, parent
            case BufferRealize(region=region, body=body):
                part = self._named("buffer", region.buffer.name, stmt, parent, "buffer", ())
                self._part_of_buffer.setdefault(region.buffer, part)
                yield body, parent
            case AttrStmt(key=key, value=value, body=body):
                part = self._named("attribute", key, stmt, parent, f"attr {key}", (value,))
                # What has the scope of an attribute is not told from what follows it in the text.
                yield body, parent
            case While(condition=condition, body=body):
                yield body, self._named("while", "", stmt, parent, "while", (condition,))
            case AssertStmt(condition=condition, message=message):
                self._named("assert", "", stmt, parent, f"assert {message}", (condition,))
            case Evaluate(value=value):
                name = value.name if isinstance(value, Intrinsic) else ""
                self._named("call", name, stmt, parent, skeleton(value), (value,))
            case _:
                pass

    def _named(
        self, kind: PartKind, name: str, stmt: Stmt, parent: Part, operator: str, values: Iterable[PrimExpr] = ()
    ) -> Part:  # fmt: skip
        part = self._made.add(kind, name, stmt, parent)
        part.operator = operator
        part.operands = tuple(self._uses(values))
        return part

    def _block(self, stmt: Block, parent: Part) -> Part:
        part = parent
        if stmt.name != ROOT:
            part = self._named("block", stmt.name, stmt, parent, "block")
        for item in stmt.iter_vars:
            self._made.part_of.setdefault(item, part)
        for buffer in stmt.alloc_buffers:
            self._buffer(buffer, buffer, None, part)
        for match in stmt.matches:
            self._buffer(match, match.buffer, BufferRef(match.region.buffer), part)
        return part

    def _buffer(self, node: Node, buffer: Buffer, pointer: PrimExpr | None, parent: Part) -> None:
        part = self._made.add("buffer", buffer.name, node, parent, buffer)
        part.operator = "buffer" if pointer is None else "view"
        if pointer is not None:
            part.operands = tuple(self._uses((pointer,)))
            part.root = next(self._uses((pointer,)), None)
        self._part_of_buffer[buffer] = part

    def _store(self, stmt: BufferStore, buffer: Buffer, value: PrimExpr, parent: Part) -> None:
        part = self._made.add("store", buffer.name, stmt, parent)
        target = self._part_of_buffer.get(buffer)
        part.operator = skeleton(value)
        part.root = target
        part.operands = (target or buffer.name, *self._uses((value,)))

    def _uses(self, values: Iterable[PrimExpr]) -> Iterator[Part]:
        """Yield the buffers and the bound variables that expressions read, each once."""
        seen: set[Part] = set()
        for value in values:
            for node in preorder(value):
                found = self._part_of_buffer.get(node) if isinstance(node, Buffer) else None
                if isinstance(node, PrimVar):
                    found = self._part_of_var.get(node)
                if found is not None and found.kind != "loop" and found not in seen:
                    seen.add(found)
                    yield found


def skeleton(value: PrimExpr) -> str:
    """Return the operations of an expression without indices, widths, conversions of integers, and names."""
    words: list[str] = []
    stack: list[Node] = [value]
    while stack:
        node = stack.pop()
        parts: tuple[Node, ...] = children(node)
        match node:
            case Binary(op=op):
                words.append(op)
            case Unary(op=op):
                words.append(op)
            case Select():
                words.append("select")
            case FloatImm(value=number):
                words.append(repr(number))
            case Intrinsic(name="Broadcast", args=args) if args:
                parts = args[:1]
            case Intrinsic(name=name, args=args):
                called = next((item.value for item in args if isinstance(item, StringImm)), "")
                if name not in _WIDENING:
                    words.append(f"{name} {called}".rstrip())
            case BufferLoad() | BufferRef():
                words.append("load")
                parts = ()
            case Cast(dtype=dtype) if dtype.startswith(("float", "bfloat")):
                words.append(dtype)
            case _:
                pass
        stack += reversed(parts)
    return " ".join(words)
