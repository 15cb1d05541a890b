"""The transformations in the order in which they are tried at every loop, and the driver that tries them."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from types import MappingProxyType

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.node import Node
from relax_core.ir.tir import For
from relax_core.jit.lowering.loops import lower_for
from relax_core.jit.lowering.state import State
from relax_core.jit.remarks import KernelRemark, PlannedStep
from relax_core.jit.transforms.contractions.any_sizes import TILE_ANY
from relax_core.jit.transforms.contractions.tile import TILE
from relax_core.jit.transforms.copies.runs import COPY
from relax_core.jit.transforms.copies.transpose import TRANSPOSE
from relax_core.jit.transforms.indirect.gather import GATHER
from relax_core.jit.transforms.indirect.guard import GUARD
from relax_core.jit.transforms.loops import fuse
from relax_core.jit.transforms.loops.accumulate import ACCUMULATE
from relax_core.jit.transforms.loops.collapse import COLLAPSE
from relax_core.jit.transforms.loops.hoist import HOIST
from relax_core.jit.transforms.loops.parallel import PARALLEL
from relax_core.jit.transforms.loops.split import SPLIT
from relax_core.jit.transforms.loops.split_any import SPLIT_ANY
from relax_core.jit.transforms.reductions.columns import COLUMNS
from relax_core.jit.transforms.reductions.columns_any import COLUMNS_ANY
from relax_core.jit.transforms.reductions.lanes import LANES
from relax_core.jit.transforms.reductions.rows import ROWS
from relax_core.jit.transforms.reductions.rows_any import ROWS_ANY
from relax_core.jit.transforms.transform import Around, Plan, Refusal, Transform

TRANSFORMS: tuple[Transform, ...] = (
    SPLIT,
    SPLIT_ANY,
    HOIST,
    PARALLEL,
    TILE,
    TILE_ANY,
    COLUMNS,
    LANES,
    ROWS,
    ROWS_ANY,
    COLUMNS_ANY,
    TRANSPOSE,
    COPY,
    COLLAPSE,
    ACCUMULATE,
    GATHER,
    GUARD,
)

SUMMARIES: Mapping[str, str] = MappingProxyType(
    {fuse.NAME: fuse.SUMMARY, **{item.name: item.summary for item in TRANSFORMS}}
)
"""What each transformation does, by its name, in the order in which they are tried; nests are fused before all."""


def without(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of transformations as `KernelOptions` has them.

    Raises:
        CompileError: JT025, there is no transformation of one of these names.
    """
    found = tuple(sorted({*names}))
    for name in found:
        if name not in SUMMARIES:
            hint = f"transformations: {', '.join(SUMMARIES)}"
            raise CompileError((Diagnostic("JT025", f"kernels have no transformation `{name}`", hint=hint),))
    return found


def emit_transformed(state: State, loop: For) -> bool:
    """Emit `loop` by the first transformation that plans it, with remarks; tell whether there is one."""
    if not state.options.is_transformed:
        return False
    # Nests are memoised while a loop is planned: every transformation reads the same one, and it holds here only.
    state.position.nests.clear()
    with ExitStack() as around:
        return _emit(state, loop, around)


def _emit(state: State, loop: For, around: ExitStack) -> bool:
    is_around = False
    for transform in TRANSFORMS:
        if state.options.mode not in transform.modes or transform.name in state.options.without:
            continue
        state.check_budget(loop)
        match transform.plan(state, loop):
            case Around(reason=reason, enter=enter) as found:
                state.emitted.remarks.append(KernelRemark("applied", transform.name, loop, reason))
                state.code.comment(f"{transform.name}: {reason}")
                around.enter_context(enter())
                _tell(state, loop, transform.name, found)
                is_around = True
            case Plan(reason=reason, emit=emit, statement=statement) as found:
                state.emitted.remarks.append(KernelRemark("applied", transform.name, loop, reason))
                state.code.comment(f"{transform.name}: {reason}")
                state.position.nests.clear()
                _emit_from(state, loop, statement, emit)
                _tell(state, loop, transform.name, found)
                return True
            case Refusal(reason=reason):
                state.emitted.remarks.append(KernelRemark("refused", transform.name, loop, reason))
            case None:
                pass
    if is_around:
        lower_for(state, loop)
    return is_around


def _tell(state: State, loop: For, name: str, plan: Plan | Around) -> None:
    """Keep the plan of a transformation, if somebody wants to read it."""
    if state.emitted.plans is None:
        return
    after = plan.nest() if isinstance(plan, Plan) else plan.nest
    state.emitted.plans.append(PlannedStep(name, plan.reason, (loop,), after))


def _emit_from(state: State, loop: For, statement: Node | None, emit: Callable[[], None]) -> None:
    """Emit code whose origin is a statement; loop control in it stems from the loop."""
    if statement is None:
        emit()
        return
    before, around = state.code.set_location(statement), state.position.counting
    state.position.counting = loop
    emit()
    state.position.counting = around
    state.code.restore_location(before)
