"""The transformations in the order in which they are tried at every loop, and how a loop is handed to them."""

from relax_core.ir.tir import For
from relax_core.jit.lowering.state import State
from relax_core.jit.remarks import KernelRemark
from relax_core.jit.transforms.collapse import COLLAPSE
from relax_core.jit.transforms.copy_hoist import HOIST
from relax_core.jit.transforms.copy_runs import COPY
from relax_core.jit.transforms.copy_split import SPLIT
from relax_core.jit.transforms.gather import GATHER
from relax_core.jit.transforms.guard import GUARD
from relax_core.jit.transforms.parallel import PARALLEL
from relax_core.jit.transforms.reduction_columns import COLUMNS
from relax_core.jit.transforms.reduction_lanes import LANES
from relax_core.jit.transforms.rows import ROWS
from relax_core.jit.transforms.tile import TILE
from relax_core.jit.transforms.transform import Plan, Refusal, Transform
from relax_core.jit.transforms.transpose import TRANSPOSE

TRANSFORMS: tuple[Transform, ...] = (
    SPLIT,
    HOIST,
    PARALLEL,
    TILE,
    COLUMNS,
    LANES,
    ROWS,
    TRANSPOSE,
    COPY,
    COLLAPSE,
    GATHER,
    GUARD,
)


def emit_transformed(state: State, loop: For) -> bool:
    """Emit `loop` by the first transformation that takes it; tell whether there is one."""
    if not state.options.is_transformed:
        return False
    # What was read of a nest holds at this place only: before its code, each transformation asks for the same.
    state.nests.clear()
    for transform in TRANSFORMS:
        if state.options.mode not in transform.modes:
            continue
        match transform.plan(state, loop):
            case Plan(reason=reason, emit=emit):
                state.remarks.append(KernelRemark("applied", transform.name, loop, reason))
                state.code.comment(f"{transform.name}: {reason}")
                state.nests.clear()
                emit()
                return True
            case Refusal(reason=reason):
                state.remarks.append(KernelRemark("refused", transform.name, loop, reason))
            case None:
                pass
    return False
