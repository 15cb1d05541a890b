"""Give the initial values of a reduction loops of their own."""

from dataclasses import dataclass, replace

from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.ir.prim import PrimExpr, PrimVar, binary
from relax_core.ir.tir import Block, BufferLoad, BufferRegion, BufferStore, For, Stmt, seq
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.tir.schedule.nest import (
    Nest,
    conjuncts,
    guard_of,
    nest_of,
    no_aliases,
    no_early_exit,
    only_own_elements,
    replaced,
    uses,
)


@dataclass(frozen=True, slots=True)
class DecomposeReductionOptions:
    """A reduction block, and the loop before which its initial values are written."""

    block: str
    loop: str
    function: str = ""


def run(module: IRModule, options: DecomposeReductionOptions, ctx: PassContext) -> IRModule:
    """Divide the block into `C_init`, in loops before the given one, and `C_update`, which has no init."""
    nest = nest_of(module, options.block, options.function, ctx)
    loop = nest.loop(options.loop)
    block = nest.block
    if block.init is None:
        nest.refuse(f"{block.name} has no init that could stand by itself", block, "choose a reduction block")
    _check(nest, loop)
    inside = nest.loops[nest.loops.index(loop) :]
    spatial = [item for item in block.iter_vars if item.kind == "spatial"]
    kept = [item for item in inside if any(uses(item.var, axis.binding) for axis in spatial)]
    fresh: dict[PrimVar, PrimExpr] = {it.var: PrimVar(f"{it.var.name}_init", it.var.dtype) for it in kept}
    variables: dict[PrimVar, PrimExpr] = {item.var: replace(item.var) for item in spatial}
    first = Block(
        f"{block.name}_init",
        tuple(replace(item, var=variables[item.var]) for item in spatial),
        block.init,
        reads=None if block.reads is None else (),
        writes=block.writes,
        predicate=_of_spatial(nest, kept),
        span=block.init.span,
    )
    body: Stmt = ctx.substitute(first, None, {**fresh, **variables})
    for item in reversed(kept):
        var = fresh[item.var]
        assert isinstance(var, PrimVar), "a loop counts in a variable"
        body = For(var, item.start, item.extent, body, span=item.span)
    update = replace(block, name=f"{block.name}_update", init=None, reads=_reads(block))
    changed = replaced_in(loop, block, update, ctx)
    ctx.remark(
        block, "applied", f"{first.name} writes the initial values before {loop.var.name}, {update.name} the rest"
    )
    return replaced(module, nest, loop, seq((body, changed)), "a reduction -> its initial values, then the rest")


def replaced_in(loop: For, old: Block, new: Block, ctx: PassContext) -> Stmt:
    """Return the statement `loop` with one block replaced."""

    def put(node: object) -> Block | None:
        """Rule: a reduction block -> its update."""
        return new if node is old else None

    return ctx.rewrite(loop, put)


def _reads(block: Block) -> tuple[BufferRegion, ...] | None:
    """Return what the update reads: the partial results as well."""
    if block.reads is None or block.writes is None:
        return block.reads
    known = {item.buffer for item in block.reads}
    return (*(item for item in block.writes if item.buffer not in known), *block.reads)


def _check(nest: Nest, loop: For) -> None:
    """Refuse a block that the loop may skip, and initial values that something else in the loop would see."""
    no_early_exit(nest, loop, "DecomposeReduction")
    guard = guard_of(nest.block, loop)
    if guard is not None:
        message = f"{nest.block.name} does not run in each iteration of {loop.var.name}"
        nest.refuse(message, guard, "write the condition as T.where of the block")
    no_aliases(nest, loop)
    only_own_elements(nest, nest.block, "DecomposeReduction")
    _check_others(nest, loop)
    reductions = [axis for axis in nest.block.iter_vars if axis.kind == "reduce"]
    for outer in nest.loops[: nest.loops.index(loop)]:
        if any(uses(outer.var, axis.binding) for axis in reductions):
            message = (
                f"{outer.var.name}, outside of {loop.var.name}, reduces: the initial values would be written again"
            )
            nest.refuse(message, outer, f"choose {outer.var.name} or a loop outside of it")


def _check_others(nest: Nest, loop: For) -> None:
    """Refuse statements in the loop that read or write what the initial values are written to or computed from."""
    assert nest.block.init is not None, "a reduction block"
    first = {item.buffer for item in preorder(nest.block.init) if isinstance(item, BufferStore)}
    sources = {item.buffer for item in preorder(nest.block.init) if isinstance(item, BufferLoad)}
    own = set(preorder(nest.block))
    for item in preorder(loop):
        if not isinstance(item, BufferLoad | BufferStore):
            continue
        is_store = isinstance(item, BufferStore)
        if (item.buffer in first and item not in own) or (item.buffer in sources and is_store):
            what = "written" if is_store else "read"
            message = (
                f"{item.buffer.name} is {what} in {loop.var.name}, before which the initial values would be written"
            )
            nest.refuse(message, item, f"choose a loop that holds nothing but {nest.block.name}")


def _of_spatial(nest: Nest, kept: list[For]) -> PrimExpr | None:
    """Return the part of the block's condition that its initial values depend on."""
    inside = [loop for loop in nest.loops if loop not in kept]
    reductions = [axis for axis in nest.block.iter_vars if axis.kind == "reduce"]
    gone = [loop for loop in inside if any(uses(loop.var, axis.binding) for axis in reductions)]
    result: PrimExpr | None = None
    for part in conjuncts(nest.block.predicate):
        if any(uses(loop.var, part) for loop in gone):
            if any(uses(loop.var, part) for loop in kept):
                nest.refuse(
                    "a condition of the block joins reduction and spatial loops", nest.block, "split them apart"
                )
            continue
        result = part if result is None else binary("and", result, part)
    return result


PASS = Pass(
    "DecomposeReduction",
    "Schedule: gives the initial values of a reduction loops of their own.",
    run,
    DecomposeReductionOptions,
    see="tvm/src/s_tir/schedule/primitive/reduction.cc",
    dialect="tir",
)
