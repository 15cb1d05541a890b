"""Make a block of loops and the block in them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from relax_core.ir.integer.affine import is_onto
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar, binary, is_number
from relax_core.ir.rewriting.substitute import replace_symbols
from relax_core.ir.tir import NOTHING, Block, BufferLoad, BufferRegion, BufferStore, For, IterVar, Stmt
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.tir.arithmetic import terms_of, tidy, written
from relax_core.passes.tir.schedule.blocks.compute_location import only_simple, whole_instances
from relax_core.passes.tir.schedule.instances import Digit, Instances, at_start
from relax_core.passes.tir.schedule.loops.kinds import LoopOptions
from relax_core.passes.tir.schedule.nest import Nest, nest_of, no_aliases, only_own_elements, replaced, uses


@dataclass(frozen=True, slots=True)
class _Divided:
    """An iteration variable `v` as `v_o * size + v_i`: one of the block around, one of the block inside.

    There is no `inner` one where each instance of the block around has one value of `v`.
    """

    axis: IterVar
    outer: IterVar
    inner: IterVar | None
    size: int | None

    @property
    def first(self) -> PrimExpr:
        """The value of `v` where that of `v_i` is 0."""
        if is_number(self.outer.extent, 1) and self.inner is not None:
            return IntImm(0, self.axis.var.dtype)
        is_all = self.size is None or self.size == 1
        return self.outer.var if is_all else binary("*", self.outer.var, IntImm(self.size or 1, self.axis.var.dtype))

    @property
    def value(self) -> PrimExpr:
        """The value of `v` in the block inside."""
        if self.inner is None:
            return self.first
        return self.inner.var if is_number(self.first, 0) else binary("+", self.first, self.inner.var)


def run(module: IRModule, options: LoopOptions, ctx: PassContext) -> IRModule:
    """Make the loop and those in it the body of a block `C_o`, whose instances are tiles of those of `C`.

    A reduction writes its initial values for a tile at once, where the tile's reduction begins.
    """
    nest = nest_of(module, options.block, options.function, ctx)
    loop = nest.loop(options.loop)
    inside = nest.loops[nest.loops.index(loop) :]
    instances = _check(nest, loop)
    parts = [_divided(nest, axis, instances[axis], inside) for axis in nest.block.iter_vars]
    made = replace(
        nest.block,
        name=f"{nest.block.name}_o",
        iter_vars=tuple(part.outer for part in parts),
        predicate=None,
        reads=None,
        writes=_regions(nest.block, parts),
        annotations=(),
        alloc_buffers=(),
        init=_init(nest, parts, inside) if nest.block.init is not None else None,
        body=_in_loops(inside, _inner(nest, parts)),
    )
    ctx.remark(loop, "applied", f"{made.name} holds {loop.var.name} and what is in it")
    return replaced(module, nest, loop, ctx.derive(made, nest.block), "loops with a block -> a block with them")


def _check(nest: Nest, loop: For) -> Instances:
    """Refuse loops that are not those of this block alone, or leave instances out; return the digits of its axes."""
    only_simple(nest, nest.block)
    written = {item.buffer for item in preorder(nest.block) if isinstance(item, BufferStore)}
    for item in preorder(nest.block.init or NOTHING):
        if (isinstance(item, BufferLoad) and item.buffer in written) or nest.block.alloc_buffers:
            message = f"the initial values of {nest.block.name} depend on what it computes"
            nest.refuse(message, item, "begin with values of other buffers")
    instances = whole_instances(nest)
    inner: Stmt = loop
    while isinstance(inner, For):
        inner = inner.body
    if inner is not nest.block:
        nest.refuse(f"{loop.var.name} holds other statements than {nest.block.name}", loop, "take a loop of one block")
    if nest.block.predicate is not None:
        message = f"{nest.block.name} has a condition, so that its tiles differ"
        nest.refuse(message, nest.block, "divide the loops by factors that divide them")
    no_aliases(nest, loop)
    only_own_elements(nest, nest.block, "Blockize")
    return instances


def _divided(nest: Nest, axis: IterVar, digits: Sequence[Digit], inside: Sequence[For]) -> _Divided:
    inner, outer = ([d for d in digits if (d.loop in inside) == is_inner] for is_inner in (True, False))
    dtype, name = axis.var.dtype, axis.var.name
    first, others = at_start(axis.binding, inside), [loop for loop in nest.loops if loop not in inside]
    if not inner:
        return _Divided(axis, replace(axis, var=PrimVar(f"{name}_o", dtype), binding=first), None, 1)
    if not outer:
        around = IterVar(PrimVar(f"{name}_o", dtype), IntImm(1, dtype), IntImm(0, dtype), axis.kind)
        own = replace(axis, var=PrimVar(f"{name}_i", dtype), binding=at_start(axis.binding, others))
        return _Divided(axis, around, own, None)
    size = 1
    for digit in inner:
        size *= digit.extent or 0
    if size == 0 or not is_onto([(digit.scale, digit.extent or 0) for digit in inner], size):
        message = f"the loops from {inside[0].var.name} on make no tile of the values of {name}"
        nest.refuse(message, inside[0], "take the loops of the last parts of each division")
    terms = terms_of(first)
    around = written({key: (atom, count // size) for key, (atom, count) in terms.items()}, dtype)
    extent = tidy(binary("//", axis.extent, IntImm(size, dtype)))
    return _Divided(
        axis,
        IterVar(PrimVar(f"{name}_o", dtype), extent, around, axis.kind),
        IterVar(PrimVar(f"{name}_i", dtype), IntImm(size, dtype), at_start(axis.binding, others), axis.kind),
        size,
    )


def _inner(nest: Nest, parts: Sequence[_Divided]) -> Block:
    """Return the block inside, without its init."""
    values = {part.axis.var: part.value for part in parts}
    axes = tuple(part.inner for part in parts if part.inner is not None)
    changed = nest.ctx.substitute(replace(nest.block, iter_vars=(), init=None, predicate=None), None, values)
    return replace(changed, iter_vars=axes, reads=None)


def _init(nest: Nest, parts: Sequence[_Divided], inside: Sequence[For]) -> Stmt:
    """Return the initial values of a tile, in the loops that do not reduce."""
    block = nest.block
    assert block.init is not None, "a reduction block"
    axes = [part.inner for part in parts if part.inner is not None and part.axis.kind == "spatial"]
    kept = [loop for loop in inside if any(uses(loop.var, axis.binding) for axis in axes)]
    fresh: dict[PrimVar, PrimExpr] = {loop.var: replace(loop.var) for loop in kept}
    names: dict[PrimVar, PrimExpr] = {it.var: PrimVar(f"{it.var.name}_init", it.var.dtype) for it in axes}
    values = {part.axis.var: replace_symbols(part.value, names) for part in parts}
    plain = replace(block, name=f"{block.name}_init", iter_vars=(), init=None, body=block.init, predicate=None)
    changed = nest.ctx.substitute(replace(plain, annotations=()), None, values)
    own = tuple(replace(axis, var=names[axis.var], binding=replace_symbols(axis.binding, fresh)) for axis in axes)
    loops = [replace(loop, var=fresh[loop.var]) for loop in kept]
    return _in_loops(loops, replace(changed, iter_vars=own, reads=None if block.reads is None else ()))


def _regions(block: Block, parts: Sequence[_Divided]) -> tuple[BufferRegion, ...] | None:
    """Return what a tile writes, where the block writes at its iteration variables; else it is left to be inferred."""
    part_of = {part.axis.var: part for part in parts}
    made: list[BufferRegion] = []
    for region in block.writes or ():
        found = [part_of.get(start) if isinstance(start, PrimVar) else None for start in region.starts]
        if None in found or not all(is_number(extent, 1) for extent in region.extents):
            return None
        known = [part for part in found if part is not None]
        sizes = tuple(IntImm(1, it.axis.var.dtype) if it.inner is None else it.inner.extent for it in known)
        made.append(BufferRegion(region.buffer, tuple(part.first for part in known), sizes))
    return tuple(made) if block.writes is not None else None


def _in_loops(loops: Sequence[For], body: Stmt) -> Stmt:
    for loop in reversed(loops):
        body = replace(loop, body=body)
    return body


PASS = Pass(
    "Blockize",
    "Schedule: makes a block of loops and the block in them.",
    run,
    LoopOptions,
    see="tvm/src/s_tir/schedule/primitive/blockize_tensorize.cc",
    dialect="tir",
)
