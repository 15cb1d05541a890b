"""Static estimates of work, and the jumps out of statements: what decides where fuel is charged."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

from relax_core.ir.node import Node, children, postorder
from relax_core.ir.prim import Intrinsic, PrimExpr
from relax_core.ir.tir import (
    Allocate,
    AttrStmt,
    Block,
    BufferRealize,
    DeclBuffer,
    Evaluate,
    For,
    IfThenElse,
    LaunchThread,
    LetStmt,
    SeqStmt,
    Stmt,
    TirStmt,
    While,
)
from relax_core.jit.lowering.scalars.intrinsics import CALLS
from relax_core.jit.lowering.state import State

NODES_PER_UNIT = 16
CALL_COST = 8
# A lower bound for a call of a function that is not analysed; a packed one goes through Python.
FOREIGN_COST = 8192

Jump = Literal["break_loop", "continue_loop", "ret"]
JUMPS: tuple[Jump, ...] = ("break_loop", "continue_loop", "ret")


@dataclass(frozen=True, slots=True)
class Term:
    """A part of the work of a statement: units of fuel, times trip counts that are not constant."""

    units: int
    counts: tuple[PrimExpr, ...] = ()


def static_work(state: State, stmt: Stmt) -> int | None:
    """Estimate the work of `stmt` in units of fuel, inner loops included; `None` if a trip count is not constant."""
    terms = work_of(state, stmt)
    if terms is None or any(term.counts for term in terms):
        return None
    return sum(term.units for term in terms)


def work_of(state: State, stmt: Stmt) -> tuple[Term, ...] | None:
    """Estimate the work of `stmt` as a sum, inner loops included; `None` if it depends on more than trip counts."""
    match cast("TirStmt", stmt):
        case For(body=body) as loop:
            return _repeated(state, loop, work_of(state, body))
        case While():
            return None
        case SeqStmt(stmts=parts):
            return _total(state, parts)
        case IfThenElse(then_body=a, else_body=b):
            return _total(state, [part for part in (a, b) if part is not None])
        case LetStmt(body=body) | DeclBuffer(body=body) | AttrStmt(body=body) | Allocate(body=body):
            return work_of(state, body)
        case BufferRealize(body=body) | LaunchThread(body=body):
            return work_of(state, body)
        case Block(init=init, body=body):
            return _total(state, [part for part in (init, body) if part is not None])
        case leaf:
            if leaf not in state.leaf_work:
                state.leaf_work[leaf] = _leaf_work(leaf)
            units = state.leaf_work[leaf]
            return None if units is None else (Term(units),)


def iterated(state: State, loop: For, inner: int | None) -> int | None:
    """Estimate the work of a loop whose body is estimated to take `inner`."""
    count = state.bounds.constant(loop.extent)
    by = 1 if loop.step is None else state.bounds.constant(loop.step)
    if count is None or inner is None:
        return None
    return max(-(-count // by) if by is not None and by > 0 else count, 0) * max(inner, 1)


def _repeated(state: State, loop: For, inner: tuple[Term, ...] | None) -> tuple[Term, ...] | None:
    if inner is None:
        return None
    count = iterated(state, loop, 1)
    if count is None:
        # With a step there are fewer iterations than that.
        return tuple(Term(max(term.units, 1), (loop.extent, *term.counts)) for term in inner)
    return tuple(Term(count * max(term.units, 1), term.counts) for term in inner)


def _leaf_work(leaf: Stmt) -> int | None:
    nodes = [*postorder(leaf)]
    if any(isinstance(item, Intrinsic) and item.name in CALLS for item in nodes):
        return None
    return 1 + len(nodes) // NODES_PER_UNIT + CALL_COST * sum(isinstance(item, Intrinsic) for item in nodes)


def iteration_work(stmt: Stmt) -> int:
    """Estimate the work of `stmt` in units of fuel, without its inner loops, which are charged by themselves."""
    units, nodes = 1, 0
    stack: list[Node] = [stmt]
    seen: set[Node] = set()
    while stack:
        item = stack.pop()
        if item in seen:
            continue
        seen.add(item)
        nodes += 1
        match item:
            case For(start=start, extent=extent):
                stack += (start, extent)
            case While():
                pass
            case Intrinsic(name=name):
                units += FOREIGN_COST if name in CALLS else CALL_COST
                stack += children(item)
            case _:
                stack += children(item)
    return units + nodes // NODES_PER_UNIT


def _total(state: State, parts: Sequence[Stmt]) -> tuple[Term, ...] | None:
    units, found = 0, list[Term]()
    for part in parts:
        terms = work_of(state, part)
        if terms is None:
            return None
        units += sum(term.units for term in terms if not term.counts)
        found += (term for term in terms if term.counts)
    return (Term(units), *found)


def always_charges(state: State, stmt: Stmt) -> bool:
    """Tell whether every path through `stmt` charges fuel, so that a loop around it need not."""
    match cast("TirStmt", stmt):
        case For(extent=extent):
            return state.bounds.interval(extent).low >= 1
        case While():
            return True
        case SeqStmt(stmts=parts):
            for part in parts:
                if always_charges(state, part):
                    return True
                if any(has_jump(part, jump) for jump in JUMPS):
                    return False
            return False
        case LetStmt(body=body) | DeclBuffer(body=body) | AttrStmt(body=body) | Allocate(body=body):
            return always_charges(state, body)
        case Block(predicate=None, init=None, body=body):
            return always_charges(state, body)
        case Block(predicate=None, init=Stmt() as init, body=body):
            return not any(has_jump(init, jump) for jump in JUMPS) and always_charges(state, body)
        case _:
            return False


def has_jump(stmt: Stmt, jump: Jump) -> bool:
    """Tell whether `stmt` has a `jump` that leaves it; a break of an inner loop does not."""
    stack: list[Stmt] = [stmt]
    while stack:
        match stack.pop():
            case For() | While() if jump != "ret":
                pass
            case Evaluate(value=Intrinsic(name=name)):
                if name == jump:
                    return True
            case item:
                stack += (part for part in children(item) if isinstance(part, Stmt))
    return False
