"""Loops, and the fuel that lets them be stopped: it is paid for many iterations at once, outside the hot code."""

from collections.abc import Callable
from typing import cast

from relax_core.ir.node import postorder
from relax_core.ir.prim import Intrinsic
from relax_core.ir.tir import Block, DeclBuffer, For, IfThenElse, LetStmt, SeqStmt, Stmt, TirStmt, While
from relax_core.jit.checks import Site, unsupported
from relax_core.jit.code import phi
from relax_core.jit.scalar import lower_expr
from relax_core.jit.state import State

# A unit of fuel is about a nanosecond of work; this much of it passes between two looks at the cell.
CHUNK = 65536
# A nest of loops with constant extents and no more work than this pays once, before it starts.
PREPAID = 4096
NODES_PER_UNIT = 16
CALL_COST = 8

LowerStmt = Callable[[State, Stmt], None]


def lower_for(state: State, loop: For, lower_stmt: LowerStmt) -> None:
    """Emit a loop. Parallel, vectorised and unrolled ones run in order, which gives the same values."""
    if loop.kind == "thread_binding":
        hint = "Kernels run on the host; use T.grid or T.serial."
        raise unsupported(f"A loop bound to `{loop.thread or 'a thread'}`", loop, state.locate, hint)
    if loop.step is not None:
        raise unsupported("A loop with a step", loop, state.locate, "Multiply the loop variable by the step.")
    start = state.widen(lower_expr(state, loop.start), state.scalar_of(loop.start))
    extent = state.widen(lower_expr(state, loop.extent), state.scalar_of(loop.extent))
    state.code.comment(f"for {loop.var.name}")
    work = static_work(state, loop)
    is_covered = _always_pays(state, loop.body)
    was_prepaid = state.is_prepaid

    def run(first: str, end: str) -> None:
        _counted(state, loop, (start, first, end), lower_stmt)

    if state.is_prepaid:
        run("0", extent)
    elif work is not None and work <= PREPAID:
        if work:
            _pay(state, loop, str(work))
        state.is_prepaid = True
        run("0", extent)
    elif is_covered:
        run("0", extent)
    else:
        inner = static_work(state, loop.body)
        state.is_prepaid = inner is not None and inner <= CHUNK
        _chunked(state, loop, extent, max(inner, 1) if inner is not None and inner <= CHUNK else 1, run)
    state.is_prepaid = was_prepaid


def lower_while(state: State, loop: While, lower_stmt: LowerStmt) -> None:
    """Emit a loop that pays for every iteration."""
    code = state.code
    head, body, leave = code.label("while"), code.label("do"), code.label("done")
    code.comment("while")
    code.goto(head)
    _pay(state, loop, "1")
    condition = lower_expr(state, loop.condition)
    scalar = state.scalar_of(loop.condition)
    test = condition if scalar.kind == "bool" else code.emit(f"icmp ne {scalar.register} {condition}, 0")
    code.branch(test, body, leave)
    code.start(body)
    mark = state.bounds.mark()
    state.bounds.assume(loop.condition)
    lower_stmt(state, loop.body)
    state.bounds.leave(mark)
    code.jump(head)
    code.start(leave)


def static_work(state: State, stmt: Stmt) -> int | None:
    """Estimate the work of running `stmt` once, or return `None` if its loops have no constant extents."""
    match cast("TirStmt", stmt):
        case For(extent=extent, body=body):
            count, inner = state.bounds.constant(extent), static_work(state, body)
            return None if count is None or inner is None else max(count, 0) * max(inner, 1)
        case While():
            return None
        case SeqStmt(stmts=parts):
            return _total([static_work(state, part) for part in parts])
        case IfThenElse(then_body=a, else_body=b):
            return _total([static_work(state, part) for part in (a, b) if part is not None])
        case LetStmt(body=body) | DeclBuffer(body=body):
            return static_work(state, body)
        case Block(init=init, body=body):
            return _total([static_work(state, part) for part in (init, body) if part is not None])
        case leaf:
            nodes = [*postorder(leaf)]
            return 1 + len(nodes) // NODES_PER_UNIT + CALL_COST * sum(isinstance(item, Intrinsic) for item in nodes)


