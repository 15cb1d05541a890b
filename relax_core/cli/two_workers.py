"""A long recorded pipeline is bisected by two workers, each of which runs a part of its forms."""

import os
import re
import threading
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

import msgspec

from relax_core.cli.terminal import Engine
from relax_core.engine.debug.replies import Bisection, FormRuns
from relax_core.engine.debug.requests import BisectRecordedOf, RunFormsOf
from relax_core.engine.process.client import Client
from relax_core.engine.process.forked import forked_for_few
from relax_core.engine.protocol import Failure
from relax_core.engine.splicing.printed import is_printed

LONG: Final = 1_200_000
"""The weight of a pipeline that takes so long that a second worker is worth it, which opens the pipeline as well."""
_WHOLE: Final = re.compile(r"^\s*@R\.function", re.MULTILINE)
_DEFINED: Final = re.compile(r"^\s*def (\w+)\(", re.MULTILINE)
_KERNELS_WEIGHT: Final = 100_000
"""What it takes to compile the kernels that a form of prim funcs changed, in characters that are read."""


def bisected(engine: Engine, message: BisectRecordedOf, texts: Sequence[str]) -> Bisection | Failure:
    """Bisect a recorded pipeline whose forms have these texts, by two workers if it is long.

    The one that judges runs the forms from the front on, the other one parts from behind, until they meet. If the
    second worker fails, the first one runs what it left.
    """
    parts = parts_of(texts, message.options.entry) if isinstance(engine, Client) and processor_count() > 1 else ()
    if len(parts) < 2 or message.options.stand_ins:
        return engine.request(message)
    shared = Shared(parts)
    last, until = shared.from_behind(), shared.from_front()
    with Client(launcher=forked_for_few()) as other:
        second = _Second(other, message, shared, last)
        second.start()
        while until:
            begun = engine.request(msgspec.structs.replace(message, until=until))
            if isinstance(begun, Failure):
                return begun
            until = shared.from_front()
        second.join()
    return engine.request(msgspec.structs.replace(message, ahead=joined(second.found)))


@dataclass(frozen=True, slots=True)
class Part:
    """Forms that one worker runs whatever stands before them: from number `start` on, without that of number `stop`."""

    start: int
    stop: int
    weight: int
    """How long that takes, in characters that are read."""


class Shared:
    """The parts that no worker has taken yet; each takes about half of what is left."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._left = list(parts)
        self._lock = threading.Lock()

    def from_front(self) -> int:
        """Take parts from the front; return the number of the form behind them, 0 if nothing is left."""
        with self._lock:
            count = _half(self._left)
            taken, self._left = self._left[:count], self._left[count:]
            return taken[-1].stop if taken else 0

    def from_behind(self) -> slice | None:
        """Take parts from behind; return which forms they have, `None` if nothing is left."""
        with self._lock:
            count = len(self._left) - _half(self._left[::-1])
            self._left, taken = self._left[:count], self._left[count:]
            return slice(taken[0].start, taken[-1].stop) if taken else None


def _half(parts: Sequence[Part]) -> int:
    """Return how many of the first parts have half of the weight of all."""
    sums = list(accumulate((part.weight for part in parts), initial=0))
    return bisect_left(sums, sums[-1] / 2)


class _Second(threading.Thread):
    """Has the second worker run `last` and what it then takes from behind, until nothing is left or it fails."""

    def __init__(self, worker: Client, message: BisectRecordedOf, shared: Shared, last: slice | None) -> None:
        super().__init__(daemon=True)
        self.found: list[FormRuns] = []
        """What came of the parts, in the order of the forms."""
        self._worker = worker
        self._message = message
        self._shared = shared
        self._last = last

    def run(self) -> None:
        """Ask for one part after the other."""
        part = self._last
        while part is not None:
            found = self._worker.request(RunFormsOf(self._message, part.start, part.stop))
            self.found.insert(0, found if isinstance(found, FormRuns) else FormRuns(part.start, (), are_all=False))
            part = None if isinstance(found, Failure) else self._shared.from_behind()


def joined(found: Sequence[FormRuns]) -> FormRuns:
    """Return as one what came of parts that stand one behind the other, up to the first that lacks a form."""
    count = next((number for number, part in enumerate(found, 1) if not part.are_all), len(found))
    runs = tuple(run for part in found[:count] for run in part.runs)
    return FormRuns(found[0].first, runs, are_all=found[count - 1].are_all)


def parts_of(texts: Sequence[str], entry: str = "") -> tuple[Part, ...]:
    """Return the parts in which two workers share the forms, none if one worker runs them all.

    A part begins at a form that is whole whatever stands before it: a compiler printed it, and it defines a function,
    the entry if there is one, that every whole form before it defines.
    """
    wholes = [number for number, text in enumerate(texts) if _WHOLE.search(text)]
    if not wholes or wholes[0] != 0 or len(set(texts)) < len(texts):
        return ()
    weights = [len(text) + (0 if number in wholes else _KERNELS_WEIGHT) for number, text in enumerate(texts)]
    if sum(weights) < LONG:
        return ()
    defined = set(_DEFINED.findall(texts[0]))
    shared = defined & {entry} if entry else defined
    starts: list[int] = []
    for number in wholes:
        shared &= set(_DEFINED.findall(texts[number]))
        if not shared or not is_printed(texts[number]):
            break
        starts.append(number)
    return tuple(Part(start, stop, sum(weights[start:stop])) for start, stop in pairwise((*starts, len(texts))))


def processor_count() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0))
