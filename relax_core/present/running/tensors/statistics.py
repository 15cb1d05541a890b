"""Statistics of a tensor and of a plane of it, and the histogram of the plane."""

import numpy as np

from relax_core.present.running.moment_models import Bin, Statistic
from relax_core.present.running.tensor import number
from relax_core.present.running.tensors.kinds import Array, is_float, kinds, wide

SAMPLED_FROM = 1 << 23
"""Of tensors with more elements some are looked at."""
_BINS = 24


def sample(array: Array) -> tuple[Array, int]:
    """Return elements at equal distances, in the order of memory, and the distance; 1: all of them."""
    step = distance(array)
    # In the order of memory a plane with its axes swapped needs no copy.
    return array.ravel(order="K")[::step], step


def distance(array: Array) -> int:
    """Return how far apart the elements are that are looked at; 1: all are."""
    step = -(-array.size // SAMPLED_FROM) if array.size > SAMPLED_FROM else 1
    # A distance that divides the last axis would look at the same columns in every row.
    while step > 1 and array.shape[-1] % step == 0:
        step += 1
    return step


def sampling_words(whole: Array, whole_step: int, plane: Array, plane_step: int) -> str:
    """Say which elements the statistics are of; empty if they are of all."""
    said = [
        f"one in {step} of the {array.size:,} elements of the {name}"
        for name, array, step in (("tensor", whole, whole_step), ("plane", plane, plane_step))
        if step > 1
    ]
    return f"Statistics look at {' and at '.join(said)}: counts are of those." if said else ""


def statistics(plane: Array, whole: Array) -> tuple[Statistic, ...]:
    """Return the statistics of the plane beside those of the whole tensor."""
    rows = zip(_numbers(plane), _numbers(whole), strict=True)
    return tuple(Statistic(name, own, of_all) for (name, own), (_, of_all) in rows)


def _numbers(array: Array) -> tuple[tuple[str, str], ...]:
    finite = _finite(array)
    counts = np.bincount(kinds(array).reshape(-1), minlength=5).tolist()
    least, largest = (finite.min(), finite.max()) if finite.size else (None, None)
    mean, deviation = (finite.mean(), finite.std()) if finite.size else (None, None)
    shown = [("Least", least), ("Largest", largest), ("Mean", mean), ("Deviation", deviation)]
    rows = [(name, "none" if item is None else number(item)) for name, item in shown]
    rows.append(("Exactly 0", f"{counts[1]:,}"))
    if is_float(array):
        names = (("✕ NaN", 4), ("∞ Inf", 3), ("· denormal", 2))
        rows.extend((name, f"{counts[kind]:,}") for name, kind in names)
    return tuple(rows)


def histogram(plane: Array) -> tuple[Bin, ...]:
    """Count the finite elements in ranges of equal width; one range if all are equal."""
    finite = _finite(plane)
    if not finite.size:
        return ()
    low, high = float(finite.min()), float(finite.max())
    if low == high:
        return (Bin(number(low), number(high), finite.size),)
    # Halved, so that the distance of the largest from the least float64 is finite.
    counts, edges = np.histogram(finite / 2, _BINS, (low / 2, high / 2))
    bounds = [number(float(edge) * 2) for edge in edges]
    return tuple(
        Bin(start, end, int(count)) for start, end, count in zip(bounds, bounds[1:], counts.tolist(), strict=False)
    )


def _finite(array: Array) -> Array:
    numbers = wide(array).reshape(-1)
    return numbers[np.isfinite(numbers)]
