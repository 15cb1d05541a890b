"""Guard loops with indirect accesses: check the indices of a tile of iterations ahead, then run it unchecked.

If an index is out of bounds, the loop is deoptimised: it resumes as written, with its checks, at the first iteration
of that tile, so that every store before the violation happens and the violation itself is reported in order.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from relax_core.ir.integer.polynomial import constant_of
from relax_core.ir.integer.strides import StrideReader, Strides
from relax_core.ir.node import postorder
from relax_core.ir.prim import PrimExpr
from relax_core.ir.tir import Block, BufferLoad, For, LetStmt, Stmt
from relax_core.jit.lowering.code import phi
from relax_core.jit.lowering.known.work import static_work
from relax_core.jit.lowering.loops import (
    CHARGED_AHEAD,
    CHUNK,
    Counting,
    Iterations,
    counted,
    is_short,
    least,
    lower_for,
    stores_apart,
)
from relax_core.jit.lowering.scalars.arithmetic import convert
from relax_core.jit.lowering.scalars.scalar import is_safe, lower_expr
from relax_core.jit.lowering.scalars.types import SCALAR_TYPES
from relax_core.jit.lowering.state import State
from relax_core.jit.options import Mode
from relax_core.jit.transforms.indirect.gather_read import gathers_inside
from relax_core.jit.transforms.indirect.guard_read import (
    Check,
    CheckTree,
    Rising,
    bound_of,
    limit_of,
    read_by,
    read_checks,
)
from relax_core.jit.transforms.indirect.guard_rows import TOGETHER, GuardedRows, emit_rows, read_rows
from relax_core.jit.transforms.indirect.guard_runs import Around, Run, read_runs
from relax_core.jit.transforms.indirect.guard_vectors import at_iteration, can_scan, scan, trip_count
from relax_core.jit.transforms.indirect.plan_nest import Range, guarded, in_tiles, iterations, side_by_side
from relax_core.jit.transforms.nest_values import enter_block
from relax_core.jit.transforms.transform import Plan, Refusal, Transform

MODES: frozenset[Mode] = frozenset(("bitwise", "exact", "fast"))
# Indices that one scan reads: so few that the processor overlaps the tile's arithmetic with the next scan's loads.
TILE = 64
# Trip counts of at least this many tiles are cut into tiles of a constant size.
MANY = 4
# Shorter loops are fully unrolled with their checks, which costs no more than a guard.
SHORTEST = 32


# Bounds on strides and trip counts, so that the reach of the inner loops fits 64 bits.
LARGEST_STEP = LARGEST_COUNT = 1 << 24


def read_rising(state: State, scope: CheckTree) -> list[Rising]:
    """Find the checks whose indices are affine in a loop."""
    mark = state.bounds.mark()
    found = [*_rising(state, StrideReader(state.bounds), scope, ())]
    state.bounds.leave(mark)
    return found


def _rising(state: State, reader: StrideReader, scope: CheckTree, path: tuple[Around, ...]) -> Iterator[Rising]:
    # The body of an inner loop that may have no iterations may never compute the index.
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
    """Tell whether the first values of a statement's variables need no check; the value of a let may be loaded."""
    match stmt:
        case For(start=start):
            return is_safe(state, start)
        case Block(iter_vars=iter_vars):
            return all(is_safe(state, item.binding) for item in iter_vars)
        case LetStmt():
            return False


def _count(state: State, loop: For) -> int:
    """Return the trip count of a loop from 0; 0 if it is unknown, zero, or above `LARGEST_COUNT`."""
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
    """Emit whether an affine index is in bounds in all of at least one iteration, by its value in the first one."""
    code, check = state.code, rising.check
    scalar = state.scalar_of(check.index)
    site_count = len(state.emitted.sites)
    with at_iteration(state, rising.path, counting.first):
        first = state.widen(lower_expr(state, check.index), scalar)
    assert len(state.emitted.sites) == site_count, "nothing stops while it is looked ahead"
    extent = state.environment.storage[check.access.buffer].extents[check.position]
    # Below the largest value of its dtype the index cannot have wrapped around.
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
    """Emit the conditions of `reach + count * step <= room`, unsigned, no overflow; `steps` is (count, step)."""
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


