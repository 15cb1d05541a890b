"""TIR: prim funcs, buffers and statements. Parameters are written in destination-passing style."""

from collections.abc import Iterator
from typing import ClassVar, Literal, TypeAlias

from relax_core.ir.attrs import NO_ATTRS, Attrs
from relax_core.ir.node import Node, children, node
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar, dtype_of, lanes_of, vector_of

LoopKind = Literal["serial", "parallel", "vectorized", "unroll", "thread_binding"]
IterKind = Literal["spatial", "reduce", "opaque", "scan"]

SCALAR_SLOTS = "relax.scalar_slots"
"""Attribute of a prim func of the shape heap: the slots that it gives scalars, which wrap around in their dtype.

What it stores elsewhere are dimensions; a dimension that wrapped around would describe other memory than the text says.
"""

HOST_FUNCTION = "tirx.is_host_func"
"""Attribute of prim funcs that compute shapes, beside the kernels."""


@node
class Buffer(Node):
    """A multi-dimensional view of memory, row-major unless `strides` says otherwise. Compared by identity.

    `attrs` keep what TVM's code generators are told besides: "align", "offset_factor", "buffer_type", "layout".
    """

    CHILDREN: ClassVar[tuple[str, ...]] = ("shape", "strides", "elem_offset")
    name: str
    shape: tuple[PrimExpr, ...]
    dtype: str = "float32"
    strides: tuple[PrimExpr, ...] = ()
    elem_offset: PrimExpr | None = None
    scope: str = "global"
    attrs: Attrs = NO_ATTRS


@node
class BufferLoad(PrimExpr):
    """`buffer[indices]`; an access outside the buffer's shape is a run-time diagnostic."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("buffer", "indices")
    buffer: Buffer
    indices: tuple[PrimExpr, ...]

    @property
    def dtype(self) -> str:
        """The dtype of the buffer's elements, as a vector if the last index is one."""
        lanes = lanes_of(dtype_of(self.indices[-1])) if self.indices else 1
        return self.buffer.dtype if lanes == 1 else vector_of(self.buffer.dtype, lanes * lanes_of(self.buffer.dtype))


@node
class BufferRef(PrimExpr):
    """A buffer as an argument of a call: the pointer to its elements, `A.data`, or the buffer itself."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("buffer",)
    buffer: Buffer
    is_pointer: bool = True
    dtype: str = "handle"


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
    """A loop of `var` from `start` over `extent` values, or over each `step`-th of them."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("var", "start", "extent", "step", "body")
    var: PrimVar
    start: PrimExpr
    extent: PrimExpr
    body: Stmt
    kind: LoopKind = "serial"
    thread: str | None = None
    annotations: Attrs = NO_ATTRS
    step: PrimExpr | None = None


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
    """Stops the run with `message` unless `condition` holds.

    TVM raises an error of the class `kind`; `parts` are the pieces of the message, if there are several.
    """

    CHILDREN: ClassVar[tuple[str, ...]] = ("condition",)
    condition: PrimExpr
    message: str
    kind: str = "RuntimeError"
    parts: tuple[str, ...] = ()


@node
class Evaluate(Stmt):
    """Evaluates `value` for its effects; `T.evaluate(0)` does nothing."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("value",)
    value: PrimExpr


@node
class AttrStmt(Stmt):
    """`body` with the fact `key` = `value` about `subject`, for code generators."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("subject", "value", "body")
    subject: PrimExpr
    key: str
    value: PrimExpr
    body: Stmt


@node
class LaunchThread(Stmt):
    """`body` run by `extent` threads of the kind `tag`; `var` numbers them."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("extent", "var", "body")
    var: PrimVar
    tag: str
    extent: PrimExpr
    body: Stmt


@node
class Allocate(Stmt):
    """Memory for the elements of `extents`, which `var` points to in `body`: `T.allocate`."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("extents", "condition", "var", "body")
    var: PrimVar
    dtype: str
    extents: tuple[PrimExpr, ...]
    scope: str
    body: Stmt
    condition: PrimExpr | None = None
    annotations: Attrs = NO_ATTRS


