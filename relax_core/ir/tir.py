"""TIR: prim funcs, buffers and statements. Parameters are written in destination-passing style."""

from typing import ClassVar, Literal, TypeAlias

from relax_core.ir.attrs import NO_ATTRS, Attrs
from relax_core.ir.node import Node, node
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar

LoopKind = Literal["serial", "parallel", "vectorized", "unroll", "thread_binding"]
IterKind = Literal["spatial", "reduce", "opaque"]


@node
class Buffer(Node):
    """A multi-dimensional view of memory, row-major unless `strides` says otherwise. Compared by identity."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("shape", "strides", "elem_offset")
    name: str
    shape: tuple[PrimExpr, ...]
    dtype: str = "float32"
    strides: tuple[PrimExpr, ...] = ()
    elem_offset: PrimExpr | None = None
    scope: str = "global"


@node
class BufferLoad(PrimExpr):
    """`buffer[indices]`; an access outside the buffer's shape is a run-time diagnostic."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("buffer", "indices")
    buffer: Buffer
    indices: tuple[PrimExpr, ...]

    @property
    def dtype(self) -> str:
        """The dtype of the buffer's elements."""
        return self.buffer.dtype


@node
class Stmt(Node):
    """The base of TIR statements."""


@node
class SeqStmt(Stmt):
    """Statements one after the other."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("stmts",)
    stmts: tuple[Stmt, ...]


@node
class BufferStore(Stmt):
    """`buffer[indices] = value`."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("buffer", "indices", "value")
    buffer: Buffer
    indices: tuple[PrimExpr, ...]
    value: PrimExpr


@node
class For(Stmt):
    """A loop of `var` from `start` over `extent` values."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("var", "start", "extent", "body")
    var: PrimVar
    start: PrimExpr
    extent: PrimExpr
    body: Stmt
    kind: LoopKind = "serial"
    thread: str | None = None
    annotations: Attrs = NO_ATTRS


@node
class While(Stmt):
    """A loop while `condition` holds."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("condition", "body")
    condition: PrimExpr
    body: Stmt


@node
class IfThenElse(Stmt):
    """A conditional statement."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("condition", "then_body", "else_body")
    condition: PrimExpr
    then_body: Stmt
    else_body: Stmt | None = None


@node
class LetStmt(Stmt):
    """`var = value` in `body`."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("var", "value", "body")
    var: PrimVar
    value: PrimExpr
    body: Stmt


@node
class AssertStmt(Stmt):
    """Stops the run with `message` unless `condition` holds."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("condition",)
    condition: PrimExpr
    message: str


@node
class Evaluate(Stmt):
    """Evaluates `value` for its effects; `T.evaluate(0)` does nothing."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("value",)
    value: PrimExpr


@node
class IterVar(Node):
    """A block's iteration variable: `var` in `[0, extent)` takes the value `binding`."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("var", "extent", "binding")
    var: PrimVar
    extent: PrimExpr
    binding: PrimExpr
    kind: IterKind


@node
class BufferRegion(Node):
    """A part of a buffer: per dimension a start and an extent."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("buffer", "starts", "extents")
    buffer: Buffer
    starts: tuple[PrimExpr, ...]
    extents: tuple[PrimExpr, ...]


@node
class Block(Stmt):
    """A schedulable block with its realisation.

    `init` runs when every reduction variable of the block is at its start. `reads` and `writes` are `None` if the
    text leaves them out. `name` is empty for an unnamed block.
    """

    CHILDREN: ClassVar[tuple[str, ...]] = (
        "iter_vars", "predicate", "alloc_buffers", "reads", "writes", "init", "body",
    )  # fmt: skip
    name: str
    iter_vars: tuple[IterVar, ...]
    body: Stmt
    init: Stmt | None = None
    alloc_buffers: tuple[Buffer, ...] = ()
    reads: tuple[BufferRegion, ...] | None = None
    writes: tuple[BufferRegion, ...] | None = None
    predicate: PrimExpr | None = None
    annotations: Attrs = NO_ATTRS


@node
class BufferParam(Node):
    """A parameter `handle` (a `PrimVar` of dtype "handle") that points to `buffer`.

    `is_inline` tells `A: T.Buffer(...)` in the signature from `A = T.match_buffer(handle, ...)` in the body.
    """

    CHILDREN: ClassVar[tuple[str, ...]] = ("handle", "buffer")
    handle: PrimVar
    buffer: Buffer
    is_inline: bool = True


@node
class PrimFunc(Node):
    """A function on buffers and scalars.

    `params` are handles and scalars in order; `buffers` tells for each handle its buffer. Dimensions that are
    free variables are bound from the shapes of the arguments.
    """

    CHILDREN: ClassVar[tuple[str, ...]] = ("params", "buffers", "body")
    params: tuple[PrimVar, ...]
    buffers: tuple[BufferParam, ...]
    body: Stmt
    attrs: Attrs = NO_ATTRS
    is_private: bool = False

    def buffer_of(self, handle: PrimVar) -> Buffer | None:
        """Return the buffer that the parameter `handle` points to."""
        return next((item.buffer for item in self.buffers if item.handle is handle), None)


TirStmt: TypeAlias = SeqStmt | BufferStore | For | While | IfThenElse | LetStmt | AssertStmt | Evaluate | Block

NOTHING = Evaluate(IntImm(0, "int32"))


def seq(stmts: "tuple[Stmt, ...] | list[Stmt]") -> Stmt:
    """Join statements: nothing, the one, or a `SeqStmt`; nested sequences are flattened."""
    flat: list[Stmt] = []
    for stmt in stmts:
        flat.extend(stmt.stmts if isinstance(stmt, SeqStmt) else (stmt,))
    return flat[0] if len(flat) == 1 else SeqStmt(tuple(flat)) if flat else NOTHING
