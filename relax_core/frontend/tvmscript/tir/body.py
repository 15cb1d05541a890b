"""A list of statements of a prim func under construction."""

from collections.abc import Callable
from dataclasses import dataclass, field

from relax_core.frontend.tvmscript.tir.reader import TirReader
from relax_core.ir.attrs import NO_ATTRS, Attrs
from relax_core.ir.prim import PrimExpr
from relax_core.ir.tir import BufferParam, BufferRegion, IterVar, MatchRegion, Stmt
from relax_core.source import Span


@dataclass(slots=True)
class BlockParts:
    """What the statements of a block say about the block itself."""

    iter_vars: list[IterVar] = field(default_factory=list[IterVar])
    init: Stmt | None = None
    reads: tuple[BufferRegion, ...] | None = None
    writes: tuple[BufferRegion, ...] | None = None
    predicate: PrimExpr | None = None
    annotations: Attrs = NO_ATTRS
    matches: list[MatchRegion] = field(default_factory=list[MatchRegion])


@dataclass(slots=True)
class TirBody:
    """A list of statements; `block` is the block that it is the body of."""

    reader: TirReader
    buffers: list[BufferParam] = field(default_factory=list[BufferParam])
    attrs: Attrs = NO_ATTRS
    block: BlockParts | None = None
    is_function: bool = True


@dataclass(frozen=True, slots=True)
class Scoped:
    """A statement that holds those behind it, such as a let: `wrap` makes it from them."""

    wrap: Callable[[Stmt], Stmt]
    span: Span
