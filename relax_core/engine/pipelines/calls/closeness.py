"""How far a call's result may be from another one: by its dtype, and by what the kernel does; and how far it is."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from relax_core.engine.debug.differences import compare_arrays
from relax_core.engine.debug.replies import UNKNOWN_ULP, CallSide
from relax_core.engine.debug.tolerance import EXACT, Tolerance
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import Binary, Cast, Intrinsic, Unary
from relax_core.ir.tir import Block, BufferStore, PrimFunc
from relax_core.present.running.tensor import short_text
from relax_core.present.running.tensors.comparison import ulps

Array = npt.NDArray[Any]

_RELATIVE_OF: Final = MappingProxyType({"float64": 1e-12, "float32": 1e-5, "float16": 1e-2, "bfloat16": 2e-2})
_LATER: Final = 10
"""Values that are computed from computed values are further apart than those of one call."""
_MOVING: Final = ("min", "max", "==", "!=", "<", "<=", ">", ">=", "and", "or")


@dataclass(frozen=True, slots=True)
class CallTolerance:
    """A tolerance, and the words for it. `is_of_largest`: it is relative to the largest number of the tensor.

    `root` is the factor for the longest sum in it.
    """

    relative: float
    is_of_largest: bool = False
    words: str = "exact"
    root: float = 1.0

    def tolerance(self, recorded: Array) -> Tolerance:
        """Return the tolerance for a recorded tensor."""
        if not self.relative:
            return EXACT
        if not self.is_of_largest:
            return Tolerance(self.relative)
        numbers = np.abs(recorded.astype(np.float64))
        numbers = numbers[np.isfinite(numbers)]
        return Tolerance(self.relative, self.relative * float(numbers.max(initial=0.0)))


def closeness_of(function: PrimFunc | None, dtype: str, sizes: Iterable[int]) -> CallTolerance:
    """Return how close the results of a kernel of a dtype should be; `sizes` are the dimensions of its arguments.

    Integers are equal, and so is what a kernel only moves or chooses. What it computes is close by the dtype, for sums
    times the root of the number of terms, relative to the largest result: terms may cancel.
    """
    relative = _RELATIVE_OF.get(dtype, 0.0)
    if not relative:
        return CallTolerance(0.0)
    if function is None:
        return CallTolerance(relative, words=f"{relative:g}")
    terms = _terms(function, max(sizes, default=1))
    if terms > 1:
        words = f"{relative:g} of the largest, times {math.sqrt(terms):.3g} for sums of {terms} terms"
        return CallTolerance(relative * math.sqrt(terms), is_of_largest=True, words=words, root=math.sqrt(terms))
    if not any(_computes(node) for node in _stored(function)):
        return CallTolerance(0.0, words="exact, since it only moves values")
    return CallTolerance(relative, words=f"{relative:g}")


def carried(dtype: str, root: float) -> CallTolerance:
    """Return how close values are that were computed from others which are close, not from the same.

    `root` is the largest factor for sums of all that came before. Even what only moves values has such a distance.
    """
    relative = _RELATIVE_OF.get(dtype, 0.0)
    if not relative:
        return CallTolerance(0.0)
    words = f"{relative:g} of the largest, times {_LATER * root:.3g} for what was computed before"
    return CallTolerance(relative * _LATER * root, is_of_largest=True, words=words, root=root)


def _terms(function: PrimFunc, unknown: int) -> int:
    """Return how many terms a sum has at the most; a symbolic size counts as the largest of the arguments."""
    most = 1
    for node in preorder(function.body):
        if isinstance(node, Block):
            extents = (constant_value(item.extent) for item in node.iter_vars if item.kind == "reduce")
            most = max(most, math.prod(unknown if extent is None else extent for extent in extents))
    return most


def _stored(function: PrimFunc) -> Iterable[Node]:
    for node in preorder(function.body):
        if isinstance(node, BufferStore):
            yield from preorder(node.value)


def _computes(node: Node) -> bool:
    """Tell whether an expression rounds."""
    match node:
        case Binary(op=op, dtype=dtype):
            return dtype.startswith(("float", "bfloat")) and op not in _MOVING
        case Cast(dtype=dtype) | Intrinsic(dtype=dtype) | Unary(dtype=dtype):
            return dtype.startswith(("float", "bfloat"))
        case _:
            return False


def side(recorded: Any, computed: Any, closeness: CallTolerance, *, given: Tolerance | None = None) -> CallSide:
    """Compare a recorded value with a computed one, both arrays, numbers, shapes or tuples of them."""
    if isinstance(recorded, tuple) or isinstance(computed, tuple):
        return _fields(recorded, computed, closeness, given)
    one, other = np.asarray(recorded), np.asarray(computed)
    if one.dtype.kind not in "biufV" or other.dtype.kind not in "biufV":
        return CallSide("not comparable", "it is no number and no tensor")
    tolerance = closeness.tolerance(one) if given is None else given
    found = compare_arrays("result", one, other, tolerance)
    ulp = ulp_distance(one, other)
    words = ", ".join(filter(None, (found.words, f"{ulp:,.0f} ULP" if ulp > 0 else "")))
    at = _worst(one, other)
    was, is_ = (_item(array, at) if at is not None else "" for array in (one, other))
    element = "" if at is None else f"[{', '.join(map(str, at))}]" if at else "[]"
    return CallSide(found.verdict, words, short_text(other), element, was, is_, ulp, found.largest)


def _fields(recorded: Any, computed: Any, closeness: CallTolerance, given: Tolerance | None) -> CallSide:
    one = cast("tuple[Any, ...]", recorded) if isinstance(recorded, tuple) else (recorded,)
    other = cast("tuple[Any, ...]", computed) if isinstance(computed, tuple) else (computed,)
    if len(one) != len(other):
        return CallSide("different", f"it has {len(other)} fields, was {len(one)}")
    sides = [side(a, b, closeness, given=given) for a, b in zip(one, other, strict=True)]
    wrong = next((item for item in sides if item.verdict != "same"), None)
    if wrong is not None:
        return wrong
    return max(sides, key=lambda item: item.ulp, default=CallSide("same"))


def ulp_distance(one: Array, other: Array) -> float:
    """Return the largest distance in units in the last place; -1 for other dtypes or shapes, inf beside NaN."""
    is_float = one.dtype.kind == "f" or one.dtype.name == "bfloat16"
    if not is_float or one.dtype != other.dtype or one.shape != other.shape:
        return UNKNOWN_ULP
    if not one.size:
        return 0.0
    apart = ulps(one, other)
    return math.inf if np.isnan(apart).any() else float(apart.max())


def _worst(one: Array, other: Array) -> tuple[int, ...] | None:
    """Return the place of the element that differs most; `None` if none does."""
    if one.shape != other.shape or not one.size:
        return None
    with np.errstate(all="ignore"):
        apart = np.abs(one.astype(np.float64) - other.astype(np.float64))
        unlike = one != other
    is_nan = np.isnan(apart) & unlike & ~(np.isnan(one.astype(np.float64)) & np.isnan(other.astype(np.float64)))
    ranked = np.where(is_nan, np.inf, np.where(unlike, np.nan_to_num(apart, nan=0.0), 0.0))
    at = int(ranked.argmax())
    return tuple(int(item) for item in np.unravel_index(at, one.shape)) if ranked.reshape(-1)[at] > 0 else None


def _item(array: Array, at: tuple[int, ...]) -> str:
    item = array[at]
    return f"{float(item):.9g}" if array.dtype.kind in "fV" else str(item)
