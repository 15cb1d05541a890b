"""Which rewrite of a pass makes the result wrong: the module after so many of its rewrites runs, for more or fewer."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import DiagnosedError
from relax_core.engine.halving.changes import Locate
from relax_core.engine.halving.minimise import Answer, Chosen, SpentError, Trials
from relax_core.engine.halving.reply import RewriteShown
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.rewriting.rewrite import Replacement
from relax_core.passes.core import Stage
from relax_core.passes.pipeline import final_module
from relax_core.passes.single_rewrites import after_rewrites, single_rewrites, without_rewrite

Judge: TypeAlias = Callable[[Executable], Answer]


@dataclass(frozen=True, slots=True, eq=False)
class StageRewrites:
    """The rewrites of a stage that can be made one by one, and how a module of them is built."""

    stage: Stage
    build: Callable[[IRModule], Executable]
    locate: tuple[Locate, Locate]
    """Where nodes stand in the text before and behind the pass."""

    def wrong_one(self, judge: Judge, trials: Trials) -> RewriteShown | None:
        """Return the rewrite behind which the result is wrong, and in front of which it is right.

        `None` if that cannot be told: the pass makes its changes in a way of its own, or the module in between does not
        run. It takes about `log2` of their number tries.
        """
        numbers = [number for number, _ in single_rewrites(self.stage)]
        behind = trials.tested(partial(self._answer, after_rewrites, judge), {})
        left_out = trials.tested(partial(self._answer, without_rewrite, judge), {})
        try:
            if not numbers or behind(frozenset((numbers[-1],))) != "wrong":
                return None
            at = _boundary(numbers, lambda number: behind(frozenset((number,))))
        except SpentError:
            return None
        if at is None:
            return None
        try:
            without = left_out(frozenset((numbers[at],)))
        except SpentError:
            without = None
        return self._shown(numbers, at, without)

    def _answer(self, part: Callable[[Stage, int], Stage], judge: Judge, chosen: Chosen) -> Answer:
        """Judge the module that a part of the pass makes, which the only number in `chosen` tells."""
        (number,) = chosen
        made = part(self.stage, number)
        try:
            return judge(self.build(final_module(self.stage.before, (made,))))
        except DiagnosedError:
            return "unresolved"

    def _shown(self, numbers: list[int], at: int, without: Answer | None) -> RewriteShown:
        item = self.stage.log.replacements[numbers[at] - 1]
        where_before, where = self.locate
        places = (place for node in (*item.after, *item.made) if (place := where(node)).line)
        before = next(
            (place for node in self.stage.log.ancestry(item.before) if (place := where_before(node)).line), None
        )
        after = next(places, None)
        return RewriteShown(
            numbers[at],
            len(self.stage.log.replacements),
            item.rule,
            next(self._functions(item), ""),
            after.line if after is not None else 0,
            before.line if before is not None else 0,
            without,
        )

    def _functions(self, item: Replacement) -> Iterator[str]:
        """Yield the names of the functions that what was replaced stems from."""
        origins = set(self.stage.log.ancestry(item.before))
        for definition in self.stage.before.definitions:
            nodes: Iterator[Node] = preorder(definition)
            if any(node in origins for node in nodes):
                yield definition.var.name


def _boundary(numbers: list[int], test: Callable[[int], Answer]) -> int | None:
    """Return the position of a number that is wrong where the one before it, or none at all, is right.

    The last one is wrong, and none at all is right. `None` if what lies between right and wrong does not run.
    """
    right, wrong = -1, len(numbers) - 1
    while wrong - right > 1:
        middle = (right + wrong) // 2
        for at in sorted(range(right + 1, wrong), key=lambda at: (abs(at - middle), at)):
            answer = test(numbers[at])
            if answer != "unresolved":
                break
        else:
            return None
        right, wrong = (right, at) if answer == "wrong" else (at, wrong)
    return wrong