def _total(parts: list[int | None]) -> int | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _always_pays(state: State, stmt: Stmt) -> bool:
    """Tell whether running `stmt` surely pays fuel, so that a loop around it needs not."""
    match cast("TirStmt", stmt):
        case For(extent=extent):
            return state.bounds.interval(extent).low >= 1
        case While():
            return True
        case SeqStmt(stmts=parts):
            return any(_always_pays(state, part) for part in parts)
        case LetStmt(body=body) | DeclBuffer(body=body):
            return _always_pays(state, body)
        case Block(predicate=None, body=body):
            return _always_pays(state, body)
        case _:
            return False


def _pay(state: State, loop: For | While, amount: str) -> None:
    """Emit the payment of `amount` of fuel; another thread may empty the cell at any time."""
    code = state.code
    before = code.emit(f"atomicrmw sub ptr %record, i64 {amount} monotonic, align 8", "fuel")
    is_enough = code.emit(f"icmp sge i64 {before}, {amount}")
    name = f"the loop over `{loop.var.name}`" if isinstance(loop, For) else "the while loop"
    state.require(is_enough, Site("fuel", loop, hint=name))


def _chunked(state: State, loop: For, extent: str, work: int, run: Callable[[str, str], None]) -> None:
    """Emit a loop over pieces of `loop`, each of which pays before it runs."""
    code = state.code
    size = max(CHUNK // work, 1)
    head, body, leave = code.label("chunks"), code.label("chunk"), code.label("done")
    before = code.block
    code.jump(head)
    code.start(head)
    base, following = f"%{code.label('base')}", f"%{code.label('next')}"
    position = len(code.lines)
    code.do("")
    code.branch(code.emit(f"icmp slt i64 {base}, {extent}"), body, leave)
    code.start(body)
    left = code.emit(f"sub nsw i64 {extent}, {base}")
    count = _least(state, left, str(size))
    amount = count if work == 1 else code.emit(f"mul nuw nsw i64 {count}, {work}")
    _pay(state, loop, amount)
    run(base, code.emit(f"add nsw i64 {base}, {count}"))
    code.do(f"{following} = call i64 @llvm.sadd.sat.i64(i64 {base}, i64 {size})")
    code.declare("declare i64 @llvm.sadd.sat.i64(i64, i64)")
    code.lines[position] = f"  {base} = {phi('i64', ('0', before), (following, code.block))}"
    code.jump(head)
    code.start(leave)


def _least(state: State, a: str, b: str) -> str:
    state.code.declare("declare i64 @llvm.smin.i64(i64, i64)")
    return state.code.emit(f"call i64 @llvm.smin.i64(i64 {a}, i64 {b})")


def _counted(state: State, loop: For, limits: tuple[str, str, str], lower_stmt: LowerStmt) -> None:
    """Emit the loop that counts from `first` to `end`, exclusive; the variable is the count above `start`."""
    start, first, end = limits
    code, scalar = state.code, state.scalar_of(loop.var)
    head, body, leave = code.label("head"), code.label("body"), code.label("done")
    before = code.block
    code.jump(head)
    code.start(head)
    count, following = f"%{code.label('n')}", f"%{code.label('next')}"
    position = len(code.lines)
    code.do("")
    code.branch(code.emit(f"icmp slt i64 {count}, {end}"), body, leave)
    code.start(body)
    value = count if start == "0" else code.emit(f"add i64 {count}, {start}")
    register = value if scalar.bits == 64 else code.emit(f"trunc i64 {value} to {scalar.register}")
    mark = state.bounds.mark()
    state.bounds.enter_loop(loop)
    state.define(loop.var, register)
    lower_stmt(state, loop.body)
    state.forget()
    state.bounds.leave(mark)
    code.do(f"{following} = add nsw i64 {count}, 1")
    code.lines[position] = f"  {count} = {phi('i64', (first, before), (following, code.block))}"
    code.jump(head)
    code.start(leave)
