"""The plans of the transformations of a kernel, in turn: the prim func before each and after it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import PrimVar
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.ir.tir import PrimFunc, SeqStmt, Stmt
from relax_core.jit.lowering.checks import Locate
from relax_core.jit.lowering.lower import NO_FUNCTIONS, lower
from relax_core.jit.options import DEFAULT_OPTIONS, KernelOptions
from relax_core.jit.remarks import PlannedStep


@dataclass(frozen=True, slots=True)
class PlanStage:
    """A transformation as a step from one prim func to the next, for certain sizes.

    `after` is `None` where the transformation does not tell its plan, or took a loop of a prim func that is called.
    """

    transform: str
    reason: str
    before: PrimFunc
    after: PrimFunc | None


def plan_stages(
    function: PrimFunc,
    sizes: Mapping[PrimVar, int] | None,
    locate: Locate,
    *,
    options: KernelOptions = DEFAULT_OPTIONS,
    functions: Mapping[str, PrimFunc] = NO_FUNCTIONS,
) -> tuple[PlanStage, ...]:
    """Lower `function`, and return what its transformations planned, from the outside in.

    Raises:
        CompileError: it cannot be compiled.
    """
    lowered = lower(function, sizes, locate, functions, options, are_distinct=True, has_plans=True)
    assert lowered.function is not None, "what was lowered here is known"
    current, found = lowered.function, list[PlanStage]()
    waiting = list(lowered.plans)
    # The loops of a chunk are planned before the chunks are: a step waits until there is what it rewrites.
    while waiting:
        step = next((item for item in waiting if _stands(current, item)), None)
        if step is None:
            break
        waiting.remove(step)
        after = None if step.after is None else _rewritten(current, step, step.after)
        found.append(PlanStage(step.transform, step.reason, current, after))
        current = current if after is None else after
    return (*found, *(PlanStage(step.transform, step.reason, current, None) for step in waiting))


def _stands(function: PrimFunc, step: PlannedStep) -> bool:
    """Tell whether what a step rewrites is in a function."""
    if len(step.before) == 1:
        return any(item is step.before[0] for item in postorder(function.body))
    return any(_is_sequence(item, step.before) for item in postorder(function.body))


def _is_sequence(node: Node, stmts: Sequence[Stmt]) -> bool:
    if not isinstance(node, SeqStmt) or len(node.stmts) != len(stmts):
        return False
    return all(a is b for a, b in zip(node.stmts, stmts, strict=True))


def _rewritten(function: PrimFunc, step: PlannedStep, after: tuple[Stmt, ...]) -> PrimFunc:
    made = after[0] if len(after) == 1 else SeqStmt(after)

    def planned(item: Node) -> Node | None:
        """Rule: statements -> what a transformation makes of them."""
        is_it = item is step.before[0] if len(step.before) == 1 else _is_sequence(item, step.before)
        return made if is_it else None

    return replace(function, body=rewrite(function.body, planned, log=RewriteLog()))
