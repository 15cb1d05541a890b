"""Nests of any sizes around one accumulation: their loops, and what is accumulated in terms of the loops' variables."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from relax_core.ir.prim import FloatImm, IntImm, PrimExpr, PrimVar
from relax_core.ir.tir import Block, BufferLoad, BufferStore, For
from relax_core.jit.lowering.run_time_work import is_plain_count
from relax_core.jit.lowering.state import State
from relax_core.jit.transforms.contractions.read import Accumulation, accumulation
from relax_core.jit.transforms.plan_nest import substituted


@dataclass(frozen=True, slots=True)
class AnyNest:
    """Loops directly within each other, outermost first, around an accumulation, in a block if there is one."""

    loops: tuple[For, ...]
    block: Block | None
    found: Accumulation


@dataclass(frozen=True, slots=True)
class Reduced:
    """An accumulation whose indices are those of loops, and the constant that it starts from, if it sets one."""

    found: Accumulation
    init: FloatImm | IntImm | None


def any_nest(loop: For) -> AnyNest | None:
    """Read the nest that starts at `loop`; `None` if it accumulates nothing."""
    loops = [loop]
    while isinstance(inner := loops[-1].body, For):
        loops.append(inner)
    block = inner if isinstance(inner, Block) else None
    update = inner if block is None else block.body
    found = accumulation(update) if isinstance(update, BufferStore) else None
    return None if found is None else AnyNest((*loops,), block, found)


def why_not_counted(
    state: State,
    loops: Sequence[For],
    is_size: Callable[[State, PrimExpr], bool] = is_plain_count,
    otherwise: str = "is read",
) -> str:
    """Say what keeps loops from being counted from 0 to a size, "" if nothing does; what is no size `otherwise`."""
    if any(item.step is not None or item.kind == "thread_binding" for item in loops):
        return "a loop has a step, or is bound to a thread"
    if any(state.bounds.constant(item.start) != 0 or not is_size(state, item.extent) for item in loops):
        return f"a loop does not start at 0, or its size {otherwise}"
    return ""


def reduced(state: State, nest: AnyNest, count: int = 1) -> Reduced | str:
    """Read what a nest does that reduces over its `count` innermost loops, or say why it is not taken."""
    bound = _bound_loops(nest, count)
    if isinstance(bound, str):
        return bound
    init = None if nest.block is None else nest.block.init
    start = init.value if isinstance(init, BufferStore) else None
    if init is not None and not isinstance(start, FloatImm | IntImm):
        return "its initial value is no constant"
    store = substituted(nest.found.update, bound)
    state.provenance.origin.setdefault(store, state.provenance.origin.get(nest.found.update, nest.found.update))
    if isinstance(init, BufferStore) and substituted(init, bound).indices != store.indices:
        return "the initialisation writes another element"
    again = accumulation(store)
    assert again is not None, "variables are replaced by others"
    return Reduced(again, start if isinstance(start, FloatImm | IntImm) else None)


def _bound_loops(nest: AnyNest, count: int) -> dict[PrimVar, PrimExpr] | str:
    """Return the loop variables that those of the block stand for."""
    block = nest.block
    if block is None:
        return {}
    if block.predicate is not None or block.matches or block.alloc_buffers:
        return "the block has a predicate or buffers of its own"
    found: dict[PrimVar, PrimExpr] = {}
    inner = {item.var for item in nest.loops[len(nest.loops) - count :]}
    for item in block.iter_vars:
        if item.start is not None or not isinstance(item.binding, PrimVar) or item.binding.dtype != item.var.dtype:
            return f"the block's variable `{item.var.name}` is no loop variable"
        if (item.kind == "reduce") != (item.binding in inner):
            return "the innermost loops are not all that it reduces over"
        found[item.var] = item.binding
    return found


def are_in_range(state: State, loops: Sequence[For], accesses: Sequence[BufferLoad | BufferStore]) -> bool:
    """Tell whether accesses are proven in range for all values of the variables of loops."""
    mark = state.bounds.mark()
    for item in loops:
        state.bounds.enter_loop(item)
    found = all(is_in_range(state, item) for item in accesses)
    state.bounds.leave(mark)
    return found


def is_in_range(state: State, access: BufferLoad | BufferStore) -> bool:
    """Tell whether an access is proven in range by what is known of the variables here."""
    is_whole = len(access.indices) == len(access.buffer.shape)
    return is_whole and all(state.bounds.is_in_range(access.buffer, *item) for item in enumerate(access.indices))
