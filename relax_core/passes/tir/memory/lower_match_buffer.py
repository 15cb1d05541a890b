"""Access a region of a buffer by the buffer itself, not by a name for the region."""

from dataclasses import replace

from relax_core.ir.integer.prove import prove_equal
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children, preorder
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar, binary, dtype_of, is_number, lanes_of
from relax_core.ir.tir import Block, Buffer, BufferLoad, BufferRef, BufferRegion, BufferStore, MatchRegion, PrimFunc
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_prim_funcs
from relax_core.passes.tir.arithmetic import bounds_of
from relax_core.passes.tir.memory.regions import enter_scopes, touched
from relax_core.passes.tir.memory.scopes import paths_of


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Replace `V = T.match_buffer(A[i, 0:20], (20,))` and `V[j]` by `A[i, j]`, the views of views first.

    A view stays, with a remark, whose accesses are not proven to lie in it: they would find other elements of the
    buffer. So does one of another dtype, one that is used as a pointer or by vectors, and one whose strides or offset
    are read by name, for which TVM puts in what it knows of the buffer.
    """
    return change_prim_funcs(module, ctx, lambda _, function: _lowered(function, ctx))


def _lowered(function: PrimFunc, ctx: PassContext) -> PrimFunc:
    outside = {match.buffer for match in _matches(function) if not _is_in_range(function, match.buffer)}

    def lower(node: Node) -> Node | None:
        """Rule: T.match_buffer(A[i, 0:20], (20,)), V[j] -> A[i, j]."""
        if not isinstance(node, Block) or not node.matches:
            return None
        block = node
        for match in reversed(node.matches):
            view = match.buffer
            why = "an access is not proven to lie in it" if view in outside else _obstacle(block, match)
            if why:
                ctx.remark(node, "missed", f"{view.name} stays a view: {why}")
                continue
            block = replace(block, matches=tuple(item for item in block.matches if item is not match))
            block = ctx.rewrite(block, _Rename(match))
            ctx.remark(node, "applied", f"{view.name} is accessed as a part of {match.region.buffer.name}")
        return block if block is not node else None

    return ctx.rewrite(function, lower)


def _matches(function: PrimFunc) -> tuple[MatchRegion, ...]:
    return tuple(item for item in preorder(function.body) if isinstance(item, MatchRegion))


def _is_in_range(function: PrimFunc, view: Buffer) -> bool:
    """Tell whether all accesses of a view are proven to lie in it."""
    for path in paths_of(function.body):
        block = path[-1]
        if isinstance(block, Block) and any(item.buffer is view for item in block.matches):
            bounds = bounds_of(function)
            enter_scopes(bounds, path)
            for dim in view.shape:
                if isinstance(dim, PrimVar) and not bounds.is_bound(dim):
                    bounds.bind_symbol(dim)
            body = replace(block, iter_vars=(), predicate=None)
            return all(item.is_in_range for item in touched(body, bounds, (view,)))
    return False


def _obstacle(block: Block, match: MatchRegion) -> str:
    view, region = match.buffer, match.region
    extra = len(region.starts) - len(view.shape)
    if view.dtype != region.buffer.dtype:
        return f"its elements are {view.dtype}, those of {region.buffer.name} {region.buffer.dtype}"
    if extra < 0 or not all(is_number(item, 1) for item in region.extents[:extra]):
        return "it has other dimensions than the region"
    if not all(map(prove_equal, view.shape, region.extents[extra:])):
        return "its shape is not seen to be that of the region"
    own = {item for part in (*view.strides, view.elem_offset) if part is not None for item in preorder(part)
           if isinstance(item, PrimVar)}  # fmt: skip
    rest: list[Node] = [replace(block, matches=tuple(other for other in block.matches if other is not match))]
    while rest:
        item = rest.pop()
        rest += [] if item is view else children(item)
        match item:
            case BufferRef(buffer=buffer) if buffer is view:
                return "its memory is used as a whole"
            case BufferLoad(buffer=buffer) | BufferStore(buffer=buffer) if buffer is view:
                if any(lanes_of(dtype_of(index)) > 1 for index in item.indices):
                    return "it is accessed by vectors"
            case MatchRegion(region=inner) if inner.buffer is view:
                return "it has a view that stays"
            case PrimVar() if item in own:
                return f"{item.name} is read, which describes its memory"
            case _:
                pass
    return ""


class _Rename:
    """Rule: an element of a view -> the element of the buffer that it is a view of."""

    def __init__(self, match: MatchRegion) -> None:
        self.view = match.buffer
        self.region = match.region

    def __call__(self, node: Node) -> Node | None:
        match node:
            case BufferLoad(buffer=buffer, indices=indices) | BufferStore(buffer=buffer, indices=indices) if (
                buffer is self.view
            ):
                return replace(node, buffer=self.region.buffer, indices=self.moved(indices))
            case BufferRegion(buffer=buffer, starts=starts, extents=extents) if buffer is self.view:
                ones = self.region.extents[: len(self.region.starts) - len(starts)]
                return replace(node, buffer=self.region.buffer, starts=self.moved(starts), extents=(*ones, *extents))
            case _:
                return None

    def moved(self, indices: tuple[PrimExpr, ...]) -> tuple[PrimExpr, ...]:
        """Return places in the buffer for places in the view."""
        extra = len(self.region.starts) - len(indices)
        inside = zip(self.region.starts[extra:], indices, strict=True)
        return (*self.region.starts[:extra], *(_plus(start, index) for start, index in inside))


def _plus(start: PrimExpr, index: PrimExpr) -> PrimExpr:
    match start, index:
        case IntImm(value=0), _:
            return index
        case _, IntImm(value=0):
            return start
        case _:
            return binary("+", start, index)


PASS = Pass(
    "LowerMatchBuffer",
    "Accesses a region of a buffer by the buffer itself, not by a name for the region.",
    run,
    see="tvm/src/s_tir/transform/lower_match_buffer.cc",
    dialect="tir",
)
