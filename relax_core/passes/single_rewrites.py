"""One rewrite of a pass at a time: the module after so many of them, and what the others make without one.

The pass runs again, and only some applications of its rules are made, so that the time does not depend on which. A
change that a pass makes in a way of its own, such as a group of operators that becomes a function, is no application.
"""

from collections.abc import Callable
from dataclasses import replace
from operator import is_
from typing import Final

from relax_core.analysis.call_graph import reachable
from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.rewriting.rewrite import Replacement, Takes
from relax_core.passes.core import Stage
from relax_core.passes.outcome import faults_in, rejected

_NAMED: Final = 8
"""So many of the numbers that there are stand in a hint."""


def after_rewrites(stage: Stage, count: int) -> Stage:
    """Return the stage with its rewrites 1 to `count` only, numbered as in `stage.log.replacements`.

    An ill-formed module is kept as `rejected`: a pass need not leave a well-formed one between its rewrites.

    Raises:
        CompileError: PS020: the pass has no such rewrite, or made it in a way of its own.
    """
    last = _application(stage, count) if count else 0
    return _again(stage, lambda number: number <= last)


def without_rewrite(stage: Stage, number: int) -> Stage:
    """Return the stage without its rewrite `number`: what the others make of the module.

    A node that several functions share stays as it is in all of them.

    Raises:
        CompileError: PS020: the pass has no such rewrite, or made it in a way of its own.
    """
    left_out = _application(stage, number)
    return _again(stage, lambda application: application != left_out)


def single_rewrites(stage: Stage) -> tuple[tuple[int, Replacement], ...]:
    """Return the rewrites that can be made and left out one by one, with their numbers."""
    if stage.again is None:
        return ()
    return tuple((number, item) for number, item in enumerate(stage.log.replacements, 1) if item.application)


def _application(stage: Stage, number: int) -> int:
    found = stage.log.replacements
    if not 0 < number <= len(found):
        said = f"it made {len(found)}" if found else "it made none"
        raise CompileError((Diagnostic("PS020", f"{stage.pass_name} has no rewrite {number}: {said}"),))
    item = found[number - 1]
    if not item.application or stage.again is None:
        message = f"rewrite {number} of {stage.pass_name} is no application of a rule, and cannot be made on its own"
        known = [str(number) for number, _ in single_rewrites(stage)]
        hint = f"those that can: {', '.join(known[:_NAMED])}{', …' if len(known) > _NAMED else ''}" if known else ""
        raise CompileError((Diagnostic("PS020", message, hint=hint),))
    return item.application


def _again(stage: Stage, takes: Takes) -> Stage:
    again: Callable[[Takes], Stage] | None = stage.again
    assert again is not None, "a stage with applications can run again"
    found = _without_leftovers(again(takes))
    if found.is_failed or not found.is_changed:
        return found
    faults = faults_in(found.after, f"a part of {stage.pass_name}")
    return rejected(found, faults) if faults else found


def _without_leftovers(stage: Stage) -> Stage:
    """Drop the private functions that were made for applications which were declined, so that nothing calls them."""
    known = frozenset(stage.before.names)
    roots = (item.var for item in stage.after if item.var.name in known or not item.function.is_private)
    used = {item.name for item in reachable(stage.after, roots)}
    kept = tuple(item for item in stage.after.definitions if item.var.name in used)
    if len(kept) == len(stage.after.definitions):
        return stage
    is_same = len(kept) == len(known) and all(map(is_, kept, stage.before.definitions))
    return replace(stage, after=stage.before if is_same else replace(stage.after, definitions=kept))
