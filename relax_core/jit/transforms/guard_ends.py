"""Indices that rise by one from round to round: both ends of what they go through are looked at."""

from collections.abc import Iterator
from dataclasses import dataclass

from relax_core.ir.tir import For, LetStmt
from relax_core.jit.lowering.loops import Counting
from relax_core.jit.lowering.polynomial import constant_value
from relax_core.jit.lowering.scalar import lower_expr
from relax_core.jit.lowering.state import State
from relax_core.jit.transforms.guard_read import Check, Scope
from relax_core.jit.transforms.guard_runs import Around
from relax_core.jit.transforms.guard_vectors import at_round, round_count
from relax_core.jit.transforms.steps import Stepping


@dataclass(frozen=True, slots=True)
class Rising:
    """A check of an index that rises by one from round to round, inside of `path`."""

    path: tuple[Around, ...]
    check: Check


def read_rising(state: State, scope: Scope) -> list[Rising]:
    """Find the checks of indices that rise in a loop."""
    mark = state.bounds.mark()
    found = [*_rising(Stepping(state), scope, ())]
    state.bounds.leave(mark)
    return found


def _rising(stepping: Stepping, scope: Scope, path: tuple[Around, ...]) -> Iterator[Rising]:
    # What is bound may be loaded, and inner loops may have no rounds in which it were.
    if isinstance(scope.stmt, LetStmt) or (path and isinstance(scope.stmt, For)):
        return
    stepping.enter(scope.stmt)
    path = (*path, scope.stmt)
    for part in scope.parts:
        if isinstance(part, Scope):
            yield from _rising(stepping, part, path)
        elif not part.conditions:
            found = stepping.linear(part.index)
            if found is not None and [constant_value(step) for step in found[0].values()] == [1]:
                yield Rising(path, part)


def look_at_ends(state: State, rising: Rising, counting: Counting) -> str:
    """Emit whether an index is in range in all rounds, of which there is one at least."""
    code, check = state.code, rising.check
    scalar = state.scalar_of(check.index)
    site_count = len(state.sites)
    with at_round(state, rising.path, counting.first):
        least = state.widen(lower_expr(state, check.index), scalar)
    assert len(state.sites) == site_count, "nothing stops while it is looked ahead"
    extent = state.storage[check.access.buffer].extents[check.position]
    # Up to the greatest value of its dtype an index does not wrap around.
    most = min(scalar.high + 1, (1 << 63) - 1)
    if "%" in extent:
        code.declare("declare i64 @llvm.smin.i64(i64, i64)")
        extent = code.emit(f"call i64 @llvm.smin.i64(i64 {extent}, i64 {most})")
    else:
        extent = str(min(int(extent), most))
    is_first = code.emit(f"icmp ult i64 {least}, {extent}")
    left = code.emit(f"sub i64 {extent}, {least}")
    return code.emit(f"and i1 {is_first}, {code.emit(f'icmp ule i64 {round_count(state, counting)}, {left}')}", "in")
