"""The work of an iteration whose inner loops have no constant trip counts, computed where the loop starts."""

from collections.abc import Sequence

from relax_core.ir.node import postorder
from relax_core.ir.prim import Binary, IntImm, PrimExpr, PrimVar
from relax_core.ir.tir import Stmt
from relax_core.jit.lowering.known.work import work_of
from relax_core.jit.lowering.scalars.counts import lower_count
from relax_core.jit.lowering.scalars.scalar import lower_expr
from relax_core.jit.lowering.state import State

# Of more terms, the sum would be computed for longer than it saves.
MOST_TERMS = 8


def run_time_work(state: State, stmt: Stmt, most: int) -> str | None:
    """Emit the work of `stmt` in units of fuel, from 1 to `most` + 1, which stands for all that is more.

    `None` if it is constant, or depends on more than sizes and on variables that are defined here.
    """
    terms = work_of(state, stmt)
    if terms is None or len(terms) > MOST_TERMS or not any(term.counts for term in terms):
        return None
    if not all(is_plain_count(state, count) for term in terms for count in term.counts):
        return None
    total = "0"
    for term in terms:
        units = _product(state, min(term.units, most + 1), term.counts, most + 1)
        total = units if total == "0" else state.code.emit(f"add nuw nsw i64 {total}, {units}")
    return _clamped(state, total, 1, most + 1)


def is_plain_count(state: State, count: PrimExpr) -> bool:
    """Tell whether a trip count is computed here, without a load, and without a stop at what wraps around."""
    return all(_is_plain_node(state, item) for item in postorder(count))


def _is_plain_node(state: State, node: object) -> bool:
    match node:
        case IntImm():
            return True
        case PrimVar():
            return node in state.environment.registers and (
                node in state.environment.active or state.bounds.is_symbol(node)
            )
        case Binary(op="+" | "-" | "*"):
            return state.bounds.is_exact(node)
        case Binary(op="//" | "%", b=IntImm(value=divisor)):
            return divisor > 0
        case Binary(op="min" | "max"):
            return True
        case _:
            return False


def _product(state: State, units: int, counts: Sequence[PrimExpr], most: int) -> str:
    """Emit a product of at most `most`, of factors of which none is more: it stays far below 64 bits."""
    product = str(units)
    for count in counts:
        factor = _clamped(state, lower_count(state, count, lower_expr), 0, most)
        if product != "1":
            factor = state.code.emit(f"mul nuw nsw i64 {product}, {factor}")
        product = _clamped(state, factor, 0, most) if product != "1" else factor
    return product


def _clamped(state: State, value: str, low: int, high: int) -> str:
    code = state.code
    for name, limit in (("smax", low), ("smin", high)):
        code.declare(f"declare i64 @llvm.{name}.i64(i64, i64)")
        value = code.emit(f"call i64 @llvm.{name}.i64(i64 {value}, i64 {limit})")
    return value
