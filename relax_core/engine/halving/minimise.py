"""A smallest set of changes that still makes a result wrong: delta debugging within a budget."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, TypeAlias

from relax_core.engine.halving.reply import Budget

Answer: TypeAlias = Literal["wrong", "right", "unresolved"]
"""What a module with some of the changes comes to. `unresolved`: it is ill-formed, does not run, or stops elsewhere."""
Chosen: TypeAlias = frozenset[int]


class SpentError(Exception):
    """The budget is spent."""


@dataclass(slots=True, eq=False)
class Trials:
    """Tries sets of changes, each once, until the budget is spent; a set whose answer is known costs nothing."""

    budget: Budget
    run_count: int = 0
    unresolved_count: int = 0
    _start: float = field(default_factory=time.monotonic)

    def tested(self, run: Callable[[Chosen], Answer], known: dict[Chosen, Answer]) -> Callable[[Chosen], Answer]:
        """Return `run` with a memory, which begins with what is `known`, and that raises `SpentError`."""

        def test(chosen: Chosen) -> Answer:
            if chosen not in known:
                self._spend()
                known[chosen] = run(chosen)
                self.unresolved_count += known[chosen] == "unresolved"
            return known[chosen]

        return test

    def _spend(self) -> None:
        if self.run_count >= self.budget.runs or time.monotonic() - self._start > self.budget.seconds:
            raise SpentError
        self.run_count += 1


@dataclass(frozen=True, slots=True)
class Minimum:
    """What was kept of the changes; `is_smallest` unless the budget was spent before."""

    kept: tuple[int, ...]
    is_smallest: bool = True


def minimal(count: int, test: Callable[[Chosen], Answer]) -> Minimum:
    """Return a set of the changes 0 to `count` that is wrong, all of them being so, and none of whose parts is.

    It takes about `log2(count)` tries where one change does it alone, and at most some `count ** 2` where many are
    needed together.

    See: Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002 (ddmin).
    """

    def is_wrong(chosen: tuple[int, ...]) -> bool:
        return test(frozenset(chosen)) == "wrong"

    kept, parts = tuple(range(count)), 2
    try:
        while len(kept) > 1:
            chunks = tuple(_split(kept, parts))
            rests = (tuple(item for item in kept if item not in chunk) for chunk in chunks) if parts > 2 else ()
            if (chunk := next(filter(is_wrong, chunks), None)) is not None:
                kept, parts = chunk, 2
            elif (rest := next(filter(is_wrong, rests), None)) is not None:
                kept, parts = rest, max(parts - 1, 2)
            elif parts < len(kept):
                parts = min(2 * parts, len(kept))
            else:
                break
    except SpentError:
        return Minimum(kept, is_smallest=False)
    return Minimum(kept)


def _split(items: Sequence[int], parts: int) -> Iterator[tuple[int, ...]]:
    """Yield `items` in `parts` of nearly equal length."""
    bounds = [len(items) * number // parts for number in range(parts + 1)]
    return (tuple(items[start:end]) for start, end in pairwise(bounds))
