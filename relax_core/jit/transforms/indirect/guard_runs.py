"""Indirect indices that lie contiguously in memory: runs, which are checked in vectors."""

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
    """Indices that lie side by side: those of one iteration behind each other, then those of the next.

    `path` is what stands around them, the outermost first. `load` is the first index of an iteration, and `bounds` are
    the limits of all of its indices. Each iteration of `loops` appends more; those of `idle` read the same again.
    """

    path: tuple[Around, ...]
    load: BufferLoad
    bounds: tuple[Bound, ...]
    checks: frozenset[Check]
    loops: tuple[For, ...]
    idle: tuple[For, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """An index of a check: where it lies in its buffer, as far as loops move it, and the rest of that."""

    path: tuple[Around, ...]
    check: Check
    bound: Bound
    load: BufferLoad
    strides: Strides
    rest: Polynomial[int]


def read_runs(state: State, scope: CheckTree) -> list[Run]:
    """Find runs among the checks of a loop; what is in none of them is checked one by one."""
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
    """Return how many elements an index lies behind another one in every iteration; `None` if that is not known."""
    if a.load.buffer is not b.load.buffer or a.path != b.path or {**a.strides} != {**b.strides}:
        return None
    return constant_of(add(b.rest, a.rest, -1))


def _run(state: State, first: _Found, alike: Sequence[_Found]) -> Run | None:
    """Join indices that lie at a constant distance: one, or as many as the innermost loop steps over."""
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
    checks = (item.check for items in chosen for item in items if _is_as(item.bound, items[0].bound))
    idle = tuple(loop for loop in loops if loop not in chain)
    bounds = tuple(item.bound for item in heads)
    return Run(first.path, heads[0].load, bounds, frozenset(checks), chain, idle)


def _is_as(a: Bound, b: Bound) -> bool:
    return (a.shift, a.extent) == (b.shift, b.extent)


def _chain(state: State, found: _Found, loops: Sequence[For], width: int) -> tuple[For, ...] | None:
    """Order the loops that move an index: a step of each is all iterations of the one before, the outermost last."""
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
    """Goes through a loop with checks."""

    state: State
    strides: StrideReader

    def read(self, scope: CheckTree, path: tuple[Around, ...]) -> Iterator[_Found]:
        """List the checks of indices that are loaded from where loops step over."""
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
        if self.state.scalar_of(load).kind not in ("int", "uint") or (_has_inner(path) and _has_data(path, load)):
            return None
        place = self.strides.of_access(load)
        return None if place is None else _Found(path, check, bound, load, *place)


def _has_inner(path: Sequence[Around]) -> bool:
    """Tell whether there are loops in the loop, which may have no iterations."""
    return any(isinstance(item, For) for item in path[1:])


def _has_data(path: Sequence[Around], load: BufferLoad) -> bool:
    """Tell whether something is loaded to know where an index lies."""
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
