"""Which accesses of a prim func are in range for every shape, and under which condition the others are."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from relax_core.analysis.serial_threads import as_loop
from relax_core.ir.integer.bounds import Bounds
from relax_core.ir.integer.polynomial import Polynomial, constant_of
from relax_core.ir.node import children
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import Binary, PrimExpr, PrimVar, Select
from relax_core.ir.tir import (
    Allocate,
    AssertStmt,
    AttrStmt,
    Block,
    Buffer,
    BufferLoad,
    BufferRealize,
    BufferStore,
    DeclBuffer,
    Evaluate,
    For,
    IfThenElse,
    LaunchThread,
    LetStmt,
    PrimFunc,
    SeqStmt,
    Stmt,
    TirStmt,
    While,
)
from relax_core.jit.lowering.known.symbols import shape_symbols
from relax_core.jit.lowering.scalars.lanes import Lanes


@dataclass(frozen=True, slots=True)
class AccessFact:
    """What is known of one load or store without knowing the shapes.

    `condition` is text such as "n <= k", under which an access that is not proven is in range.
    """

    node: BufferLoad | BufferStore
    buffer: Buffer
    proven: bool
    condition: str = ""


def access_report(function: PrimFunc) -> tuple[AccessFact, ...]:
    """Report on every load and store of `function`, in the order in which they stand."""
    bounds = Bounds({}, is_ideal=True)
    for symbol in shape_symbols(function):
        bounds.bind_symbol(symbol)
    for param in function.params:
        if param.dtype != "handle" and param not in shape_symbols(function):
            bounds.bind_scalar(param)
    return tuple(_stmt(bounds, function.body))


def _stmt(bounds: Bounds, stmt: Stmt) -> Iterator[AccessFact]:
    mark = bounds.mark()
    match cast("TirStmt", stmt):
        case SeqStmt(stmts=stmts):
            for item in stmts:
                yield from _stmt(bounds, item)
                if isinstance(item, AssertStmt):
                    bounds.assume(item.condition)
        case BufferStore() as store:
            yield _fact(bounds, store)
            yield from _exprs(bounds, *store.indices, store.value)
        case For() as loop:
            yield from _exprs(bounds, loop.start, loop.extent)
            bounds.enter_loop(loop)
            yield from _stmt(bounds, loop.body)
        case While(condition=condition, body=body):
            yield from _exprs(bounds, condition)
            bounds.assume(condition)
            yield from _stmt(bounds, body)
        case IfThenElse() as chosen:
            yield from _exprs(bounds, chosen.condition)
            bounds.assume(chosen.condition)
            yield from _stmt(bounds, chosen.then_body)
            bounds.leave(mark)
            if chosen.else_body is not None:
                bounds.assume(chosen.condition, truth=False)
                yield from _stmt(bounds, chosen.else_body)
        case LetStmt(var=var, value=value, body=body):
            yield from _exprs(bounds, value)
            bounds.bind_let(var, value)
            yield from _stmt(bounds, body)
        case AssertStmt(condition=value) | Evaluate(value=value):
            yield from _exprs(bounds, value)
        case Block() as block:
            yield from _block(bounds, block)
        case LaunchThread() as launch:
            yield from _stmt(bounds, as_loop(launch))
        case AttrStmt(body=body) | Allocate(body=body) | DeclBuffer(body=body):
            yield from _stmt(bounds, body)
        case BufferRealize(body=body):
            yield from _stmt(bounds, body)
    bounds.leave(mark)


def _block(bounds: Bounds, block: Block) -> Iterator[AccessFact]:
    for item in block.iter_vars:
        yield from _exprs(bounds, item.binding)
        bounds.bind_let(item.var, item.binding)
    if block.predicate is not None:
        yield from _exprs(bounds, block.predicate)
        bounds.assume(block.predicate)
    for match in block.matches:
        for dim, extent in zip(reversed(match.buffer.shape), reversed(match.region.extents), strict=False):
            if isinstance(dim, PrimVar) and not bounds.is_bound(dim):
                bounds.bind_let(dim, extent)
    if block.init is not None:
        yield from _stmt(bounds, block.init)
    yield from _stmt(bounds, block.body)


def _exprs(bounds: Bounds, *exprs: PrimExpr) -> Iterator[AccessFact]:
    for expr in exprs:
        mark = bounds.mark()
        match expr:
            case Select(condition=condition, true_value=a, false_value=b):
                yield from _exprs(bounds, condition)
                for side, truth in ((a, True), (b, False)):
                    bounds.assume(condition, truth=truth)
                    yield from _exprs(bounds, side)
                    bounds.leave(mark)
            case Binary(op="and" | "or" as op, a=a, b=b):
                yield from _exprs(bounds, a)
                bounds.assume(a, truth=op == "and")
                yield from _exprs(bounds, b)
            case BufferLoad(indices=indices):
                yield _fact(bounds, expr)
                yield from _exprs(bounds, *indices)
            case _:
                yield from _exprs(bounds, *(item for item in children(expr) if isinstance(item, PrimExpr)))
        bounds.leave(mark)


def _fact(bounds: Bounds, access: BufferLoad | BufferStore) -> AccessFact:
    if len(access.indices) != len(access.buffer.shape):
        return AccessFact(access, access.buffer, proven=False)
    conditions: list[str] = []
    # The lanes of a vector of indices are accesses of their own; variables that are vectors are not looked into.
    lanes = [(position, Lanes().of(index) or (index,)) for position, index in enumerate(access.indices)]
    for position, index in ((position, index) for position, indices in lanes for index in indices):
        goals = bounds.goals(access.buffer, position, index)
        missing = [goal for goal in goals if not bounds.is_nonnegative(goal)]
        texts = [_condition(bounds, bounds.least(goal)) for goal in missing]
        if missing and all(texts):
            conditions += [text for text in texts if text not in conditions]
        elif missing:
            above = "" if goals[0] not in missing else "0 <= "
            below = "" if goals[1] not in missing else f" < {show_prim(access.buffer.shape[position])}"
            text = f"{above}{show_prim(index)}{below}"
            conditions += [text] if text not in conditions else []
    return AccessFact(access, access.buffer, not conditions, " and ".join(conditions))


def _condition(bounds: Bounds, p: Polynomial[int]) -> str:
    """Print `p >= 0` as a comparison of symbols, or nothing if other atoms are in it or no symbol is."""
    if constant_of(p) is not None or not all(bounds.atoms[number].is_symbol for monomial in p for number in monomial):
        return ""
    constant = p.get((), 0)
    positive = [_term(bounds, key, value) for key, value in p.items() if key and value > 0]
    negative = [_term(bounds, key, -value) for key, value in p.items() if key and value < 0]
    if constant == -1:
        return f"{_sum(negative)} < {_sum(positive)}"
    if constant:
        (positive if constant > 0 else negative).append(str(abs(constant)))
    return f"{_sum(negative)} <= {_sum(positive)}"


def _sum(terms: list[str]) -> str:
    return " + ".join(terms) or "0"


def _term(bounds: Bounds, monomial: tuple[int, ...], coefficient: int) -> str:
    names = [cast("PrimVar", bounds.atoms[number].expr).name for number in monomial]
    return " * ".join([*([str(coefficient)] if coefficient != 1 else []), *names])
