"""Measure several cases against each other in one run."""

import gc
from collections import deque
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.table import Row

Case = Callable[[], object]

SHORTEST_SAMPLE_SECONDS = 0.002
LINE_BYTES = 64


def measure(cases: Mapping[str, Case], *, sample_count: int = 15) -> tuple[Row, ...]:
    """Time every case `sample_count` times, in turns, so that a slow moment of the machine meets all of them.

    A case is called once before, so that what it compiles or caches is there, and then as often per sample as
    makes the sample long enough for the clock. The garbage collector stands still meanwhile: it runs before each turn,
    and as it sweeps the caches, the case that comes first pays for that, each in its turn.
    """
    call_counts = {name: calls_per_sample(case) for name, case in cases.items()}
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        names = deque(cases)
        for _ in range(sample_count):
            for name in names:
                seconds[name].append(sample(cases[name], call_counts[name]) / call_counts[name])
            names.rotate()
            gc.collect()
    finally:
        if was_enabled:
            gc.enable()
    return tuple(Row(name, tuple(times)) for name, times in seconds.items())


def aligned(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a copy that starts where a line of the cache does, as apache-tvm's tensors do."""
    room = np.empty(array.nbytes + LINE_BYTES, np.uint8)
    start = -room.ctypes.data % LINE_BYTES
    copy = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def calls_per_sample(case: Case) -> int:
    """Return how often a case is called for a sample that is long enough for the clock."""
    case()
    count = 1
    while sample(case, count) < SHORTEST_SAMPLE_SECONDS:
        count *= 2
    return count


def sample(case: Case, count: int) -> float:
    """Return how many seconds so many calls take."""
    start = perf_counter()
    for _ in range(count):
        case()
    return perf_counter() - start
