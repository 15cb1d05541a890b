"""Index-set splitting: loops are cut where an affine condition, as of padding or a remainder, as of tiling, changes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from relax_core.ir.integer.affine import Affine, affine_of, affine_of_binding, overlapping
from relax_core.ir.integer.interval import Interval
from relax_core.ir.node import postorder
from relax_core.ir.prim import Binary, BinaryKind, IntImm, PrimExpr, PrimVar, Select, dtype_of
from relax_core.ir.tir import Block, BufferLoad, BufferStore, For, SeqStmt, Stmt
from relax_core.jit.lowering.state import State
from relax_core.jit.options import Mode
from relax_core.jit.transforms.loops.choices import comparisons, has_chosen_sizes, resolved
from relax_core.jit.transforms.nest import read_nest
from relax_core.jit.transforms.origins import note_pieces
from relax_core.jit.transforms.transform import Plan, Refusal, Transform

MODES: frozenset[Mode] = frozenset(("bitwise", "exact", "fast"))
PIECE_LIMIT = 24
# Nodes of all pieces together.
MOST_NODES = 4096
_FITTING = Interval(-(1 << 31), (1 << 31) - 1)

Ranges = Mapping[PrimVar, Interval]


@dataclass(frozen=True, slots=True)
class Choice:
    """Loops around one store, outermost first, whose value chooses, or is read at a remainder.

    `values` are the variables of the block.
    """

    loops: tuple[For, ...]
    block: Block | None
    store: BufferStore
    values: Mapping[PrimVar, Affine]
    ranges: Ranges

    @property
    def chooses(self) -> bool:
        """Tell whether the value is a choice, whose remainders are left as they are."""
        return any(isinstance(item, Select) for item in postorder(self.store.value))


def plan_split(state: State, loop: For) -> Plan | Refusal | None:
    """Plan loops around a store whose value chooses by the position along single axes."""
    choice = _read(state, loop)
    if choice is None:
        return None
    pieces = _Splitting(choice).split(0, choice.ranges, choice.store.value)
    stores = [item for piece in pieces or () for item in postorder(piece) if isinstance(item, BufferStore)]
    if pieces is None or len(stores) > PIECE_LIMIT:
        return Refusal(f"there are more than {PIECE_LIMIT} pieces")
    if len(stores) > 1 and len(stores) * len([*postorder(choice.store)]) > MOST_NODES:
        return Refusal("its value is too large to be written out for each piece")
    if len(stores) == 1 and stores[0].value is choice.store.value:
        return None
    if not _is_free(state, choice):
        return Refusal("the order of its stores may matter")
    note_pieces(state, pieces, choice.loops, choice.store if choice.block is None else choice.block)
    made = "the choice is made" if choice.chooses else "no remainder turns over"
    reason = f"{len(stores)} pieces, in each of which {made}"
    return Plan(reason, partial(_emit, state, pieces), lambda: pieces)


# Why the bits stay: the pieces of a loop cover its values once each, in ascending order, inside of the same outer
# iteration, so that all iterations run in the order of the text. A condition is replaced by its value only where its
# distance from 0, an affine form of operands that fit 32 bits and have not wrapped around, has one sign for all
# values of the piece; such a condition reads no memory and cannot stop. In `a and b`, which is evaluated from the
# left, an `a` that is not known is dropped for a `b` that is false only if it cannot stop the kernel either. The
# sides of a choice are left as they are, and so is the order of operations in them.
SPLIT = Transform("split", "Loops are split where a choice by position, or a remainder, turns", MODES, plan_split)


def _read(state: State, loop: For) -> Choice | None:
    loops = [loop]
    while isinstance(inner := loops[-1].body, For):
        loops.append(inner)
    block = inner if isinstance(inner, Block) else None
    store = inner if block is None else block.body
    if not isinstance(store, BufferStore) or not _turns_by_position(state, loop, store) or has_chosen_sizes(store):
        return None
    if block is not None and (block.init or block.predicate or block.matches or block.alloc_buffers):
        return None
    ranges: dict[PrimVar, Interval] = {}
    for item in loops:
        start, extent = state.bounds.constant(item.start), state.bounds.constant(item.extent)
        if start is None or extent is None or extent < 1 or item.step is not None or item.kind == "thread_binding":
            return None
        ranges[item.var] = Interval(start, start + extent - 1)
    known = {var: Affine(value) for var, value in state.bounds.values.items()}
    values = dict(known)
    for item in () if block is None else block.iter_vars:
        value = affine_of_binding(item, known, ranges)
        if value is None or item.start is not None:
            return None
        values[item.var] = value
    return Choice(tuple(loops), block, store, values, ranges)


def _turns_by_position(state: State, loop: For, store: BufferStore) -> bool:
    """Tell whether a value chooses, or has remainders that make no sum of loop variables, as those of a reshape do."""
    kinds = {item.op if isinstance(item, Binary) else type(item) for item in postorder(store.value)}
    return Select in kinds or ("%" in kinds and isinstance(read_nest(state, loop, may_start_later=True), str))


@dataclass(slots=True)
class _Splitting:
    """Splits the loops of a choice; `count` is how many pieces there are so far."""

    choice: Choice
    count: int = 0

    def split(self, depth: int, ranges: Ranges, value: PrimExpr) -> tuple[Stmt, ...] | None:
        """Return the loops from `depth` on, each cut where a comparison along it changes, with what is chosen there.

        `None` as soon as they are more than the limit: each cut multiplies those of the loops inside.
        """
        choice = self.choice
        value = resolved(value, partial(_decide, choice, ranges))
        if depth == len(choice.loops):
            self.count += 1
            if self.count > PIECE_LIMIT:
                return None
            store = replace(choice.store, value=value)
            return (store if choice.block is None else replace(choice.block, body=store),)
        loop = choice.loops[depth]
        whole = ranges[loop.var]
        starts = [whole.low, *_cuts(choice, ranges, value, loop.var)]
        if len(starts) > PIECE_LIMIT:
            return None
        made: list[Stmt] = []
        for low, following in zip(starts, [*starts[1:], whole.high + 1], strict=True):
            body = self.split(depth + 1, {**ranges, loop.var: Interval(low, following - 1)}, value)
            if body is None:
                return None
            start = IntImm(low, loop.var.dtype, span=loop.start.span)
            extent = IntImm(following - low, loop.var.dtype, span=loop.extent.span)
            made.append(replace(loop, start=start, extent=extent, body=body[0] if len(body) == 1 else SeqStmt(body)))
        return tuple(made)


def _decide(choice: Choice, ranges: Ranges, comparison: Binary) -> bool | None:
    distance = _distance(choice, comparison.a, comparison.b)
    found = None if distance is None else distance.interval(ranges)
    return None if found is None else _compared(comparison.op, found)


def _compared(op: BinaryKind, distance: Interval) -> bool | None:
    """Tell whether `distance op 0` holds for all values, or for none; `None` for some, or if it is no comparison."""
    low, high = distance.low, distance.high
    always, never = {
        "<": (high < 0, low >= 0),
        "<=": (high <= 0, low > 0),
        ">": (low > 0, high <= 0),
        ">=": (low >= 0, high < 0),
        "==": (low == high == 0, low > 0 or high < 0),
        "!=": (low > 0 or high < 0, low == high == 0),
    }.get(op, (False, False))
    return True if always else False if never else None


def _cuts(choice: Choice, ranges: Ranges, value: PrimExpr, var: PrimVar) -> list[int]:
    """Return the values of `var` from which on a comparison has another result, or a quotient another value."""
    found: set[int] = set()
    for place, by in () if choice.chooses else _remainders(choice, value):
        if {*place.coefficients} == {var}:
            found.update(islice(_turns(place.constant, place.of(var), ranges[var], by), PIECE_LIMIT + 1))
    for item in comparisons(value):
        distance = _distance(choice, item.a, item.b)
        if distance is not None and {*distance.coefficients} == {var}:
            found |= {*_changes(distance.constant, distance.of(var), ranges[var])}
    return sorted(found)


def _changes(constant: int, factor: int, values: Interval) -> Iterator[int]:
    """Yield where `constant + factor * v` passes 0: the first `v` at 0 or behind, and the first behind 0."""
    if factor < 0:
        constant, factor = -constant, -factor
    for at in (-(constant // factor), -constant // factor + 1):
        if values.low < at <= values.high:
            yield at


def _remainders(choice: Choice, value: PrimExpr) -> Iterator[tuple[Affine, int]]:
    """Yield what there are remainders of, and by which numbers."""
    for item in postorder(value):
        match item:
            case Binary(op="%", a=a, b=IntImm(value=by)) if by > 0:
                place = affine_of(a, choice.values, choice.ranges)
                if place is not None:
                    yield place, by
            case _:
                pass


def _turns(constant: int, factor: int, values: Interval, by: int) -> Iterator[int]:
    """Yield where `(constant + factor * v) // by` changes, as `v` goes through its values."""
    first, last = ((constant + factor * v) // by for v in (values.low, values.high))
    if factor < 0:
        yield from ((constant - multiple * by) // -factor + 1 for multiple in range(first, last, -1))
    else:
        yield from (-((constant - multiple * by) // factor) for multiple in range(first + 1, last + 1))


def _distance(choice: Choice, a: PrimExpr, b: PrimExpr) -> Affine | None:
    """Return `a - b`, of integers that have a sign and do not wrap around where they are compared."""
    parts = [item for side in (a, b) for item in postorder(side) if isinstance(item, PrimExpr)]
    if any(dtype_of(item) not in ("int32", "int64") for item in parts):
        return None
    left, right = (affine_of(side, choice.values, choice.ranges) for side in (a, b))
    if left is None or right is None:
        return None
    intervals = (left.interval(choice.ranges), right.interval(choice.ranges))
    return left.plus(right, -1) if all(item is not None and item.is_within(_FITTING) for item in intervals) else None


def _is_free(state: State, choice: Choice) -> bool:
    """Tell whether the stores may come in any order: each element is stored once, and none is read."""
    storage = state.environment.storage.get(choice.store.buffer)
    if storage is None or storage.memory is not None:
        return False
    offset = Affine()
    for index, stride in zip(choice.store.indices, storage.strides, strict=False):
        place = affine_of(index, choice.values, choice.ranges)
        if place is None or "%" in stride or not place.fits(dtype_of(index), choice.ranges):
            return False
        offset = offset.plus(place, int(stride))
    terms = ((var, offset.of(var), values.high - values.low + 1) for var, values in choice.ranges.items())
    if overlapping(terms) is not None:
        return False
    loads = (item.buffer for item in postorder(choice.store) if isinstance(item, BufferLoad))
    others = [state.environment.storage.get(buffer) for buffer in loads]
    return all(item is not None and item.memory is None and item.pointer != storage.pointer for item in others)


def _emit(state: State, pieces: tuple[Stmt, ...]) -> None:
    """Lower each piece as loops of its own."""
    for piece in pieces:
        state.lower_stmt(piece)
