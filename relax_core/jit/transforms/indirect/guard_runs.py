"""Runs: indices that are loaded from contiguous memory, so that a guard can check them in vectors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from relax_core.ir.integer.polynomial import Polynomial, add, constant, constant_of, multiply
from relax_core.ir.integer.strides import StrideReader, Strides
from relax_core.ir.node import postorder
from relax_core.ir.prim import PrimExpr
from relax_core.ir.tir import Block, BufferLoad, For, LetStmt
from relax_core.jit.lowering.state import State
from relax_core.jit.transforms.indirect.guard_read import Bound, Check, CheckTree, bound_of

Around: TypeAlias = For | Block | LetStmt


@dataclass(frozen=True, slots=True)
class Run:
    """Indices that are contiguous in memory, those of an iteration followed by those of the next.

    `path` are the enclosing statements, outermost first. `load` loads the first index of an iteration, `bounds` are the
    bounds of all of its indices. Each iteration of `loops` extends the run; those of `idle` read it again.
    """

    path: tuple[Around, ...]
    load: BufferLoad
    bounds: tuple[Bound, ...]
    checks: frozenset[Check]
    loops: tuple[For, ...]
    idle: tuple[For, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """The load of an index to check: the strides of its offset in the loops, and the loop-invariant rest."""

    path: tuple[Around, ...]
    check: Check
    bound: Bound
    load: BufferLoad
    strides: Strides
    rest: Polynomial[int]


def read_runs(state: State, scope: CheckTree) -> list[Run]:
    """Find the runs among the checks of a loop; the checks in none of them are scanned one by one."""
    mark = state.bounds.mark()
    found = [*_RunReader(state, StrideReader(state.bounds)).read(scope, ())]
    state.bounds.leave(mark)
    runs: list[Run] = []
    while found:
        first = found[0]
        alike = [item for item in found if _distance(first, item) is not None]
        run = _run(state, first, alike)
        found = [item for item in found if item is not first and (run is None or item.check not in run.checks)]
        runs += [] if run is None else [run]
    return runs


def _distance(a: _Found, b: _Found) -> int | None:
    """Return the distance in elements between two indices, `None` if it is not the same constant in every iteration."""
    if a.load.buffer is not b.load.buffer or a.path != b.path or {**a.strides} != {**b.strides}:
        return None
    return constant_of(add(b.rest, a.rest, -1))


def _run(state: State, first: _Found, alike: Sequence[_Found]) -> Run | None:
    """Join indices at constant distances that together fill the smallest stride; `None` if they leave gaps."""
    loops = [item for item in first.path if isinstance(item, For)]
    counts = [constant_of(stride) for stride in first.strides.values()]
    width = min((count for count in counts if count is not None and count > 0), default=1)
    by_place: dict[int, list[_Found]] = {}
    for item in alike:
        by_place.setdefault(_distance(first, item) or 0, []).append(item)
    least = min(by_place) if width > 1 else 0
    chosen = [by_place.get(least + place, []) for place in range(width)]
    chain = _chain(state, first, loops, width)
    if chain is None or not all(chosen):
        return None
    heads = [items[0] for items in chosen]
    checks = (
        item.check
        for items in chosen
        for item in items
        if (item.bound.shift, item.bound.extent) == (items[0].bound.shift, items[0].bound.extent)
    )
    idle = tuple(loop for loop in loops if loop not in chain)
    bounds = tuple(item.bound for item in heads)
    return Run(first.path, heads[0].load, bounds, frozenset(checks), chain, idle)


def _chain(state: State, found: _Found, loops: Sequence[For], width: int) -> tuple[For, ...] | None:
    """Order loops so that each has the stride that all iterations of the one before cover; `None` if there are gaps."""
    moving = [loop for loop in loops if loop in found.strides]
    chain: list[For] = []
    step = constant(width)
    while moving:
        following = next((loop for loop in moving if found.strides[loop] == step), None)
        if following is None:
            return None
        moving.remove(following)
        chain.append(following)
        step = multiply(step, state.bounds.poly(following.extent))
    is_outermost_last = loops[0] not in chain[:-1]
    return tuple(chain) if is_outermost_last else None


@dataclass(slots=True)
class _RunReader:
    """Collects the loads of the indices that a loop checks."""

    state: State
    strides: StrideReader

    def read(self, scope: CheckTree, path: tuple[Around, ...]) -> Iterator[_Found]:
        """Yield the checks whose index is a load with constant strides."""
        stmt = scope.stmt
        if path and isinstance(stmt, For) and any(map(self.strides.is_variant, (stmt.start, stmt.extent))):
            return
        self.strides.enter(stmt)
        for part in scope.parts:
            if isinstance(part, CheckTree):
                yield from self.read(part, (*path, stmt))
            elif (found := self._check(part, (*path, stmt))) is not None:
                yield found

    def _check(self, check: Check, path: tuple[Around, ...]) -> _Found | None:
        bound = bound_of(self.state, check)
        if check.conditions or not isinstance(bound.index, BufferLoad):
            return None
        load = bound.index
        # An inner loop may have no iterations.
        may_be_idle = any(isinstance(item, For) for item in path[1:])
        if self.state.scalar_of(load).kind not in ("int", "uint") or (may_be_idle and _has_data(path, load)):
            return None
        place = self.strides.of_access(load)
        return None if place is None else _Found(path, check, bound, load, *place)


def _has_data(path: Sequence[Around], load: BufferLoad) -> bool:
    """Tell whether the address of an index is itself loaded."""
    exprs: list[PrimExpr] = [*load.indices]
    for item in path:
        match item:
            case Block(iter_vars=iter_vars):
                exprs += (var.binding for var in iter_vars)
            case LetStmt(value=value):
                exprs.append(value)
            case For():
                pass
    return any(isinstance(item, BufferLoad) for expr in exprs for item in postorder(expr))
