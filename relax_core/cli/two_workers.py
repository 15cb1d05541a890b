"""A long recorded pipeline is bisected by two workers, each of which runs a part of its forms."""

import os
import re
import threading
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

import msgspec

from relax_core.cli.terminal import Engine
from relax_core.engine.debug.replies import Bisection, FormRuns
from relax_core.engine.debug.requests import BisectRecordedOf, RunFormsOf
from relax_core.engine.limits import Limits
from relax_core.engine.process.client import Client
from relax_core.engine.process.forked import forked_workers
from relax_core.engine.process.launch import Process, WorkerEnds
from relax_core.engine.protocol import Failure
from relax_core.engine.splicing.printed import is_printed

LONG: Final = 1_200_000
"""The weight of a pipeline that takes so long that a second worker is worth it, which opens the pipeline as well."""
_WHOLE: Final = re.compile(r"^\s*@R\.function", re.MULTILINE)
_DEFINED: Final = re.compile(r"^\s*def (\w+)\(", re.MULTILINE)
_KERNELS_WEIGHT: Final = 100_000
"""What it takes to compile the kernels that a form of prim funcs changed, in characters that are read."""


def forked(limits: Limits, ends: WorkerEnds) -> Process:
    """Start one of the workers: a process that has loaded the package once forks both."""
    return forked_workers().start(limits, ends)


def bisected(engine: Engine, message: BisectRecordedOf, texts: Sequence[str]) -> Bisection | Failure:
    """Bisect a recorded pipeline whose forms have these texts, by two workers if it is long.

    If the second worker fails, the first one runs the forms of both.
    """
    at = split(texts, message.options.entry) if isinstance(engine, Client) and processor_count() > 1 else 0
    if not at or message.options.stand_ins:
        return engine.request(message)
    behind: list[FormRuns | Failure] = []
    with Client(start=forked) as other:
        work = threading.Thread(target=lambda: behind.append(other.request(RunFormsOf(message, at))), daemon=True)
        work.start()
        begun = engine.request(msgspec.structs.replace(message, until=at))
        if isinstance(begun, Failure):
            return begun
        work.join()
    runs = next((item for item in behind if isinstance(item, FormRuns)), FormRuns(at, (), are_all=False))
    return engine.request(msgspec.structs.replace(message, ahead=runs))


def split(texts: Sequence[str], entry: str = "") -> int:
    """Return the number of the form at which the second worker begins, 0 if one worker does it all.

    It is a form that is whole whatever stands before it: a compiler printed it, and it defines a function, the entry if
    there is one, that every whole form before it defines. The sum of the weights in front and behind is about the same.
    """
    wholes = [number for number, text in enumerate(texts) if _WHOLE.search(text)]
    if not wholes or wholes[0] != 0 or len(set(texts)) < len(texts):
        return 0
    weights = [len(text) + (0 if number in wholes else _KERNELS_WEIGHT) for number, text in enumerate(texts)]
    if sum(weights) < LONG:
        return 0
    defined = set(_DEFINED.findall(texts[0]))
    shared = defined & {entry} if entry else defined
    sums = [0, *accumulate(weights)]
    best, least = 0, float(sums[-1])
    for number in wholes:
        shared &= set(_DEFINED.findall(texts[number]))
        if not shared or not is_printed(texts[number]):
            break
        longer = max(sums[number], sums[-1] - sums[number])
        if number and longer < least:
            best, least = number, longer
    return best


def processor_count() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0))
