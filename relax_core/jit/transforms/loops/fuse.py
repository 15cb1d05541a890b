"""Fuse elementwise nests: a temporary that only the next nest reads is computed where it is read.

The temporary then needs no memory, and no pass over it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from relax_core.analysis.tir_memory import passed_buffers
from relax_core.ir.integer.affine import Affine
from relax_core.ir.node import Node, children, postorder
from relax_core.ir.prim import Cast, IntImm, LetExpr, PrimExpr, PrimVar, dtype_of
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.ir.tir import Buffer, BufferLoad, BufferRef, BufferStore, For, Stmt
from relax_core.jit.lowering.scalars.types import SCALAR_TYPES
from relax_core.jit.lowering.state import State
from relax_core.jit.remarks import KernelRemark, PlannedStep
from relax_core.jit.transforms.loop_nest import Access, Axis, Nest
from relax_core.jit.transforms.nest import read_nest
from relax_core.jit.transforms.reductions.reduction import may_stop

NAME = "fuse"
SUMMARY = "A temporary that only the next nest reads is computed where it is read"
# Expressions are lowered from the outside in, and a deeper one would need more registers than there are.
DEEPEST = 64


@dataclass(frozen=True, slots=True)
class _Producer:
    """The nest that computes a temporary, and where it stands among the statements."""

    at: int
    loop: For
    nest: Nest

    @property
    def buffer(self) -> Buffer:
        """The temporary."""
        return self.nest.update.buffer


# Why the bits stay: producer and reader walk the elements of the temporary in the same row-major order, one element
# in each iteration, so that the reader's iteration computes just the element that it reads. What the producer reads
# is not written in between, nor by the reader. Its value is converted to the dtype of the temporary, and dtypes that
# memory rounds further than a register does are left alone, so that the reader sees the bits that it would load.
# Nothing else reads the temporary: not a view, a call or another statement. If either of the two may stop the kernel
# they stay apart, so that nothing is written earlier or later than in the text.
def fuse(state: State, stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
    """Put each nest of a sequence into the one that alone reads what it computes, where that changes no value."""
    is_outermost = not (state.environment.active or state.position.loops or state.position.inlined)
    is_on = state.options.is_transformed and NAME not in state.options.without
    if not is_on or not is_outermost or len(stmts) < 2:
        return tuple(stmts)
    temporaries = _temporaries(state, stmts)
    items: list[Stmt | None] = [*stmts]
    loaded = [_loaded(item) for item in stmts]
    for at, stmt in enumerate(stmts):
        current = items[at]
        buffer = _stored(stmt)
        if buffer not in temporaries or not isinstance(current, For):
            continue
        readers = [place for place, buffers in enumerate(loaded) if buffer in buffers]
        nest = read_nest(state, current)
        target = items[readers[0]] if len(readers) == 1 and readers[0] > at else None
        if isinstance(nest, str) or not _is_elementwise(nest) or not isinstance(target, For):
            continue
        found = _join(state, _Producer(at, current, nest), target, items[at + 1 : readers[0] + 1])
        if isinstance(found, str):
            state.emitted.remarks.append(
                KernelRemark("refused", NAME, state.provenance.origin.get(current, current), found)
            )
            continue
        reason = f"`{buffer.name}` is computed where it is read, and takes no memory"
        state.emitted.remarks.append(
            KernelRemark("applied", NAME, state.provenance.origin.get(current, current), reason)
        )
        state.environment.contracted.add(buffer)
        _tell(state, items, (at, readers[0]), found, reason)
        items[at], items[readers[0]] = None, found
        loaded[readers[0]] = loaded[readers[0]] - {buffer} | loaded[at]
        loaded[at] = frozenset()
    return tuple(item for item in items if item is not None)


def _tell(state: State, items: Sequence[Stmt | None], places: tuple[int, int], joined: Stmt, reason: str) -> None:
    """Keep the plan, if somebody wants to read it."""
    if state.emitted.plans is not None:
        gone, place = places
        before = tuple(item for item in items if item is not None)
        left = [joined if at == place else item for at, item in enumerate(items) if at != gone]
        after = tuple(item for item in left if item is not None)
        state.emitted.plans.append(PlannedStep(NAME, reason, before, after))


def _temporaries(state: State, stmts: Sequence[Stmt]) -> set[Buffer]:
    """Return the allocated buffers that one statement of `stmts` stores to, and nothing beside them accesses."""
    inside = {*postorder(*stmts)}
    hidden = {state.environment.memory.owner(view) for view in state.environment.memory.views} | passed_buffers(
        state.environment.memory, state.function
    )
    found: dict[Buffer, int] = {}
    for item in postorder(state.function.body):
        match item:
            case BufferStore(buffer=buffer):
                found[buffer] = found.get(buffer, 0) + 1 + (item not in inside)
            case BufferLoad(buffer=buffer) if item not in inside:
                hidden.add(buffer)
            case BufferRef(buffer=buffer):
                hidden.add(buffer)
            case _:
                pass
    plain = {buffer for buffer in state.environment.memory.allocated if _is_plain(buffer)}
    return {buffer for buffer, count in found.items() if count == 1 and buffer in plain and buffer not in hidden}


def _is_plain(buffer: Buffer) -> bool:
    """Tell whether a register holds an element just as memory does: no vector, and not rounded where it is stored."""
    scalar = SCALAR_TYPES.get(buffer.dtype)
    return scalar is not None and not scalar.is_narrowed


def _stored(stmt: Stmt) -> Buffer | None:
    """Return the only buffer that a statement stores to."""
    stored = {item.buffer for item in postorder(stmt) if isinstance(item, BufferStore)}
    return next(iter(stored)) if len(stored) == 1 else None


def _loaded(stmt: Stmt) -> frozenset[Buffer]:
    return frozenset(item.buffer for item in postorder(stmt) if isinstance(item, BufferLoad))


def _is_elementwise(nest: Nest) -> bool:
    return not nest.reduce and nest.init is None and nest.work > 0


def _join(state: State, producer: _Producer, target: For, between: Sequence[Stmt | None]) -> For | str:
    """Return `target` with the value of the producer in it, or in words why not."""
    nest = read_nest(state, target)
    buffer = producer.buffer
    if isinstance(nest, str):
        return f"`{buffer.name}` is read in a nest that is not understood: {nest}"
    if not _is_elementwise(nest):
        return f"`{buffer.name}` is read by a reduction"
    reason = _why_not(producer, nest) or _why_not_later(state, producer, between)
    if reason:
        return reason
    value = rewrite(producer.nest.update.value, _Put(_places(producer.nest, nest)), log=RewriteLog())
    value = value if dtype_of(value) == buffer.dtype else Cast(value, buffer.dtype)
    var = PrimVar(buffer.name, buffer.dtype, span=buffer.span)
    rest = rewrite(nest.update.value, _Load(buffer, var), log=RewriteLog())
    put = LetExpr(var, value, rest, dtype_of(rest))
    if _depth(put) > DEEPEST:
        return f"the value in which `{buffer.name}` is read would be too large"
    update = producer.nest.update
    state.provenance.statement_of[var] = state.provenance.origin.get(update, update)
    return _rebuilt(state, nest, put)


def _why_not(producer: _Producer, nest: Nest) -> str:
    """Say what forbids to compute the producer's value in the iterations of another nest."""
    buffer = producer.buffer
    if may_stop(producer.nest.update.value) or may_stop(nest.update.value):
        return "one of the nests may stop the kernel"
    ours, theirs = ([axis for axis in item.axes if axis.extent > 1] for item in (producer.nest, nest))
    if [axis.extent for axis in ours] != [axis.extent for axis in theirs]:
        return f"`{buffer.name}` is computed in {producer.nest.work} rounds, and read in {nest.work}"
    loads = [item for node, item in nest.accesses.items() if isinstance(node, BufferLoad) and item.buffer is buffer]
    stored = producer.nest.accesses[producer.nest.update]
    first = _first(stored, producer.nest)
    for item, axes in ((stored, ours), *((load, theirs) for load in loads)):
        if item.storage.memory is not None or [item.offset.of(axis.var) for axis in axes] != _row_major(axes):
            return f"`{buffer.name}` is read in another order than it is computed"
        if item is not stored and _first(item, nest) != first:
            return f"`{buffer.name}` is read at other places than it is computed"
    for access in (*producer.nest.accesses.values(), *nest.accesses.values()):
        if access.storage.memory is not None:
            return f"`{access.buffer.name}` is a view of other memory"
        if ours and access.offset.of((theirs if access in nest.accesses.values() else ours)[-1].var) not in (0, 1):
            return f"the elements of `{access.buffer.name}` do not lie side by side"
    return ""


