"""Hoisting of the bounds checks of loop-invariant indirect indices, as in `take`, out of the loop over a row."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import Cast, IntImm, PrimExpr, PrimVar, Select, dtype_of
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.ir.tir import Block, BufferLoad, BufferStore, For, LetStmt, Stmt
from relax_core.jit.lowering.scalars.scalar import checked_index
from relax_core.jit.lowering.state import State
from relax_core.jit.options import Mode
from relax_core.jit.transforms.nest_values import enter_block
from relax_core.jit.transforms.origins import note_pieces
from relax_core.jit.transforms.reductions.reduction import may_stop
from relax_core.jit.transforms.transform import Plan, Transform

MODES: frozenset[Mode] = frozenset(("bitwise", "exact", "fast"))


@dataclass(frozen=True, slots=True)
class Row:
    """Loops around one store, and the indices that stay the same in them: a load, and which of its indices."""

    loops: tuple[For, ...]
    block: Block | None
    store: BufferStore
    indices: tuple[tuple[BufferLoad, int], ...]


def plan_hoist(state: State, loop: For) -> Plan | None:
    """Plan loops with a load at an index that is itself loaded, the same in all iterations."""
    row = _read(state, loop)
    if row is None:
        return None
    names = ", ".join(dict.fromkeys(f"`{load.buffer.name}`" for load, _ in row.indices))
    made: list[Stmt] = []
    reason = f"an index of {names} is read and checked once for all rounds"
    return Plan(reason, partial(_emit, state, row, made), lambda: tuple(made))


# Why the bits stay: every loop has at least one iteration, and what the index reads neither depends on the loops nor
# lies in the memory of the store, so that the first iteration reads the same index as all others. That every other
# access of the statement is proven in range, and no operation in it may stop, makes this check the first event of the
# loops that may fail: nothing is stored before it, neither here nor as written. Its message shows the variables of
# the first iteration, which are defined while it is emitted. The loops behind it compute the same value from the same
# element.
HOIST = Transform(
    "hoist", "An index that is loaded is read and checked before the loops in which it stays", MODES, plan_hoist
)


def _read(state: State, loop: For) -> Row | None:
    loops = [loop]
    while isinstance(inner := loops[-1].body, For):
        loops.append(inner)
    block = inner if isinstance(inner, Block) else None
    store = inner if block is None else block.body
    if not isinstance(store, BufferStore) or any(isinstance(item, Select) for item in postorder(store)):
        return None
    if block is not None and (block.init or block.predicate or block.matches or block.alloc_buffers):
        return None
    if any(_never_runs(state, item) for item in loops) or any(map(may_stop, (store.value, *store.indices))):
        return None
    varying = {item.var for item in loops}
    for item in () if block is None else block.iter_vars:
        if item.start is not None:
            return None
        if varying.intersection(postorder(item.binding)):
            varying.add(item.var)
    loads = [item for item in postorder(store.value) if isinstance(item, BufferLoad)]
    indices = tuple(
        (load, position)
        for load in loads
        for position, index in enumerate(load.indices)
        if _is_fixed(state, index, varying, store)
    )
    row = Row(tuple(loops), block, store, indices)
    accesses = [item for item in postorder(store) if isinstance(item, BufferLoad | BufferStore)]
    return row if indices and _is_else_proven(state, row, accesses) else None


def _is_else_proven(state: State, row: Row, accesses: Sequence[BufferLoad | BufferStore]) -> bool:
    """Tell whether nothing else is checked in the loops, which might come before."""
    bounds, mark = state.bounds, state.bounds.mark()
    for loop in row.loops:
        bounds.enter_loop(loop)
    for item in () if row.block is None else row.block.iter_vars:
        bounds.bind_let(item.var, item.binding)
    places = ((access, position) for access in accesses for position in range(len(access.indices)))
    found = all((access, at) in row.indices or state.is_in_range(access, at) for access, at in places)
    bounds.leave(mark)
    return found


def _never_runs(state: State, loop: For) -> bool:
    """Tell whether a loop may have no iterations, in which nothing would be checked, or is no plain count."""
    extent = state.bounds.constant(loop.extent)
    is_plain = loop.step is None and loop.kind != "thread_binding" and state.bounds.constant(loop.start) is not None
    return extent is None or extent < 1 or not is_plain


def _is_fixed(state: State, index: PrimExpr, varying: set[PrimVar], store: BufferStore) -> bool:
    """Tell whether an index is loaded from memory that the store does not change, and does not depend on the loops."""
    nodes = [*postorder(index)]
    loads = [item for item in nodes if isinstance(item, BufferLoad)]
    target = state.environment.storage.get(store.buffer)
    if not loads or target is None or target.memory is not None or varying.intersection(nodes):
        return False
    sources = [state.environment.storage.get(item.buffer) for item in loads]
    return all(item is not None and item.memory is None and item.pointer != target.pointer for item in sources)


def _emit(state: State, row: Row, plan: list[Stmt]) -> None:
    """Emit the indices as in the first iteration, then the loops with variables in their place; add them to `plan`."""
    mark = state.bounds.mark()
    for loop in row.loops:
        state.bounds.enter_loop(loop)
        state.define(loop.var, str(state.bounds.constant(loop.start)))
    count = len(row.loops) + (0 if row.block is None else enter_block(state, row.block))
    registers = [checked_index(state, load, position) for load, position in row.indices]
    state.forget(count)
    state.bounds.leave(mark)
    variables = [PrimVar("row", "int64") for _ in row.indices]
    for (load, position), variable, register in zip(row.indices, variables, registers, strict=True):
        # The variable of a loop over the extent takes just the values that passed the check.
        state.bounds.enter_loop(For(variable, IntImm(0, "int64"), load.buffer.shape[position], row.store))
        state.environment.registers[variable] = register
    made = _rebuilt(row, variables)
    plan.append(_told(row, variables, made))
    note_pieces(state, (made,), row.loops, row.store if row.block is None else row.block)
    state.lower_stmt(made)
    state.bounds.leave(mark)


def _told(row: Row, variables: Sequence[PrimVar], made: Stmt) -> Stmt:
    """Return the loops with the variables defined before them, as the indices of the first iteration."""
    first: dict[Node, Node] = {loop.var: loop.start for loop in row.loops}

    def put(item: Node) -> Node | None:
        """Rule: variable of a loop or block -> its value in the first iteration."""
        return first.get(item)

    for item in () if row.block is None else row.block.iter_vars:
        first[item.var] = rewrite(item.binding, put, log=RewriteLog())
    for (load, position), var in reversed([*zip(row.indices, variables, strict=True)]):
        index = rewrite(load.indices[position], put, log=RewriteLog())
        made = LetStmt(var, index if dtype_of(index) == var.dtype else Cast(index, var.dtype), made)
    return made


def _rebuilt(row: Row, variables: Sequence[PrimVar]) -> For | Block | BufferStore:
    at = dict(zip(row.indices, variables, strict=True))

    def moved(item: Node) -> Node | None:
        """Rule: loaded index -> variable."""
        if not isinstance(item, BufferLoad):
            return None
        indices = tuple(at.get((item, position), index) for position, index in enumerate(item.indices))
        return replace(item, indices=indices) if indices != item.indices else None

    store = replace(row.store, value=rewrite(row.store.value, moved, log=RewriteLog()))
    body: For | Block | BufferStore = store if row.block is None else replace(row.block, body=store)
    for loop in reversed(row.loops):
        body = replace(loop, body=body)
    return body
