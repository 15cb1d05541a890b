"""Functions that are scheduled for a GPU, run one thread after the other: where that is what they mean.

Before its lowering a function says what is computed, with buffers of full size, and its loops over threads are loops.
Once several of them are one loop, threads wait for each other: what one stores another one loads, and no order of whole
threads gives that.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from relax_core.analysis.tir_memory import memory_of
from relax_core.ir.equality import structural_equal
from relax_core.ir.node import Node, children, postorder
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.ir.tir import (
    Block,
    Buffer,
    BufferLoad,
    BufferStore,
    For,
    LaunchThread,
    LetStmt,
    PrimFunc,
)

THREADS = "threadIdx."
PRIVATE = ("local",)
"""Memory of which each thread has its own, wherever it is allocated: other memory belongs to all threads of a block."""


@dataclass(frozen=True, slots=True, eq=False)
class Hindrance:
    """What no order of whole threads computes, and the words for it."""

    node: Node
    words: str


@dataclass(frozen=True, slots=True, eq=False)
class _Access:
    """An access of memory that threads share, the innermost loop of each tag around it, and its block or statement."""

    node: BufferLoad | BufferStore
    buffer: Buffer
    loop_of: Mapping[str, For]
    unit: Node


def as_loops(function: PrimFunc) -> PrimFunc:
    """Return `function` with its launches of threads as loops over them; itself if it has none."""
    if not any(isinstance(item, LaunchThread) for item in postorder(function.body)):
        return function

    def looped(node: Node) -> Node | None:
        """Rule: launch_thread(tag, n) -> for in thread_binding(n, tag)."""
        return as_loop(node) if isinstance(node, LaunchThread) else None

    return rewrite(function, looped, log=RewriteLog())


def as_loop(launch: LaunchThread) -> For:
    """Return a launch of threads as a loop over them."""
    var = launch.var
    return For(var, IntImm(0, var.dtype), launch.extent, launch.body, "thread_binding", launch.tag, span=launch.span)


def hindrance(function: PrimFunc) -> Hindrance | None:
    """Return why the loops over threads of `function` may not run one iteration after the other, `None` if they may.

    Its launches are loops, see `as_loops`. Where blocks have axes, loops are loops, whatever they are bound to.
    Complexity: quadratic in the accesses of a buffer within one such loop.
    """
    loops = [item for item in postorder(function.body) if isinstance(item, For) and item.kind == "thread_binding"]
    blocks = [item for item in postorder(function.body) if isinstance(item, Block)]
    if not loops or any(block.iter_vars for block in blocks):
        return None
    if not blocks:
        nested = next(_nested(loops), None)
        if nested is not None:
            words = f"{nested.var.name} is nested in a loop over the same `{nested.thread}`, and is the same variable"
            return Hindrance(nested, words)
    bindings = _bindings(function)
    by_buffer: dict[Buffer, list[_Access]] = {}
    for access in _accesses(function):
        by_buffer.setdefault(access.buffer, []).append(access)
    for buffer, accesses in by_buffer.items():
        for one, other in combinations(accesses, 2):
            if _passes(one, other, bindings):
                words = f"threads pass values to each other through `{buffer.name}`, in one loop over `threadIdx`"
                return Hindrance(other.node, words)
    return None


def _nested(loops: Iterable[For]) -> Iterator[For]:
    for loop in loops:
        for item in postorder(loop.body):
            if isinstance(item, For) and item.kind == "thread_binding" and item.thread == loop.thread:
                yield item


def _bindings(function: PrimFunc) -> Mapping[PrimVar, PrimExpr]:
    """Return the values of the variables of blocks and lets."""
    found: dict[PrimVar, PrimExpr] = {}
    for item in postorder(function.body):
        match item:
            case Block(iter_vars=axes):
                found.update((axis.var, axis.binding) for axis in axes)
            case LetStmt(var=var, value=value):
                found[var] = value
            case _:
                pass
    return found


def _accesses(function: PrimFunc) -> Iterator[_Access]:
    """Yield the accesses within loops over threads, of memory that is not a thread's own."""
    memory = memory_of(function)
    stack: list[tuple[Node, Mapping[str, For], Node | None]] = [(function.body, {}, None)]
    while stack:
        node, loop_of, unit = stack.pop()
        match node:
            case For(kind="thread_binding", thread=str() as tag) if tag.startswith(THREADS):
                loop_of = {**loop_of, tag: node}
            case Block():
                unit = node
            case BufferStore() if unit is None:
                stack += [(item, loop_of, node) for item in children(node)]
            case _:
                pass
        if isinstance(node, BufferLoad | BufferStore) and loop_of:
            owner = memory.owner(node.buffer) or node.buffer
            if owner.scope not in PRIVATE:
                yield _Access(node, owner, loop_of, unit or node)
        if not isinstance(node, BufferStore) or unit is not None:
            stack += [(item, loop_of, unit) for item in children(node) if not isinstance(item, Buffer)]


def _passes(one: _Access, other: _Access, bindings: Mapping[PrimVar, PrimExpr]) -> bool:
    """Tell whether a thread may load with one access what another thread stored with the other one."""
    if one.unit is other.unit or isinstance(one.node, BufferStore) == isinstance(other.node, BufferStore):
        return False
    shared = [loop for tag, loop in one.loop_of.items() if other.loop_of.get(tag) is loop]
    if not shared:
        return False
    first, second = ([_resolved(index, bindings) for index in item.node.indices] for item in (one, other))
    is_alike = len(first) == len(second) and all(map(structural_equal, first, second))
    used = {part for index in first for part in postorder(index)}
    # The same element for each thread is its own: another thread that stored to it would do so in any order.
    return not is_alike or any(loop.var not in used for loop in shared)


def _resolved(expr: PrimExpr, bindings: Mapping[PrimVar, PrimExpr]) -> PrimExpr:
    def value_of(node: Node) -> Node | None:
        """Rule: a variable -> its value."""
        if not isinstance(node, PrimVar) or node not in bindings:
            return None
        return rewrite(bindings[node], value_of, log=RewriteLog())

    return rewrite(expr, value_of, log=RewriteLog())
