"""Two sets of named arrays, member by member: whether they are alike, and if not, where and by how much."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from relax_core.engine.debug.tolerance import DEFAULT_TOLERANCE, Difference, Tolerance
from relax_core.engine.debug.verdicts import distance_words

Array = npt.NDArray[Any]


def compare(
    reference: Mapping[str, Array], other: Mapping[str, Array], tolerance: Tolerance = DEFAULT_TOLERANCE
) -> tuple[Difference, ...]:
    """Compare two sets of arrays, in the order of the reference; what only `other` has comes last.

    What only one has is not comparable.
    """
    return tuple(_differences(reference, other, tolerance))


def _differences(
    reference: Mapping[str, Array], other: Mapping[str, Array], tolerance: Tolerance
) -> Iterator[Difference]:
    for name, array in reference.items():
        if name in other:
            yield compare_arrays(name, array, other[name], tolerance)
        else:
            yield Difference(name, "not comparable", type_of(array), "only the first has it")
    for name, array in other.items():
        if name not in reference:
            yield Difference(name, "not comparable", type_of(array), "only the second has it")


def compare_arrays(name: str, reference: Array, other: Array, tolerance: Tolerance = DEFAULT_TOLERANCE) -> Difference:
    """Compare two arrays; NaN is equal to NaN."""
    type_ = type_of(reference)
    is_text = reference.dtype.kind == other.dtype.kind == "U"
    if reference.shape != other.shape or (reference.dtype != other.dtype and not is_text):
        return Difference(name, "different", type_, f"it is {type_of(other)}, was {type_}")
    if reference.dtype == other.dtype and _as_bytes(reference) == _as_bytes(other):
        return Difference(name, "same", type_)
    if not _is_number(reference):
        unlike = np.asarray(reference != other)
        if not unlike.any():
            return Difference(name, "same", type_)
        return Difference(name, "different", type_, _first_words(unlike, reference, other))
    relative, absolute = tolerance.of(str(reference.dtype))
    with np.errstate(all="ignore"):
        a, b = _wide(reference), _wide(other)
        apart = np.abs(a - b)
        is_close = np.isfinite(apart) & (apart <= absolute + relative * np.abs(a))
        # Whole numbers beyond 2**53 are alike as floats though they are not.
        is_equal = reference == other
        is_alike = is_equal | (np.isnan(a) & np.isnan(b)) | (is_close if relative or absolute else False)
        unlike = ~is_alike
    numbers = apart[np.isfinite(apart)]
    largest = float(numbers.max()) if numbers.size else 0.0
    if not unlike.any():
        return Difference(name, "same", type_, distance_words(largest), largest)
    return Difference(name, "different", type_, _number_words(unlike, apart, reference, other), largest)


def type_of(array: Array) -> str:
    """Return shape and dtype: `(2, 3) float32`, `text` for strings."""
    if array.dtype.kind == "U":
        return "text"
    return f"({', '.join(map(str, array.shape))}{',' if array.ndim == 1 else ''}) {array.dtype}"


def _as_bytes(array: Array) -> bytes:
    return np.ascontiguousarray(array).tobytes()


def _is_number(array: Array) -> bool:
    return array.dtype.kind in "fiuc" or str(array.dtype) == "bfloat16"


def _wide(array: Array) -> Array:
    """Return numbers in a dtype in which they can be subtracted."""
    match array.dtype.kind:
        case "c":
            return array.astype(np.complex128)
        case _:
            return array.astype(np.float64)


def _number_words(unlike: Array, apart: Array, reference: Array, other: Array) -> str:
    ranked = np.where(unlike, np.where(np.isnan(apart), np.inf, apart), -1.0)
    worst = np.unravel_index(int(ranked.argmax()), ranked.shape)
    count = f"{int(unlike.sum()):,} of {unlike.size:,} " + (
        "element differs" if unlike.size == 1 else "elements differ"
    )
    distance = float(ranked[worst])
    by = f", by at most {distance:.3g}" if np.isfinite(distance) else ", one is not finite"
    at = f" at [{', '.join(map(str, worst))}]" if worst else ""
    return f"{count}{by}{at}: {_number(other[worst])}, was {_number(reference[worst])}"


def _number(item: Any) -> str:
    return str(item) if np.asarray(item).dtype.kind in "iu" else f"{item:.6g}"


def _first_words(unlike: Array, reference: Array, other: Array) -> str:
    if not unlike.ndim:
        return f"it is {_cut(other)}, was {_cut(reference)}"
    first = np.unravel_index(int(unlike.argmax()), unlike.shape)
    at = ", ".join(map(str, first))
    return f"{int(unlike.sum()):,} of {unlike.size:,} elements differ: [{at}] is {other[first]}, was {reference[first]}"


def _cut(value: object) -> str:
    text = repr(str(value))
    return text if len(text) <= 60 else f"{text[:59]}…"
