"""Which of a pass's changes makes the result wrong: modules with a part of them run on the same arguments."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import msgspec

from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import DiagnosedError
from relax_core.engine.halving.changes import Change, Changes
from relax_core.engine.halving.minimise import Answer, Budget, Chosen, Minimum, SpentError, Trials, minimal
from relax_core.engine.halving.reply import ChangeShown, Halved
from relax_core.engine.halving.rewrites import StageRewrites

Judge: TypeAlias = Callable[[Executable], Answer]
"""Runs an executable and tells whether its result is that of the reference, or wrong in the way of the pass."""
_NOT_WRONG = "with all of them on the form before, the result is not wrong in the same way"
_NOT_RIGHT = "the form before the pass, built anew, does not give the right result"
_SPENT = "there was no time for it"


@dataclass(frozen=True, slots=True, eq=False)
class _Reduction:
    """Looks for the changes of one kind that are to blame."""

    changes: Changes
    judge: Judge
    trials: Trials

    def run(self, chosen: Chosen) -> Answer:
        try:
            executable = self.changes.build(chosen)
        except DiagnosedError:
            return "unresolved"
        return self.judge(executable)

    def found(self) -> tuple[Halved, tuple[int, ...]]:
        """Return what is to blame, as a reply and as positions, none if it could not be told."""
        items = self.changes.items
        whole, nothing = frozenset(range(len(items))), frozenset[int]()
        test = self.trials.tested(self.run, {})
        try:
            hindrance = _NOT_WRONG if test(whole) != "wrong" else _NOT_RIGHT if test(nothing) != "right" else ""
        except SpentError:
            hindrance = _SPENT
        if hindrance:
            return self._reply((), hindrance=hindrance), ()
        least = minimal(len(items), test)
        return self._reply(least.kept, least, self._rest(test, whole, frozenset(least.kept))), least.kept

    def _rest(
        self, test: Callable[[Chosen], Answer], whole: Chosen, kept: Chosen
    ) -> Literal["right", "wrong", "unresolved", "nothing"]:
        if kept == whole:
            return "nothing"
        try:
            return test(whole - kept)
        except SpentError:
            return "nothing"

    def _reply(
        self,
        kept: tuple[int, ...],
        least: Minimum | None = None,
        without: Literal["right", "wrong", "unresolved", "nothing"] = "nothing",
        hindrance: str = "",
    ) -> Halved:
        items = self.changes.items
        return Halved(
            self.changes.kind,
            tuple(_shown(items[number]) for number in kept),
            len(items),
            self.trials.run_count,
            self.trials.unresolved_count,
            without,
            least is None or least.is_smallest,
            hindrance,
        )


def halve(changes: Changes, judge: Judge, budget: Budget, rewrites: StageRewrites | None = None) -> Halved | None:
    """Find the fewest changes that make the result wrong: of functions first, then within the only one.

    A finer kind of changes is taken where it can be told of it; `None` if the pass changed nothing that is comparable.
    With `rewrites` the one that brings the wrong result in is looked for as well, in what is left of the budget.
    """
    if not changes.items or budget.runs <= 0 or budget.seconds <= 0:
        return None
    trials = Trials(budget)
    found, kept = _Reduction(changes, judge, trials).found()
    while len(kept) == 1:
        finer = changes.finer(kept[0])
        if finer is None or not finer.items:
            break
        better, kept = _Reduction(finer, judge, trials).found()
        if not kept:
            break
        found, changes = better, finer
    counts = {"tried": trials.run_count, "unresolved": trials.unresolved_count}
    rewrite = rewrites.wrong_one(judge, trials) if rewrites is not None and not found.hindrance else None
    return msgspec.structs.replace(found, rewrite=rewrite, **counts)


def _shown(change: Change) -> ChangeShown:
    after, before = change.after, change.before
    return ChangeShown(change.function, after.line, after.text, before.line, before.text)
