"""Loops, and the fuel by which they are stopped: it is charged for many iterations at once, outside the hot code."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from relax_core.ir.node import Node, postorder
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import PrimExpr
from relax_core.ir.tir import BufferStore, For, IterVar, Stmt, While, statements
from relax_core.jit.compilation.pipelines import form_of
from relax_core.jit.lowering.checks import Site, unsupported
from relax_core.jit.lowering.code import phi
from relax_core.jit.lowering.known.repeated import repeats_itself
from relax_core.jit.lowering.known.work import always_charges, has_jump, iterated, iteration_work, static_work
from relax_core.jit.lowering.memory.storage import LoopLabels
from relax_core.jit.lowering.run_time_work import run_time_work
from relax_core.jit.lowering.scalars.counts import lower_count, require_values
from relax_core.jit.lowering.scalars.scalar import lower_expr
from relax_core.jit.lowering.state import State

# A unit of fuel is about a nanosecond of work: a loop charges it, and so polls for a cancellation, every 65 us.
CHUNK = 65536
# A nest with constant extents and no more work than this is charged once, before it starts.
CHARGED_AHEAD = 4096
# Trip counts that LLVM fully unrolls, and that fill at least a vector.
SHORTEST_ROW, LONGEST_ROW = 8, 64


@dataclass(frozen=True, slots=True)
class Counting:
    """The iterations `[first, end)` of a loop, all 64-bit registers or literals; iteration k has `start + k * step`.

    `break` branches to the block `leave`, if there is one. With `is_kept` LLVM must not unroll the loop before it
    vectorises it. `count` is the number of iterations if it is a constant, else 0.
    """

    start: str
    step: str
    first: str
    end: str
    leave: str
    is_kept: bool = False
    count: int = 0


@dataclass(frozen=True, slots=True)
class Iterations:
    """How a transformation emits iterations of a loop, charged in chunks of at most `chunk` units of fuel."""

    emit: Callable[[Counting], None]
    chunk: int = CHUNK


def lower_for(state: State, loop: For, rounds: Iterations | None = None) -> None:
    """Emit a loop; parallel, vectorised, unrolled and thread-bound ones run in order, which gives the same values."""
    start, extent = (lower_count(state, item, lower_expr) for item in (loop.start, loop.extent))
    require_values(state, loop, start, extent)
    step = "1"
    if loop.step is not None:
        step = _step(state, loop, loop.step)
        extent = _trip_count(state, extent, step)
    state.code.comment(f"for {loop.var.name}")
    inner = static_work(state, loop.body)
    work = iterated(state, loop, inner)
    # Short inner loops are charged with the outer one: an atomic subtraction each would cost more than they do.
    is_covered = always_charges(state, loop.body) and (inner is None or inner > CHARGED_AHEAD)
    was_charged = state.position.is_charged
    leave = state.code.label("left") if has_jump(loop.body, "break_loop") else ""

    emit = partial(counted, state, loop) if rounds is None else rounds.emit
    chunk = CHUNK if rounds is None else rounds.chunk

    def run(first: str, end: str) -> None:
        emit(Counting(start, step, first, end, leave))

    if state.position.is_charged:
        run("0", extent)
    elif work is not None and work <= CHARGED_AHEAD:
        if work:
            charge_fuel(state, loop, str(work))
        state.position.is_charged = True
        run("0", extent)
    elif inner is None and (paid := run_time_work(state, loop.body, CHUNK)) is not None:
        _charged_ahead(state, loop, (extent, paid, chunk), run)
    elif is_covered:
        run("0", extent)
    else:
        state.position.is_charged = inner is not None and inner <= CHUNK
        work = max(inner, 1) if inner is not None and inner <= CHUNK else iteration_work(loop.body)
        _chunked(state, loop, (extent, str(work), str(max(chunk // work, 1))), run)
    if leave:
        state.code.goto(leave)
    state.position.is_charged = was_charged


def _step(state: State, loop: For, step: PrimExpr) -> str:
    """Emit the step of a loop and the check that it is positive."""
    known = state.bounds.constant(step)
    if known is not None and known <= 0:
        hint = "Count upwards, and compute the other value from the loop variable."
        raise unsupported(f"A loop with the step {known}", loop, state.locate, hint)
    register = lower_count(state, step, lower_expr)
    if known is None and state.bounds.interval(step).low <= 0:
        hint = f"the step `{show_prim(step)}` of the loop over `{loop.var.name}` is positive"
        state.require(state.code.emit(f"icmp sgt i64 {register}, 0"), Site("assert", loop, hint=hint))
    return register


def _trip_count(state: State, extent: str, step: str) -> str:
    """Emit the trip count of a loop with a step: `ceildiv(extent, step)`."""
    if "%" not in extent and "%" not in step:
        return str(max(-(-int(extent) // int(step)), 0))
    code = state.code
    last = code.emit(f"sdiv i64 {code.emit(f'sub i64 {extent}, 1')}, {step}")
    is_run = code.emit(f"icmp sgt i64 {extent}, 0")
    return code.emit(f"select i1 {is_run}, i64 {code.emit(f'add i64 {last}, 1')}, i64 0")


def lower_while(state: State, loop: While) -> None:
    """Emit a while loop, which is charged for each iteration, as it has no trip count."""
    state.emitted.forms.add("plain")
    code = state.code
    head, body, leave = code.label("while"), code.label("do"), code.label("done")
    code.comment("while")
    code.goto(head)
    charge_fuel(state, loop, "1")
    condition = lower_expr(state, loop.condition)
    scalar = state.scalar_of(loop.condition)
    test = condition if scalar.kind == "bool" else code.emit(f"icmp ne {scalar.register} {condition}, 0")
    code.branch(test, body, leave)
    code.start(body)
    mark = state.bounds.mark()
    state.bounds.assume(loop.condition)
    state.position.loops.append(LoopLabels(head, leave))
    state.lower_stmt(loop.body)
    state.position.loops.pop()
    state.bounds.leave(mark)
    code.jump(head)
    code.start(leave)


def charge_fuel(state: State, loop: For | While, amount: str) -> None:
    """Emit an atomic charge of `amount` of fuel: another thread cancels the kernel by emptying the cell.

    Nothing is charged where a loop around has paid.
    """
    code, covered = state.code, state.position.covered
    paid = code.label("paid") if covered else ""
    if covered:
        charge = code.label("charge")
        code.branch(covered, paid, charge)
        code.start(charge)
    stood = code.set_location(loop)
    before = code.emit(f"atomicrmw sub ptr %record, i64 {amount} monotonic, align 8", "fuel")
    is_enough = code.emit(f"icmp sge i64 {before}, {amount}")
    name = f"the loop over `{loop.var.name}`" if isinstance(loop, For) else "the while loop"
    state.require(is_enough, Site("fuel", loop, hint=name))
    code.restore_location(stood)
    if covered:
        code.goto(paid)


def _charged_ahead(state: State, loop: For, sizes: tuple[str, str, int], run: Callable[[str, str], None]) -> None:
    """Emit a loop over chunks whose iterations are charged with all loops in them, if that is no more than a chunk.

    `sizes` are the trip count, the work of one iteration as `run_time_work` has it, and that of a chunk. An atomic
    subtraction for each of many short inner loops would cost more than they do; longer ones charge for themselves.
    """
    code = state.code
    extent, inner, chunk = sizes
    covered = code.emit(f"icmp sle i64 {inner}, {chunk}")
    work = code.emit(f"select i1 {covered}, i64 {inner}, i64 1")
    size = code.emit(f"udiv i64 {chunk}, {work}")

    def covering(first: str, end: str) -> None:
        around, state.position.covered = state.position.covered, covered
        run(first, end)
        state.position.covered = around

    _chunked(state, loop, (extent, work, size), covering)


def _chunked(state: State, loop: For, sizes: tuple[str, str, str], run: Callable[[str, str], None]) -> None:
    """Emit a loop over chunks of `loop`, each of which is charged before `run(first, end)` emits it.

    `sizes` are the trip count, the work of one iteration in units of fuel, and how many iterations a chunk has.
    """
    code = state.code
    extent, work, size = sizes
    head, body, leave = code.label("chunks"), code.label("chunk"), code.label("done")
    before = code.block
    code.jump(head)
    code.start(head)
    base, following = f"%{code.label('base')}", f"%{code.label('next')}"
    position = code.reserve()
    code.branch(code.emit(f"icmp slt i64 {base}, {extent}"), body, leave)
    code.start(body)
    left = code.emit(f"sub nsw i64 {extent}, {base}")
    count = least(state, left, size)
    amount = count if work == "1" else code.emit(f"mul nuw nsw i64 {count}, {work}")
    charge_fuel(state, loop, amount)
    run(base, code.emit(f"add nsw i64 {base}, {count}"))
    code.do(f"{following} = call i64 @llvm.sadd.sat.i64(i64 {base}, i64 {size})")
    code.declare("declare i64 @llvm.sadd.sat.i64(i64, i64)")
    code.fill(position, f"{base} = {phi('i64', ('0', before), (following, code.block))}")
    code.jump(head)
    code.start(leave)


def least(state: State, a: str, b: str) -> str:
    """Emit the smaller of two 64-bit integers."""
    state.code.declare("declare i64 @llvm.smin.i64(i64, i64)")
    return state.code.emit(f"call i64 @llvm.smin.i64(i64 {a}, i64 {b})")


def counted(state: State, loop: For, counting: Counting, emit_body: Callable[[], None] | None = None) -> None:
    """Emit iterations of a loop whose fuel is charged; `emit_body` replaces the loop's body."""
    code, scalar = state.code, state.scalar_of(loop.var)
    head, body, leave = code.label("head"), code.label("body"), code.label("done")
    latch = code.label("continue") if has_jump(loop.body, "continue_loop") else ""
    before = code.block
    code.jump(head)
    code.start(head)
    count, following = f"%{code.label('n')}", f"%{code.label('next')}"
    position = code.reserve()
    # `ne` instead of `slt` lets LLVM derive the exact trip count.
    test = "ne" if counting.count else "slt"
    code.branch(code.emit(f"icmp {test} i64 {count}, {counting.end}"), body, leave)
    code.start(body)
    above = count if counting.step == "1" else code.emit(f"mul i64 {count}, {counting.step}")
    value = above if counting.start == "0" else code.emit(f"add i64 {above}, {counting.start}")
    register = value if scalar.bits == 64 else code.emit(f"trunc i64 {value} to {scalar.register}")
    mark = state.bounds.mark()
    state.bounds.enter_loop(loop)
    state.define(loop.var, register)
    state.position.loops.append(LoopLabels(latch, counting.leave))
    vector_count = state.emitted.vector_count
    if not state.position.is_deoptimised and not _has_loop(loop.body):
        state.emitted.forms.add(form_of(state.bounds.constant(loop.extent) if loop.step is None else None))
    if emit_body is None:
        state.lower_stmt(loop.body)
    else:
        emit_body()
    state.position.loops.pop()
    state.forget()
    state.bounds.leave(mark)
    if latch:
        code.goto(latch)
    code.do(f"{following} = add nsw i64 {count}, 1")
    code.fill(position, f"{count} = {phi('i64', (counting.first, before), (following, code.block))}")
    code.do(f"br label %{head}{_mark(state, loop, counting, has_vectors=state.emitted.vector_count != vector_count)}")
    code.start(leave)


