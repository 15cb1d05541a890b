"""Put loops into another order."""

import itertools
from dataclasses import dataclass, replace

from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.ir.tir import Block, For, Stmt
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.tir.schedule.nest import (
    Nest,
    axes_of,
    blocks_under,
    nest_of,
    no_early_exit,
    only_blocks,
    replaced,
    uses,
)


@dataclass(frozen=True, slots=True)
class ReorderOptions:
    """The loops in the order that they are to have, the outermost first; others keep their places."""

    block: str
    loops: tuple[str, ...] = ()
    function: str = ""


def run(module: IRModule, options: ReorderOptions, ctx: PassContext) -> IRModule:
    """Put loops into another order: those of one chain, in which each loop has one child.

    Two loops of one reduction may change places, as in TVM: the terms are then added in another order, which may change
    the last bits of floats; a remark says so.
    """
    nest = nest_of(module, options.block, options.function, ctx)
    wanted = [nest.loop(name) for name in options.loops]
    if len(wanted) < 2 or len(set(wanted)) < len(wanted):
        nest.refuse("two loops or more are put in order, each once", nest.block, "write loops=['j', 'i']")
    places = sorted(nest.loops.index(loop) for loop in wanted)
    chain = nest.loops[places[0] : places[-1] + 1]
    _check(nest, chain)
    order = list(chain)
    for place, loop in zip(places, wanted, strict=True):
        order[place - places[0]] = loop
    if order == list(chain):
        ctx.remark(chain[0], "missed", "the loops are in this order already")
        return module
    _check_extents(nest, order)
    _note_reductions(nest, chain, order)
    body: Stmt = chain[-1].body
    for loop in reversed(order):
        body = replace(loop, body=body)
        ctx.log.rebuilt(loop, body)
    ctx.remark(chain[0], "applied", f"the order is {', '.join(item.var.name for item in order)}")
    return replaced(module, nest, chain[0], body, "loops in each other -> in another order")


def _check(nest: Nest, chain: tuple[For, ...]) -> None:
    for outer, inner in itertools.pairwise(chain):
        if outer.body is not inner:
            message = f"{inner.var.name} is not the only child of {outer.var.name}; Reorder takes a chain of loops"
            nest.refuse(message, inner, "take loops that stand directly in each other")
    no_early_exit(nest, chain[0], "Reorder")
    only_blocks(nest, chain[-1].body, "Reorder")
    if len(list(blocks_under(chain[-1].body))) > 1:
        nest.refuse("the loops hold several blocks, which may need their order", chain[-1], "Reorder takes one block")
    for block in blocks_under(chain[-1].body):
        odd = next((item for item in block.iter_vars if item.kind not in ("spatial", "reduce")), None)
        if odd is not None:
            message = f"{odd.var.name} of the block {block.name} is neither spatial nor a reduction"
            nest.refuse(message, block, "the iterations of such a block have an order")
        direct = next((loop for loop in chain if _is_read(block, loop)), None)
        if direct is not None:
            message = f"the body of {block.name} uses {direct.var.name} itself, not through an iteration variable"
            nest.refuse(message, block, "bind it: vi = T.axis.spatial(n, i)")


def _is_read(block: Block, loop: For) -> bool:
    return any(part is loop.var for root in (block.body, *filter(None, (block.init,))) for part in preorder(root))


def _check_extents(nest: Nest, order: list[For]) -> None:
    for number, loop in enumerate(order):
        for inner in order[number:]:
            if uses(inner.var, loop.extent) or uses(inner.var, loop.start):
                message = f"how often {loop.var.name} runs depends on {inner.var.name}, which would be inside of it"
                nest.refuse(message, loop, f"leave {loop.var.name} inside of {inner.var.name}")


def _note_reductions(nest: Nest, chain: tuple[For, ...], order: list[For]) -> None:
    """Remark that a sum is taken in another order, if its loops changed places."""

    def reductions(loops: "tuple[For, ...] | list[For]") -> list[str]:
        return [loop.var.name for loop in loops if _reduces(loop, chain[-1].body)]

    if reductions(chain) != reductions(order):
        names = ", ".join(reductions(order))
        nest.ctx.remark(
            nest.block, "note", f"the reduction runs in the order {names}: floats may differ in the last bits"
        )


def _reduces(loop: For, body: Stmt) -> bool:
    return any(item.kind == "reduce" for _, item in axes_of(loop.var, body))


PASS = Pass(
    "Reorder",
    "Schedule: puts loops of one chain into another order.",
    run,
    ReorderOptions,
    see="tvm/src/s_tir/schedule/primitive/loop_transformation.cc",
    dialect="tir",
)
