"""Reductions of rows: one lane of a vector for each row, so that every row keeps the order of its operations."""

from relax_core.ir.tir import For
from relax_core.jit.lowering.state import State
from relax_core.jit.lowering.work import CALL_COST, static_work
from relax_core.jit.options import Mode
from relax_core.jit.transforms.reduction import contiguous_axis, read_reduction
from relax_core.jit.transforms.reduction_values import values_of
from relax_core.jit.transforms.rows_code import Rows, RowsCode
from relax_core.jit.transforms.transform import Plan, Refusal, Transform
from relax_core.jit.transforms.transpose_tile import LANE_LIMIT

MODES: frozenset[Mode] = frozenset(("bitwise", "exact", "fast"))

# Shorter rows are unrolled whole by the naive lowering, and then put side by side by LLVM.
SHORTEST_DIRECT = 8
SHORTEST_COMPUTED = 16


def plan_rows(state: State, loop: For) -> Plan | Refusal | None:
    """Plan a reduction of several rows, whatever their number and length."""
    reduction = read_reduction(state, loop)
    if reduction is None or isinstance(reduction, str):
        return None if reduction is None else Refusal(reduction)
    nest, scalar = reduction.nest, reduction.scalar
    if scalar.is_integral:
        return Refusal("integers may be combined in any order, which the vectoriser does by itself")
    if contiguous_axis(nest) is not None:
        return Refusal("its values lie side by side along an axis that is not reduced")
    values = values_of(reduction)
    lanes = min(LANE_LIMIT, state.options.lanes(scalar.bits))
    work = max(static_work(state, nest.block or nest.update) or 1, 1)
    shortest = SHORTEST_DIRECT if values.direct is not None or work >= CALL_COST else SHORTEST_COMPUTED
    if reduction.row_count < 2 or reduction.column_count < shortest:
        return Refusal(f"{reduction.row_count} rows of {reduction.column_count} values gain nothing")
    rows = Rows(loop, reduction, values, lanes, work)
    how = "loaded" if values.direct is not None else "computed row by row"
    reason = f"{reduction.row_count} rows, a lane for each of {lanes}; their values are {how} and transposed in tiles"
    return Plan(reason, lambda: RowsCode(state, rows).emit(), nest.update)


# Why the bits stay: a lane is a row, and adds up its values in the order of the text, one column after the other,
# with the operands on the same sides; vector operations round every lane as the scalar one does. Values that are
# computed row by row are stored in the dtype of the output, which `read_reduction` makes sure is that of the
# operation, before they are transposed; a transposition moves bits. Outputs are different elements, no value reads
# one, and none may stop the kernel, so rows may be computed side by side.
ROWS = Transform(
    "rows", "Rows are reduced side by side in the lanes of a vector, each in its own order", MODES, plan_rows
)