def plan_guard(state: State, loop: For) -> Plan | Refusal | None:
    """Plan a loop whose body is charged with it: then a tile can be scanned and run without a stop in between."""
    if not state.options.is_checked or loop.kind == "thread_binding" or loop.step is not None:
        return None
    inner = static_work(state, loop.body)
    if inner is None or inner > CHARGED_AHEAD:
        return None
    if gathers_inside(state, loop):
        return None
    found = read_checks(state, loop)
    if found is None or isinstance(found, str):
        return None if found is None else Refusal(found)
    if any(isinstance(item, BufferLoad) for item in postorder(loop.extent)):
        found = found.only(frozenset(item.check for item in read_rising(state, found)))
        if found is None:
            return Refusal("its number of rounds is data, and may be small")
        return _planned(_Guard(state, loop, found))
    rows = read_rows(state, loop, found)
    if rows is not None:
        return _planned(_Guard(state, loop, found, rows))
    if _has_long_rows(state, found):
        return None
    if _is_short(state, loop, found) and not _is_cheap(state, loop, found):
        return Refusal("rows of so few rounds are as fast with their checks")
    return _planned(_Guard(state, loop, found))


def _planned(guard: "_Guard") -> Plan:
    names = ", ".join(dict.fromkeys(f"`{check.access.buffer.name}`" for check in guard.checks.checks()))
    reason = f"indices of {names} are checked ahead, for many rounds at once"
    reason += f"; {TOGETHER} rows are added up side by side" if guard.rows is not None else ""
    return Plan(reason, guard.emit, lambda: (guard.told(),))


# Why the bits stay: a tile whose guard holds runs as written, less the checks that the guard subsumes. The guard
# computes the tile's indices ahead from values that no store of the loop changes: their buffers are no views, and do
# not alias what is stored. The guard itself cannot stop the kernel: the loads in an index are proven in bounds, or
# were checked at a lower level before. An index that is accessed under a condition only counts where the condition
# holds. If the guard fails, the tile has had no effect, and the loop resumes as written, with all checks, at the
# tile's first iteration: every store before the violation happens, and the check of the text reports it.
GUARD = Transform("guard", "Indices that are data are checked ahead, for many rounds at once", MODES, plan_guard)


