"""Allocate a buffer in another scope."""

from dataclasses import dataclass, replace

from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.tir import Buffer, BufferLoad, BufferStore, For
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.functions import change_prim_funcs
from relax_core.passes.tir.schedule.loops.iterations import is_shared
from relax_core.passes.tir.schedule.nest import Nest, nest_of
from relax_core.passes.tir.schedule.scope import allocated, loops_of, name_in, only_elements, written

SCOPES = ("global", "shared", "shared.dyn", "warp", "local", "wmma.matrix_a", "wmma.matrix_b", "wmma.accumulator")


@dataclass(frozen=True, slots=True)
class SetScopeOptions:
    """A block, which of the buffers that it writes, and the scope."""

    block: str
    buffer_index: int = 0
    storage_scope: str = "global"
    function: str = ""


def run(module: IRModule, options: SetScopeOptions, ctx: PassContext) -> IRModule:
    """Allocate a buffer that the block writes in another scope; `B` is then `B_shared`."""
    nest = nest_of(module, options.block, options.function, ctx)
    buffer = written(nest, options.buffer_index)
    scope = options.storage_scope
    if scope not in SCOPES:
        nest.refuse(f"there is no scope {scope or 'without a name'}", nest.block, f"scopes: {', '.join(SCOPES)}")
    allocated(nest, buffer)
    only_elements(nest, buffer)
    if scope == buffer.scope:
        ctx.remark(nest.block, "missed", f"{buffer.name} is in {scope} already")
        return module
    _check_threads(nest, buffer, scope)
    made = ctx.derive(replace(buffer, name=name_in(buffer, scope), scope=scope), buffer)

    def put(node: Node) -> Node | None:
        """Rule: a buffer -> in another scope."""
        return made if node is buffer else None

    ctx.remark(nest.block, "applied", f"{buffer.name} is allocated in {scope}, as {made.name}")
    return change_prim_funcs(module, ctx, lambda var, it: ctx.rewrite(it, put) if var.name == nest.name else it)


def _check_threads(nest: Nest, buffer: Buffer, scope: str) -> None:
    """Refuse memory of threads, or of blocks of threads, for elements that others of these access as well."""
    accesses = [
        item
        for item in preorder(nest.function.body)
        if isinstance(item, BufferLoad | BufferStore) and item.buffer is buffer
    ]
    around = [tuple(loop for loop in loops_of(nest, item) if _divides(loop, scope)) for item in accesses]
    for item, loops in zip(accesses, around, strict=True):
        if loops != around[0] or any(is_shared(nest, loop, buffer) for loop in loops):
            message = f"{buffer.name} is accessed by threads that share no memory of the scope {scope}"
            nest.refuse(message, item, "set the scope before loops are bound, or take one that the threads share")


def _divides(loop: For, scope: str) -> bool:
    """Tell whether each iteration of a loop has memory of its own in a scope."""
    tag = (loop.thread or "") if loop.kind == "thread_binding" else ""
    is_of_threads = not scope.startswith(("global", "shared"))
    return (tag.startswith("blockIdx") and scope != "global") or (is_of_threads and tag != "")


PASS = Pass(
    "SetScope",
    "Schedule: allocates a buffer in another scope.",
    run,
    SetScopeOptions,
    see="tvm/src/s_tir/schedule/primitive/block_annotate.cc",
    dialect="tir",
)