def _first(access: Access, nest: Nest) -> Affine:
    """Return the offset of the element of the first iteration: a larger buffer may be read beside what was computed."""
    inside = {axis.var: count for axis in nest.axes if (count := access.offset.of(axis.var))}
    return access.offset.plus(Affine(0, inside), -1)


def _row_major(axes: Sequence[Axis]) -> list[int]:
    """Return by how much an element moves with each axis, if all elements lie side by side in order."""
    return [prod(axis.extent for axis in axes[at + 1 :]) for at in range(len(axes))]


def _why_not_later(state: State, producer: _Producer, between: Sequence[Stmt | None]) -> str:
    """Say which operand of the producer is written before the other nest has read it."""
    operands = {
        state.environment.storage[item.buffer].pointer
        for item in producer.nest.accesses
        if isinstance(item, BufferLoad)
    }
    for stmt in between:
        for item in () if stmt is None else postorder(stmt):
            if isinstance(item, BufferStore):
                storage = state.environment.storage.get(item.buffer)
                if storage is None or storage.memory is not None or storage.pointer in operands:
                    return f"`{item.buffer.name}` is written meanwhile"
    return ""


def _places(producer: Nest, nest: Nest) -> Mapping[PrimVar, PrimExpr]:
    """Return what the variables of the producer are in the iterations of the other nest."""
    others = iter([axis for axis in nest.axes if axis.extent > 1])
    place: dict[PrimVar, PrimExpr] = {}
    for axis in producer.axes:
        var = next(others).var if axis.extent > 1 else IntImm(0, axis.var.dtype)
        place[axis.var] = var if dtype_of(var) == axis.var.dtype else Cast(var, axis.var.dtype)
    for item in () if producer.block is None else producer.block.iter_vars:
        bound = rewrite(item.binding, _Put(place), log=RewriteLog())
        place[item.var] = bound if dtype_of(bound) == item.var.dtype else Cast(bound, item.var.dtype)
    return place