@node
class DeclBuffer(Stmt):
    """A buffer of `body`: a view of the memory at `pointer`, or with memory of its own if that is `None`.

    With `is_scalar` the text calls it a variable, `x: T.int32`, and its only element by its name.
    """

    CHILDREN: ClassVar[tuple[str, ...]] = ("pointer", "buffer", "body")
    buffer: Buffer
    body: Stmt
    pointer: PrimExpr | None = None
    annotations: Attrs = NO_ATTRS
    is_scalar: bool = False


@node
class IterVar(Node):
    """A block's iteration variable: `var` in `[0, extent)`, or from `start`, takes the value `binding`."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("var", "start", "extent", "binding")
    var: PrimVar
    extent: PrimExpr
    binding: PrimExpr
    kind: IterKind
    start: PrimExpr | None = None


@node
class BufferRegion(Node):
    """A part of a buffer: per dimension a start and an extent."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("buffer", "starts", "extents")
    buffer: Buffer
    starts: tuple[PrimExpr, ...]
    extents: tuple[PrimExpr, ...]


@node
class MatchRegion(Node):
    """A block's buffer that is a view of a region of another one: `T.match_buffer(A[i, 0:4], (4,))`."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("region", "buffer")
    buffer: Buffer
    region: BufferRegion


@node
class BufferRealize(Stmt):
    """The part of a buffer that `body` needs: `T.realize(A[0:4], "shared")`."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("region", "condition", "body")
    region: BufferRegion
    scope: str
    body: Stmt
    condition: PrimExpr | None = None


@node
class Block(Stmt):
    """A schedulable block with its realisation.

    `init` runs when every reduction variable of the block is at its start. `reads` and `writes` are `None` if the
    text leaves them out. `name` is empty for an unnamed block.
    """

    CHILDREN: ClassVar[tuple[str, ...]] = (
        "iter_vars", "predicate", "alloc_buffers", "reads", "writes", "matches", "init", "body",
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
    matches: tuple[MatchRegion, ...] = ()


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
    free variables are bound from the shapes of the arguments. `ret_dtype` is what the text declares as result.
    `is_s_tir` is false for a function that TVM 0.27 has lowered, which no schedule changes any more, and true for one
    that says it is made of blocks.
    """

    CHILDREN: ClassVar[tuple[str, ...]] = ("params", "buffers", "body")
    params: tuple[PrimVar, ...]
    buffers: tuple[BufferParam, ...]
    body: Stmt
    attrs: Attrs = NO_ATTRS
    is_private: bool = False
    ret_dtype: str | None = None
    is_s_tir: bool | None = None

    def buffer_of(self, handle: PrimVar) -> Buffer | None:
        """Return the buffer that the parameter `handle` points to."""
        return next((item.buffer for item in self.buffers if item.handle is handle), None)


TirStmt: TypeAlias = (
    SeqStmt | BufferStore | For | While | IfThenElse | LetStmt | AssertStmt | Evaluate | Block
    | AttrStmt | LaunchThread | Allocate | DeclBuffer | BufferRealize
)  # fmt: skip
ScopedStmt: TypeAlias = LetStmt | AttrStmt | LaunchThread | Allocate | DeclBuffer | BufferRealize

NOTHING = Evaluate(IntImm(0, "int32"))


def seq(stmts: "tuple[Stmt, ...] | list[Stmt]") -> Stmt:
    """Join statements: nothing, the one, or a `SeqStmt`; nested sequences are flattened."""
    flat: list[Stmt] = []
    for stmt in stmts:
        flat.extend(stmt.stmts if isinstance(stmt, SeqStmt) else (stmt,))
    return flat[0] if len(flat) == 1 else SeqStmt(tuple(flat)) if flat else NOTHING


def statements(root: Stmt) -> Iterator[Stmt]:
    """Yield `root` and the statements in it, in no particular order; expressions are not entered."""
    stack: list[Stmt] = [root]
    while stack:
        item = stack.pop()
        yield item
        stack += (part for part in children(item) if isinstance(part, Stmt))
