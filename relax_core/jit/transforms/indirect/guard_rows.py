"""Interleave the reductions of several rows, each in its own order, to hide the latency of a floating-point add.

The indices of these rows are guarded ahead, as no check may stop the kernel while some rows are half done. The bits
stay: each row adds its elements in the order of the text, and no row accesses what another one writes.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from relax_core.ir.node import Node, postorder
from relax_core.ir.tir import Block, Buffer, BufferLoad, BufferStore, For, IterVar, SeqStmt, Stmt
from relax_core.jit.lowering.loops import Counting, counted
from relax_core.jit.lowering.memory.storage import Held
from relax_core.jit.lowering.state import State
from relax_core.jit.transforms.indirect.guard_read import WORD_BITS, Access, CheckTree
from relax_core.jit.transforms.loops.accumulate import elements_of, give_back, take
from relax_core.jit.transforms.reductions.reduction import may_stop

TOGETHER = 4
# Rows left over by the interleaving run with their checks; with fewer rows than this they would dominate.
FEWEST = 16
# Out-of-order execution overlaps shorter rows by itself; of longer ones the scan's indices have left the cache.
SHORTEST, LONGEST = 33, 1024


@dataclass(frozen=True, slots=True)
class GuardedRows:
    """An iteration split around its inner loop of `count` iterations: what precedes it, the loop, what follows it.

    `sums` are the accumulators that the loop updates, as the loads of their initial values.
    """

    before: tuple[Stmt, ...]
    loop: For
    behind: tuple[Stmt, ...]
    count: int
    sums: list[BufferLoad]


def read_rows(state: State, loop: For, scope: CheckTree) -> GuardedRows | None:
    """Read a loop whose iterations are such rows; `scope` holds its checks, which the guard makes."""
    stmts = loop.body.stmts if isinstance(loop.body, SeqStmt) else (loop.body,)
    nodes = [*postorder(loop.body)]
    match [(at, item) for at, item in enumerate(stmts) if isinstance(item, For)]:
        case [(at, inner)] if sum(isinstance(item, For) for item in nodes) == 1:
            count = _count(state, inner)
        case _:
            return None
    row_count = state.bounds.constant(loop.extent) or 0
    is_plain = all(_is_plain(item) for item in nodes if isinstance(item, Stmt))
    if row_count < FEWEST or not SHORTEST <= count <= LONGEST or not is_plain:
        return None
    mark = state.bounds.mark()
    state.bounds.enter_loop(loop)
    sums = elements_of(state, inner)
    accesses = [item for item in nodes if isinstance(item, BufferLoad | BufferStore)]
    is_row = (
        _are_in_order(state, inner, sums)
        and _are_apart(state, loop, accesses)
        and _never_stops(state, inner, accesses, scope)
    )
    state.bounds.leave(mark)
    return GuardedRows(stmts[:at], inner, stmts[at + 1 :], count, sums) if is_row else None


def emit_rows(state: State, loop: For, rows: GuardedRows, counting: Counting) -> None:
    """Emit `TOGETHER` guarded iterations from the first of `counting` on, their inner loops fused to one."""
    code, scalar = state.code, state.scalar_of(loop.var)
    places: list[str] = []
    for distance in range(TOGETHER):
        place = code.emit(f"add i64 {counting.first}, {distance}") if distance else counting.first
        place = place if counting.start == "0" else code.emit(f"add i64 {place}, {counting.start}")
        places.append(place if scalar.bits == WORD_BITS else code.emit(f"trunc i64 {place} to {scalar.register}"))
    site_count, mark = len(state.emitted.sites), state.bounds.mark()
    state.bounds.enter_loop(loop)
    held: dict[str, dict[Buffer, Held]] = {}
    for place in places:
        with _row(state, loop, place, rows.before):
            held[place] = take(state, rows.sums)

    def together() -> None:
        """Emit one iteration of the inner loop for each row."""
        for place in places:
            state.environment.held.update(held[place])
            with _row(state, loop, place, (rows.loop.body,)):
                pass
            for buffer in held[place]:
                del state.environment.held[buffer]

    start = str(state.bounds.constant(rows.loop.start))
    counted(state, rows.loop, Counting(start, "1", "0", str(rows.count), "", count=rows.count), together)
    for place in places:
        with _row(state, loop, place):
            give_back(state, rows.sums, held[place])
        with _row(state, loop, place, rows.behind):
            pass
    state.bounds.leave(mark)
    assert len(state.emitted.sites) == site_count, "nothing stops between two rows"


@contextmanager
def _row(state: State, loop: For, place: str, stmts: Sequence[Stmt] = ()) -> Generator[None]:
    """Emit `stmts` of the iteration whose loop variable is in the register `place`; it stays in scope inside."""
    state.define(loop.var, place)
    for stmt in stmts:
        state.lower_stmt(stmt)
    yield
    state.forget()


def _count(state: State, loop: For) -> int:
    """Return the trip count of the inner loop, 0 if it is not constant."""
    is_counted = loop.step is None and loop.kind == "serial" and state.bounds.constant(loop.start) is not None
    return (state.bounds.constant(loop.extent) or 0) if is_counted else 0


def _is_plain(stmt: Stmt) -> bool:
    match stmt:
        case SeqStmt() | For():
            return True
        case BufferStore(value=value, indices=indices):
            return not any(may_stop(item) for item in (value, *indices))
        case Block(matches=(), alloc_buffers=(), predicate=None, iter_vars=iter_vars):
            return not any(may_stop(item.binding) for item in iter_vars)
        case _:
            return False


def _are_in_order(state: State, loop: For, sums: Sequence[BufferLoad]) -> bool:
    """Tell whether all stores of a loop are floating-point accumulations, which are bound by the latency of an add."""
    stored = {item.buffer for item in postorder(loop.body) if isinstance(item, BufferStore)}
    return stored == {item.buffer for item in sums} and all(state.scalar_of(item).kind == "float" for item in stored)


def _are_apart(state: State, loop: For, accesses: Sequence[Access]) -> bool:
    """Tell whether the iterations are independent: the loop variable indexes every buffer that is written."""
    storages = {item.buffer: state.environment.storage.get(item.buffer) for item in accesses}
    if any(item is None or item.memory is not None for item in storages.values()):
        return False
    pointers = [item.pointer for item in storages.values() if item is not None]
    own = _named(loop)
    for buffer in {item.buffer for item in accesses if isinstance(item, BufferStore)}:
        mine = [item.indices for item in accesses if item.buffer is buffer]
        storage = storages[buffer]
        assert storage is not None, "all buffers lie somewhere"
        is_own = any(all(indices[at] in own for indices in mine) for at in range(min(map(len, mine))))
        if not is_own or pointers.count(storage.pointer) > 1 or buffer in state.environment.held:
            return False
    return True


def _named(loop: For) -> set[Node]:
    """Return a loop's variable and the block variables that are bound to it."""
    bound = (item.var for item in postorder(loop.body) if isinstance(item, IterVar) and item.binding is loop.var)
    return {loop.var, *bound}


def _never_stops(state: State, inner: For, accesses: Sequence[Access], scope: CheckTree) -> bool:
    """Tell whether every index is proven in bounds, or guarded unconditionally."""
    ahead = {check.key for check in scope.checks() if not check.conditions}
    state.bounds.enter_loop(inner)
    for item in _bound(inner):
        state.bounds.bind_let(item.var, item.binding)
    return all(
        (item.buffer, at, index) in ahead or state.is_in_range(item, at)
        for item in accesses
        for at, index in enumerate(item.indices)
    )


def _bound(loop: For) -> Iterator[IterVar]:
    for item in postorder(loop.body):
        if isinstance(item, Block):
            yield from item.iter_vars
