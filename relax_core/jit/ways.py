"""Ways to compile one kernel, timed in turns on equal arguments, and how far their results are apart."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeAlias, cast

import numpy as np

from relax_core.diagnostics import Diagnostic, RunError
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.ir.tir import PrimFunc
from relax_core.jit.kernel import Host, Kernel

Array: TypeAlias = np.ndarray[Any, Any]

# Each way is timed so often, less often where it takes longer than so many seconds in all.
_ROUNDS, _LEAST_ROUNDS = 15, 3
_SECONDS = 0.5
# A short kernel is called often enough for the clock to tell.
_CLOCKED = 2e-4
_MOST_CALLS = 1000


@dataclass(frozen=True, slots=True)
class Timed:
    """A kernel to time: its prim func, the log that leads to the user's text, and those that it may call."""

    function: PrimFunc
    name: str
    log: RewriteLog | None
    functions: Mapping[str, PrimFunc]


class Way:
    """One way to compile a kernel, with arrays of its own."""

    def __init__(self, host: Host, timed: Timed, args: Sequence[object]) -> None:
        """Compile it as `host` does, and run it once on `args`, which stay as they are."""
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

    def against(self, other: "Way") -> tuple[float, bool]:
        """Return how far its results are at most from those of another way, and whether all bits are the same."""
        pairs = tuple(zip(other.results, self.results, strict=True))
        difference = max((_apart(one, another) for one, another in pairs), default=0.0)
        return difference, all(one.tobytes() == another.tobytes() for one, another in pairs)

    @property
    def is_done(self) -> bool:
        """Tell whether it was timed often enough."""
        spent = sum(self.seconds) * self._count
        return len(self.seconds) >= _ROUNDS or (len(self.seconds) >= _LEAST_ROUNDS and spent > _SECONDS)


def time_in_turns(ways: Sequence[Way], is_cancelled: Callable[[], bool]) -> None:
    """Time all ways in turns, so that what else the machine does befalls them alike.

    Raises:
        RunError: JT014, it was cancelled.
    """
    for way in ways:
        look(is_cancelled)
        way.settle()
    while waiting := [way for way in ways if not way.is_done]:
        for way in waiting:
            look(is_cancelled)
            way.time()


def look(is_cancelled: Callable[[], bool]) -> None:
    """Stop if it was cancelled.

    Raises:
        RunError: JT014.
    """
    if is_cancelled():
        raise RunError((Diagnostic("JT014", "cancelled while the kernel was timed"),))


def _apart(ours: Array, others: Array) -> float:
    """Return the greatest distance of two elements; two NaN are alike, and an infinity is far from all else."""
    a, b = ours.astype(np.float64), others.astype(np.float64)
    is_alike = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        distance = np.where(is_alike, 0.0, np.abs(a - b))
    return float(np.where(np.isnan(distance), np.inf, distance).max(initial=0.0))
