"""Indices that are affine in the loop: the first and the last one are checked, for all between."""

from collections.abc import Iterator
from dataclasses import dataclass

from relax_core.ir.integer.polynomial import constant_of
from relax_core.ir.integer.strides import StrideReader, Strides
from relax_core.ir.tir import Block, For, LetStmt
from relax_core.jit.lowering.loops import Counting
from relax_core.jit.lowering.scalars.scalar import is_safe, lower_expr
from relax_core.jit.lowering.state import State
from relax_core.jit.transforms.indirect.guard_read import Check, CheckTree
from relax_core.jit.transforms.indirect.guard_runs import Around
from relax_core.jit.transforms.indirect.guard_vectors import at_iteration, trip_count

# So that what inner loops add to an index fits a word.
LARGEST_STEP = LARGEST_COUNT = 1 << 24


@dataclass(frozen=True, slots=True)
class Rising:
    """A check of an index that is affine in the outermost loop of `path`, with the stride `step`.

    Within one iteration of that loop it reaches from `below` less to `above` more than it starts with.
    """

    path: tuple[Around, ...]
    check: Check
    step: int
    above: int
    below: int


def read_rising(state: State, scope: CheckTree) -> list[Rising]:
    """Find the checks of indices that rise in a loop."""
    mark = state.bounds.mark()
    found = [*_rising(state, StrideReader(state.bounds), scope, ())]
    state.bounds.leave(mark)
    return found


def _rising(state: State, reader: StrideReader, scope: CheckTree, path: tuple[Around, ...]) -> Iterator[Rising]:
    # Inner loops may have no iterations in which an index were computed.
    if path and isinstance(scope.stmt, For) and not _count(state, scope.stmt):
        return
    if not _is_entered_safely(state, scope.stmt):
        return
    reader.enter(scope.stmt)
    path = (*path, scope.stmt)
    for part in scope.parts:
        if isinstance(part, CheckTree):
            yield from _rising(state, reader, part, path)
        elif not part.conditions and is_safe(state, part.index):
            found = reader.of_index(part.index)
            rising = None if found is None else _read(state, path, part, found[0])
            if rising is not None:
                yield rising


def _is_entered_safely(state: State, stmt: Around) -> bool:
    """Tell whether the first iteration of a statement is found without a stop; what a let binds may be loaded."""
    match stmt:
        case For(start=start):
            return is_safe(state, start)
        case Block(iter_vars=iter_vars):
            return all(is_safe(state, item.binding) for item in iter_vars)
        case LetStmt():
            return False


def _count(state: State, loop: For) -> int:
    """Return how many iterations a loop has, 0 if they are not known to be some, and not too many, from 0 on."""
    bounds = state.bounds
    count = bounds.constant(loop.extent) or 0
    return count if 0 < count <= LARGEST_COUNT and bounds.constant(loop.start) == 0 else 0


def _read(state: State, path: tuple[Around, ...], check: Check, strides: Strides) -> Rising | None:
    step = above = below = 0
    for loop, polynomial in strides.items():
        by = constant_of(polynomial)
        if by is None or abs(by) > LARGEST_STEP:
            return None
        if loop is path[0]:
            step = by
            continue
        reach = by * (_count(state, loop) - 1)
        above, below = above + max(reach, 0), below + max(-reach, 0)
    return Rising(path, check, step, above, below)


def check_ends(state: State, rising: Rising, counting: Counting) -> str:
    """Emit whether an index is in range in all iterations, of which there is one at least."""
    code, check = state.code, rising.check
    scalar = state.scalar_of(check.index)
    site_count = len(state.emitted.sites)
    with at_iteration(state, rising.path, counting.first):
        first = state.widen(lower_expr(state, check.index), scalar)
    assert len(state.emitted.sites) == site_count, "nothing stops while it is looked ahead"
    extent = state.environment.storage[check.access.buffer].extents[check.position]
    # Up to the greatest value of its dtype an index does not wrap around.
    most = min(scalar.high + 1, (1 << 63) - 1)
    if "%" in extent:
        code.declare("declare i64 @llvm.smin.i64(i64, i64)")
        extent = code.emit(f"call i64 @llvm.smin.i64(i64 {extent}, i64 {most})")
    else:
        extent = str(min(int(extent), most))
    fits = code.emit(f"icmp ult i64 {first}, {extent}")
    others = code.emit(f"sub i64 {trip_count(state, counting)}, 1") if rising.step else "0"
    last = code.emit(f"sub i64 {extent}, 1")
    for room, reach, step in (
        (code.emit(f"sub i64 {last}, {first}"), rising.above, max(rising.step, 0)),
        (first, rising.below, max(-rising.step, 0)),
    ):
        for condition in _reaches(state, room, reach, (others, step)):
            fits = code.emit(f"and i1 {fits}, {condition}", "in")
    return fits


def _reaches(state: State, room: str, reach: int, steps: tuple[str, int]) -> Iterator[str]:
    """Emit what tells that there is room, without signs, for `reach` and then for `steps`: how many, and of what."""
    code = state.code
    others, step = steps
    if reach:
        yield code.emit(f"icmp ule i64 {reach}, {room}")
        room = code.emit(f"sub i64 {room}, {reach}")
    if step == 1:
        yield code.emit(f"icmp ule i64 {others}, {room}")
    elif step:
        code.declare("declare {i64, i1} @llvm.umul.with.overflow.i64(i64, i64)")
        product = code.emit(f"call {{i64, i1}} @llvm.umul.with.overflow.i64(i64 {others}, i64 {step})")
        yield code.emit(f"xor i1 {code.emit(f'extractvalue {{i64, i1}} {product}, 1')}, true")
        yield code.emit(f"icmp ule i64 {code.emit(f'extractvalue {{i64, i1}} {product}, 0')}, {room}")
