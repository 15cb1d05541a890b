"""The plans of the transformations of a kernel, in turn: the prim func before each and after it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import PrimVar
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.ir.tir import (
    Block,
    Buffer,
    BufferLoad,
    BufferRef,
    BufferRegion,
    BufferStore,
    DeclBuffer,
    PrimFunc,
    SeqStmt,
    Stmt,
)
from relax_core.jit.lowering.checks import Locate
from relax_core.jit.lowering.lower import NO_FUNCTIONS, lower
from relax_core.jit.options import DEFAULT_OPTIONS, KernelOptions
from relax_core.jit.remarks import PlannedStep


@dataclass(frozen=True, slots=True)
class PlanStage:
    """A transformation as a step from one prim func to the next, for certain sizes.

    `after` is `None` where the loop is one of a prim func that is called.
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
    """Lower `function`, and return what its transformations planned, from the outside in; what is around loops is last.

    Raises:
        CompileError: it cannot be compiled.
    """
    lowered = lower(function, sizes, locate, functions, options, are_distinct=True, has_plans=True)
    assert lowered.function is not None, "what was lowered here is known"
    current, found = lowered.function, list[PlanStage]()
    waiting, around = list(lowered.plans), dict[str, tuple[PlannedStep, Callable[[Stmt], Stmt]]]()
    # The loops of a chunk are planned before the chunks are: a step waits until there is what it rewrites.
    while (step := _outermost(current, waiting)) is not None:
        waiting.remove(step)
        if callable(step.after):
            # What stands around a loop is told last, when it is known what became of the loop.
            mark = f"{_MARK}{len(around)}"
            around[mark] = step, step.after
            current = _rewritten(current, step, (Block(mark, (), step.before[0]),))
        else:
            before, current = current, _without_unused(_rewritten(current, step, step.after), step)
            found.append(_stage(step, before, current))
    for mark, (step, surround) in around.items():
        before, current = current, _surrounded(current, mark, surround)
        found.append(_stage(step, before, current))
    last = _without_marks(current)
    return (*found, *(PlanStage(step.transform, step.reason, last, None) for step in waiting))


def _stage(step: PlannedStep, before: PrimFunc, after: PrimFunc) -> PlanStage:
    return PlanStage(step.transform, step.reason, _without_marks(before), _without_marks(after))


_MARK = "around "
"""What the names of blocks begin with that stand for what is around a loop; no block of a text has a space in it."""


def _without_marks(function: PrimFunc) -> PrimFunc:
    def unmarked(item: Node) -> Node | None:
        """Rule: mark -> what it is around."""
        return item.body if isinstance(item, Block) and item.name.startswith(_MARK) else None

    return replace(function, body=rewrite(function.body, unmarked, log=RewriteLog()))


def _without_unused(function: PrimFunc, step: PlannedStep) -> PrimFunc:
    """Leave out the memory of buffers that a step has taken out of the loops, and that nothing accesses any more."""
    assert not callable(step.after), "what stands around loops takes nothing out of them"
    gone = _accessed(step.before) - _accessed(step.after)
    if not gone or not (gone := gone - _accessed((function.body,))):
        return function

    def smaller(item: Node) -> Node | None:
        """Rule: memory of its own for a buffer that nothing accesses -> what is behind it."""
        match item:
            case DeclBuffer(buffer=buffer, pointer=None, body=body) if buffer in gone:
                return body
            case Block(alloc_buffers=buffers) if gone.intersection(buffers):
                return replace(item, alloc_buffers=tuple(buffer for buffer in buffers if buffer not in gone))
            case _:
                return None

    return replace(function, body=rewrite(function.body, smaller, log=RewriteLog()))


def _accessed(stmts: Iterable[Stmt]) -> set[Buffer]:
    accesses = (BufferLoad, BufferStore, BufferRef, BufferRegion)
    return {item.buffer for stmt in stmts for item in preorder(stmt) if isinstance(item, accesses)}


def _surrounded(function: PrimFunc, mark: str, around: Callable[[Stmt], Stmt]) -> PrimFunc:
    def placed(item: Node) -> Node | None:
        """Rule: mark -> what is around a loop, with what became of it."""
        return around(item.body) if isinstance(item, Block) and item.name == mark else None

    return replace(function, body=rewrite(function.body, placed, log=RewriteLog()))


def _outermost(function: PrimFunc, steps: Iterable[PlannedStep]) -> PlannedStep | None:
    """Return the step that rewrites the outermost of what is in a function."""
    wanted: dict[Node, PlannedStep] = {}
    for step in steps:
        wanted.setdefault(step.before[0], step)
    for item in preorder(function.body):
        first = item.stmts[0] if isinstance(item, SeqStmt) else item
        step = wanted.get(first)
        if step is not None and (first is item if len(step.before) == 1 else _is_sequence(item, step.before)):
            return step
    return None


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
