"""How a loop runs: the rules that its blocks must keep."""

from dataclasses import dataclass, replace

from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.ir.prim import is_number
from relax_core.ir.tir import For, LoopKind
from relax_core.passes.core import PassContext
from relax_core.passes.tir.schedule.loops.iterations import first_shared
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
class LoopOptions:
    """A loop of a block."""

    block: str
    loop: str
    function: str = ""


@dataclass(frozen=True, slots=True)
class LoopKindChange:
    """A kind that a loop is given, by the primitive `name`; `thread` is the tag of a thread binding."""

    name: str
    kind: LoopKind
    thread: str | None = None


def with_kind(module: IRModule, options: LoopOptions, change: LoopKindChange, ctx: PassContext) -> IRModule:
    """Return `module` with the loop run as `change` says."""
    nest = nest_of(module, options.block, options.function, ctx)
    loop = nest.loop(options.loop)
    if loop.kind == "thread_binding":
        nest.refuse(f"{loop.var.name} is bound to {loop.thread} already", loop, "bind each loop once")
    if change.kind != "unroll":
        no_early_exit(nest, loop, change.name)
        if not (change.thread or "").startswith("threadIdx"):
            _check_independence(nest, loop, change.name)
    if change.thread:
        _check_tag(nest, loop, change.thread)
    if loop.kind == change.kind:
        ctx.remark(loop, "missed", f"{loop.var.name} is a {change.kind} loop already")
        return module
    made = replace(loop, kind=change.kind, thread=change.thread)
    what = f"is bound to {change.thread}" if change.thread else f"is a {change.kind} loop"
    ctx.remark(loop, "applied", f"{loop.var.name} {what}")
    return replaced(module, nest, loop, made, f"a loop -> a {change.kind} loop")


def _check_tag(nest: Nest, loop: For, thread: str) -> None:
    """Refuse a loop nested with another one of the same tag, the same thread: only their diagonal would remain.

    A block that uses but one of them is what threads do together, as a copy to shared memory is.
    """
    inside = (item for item in preorder(loop.body) if isinstance(item, For))
    others = [item for item in (*nest.loops, *inside) if item is not loop and item.thread == thread]
    for block in blocks_under(loop.body) if others else ():
        used = [item for item in (loop, *others) if any(uses(item.var, axis.binding) for axis in block.iter_vars)]
        if loop in used and len(used) > 1:
            message = (
                f"the block {block.name} uses {loop.var.name} and {used[1].var.name}, nested and both bound to "
                f"{thread}: of their iterations only those would remain in which they are equal"
            )
            nest.refuse(message, loop, "bind it to another tag, or fuse the two loops")


def _check_independence(nest: Nest, loop: For, name: str) -> None:
    """Refuse a loop whose iterations write the same elements, or may."""
    only_blocks(nest, loop.body, name)
    for block, axis in axes_of(loop.var, loop.body):
        if axis.kind != "spatial":
            what = "a reduction" if axis.kind == "reduce" else f"an {axis.kind} iteration"
            message = (
                f"{loop.var.name} makes {axis.var.name} of the block {block.name}, {what}: {name} takes spatial loops"
            )
            nest.refuse(message, loop, "take a loop that makes spatial iteration variables")
    if is_number(loop.extent, 1):
        return
    for block in blocks_under(loop.body):
        if not any(uses(loop.var, item.binding) for item in block.iter_vars):
            message = f"each iteration of {loop.var.name} runs the same instances of the block {block.name}"
            nest.refuse(message, loop, f"{name} takes loops that make iteration variables of every block in them")
    shared = first_shared(nest, loop)
    if shared is not None:
        buffer, access = shared
        message = f"an iteration of {loop.var.name} may access elements of {buffer.name} that another one writes"
        nest.refuse(message, access, f"{name} takes loops whose iterations are seen to access elements of their own")
