"""Kernels timed in turns on equal arguments, and how far their results are apart; it needs NumPy alone."""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]

# Each is timed so often, less often where it takes longer than so many seconds in all.
_ROUNDS, _LEAST_ROUNDS = 15, 3
_SECONDS = 0.5
# A short kernel is called often enough for the clock to tell.
_CLOCKED = 2e-4
_MOST_CALLS = 1000


class Turns:
    """A kernel that is timed: `call` runs it once on arguments of its own, to which `restore` gives their values."""

    def __init__(self, call: Callable[[], object], restore: Callable[[], object]) -> None:
        self._call = call
        self._restore = restore
        self._count = 1
        self.seconds: list[float] = []

    def settle(self) -> None:
        """Choose how many calls are timed together."""
        taken = self._take()
        self._count = max(min(int(_CLOCKED / max(taken, 1e-7)), _MOST_CALLS), 1)

    def time(self) -> None:
        """Time it once more, from the given values on."""
        self.seconds.append(self._take())

    @property
    def is_done(self) -> bool:
        """Tell whether it was timed often enough."""
        spent = sum(self.seconds) * self._count
        return len(self.seconds) >= _ROUNDS or (len(self.seconds) >= _LEAST_ROUNDS and spent > _SECONDS)

    def _take(self) -> float:
        self._restore()
        call = self._call
        began = perf_counter()
        for _ in range(self._count):
            call()
        return (perf_counter() - began) / self._count


def time_all(timed: Sequence[Turns], before_each: Callable[[], object]) -> None:
    """Time all in turns, so that what else the machine does befalls them alike; `before_each` may stop it."""
    for item in timed:
        before_each()
        item.settle()
    while waiting := [item for item in timed if not item.is_done]:
        for item in waiting:
            before_each()
            item.time()


def apart(ours: Sequence[Array], others: Sequence[Array]) -> tuple[float, bool]:
    """Return the greatest distance of two elements, as float64, and whether all bits are the same."""
    pairs = tuple(zip(ours, others, strict=True))
    difference = max((_distance(one, another) for one, another in pairs), default=0.0)
    return difference, all(one.tobytes() == another.tobytes() for one, another in pairs)


def _distance(ours: Array, others: Array) -> float:
    """Return the greatest distance of two elements; two NaN are alike, and an infinity is far from all else."""
    a, b = ours.astype(np.float64), others.astype(np.float64)
    is_alike = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        distance = np.where(is_alike, 0.0, np.abs(a - b))
    return float(np.where(np.isnan(distance), np.inf, distance).max(initial=0.0))