@dataclass(frozen=True, slots=True)
class _Guard:
    """Emits a guarded loop; `checks` are those that the guard makes, `rows` are iterations to interleave, if it can."""

    state: State
    loop: For
    checks: CheckTree
    rows: GuardedRows | None = None

    def emit(self) -> None:
        """Write the code of the whole loop."""
        lower_for(self.state, self.loop, Iterations(self._iterations))

    def _iterations(self, counting: Counting) -> None:
        """Emit iterations whose fuel is charged: guarded tiles, then the loop as written for what they left."""
        state, code = self.state, self.state.code
        size, is_even = self._tiles()
        careful, leave, head, tile, rest = (code.label(hint) for hint in ("careful", "done", "tiles", "tile", "rest"))
        before = code.block
        code.goto(head)
        base, following = f"%{code.label('base')}", f"%{code.label('next')}"
        position = code.reserve()
        full = code.emit(f"add nuw nsw i64 {base}, {size}")
        end = full if is_even else least(state, full, counting.end)
        is_whole = f"icmp sle i64 {full}, {counting.end}" if is_even else f"icmp slt i64 {base}, {counting.end}"
        code.branch(code.emit(is_whole), tile, rest)
        code.start(tile)
        self._tile(replace(counting, first=base, end=end, count=size if is_even else 0), careful)
        code.do(f"{following} = add i64 {end}, 0")
        code.fill(position, f"{base} = {phi('i64', (counting.first, before), (following, code.block))}")
        code.jump(head)
        code.start(rest)
        code.branch(code.emit(f"icmp slt i64 {base}, {counting.end}"), careful, leave)
        code.start(careful)
        options, state.options = state.options, replace(state.options, is_transformed=False)
        was_deoptimised, state.position.is_deoptimised = state.position.is_deoptimised, True
        counted(state, self.loop, replace(counting, first=base))
        state.options, state.position.is_deoptimised = options, was_deoptimised
        code.goto(leave)

    def _tiles(self) -> tuple[int, bool]:
        """Return how many iterations a tile has, and whether all tiles have as many."""
        state = self.state
        rising, *_ = _apart(state, self.checks)
        # An affine index costs two comparisons, whatever the size of the tile.
        looks = len(rising) < len([*self.checks.checks()]) and self.loop.var in read_by(self.checks.parts)
        size = max(TILE // _scan_count(state, self.checks.parts), 1) if looks else CHUNK
        if self.rows is not None:
            return TOGETHER, True
        # A constant trip count lets LLVM unroll the tile; it pays where it leaves few or no iterations over.
        count = state.bounds.constant(self.loop.extent) or 0
        is_innermost = not any(isinstance(item, For) for item in postorder(self.loop.body))
        return size, count >= MANY * size and count % size == 0 and (size == 1 or is_innermost)

    def told(self) -> Stmt:
        """Return the loop of tiles: what is looked at ahead, and both ways to go on."""
        rising = read_rising(self.state, self.checks)
        scanned = self.checks.only(frozenset(self.checks.checks()) - {item.check for item in rising})
        size, is_even = self._tiles()

        def tile(part: Range) -> Stmt:
            run = iterations(self.loop, part) if self.rows is None else side_by_side(self.loop, self.rows, part)
            return guarded(self.loop, part, rising, scanned, run)

        return in_tiles(self.loop, size, tile, is_even=is_even)

    def _tile(self, counting: Counting, careful: str) -> None:
        """Emit one tile without its checks, behind a guard that branches to `careful` if it fails.

        Levels of indirection are guarded in order: an index of level n loads elements that level n - 1 has checked.
        """
        state, code = self.state, self.state.code
        kept = dict(state.position.assumed)
        for level in sorted({check.level for check in self.checks.checks()}):
            checks = [check for check in self.checks.checks() if check.level == level]
            part = self.checks.only(frozenset(checks))
            assert part is not None, "there is a check of each level"
            fine = code.label("fine")
            code.branch(self._scan(part, counting), fine, careful, expects_true=True)
            code.start(fine)
            for check in checks:
                state.position.assumed[check.key] = not check.conditions and state.position.assumed.get(check.key, True)
        if self.rows is None:
            counted(state, self.loop, counting)
        else:
            emit_rows(state, self.loop, self.rows, counting)
        state.position.assumed.clear()
        state.position.assumed.update(kept)

    def _scan(self, scope: CheckTree, counting: Counting) -> str:
        """Emit the guard of some iterations; return the `i1` that says whether all indices are in bounds."""
        state, code = self.state, self.state.code
        site_count = len(state.emitted.sites)
        fits = "true"
        rising, runs, others = _apart(state, scope)
        for item in {(item.check.access.buffer.shape, item.check.index): item for item in rising}.values():
            before = code.set_location(item.check.access, is_check=True)
            fits = code.emit(f"and i1 {fits}, {check_ends(state, item, counting)}")
            code.restore_location(before)
        for run in runs:
            first = next(check for check in scope.checks() if check in run.checks)
            before = code.set_location(first.access, is_check=True)
            fits = code.emit(f"and i1 {fits}, {scan(state, run, counting)}")
            code.restore_location(before)
        if others is None:
            return fits
        # Indices with one bound share one running maximum.
        limits = {check: bound_of(state, check) for check in others.checks()}
        kind_of = {check: (state.scalar_of(check.index), bound.shift, bound.extent) for check, bound in limits.items()}
        place_of = {kind: f"%{code.label('greatest')}" for kind in dict.fromkeys(kind_of.values())}
        for (scalar, *_), place in place_of.items():
            code.entry.append(f"{place} = alloca {scalar.register}")
            code.do(f"store {scalar.register} 0, ptr {place}")
        places = {check: place_of[kind] for check, kind in kind_of.items()}
        _MaximumScan(state, places).loop(others, self.loop, counting)
        assert len(state.emitted.sites) == site_count, "nothing stops while it is looked ahead"
        for check, bound in {places[check]: (check, bound) for check, bound in limits.items()}.values():
            scalar = state.scalar_of(check.index)
            found = state.widen(code.emit(f"load {scalar.register}, ptr {places[check]}"), scalar)
            is_in = code.emit(f"icmp ult i64 {found}, {limit_of(state, bound)}", "in")
            fits = code.emit(f"and i1 {fits}, {is_in}")
        return fits


@dataclass(frozen=True, slots=True)
class _MaximumScan:
    """Emits loops that reduce each index to its unsigned maximum, in a stack slot; a negative index is a large one."""

    state: State
    greatest: Mapping[Check, str]

    def loop(self, scope: CheckTree, loop: For, counting: Counting) -> None:
        """Emit a loop of the scan; if no index depends on it, its first iteration stands for all."""
        if loop.var not in read_by(scope.parts):
            second = self.state.code.emit(f"add i64 {counting.first}, 1")
            self.state.code.declare("declare i64 @llvm.smin.i64(i64, i64)")
            end = self.state.code.emit(f"call i64 @llvm.smin.i64(i64 {second}, i64 {counting.end})")
            counting = replace(counting, end=end, count=0)
        is_innermost = all(isinstance(part, Check) for part in _inside(scope.parts))
        counting = replace(counting, leave="", is_kept=is_innermost and is_short(self.state, loop))
        counted(self.state, loop, counting, lambda: self._parts(scope.parts))

    def _parts(self, parts: "Sequence[CheckTree | Check]") -> None:
        for part in parts:
            if isinstance(part, Check):
                self._check(part)
            else:
                self._scope(part)

    def _scope(self, scope: CheckTree) -> None:
        state = self.state
        mark = state.bounds.mark()
        match scope.stmt:
            case For(start=start, extent=extent) as loop:
                first, count = (state.widen(lower_expr(state, item), state.scalar_of(item)) for item in (start, extent))
                self.loop(scope, loop, Counting(first, "1", "0", count, ""))
            case Block() as block:
                bound = enter_block(state, block)
                self._parts(scope.parts)
                state.forget(bound)
            case LetStmt(var=var, value=value):
                register = lower_expr(state, value)
                state.bind(var, value, convert(state, register, state.scalar_of(value), state.scalar_of(var)))
                self._parts(scope.parts)
                state.forget()
        state.bounds.leave(mark)

    def _check(self, check: Check) -> None:
        state, code = self.state, self.state.code
        before = code.set_location(check.access, is_check=True)
        scalar = state.scalar_of(check.index)
        llvm, place = scalar.register, self.greatest[check]
        bound = bound_of(state, check)
        register = lower_expr(state, bound.index)
        register = code.emit(f"add {llvm} {register}, {bound.shift}") if bound.shift else register
        for condition in check.conditions:
            register = code.emit(f"select i1 {self._truth(condition)}, {llvm} {register}, {llvm} 0")
        code.declare(f"declare {llvm} @llvm.umax.{llvm}({llvm}, {llvm})")
        before_it = code.emit(f"load {llvm}, ptr {place}")
        total = code.emit(f"call {llvm} @llvm.umax.{llvm}({llvm} {before_it}, {llvm} {register})")
        code.do(f"store {llvm} {total}, ptr {place}")
        code.restore_location(before)

    def _truth(self, condition: PrimExpr) -> str:
        register = lower_expr(self.state, condition)
        return convert(self.state, register, self.state.scalar_of(condition), SCALAR_TYPES["bool"])


def _has_long_rows(state: State, scope: CheckTree) -> bool:
    """Tell whether all checks are in an inner loop that is long enough for a guard of its own."""
    match scope.parts:
        case (CheckTree(stmt=For(extent=extent, var=var)) as row,):
            return (state.bounds.constant(extent) or 0) > TILE and var in read_by(row.parts)
        case _:
            return False


def _apart(state: State, scope: CheckTree) -> "tuple[list[Rising], list[Run], CheckTree | None]":
    """Split checks by how they are made: affine ones at both ends, contiguous runs in vectors, the rest one by one."""
    rising = read_rising(state, scope)
    left = frozenset(scope.checks()) - {item.check for item in rising}
    some = scope.only(left)
    runs = [] if some is None else [run for run in read_runs(state, some) if can_scan(state, run)]
    return rising, runs, scope.only(left.difference(*(run.checks for run in runs)))


def _is_cheap(state: State, loop: For, scope: CheckTree) -> bool:
    """Tell whether the scan is cheap even for few iterations: all indices are affine or contiguous in memory."""
    _, runs, others = _apart(state, scope)
    return others is None and all(loop in run.loops for run in runs)


def _is_short(state: State, loop: For, scope: CheckTree) -> bool:
    """Tell whether the checks are in a short innermost loop, which is fully unrolled with them."""
    count = state.bounds.constant(loop.extent)
    inner = [part for part in scope.parts if isinstance(part, CheckTree) and isinstance(part.stmt, For)]
    if inner:
        return any(isinstance(part.stmt, For) and _is_short(state, part.stmt, part) for part in inner)
    is_looked_at = loop.var in read_by(scope.parts)
    return count is not None and count < SHORTEST and is_looked_at and stores_apart(loop)


def _inside(parts: "Sequence[CheckTree | Check]") -> "list[CheckTree | Check]":
    """Return the checks and loops of `parts`; blocks and lets are replaced by what is in them."""
    found: list[CheckTree | Check] = []
    for part in parts:
        is_binding = isinstance(part, CheckTree) and not isinstance(part.stmt, For)
        found += _inside(part.parts) if isinstance(part, CheckTree) and is_binding else [part]
    return found


def _scan_count(state: State, parts: "Sequence[CheckTree | Check]") -> int:
    """Return the largest number of indices of one check that an iteration scans."""
    counts = [1]
    for part in parts:
        if isinstance(part, CheckTree):
            loop = part.stmt if isinstance(part.stmt, For) and part.stmt.var in read_by(part.parts) else None
            extent = None if loop is None else state.bounds.constant(loop.extent)
            counts.append(_scan_count(state, part.parts) * max(extent or 1, 1))
    return max(counts)
