"""What each transformation of a kernel is worth: the kernel timed with all, and without each one that took part."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from time import perf_counter
from typing import Any, TypeAlias, cast

import numpy as np

from relax_core.diagnostics import Diagnostic, RunError
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.ir.tir import PrimFunc
from relax_core.jit.engine import Engine
from relax_core.jit.kernel import Kernel
from relax_core.jit.transforms.registry import SUMMARIES, without

Array: TypeAlias = np.ndarray[Any, Any]

# Each way to compile is timed so often, less often where it takes longer than so many seconds in all.
_ROUNDS, _LEAST_ROUNDS = 15, 3
_SECONDS = 0.5
# A short kernel is called often enough for the clock to tell.
_CLOCKED = 2e-4
_MOST_CALLS = 1000


@dataclass(frozen=True, slots=True)
class StepCost:
    """What a kernel takes without one transformation, a median; `difference` is the greatest one between its results.

    The difference is that of float64; `has_same_bits` where all bits are those of the kernel with all transformations.
    """

    name: str
    seconds: float
    difference: float
    has_same_bits: bool


@dataclass(frozen=True, slots=True)
class StepCosts:
    """What a kernel takes with all transformations that are on, in seconds, and without each that took part."""

    seconds: float
    rounds: int
    steps: tuple[StepCost, ...]


@dataclass(frozen=True, slots=True)
class Timed:
    """A kernel to time: its prim func, the log that leads to the user's text, and those that it may call."""

    function: PrimFunc
    name: str
    log: RewriteLog | None
    functions: Mapping[str, PrimFunc]


class _Way:
    """One way to compile the kernel, with arrays of its own."""

    def __init__(self, engine: Engine, timed: Timed, off: Iterable[str], args: Sequence[object]) -> None:
        host = engine.variation(replace(engine.options, without=without(off)))
        self.kernel = Kernel(host, timed.function, timed.name, timed.log, timed.functions)
        self._given = args
        self._args = [cast("Array", arg).copy() if isinstance(arg, np.ndarray) else arg for arg in args]
        self._call = self.kernel.caller()
        self._call(*self._args)
        self.results = [cast("Array", arg).copy() for arg in self._args if isinstance(arg, np.ndarray)]
        self._count = 1
        self.seconds: list[float] = []

    def settle(self) -> None:
        """Choose how many calls are timed together."""
        taken = self._take()
        self._count = max(min(int(_CLOCKED / max(taken, 1e-7)), _MOST_CALLS), 1)

    def time(self) -> None:
        """Time it once more, from the given values on."""
        self.seconds.append(self._take())

    def _take(self) -> float:
        for array, given in zip(self._args, self._given, strict=True):
            if isinstance(array, np.ndarray):
                np.copyto(cast("Array", array), cast("Array", given))
        call, args = self._call, self._args
        began = perf_counter()
        for _ in range(self._count):
            call(*args)
        return (perf_counter() - began) / self._count

    @property
    def is_done(self) -> bool:
        """Tell whether it was timed often enough."""
        spent = sum(self.seconds) * self._count
        return len(self.seconds) >= _ROUNDS or (len(self.seconds) >= _LEAST_ROUNDS and spent > _SECONDS)


def step_costs(
    engine: Engine,
    timed: Timed,
    args: Sequence[object],
    off: Sequence[str] = (),
    *,
    is_cancelled: Callable[[], bool] = lambda: False,
    said: Callable[[str, int, int], None] | None = None,
) -> StepCosts:
    """Time a kernel on `args`, which stay as they are: with all but `off`, and without each one that took part besides.

    All ways are timed in turns in one run, so that what else the machine does befalls them alike. `said` is told of
    what is compiled next, and how many of how many are done.

    Raises:
        CompileError: it cannot be compiled, or `off` names no transformation.
        RunError: it stopped on these arguments, or was cancelled.
    """
    whole = _Way(engine, timed, off, args)
    applied = {item.transform for item in whole.kernel.remarks() if item.kind == "applied"}
    ways: dict[str, _Way] = {}
    for name in (item for item in SUMMARIES if item in applied):
        _look(is_cancelled)
        if said is not None:
            said(f"{timed.name} without {name}", len(ways) + 1, len(applied) + 1)
        ways[name] = _Way(engine, timed, (*off, name), args)
    everyone = (whole, *ways.values())
    for way in everyone:
        _look(is_cancelled)
        way.settle()
    while waiting := [way for way in everyone if not way.is_done]:
        for way in waiting:
            _look(is_cancelled)
            way.time()
    costs = tuple(_cost(name, way, whole) for name, way in ways.items())
    return StepCosts(median(whole.seconds), len(whole.seconds), costs)


def _look(is_cancelled: Callable[[], bool]) -> None:
    if is_cancelled():
        raise RunError((Diagnostic("JT014", "cancelled while the kernel was timed"),))


def _cost(name: str, way: _Way, whole: _Way) -> StepCost:
    pairs = tuple(zip(whole.results, way.results, strict=True))
    has_same_bits = all(ours.tobytes() == others.tobytes() for ours, others in pairs)
    difference = max((_apart(ours, others) for ours, others in pairs), default=0.0)
    return StepCost(name, median(way.seconds), difference, has_same_bits)


def _apart(ours: Array, others: Array) -> float:
    """Return the greatest distance of two elements; two NaN are alike, and an infinity is far from all else."""
    a, b = ours.astype(np.float64), others.astype(np.float64)
    is_alike = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        distance = np.where(is_alike, 0.0, np.abs(a - b))
    return float(np.where(np.isnan(distance), np.inf, distance).max(initial=0.0))