def _mark(state: State, loop: For, counting: Counting, *, has_vectors: bool) -> str:
    """Return the `!llvm.loop` metadata for a loop."""
    if state.position.is_deoptimised:
        return f", !llvm.loop {state.code.written_loop()}"
    if has_vectors or (_has_loop(loop.body) and repeats_itself(loop)):
        # If LLVM vectorised a loop around explicit vectors, it would assemble them lane by lane.
        return f", !llvm.loop {state.code.scalar_loop()}"
    return f", !llvm.loop {state.code.kept_loop()}" if counting.is_kept or _is_row(state, loop) else ""


def _is_row(state: State, loop: For) -> bool:
    """Tell whether a loop must not be fully unrolled: LLVM would then vectorise the strided loop around it."""
    return is_short(state, loop) and stores_apart(loop)


def is_short(state: State, loop: For) -> bool:
    """Tell whether a loop has a constant trip count that LLVM would fully unroll, but that fills a vector."""
    count = state.bounds.constant(loop.extent)
    return count is not None and SHORTEST_ROW <= count <= LONGEST_ROW


def stores_apart(loop: For) -> bool:
    """Tell whether an innermost loop stores contiguously, each iteration to elements of its own."""
    nodes = [*postorder(loop.body)]
    bound = (item.var for item in nodes if isinstance(item, IterVar) and item.binding is loop.var)
    varying: set[Node] = {loop.var, *bound}
    stores = [item for item in nodes if isinstance(item, BufferStore)]
    is_innermost = not any(isinstance(item, For | While) for item in nodes)
    return is_innermost and all(item.indices and item.indices[-1] in varying for item in stores)


def _has_loop(stmt: Stmt) -> bool:
    return any(isinstance(item, For | While) for item in statements(stmt))
