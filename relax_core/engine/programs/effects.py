"""What passes would make of a module: which change it, which do so once more, and which can change places."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

from relax_core.diagnostics import Diagnostic
from relax_core.engine.replies import Effect, OrderEffect
from relax_core.frontend.collector import collector_held
from relax_core.ir.dialect import dialect_of
from relax_core.ir.equality import structural_equal
from relax_core.ir.module import IRModule
from relax_core.passes.core import Pass, Stage
from relax_core.passes.options import required_options
from relax_core.passes.outcome import faults_in
from relax_core.passes.own import OWN_PASSES
from relax_core.passes.pipeline import EVERYWHERE, Step, run_step
from relax_core.pattern.partition.tables import NO_TABLES, Tables

Progress: TypeAlias = Callable[[int, int, str], None]


def _unwatched(_number: int, _count: int, _words: str) -> None:
    pass


@dataclass(frozen=True, slots=True, eq=False)
class PassEffect:
    """What one pass makes of a module, with the defaults of its options.

    `stage` is what it made, `None` if it needs options. `is_idempotent` tells of a pass that changes the module whether
    it leaves what it made when it runs again, and is `None` if it then refuses it.
    """

    name: str
    effect: Effect
    step: Step | None = None
    stage: Stage | None = None
    is_idempotent: bool | None = None
    reason: str = ""
    """Why it refuses the module, what is wrong with what it makes, or which options it needs."""


@dataclass(frozen=True, slots=True)
class PairEffect:
    """Two passes that change a module: whether both orders give structurally equal modules.

    `refused`: one of them refuses what the other one made.
    """

    first: str
    second: str
    effect: OrderEffect


def pass_effects(
    module: IRModule, before: tuple[Stage, ...] = (), tables: Tables = NO_TABLES, progress: Progress = _unwatched
) -> Iterator[PassEffect]:
    """Run each pass for the dialect of a sound `module` on it alone, behind the stages `before`.

    `progress` is told the number of a pass, how many there are, and its
    name, and may raise to stop.
    """
    passes = [item for item in OWN_PASSES.all().values() if item.dialect in (dialect_of(module), *EVERYWHERE)]
    for number, pass_ in enumerate(passes):
        progress(number, len(passes), pass_.name)
        with collector_held():
            yield _effect(pass_, module, before, tables)


def _effect(pass_: Pass, module: IRModule, before: tuple[Stage, ...], tables: Tables) -> PassEffect:
    required = required_options(pass_)
    if required:
        return PassEffect(pass_.name, "needs options", reason=", ".join(required))
    try:
        step = Step(pass_, pass_.options(), pass_.name)
    except (TypeError, ValueError) as error:
        return PassEffect(pass_.name, "refuses", reason=f"its options: {error}")
    stage = run_step(step, module, before, tables)
    if stage.is_failed:
        return PassEffect(pass_.name, "refuses", step, stage, reason=_reason(stage.diagnostics))
    if not stage.is_changed or structural_equal(stage.after, module):
        return PassEffect(pass_.name, "leaves", step, stage)
    faults = faults_in(stage.after, pass_.name, pass_.tolerates)
    if faults:
        return PassEffect(pass_.name, "breaks", step, stage, reason=_reason(faults[1:] or faults))
    again = _behind(stage, step, before, tables)
    is_idempotent = None if again is None else structural_equal(again, stage.after)
    return PassEffect(pass_.name, "changes", step, stage, is_idempotent)


def _reason(diagnostics: tuple[Diagnostic, ...]) -> str:
    return next((f"{item.code}: {item.message}" for item in diagnostics if item.severity == "error"), "")


def _behind(stage: Stage, step: Step, before: tuple[Stage, ...], tables: Tables) -> IRModule | None:
    """Return what a pass makes of the result of another one, `None` if it refuses it or that is in another dialect."""
    if step.pass_.dialect not in (dialect_of(stage.after), *EVERYWHERE):
        return None
    made = run_step(step, stage.after, (*before, stage), tables)
    return None if made.is_failed else made.after


def pair_effects(
    effects: Sequence[PassEffect],
    before: tuple[Stage, ...] = (),
    tables: Tables = NO_TABLES,
    progress: Progress = _unwatched,
) -> Iterator[PairEffect]:
    """Run each two of the passes that change a module in both orders, and compare what they make.

    Complexity: quadratic in the number of these passes.
    """
    changing = [(item.stage, item.step) for item in effects if item.effect == "changes"]
    pairs = list(combinations(changing, 2))
    for number, ((stage, step), (other_stage, other_step)) in enumerate(pairs):
        assert stage is not None and step is not None, "what changes a module has run"  # noqa: PT018
        assert other_stage is not None and other_step is not None, "what changes a module has run"  # noqa: PT018
        progress(number, len(pairs), f"{step.pass_.name} and {other_step.pass_.name}")
        with collector_held():
            one, other = _behind(stage, other_step, before, tables), _behind(other_stage, step, before, tables)
        effect: OrderEffect = (
            "refused" if one is None or other is None else "same" if structural_equal(one, other) else "different"
        )
        yield PairEffect(step.pass_.name, other_step.pass_.name, effect)