@dataclass(frozen=True, slots=True)
class _Put:
    """Rule: variable -> what it is elsewhere."""

    places: Mapping[PrimVar, PrimExpr]

    def __call__(self, item: Node) -> Node | None:
        return self.places.get(item) if isinstance(item, PrimVar) else None


@dataclass(frozen=True, slots=True)
class _Load:
    """Rule: load from a temporary -> its value."""

    buffer: Buffer
    value: PrimExpr

    def __call__(self, item: Node) -> Node | None:
        return self.value if isinstance(item, BufferLoad) and item.buffer is self.buffer else None


def _depth(expr: PrimExpr) -> int:
    depth: dict[Node, int] = {}
    for item in postorder(expr):
        depth[item] = 1 + max((depth[part] for part in children(item)), default=0)
    return depth[expr]


def _rebuilt(state: State, nest: Nest, value: PrimExpr) -> For:
    """Return a nest with another value; its statements are known to be those of the text."""
    store = replace(nest.update, value=value)
    made: list[tuple[Stmt, Stmt]] = [(store, nest.update)]
    if nest.block is not None:
        made.append((replace(nest.block, body=store), nest.block))
    for axis in reversed(nest.axes):
        made.append((replace(axis.loop, body=made[-1][0]), axis.loop))
    state.provenance.origin.update((new, state.provenance.origin.get(old, old)) for new, old in made)
    outermost = made[-1][0]
    assert isinstance(outermost, For), "a nest starts with a loop"
    return outermost
