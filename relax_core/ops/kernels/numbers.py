"""What TIR's operations compute with NumPy: of numbers, or of arrays of them element by element."""

import math
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Plain: TypeAlias = Any
"""A number for all lanes; or an array of the shape (lanes,), or (lanes, n) for vectors of n, where lanes may be 1."""
# Their stubs leave parts unknown; what is made of them is checked by the types of the tables.
_operator: Any = operator
_numpy: Any = np
_NO_REAL: Final = np.dtype(np.int64)
_MOST_BITS: Final = 64
_WIDE: Final = 8
"""Bytes of integers whose limits a double does not hold."""


def is_array(value: Plain) -> TypeGuard[Array]:
    """Tell whether a value has one element, or one row, for each lane."""
    return isinstance(value, np.ndarray)


def numpy_type(dtype: str) -> "np.dtype[Any]":
    """Return NumPy's dtype of the elements of a dtype."""
    return np.dtype(np.bool_ if dtype in ("bool", "uint1") else dtype)


def of_dtype(value: Plain, dtype: str) -> Plain:
    """Return what a register of `dtype` holds of a result: integers wrap around, those for all lanes are Python's."""
    kind = numpy_type(dtype)
    if is_array(value):
        return value if value.dtype == kind else value.astype(kind)
    if kind.kind in "iu":
        bits = 8 * kind.itemsize
        number = int(value) & ((1 << bits) - 1)
        return number - (1 << bits) if kind.kind == "i" and number >> (bits - 1) else number
    return bool(value) if kind.kind == "b" else kind.type(value)


def cast(value: Plain, dtype: str) -> Plain:
    """Convert elements: floats become integers by truncation, the nearest that the dtype holds, and 0 of NaN."""
    kind = numpy_type(dtype)
    if kind.kind not in "iu" or not _is_real(value):
        return of_dtype(value, dtype)
    limits = np.iinfo(kind)
    # A float's neighbours are too far apart for the limits of wide integers: these are chosen, not converted.
    real = np.where(np.isnan(value), 0.0, value).astype(np.float64)
    low, high = real < float(limits.min), real >= float(limits.max) + (kind.itemsize < _WIDE)
    inside = np.where(low | high, 0.0, real).astype(kind)
    found = np.where(high, kind.type(limits.max), np.where(low, kind.type(limits.min), inside))
    return found if is_array(value) else int(found)


def select(condition: Plain, yes: Plain, no: Plain) -> Plain:
    """Choose in each lane."""
    if not is_array(condition):
        return yes if condition else no
    has_vectors = any(is_array(item) and item.ndim > condition.ndim for item in (yes, no))
    return _numpy.where(condition[:, None] if has_vectors else condition, yes, no)


def _minimum(a: Plain, b: Plain) -> Plain:
    return select(a < b, a, b)


def _maximum(a: Plain, b: Plain) -> Plain:
    return select(a > b, a, b)


def _is_array(*values: Plain) -> bool:
    return any(map(is_array, values))


def _is_real(*values: Plain) -> bool:
    return any(isinstance(item, float) or getattr(item, "dtype", _NO_REAL).kind == "f" for item in values)


def _divided(a: Plain, b: Plain) -> Plain:
    return a / b if _is_real(a, b) else _truncated_quotient(a, b)


def _floor_divided(a: Plain, b: Plain) -> Plain:
    if _is_real(a, b):
        return np.floor(np.true_divide(a, b))
    if _is_array(a, b):
        return np.floor_divide(a, b)
    return a // b if b else 0


def _floor_remainder(a: Plain, b: Plain) -> Plain:
    if _is_real(a, b):
        return a - np.floor(np.true_divide(a, b)) * b
    if _is_array(a, b):
        return np.mod(a, b)
    return a % b if b else 0


def _truncated_quotient(a: Plain, b: Plain) -> Plain:
    if _is_real(a, b):
        return np.trunc(np.true_divide(a, b))
    below = _floor_divided(a, b)
    is_above = (_floor_remainder(a, b) != 0) & ((a < 0) != (b < 0))
    return below + (is_above.astype(below.dtype) if is_array(is_above) else int(is_above))


def _truncated_remainder(a: Plain, b: Plain) -> Plain:
    return np.fmod(a, b) if _is_real(a, b) else a - _truncated_quotient(a, b) * b


def _shifted_left(a: Plain, b: Plain) -> Plain:
    return a << b if _is_array(a, b) or 0 <= b < _MOST_BITS else 0


def _and(a: Plain, b: Plain) -> Plain:
    return np.logical_and(a, b) if _is_array(a, b) else bool(a) and bool(b)


def _or(a: Plain, b: Plain) -> Plain:
    return np.logical_or(a, b) if _is_array(a, b) else bool(a) or bool(b)


def _not(a: Plain) -> Plain:
    return np.logical_not(a) if _is_array(a) else not a


BINARY: Final[Mapping[str, Callable[[Plain, Plain], Plain]]] = MappingProxyType(
    {
        "+": _operator.add, "-": _operator.sub, "*": _operator.mul, "/": _divided,
        "//": _floor_divided, "%": _floor_remainder, "truncdiv": _truncated_quotient, "truncmod": _truncated_remainder,
        "min": _minimum, "max": _maximum, "and": _and, "or": _or, "==": _operator.eq, "!=": _operator.ne,
        "<": _operator.lt, "<=": _operator.le, ">": _operator.gt, ">=": _operator.ge, "&": _operator.and_,
        "|": _operator.or_, "^": _operator.xor, "<<": _shifted_left, ">>": _operator.rshift,
    }
)  # fmt: skip
UNARY: Final[Mapping[str, Callable[[Plain], Plain]]] = MappingProxyType(
    {"-": _operator.neg, "not": _not, "~": _operator.invert}
)


def _multiplied_and_added(a: Plain, b: Plain, c: Plain) -> Plain:
    return a * b + c


def _itself(x: Plain) -> Plain:
    return x


def _sigmoid(x: Plain) -> Plain:
    one = np.asarray(x).dtype.type(1)
    return one / (one + np.exp(-x))


def _reciprocal_root(x: Plain) -> Plain:
    return np.asarray(x).dtype.type(1) / np.sqrt(x)


def _popcount(x: Plain) -> Plain:
    """Count the bits of two's complement, where NumPy counts those of the absolute value."""
    bits = np.asarray(x)
    return np.bitwise_count(bits.view(f"u{bits.dtype.itemsize}"))[()]


_erf_of_number: Final = np.vectorize(math.erf, otypes=[np.float64])


def _erf(x: Plain) -> Plain:
    return _erf_of_number(x).astype(np.asarray(x).dtype)


_NAMES_OF_NUMPY: Final = (
    "exp exp2 log log2 log10 log1p sqrt tanh sin cos tan sinh cosh floor ceil trunc fmod isnan isinf isfinite copysign "
    "hypot ldexp asin:arcsin acos:arccos atan:arctan atan2:arctan2 asinh:arcsinh acosh:arccosh atanh:arctanh "
    "round:rint nearbyint:rint fabs:abs pow:power"
)
"""What NumPy computes, with NumPy's name where that is another one."""
FUNCTIONS: Final[Mapping[str, Callable[..., Plain]]] = MappingProxyType(
    {
        **{
            name: getattr(_numpy, other or name)
            for name, _, other in (item.partition(":") for item in _NAMES_OF_NUMPY.split())
        },
        "rsqrt": _reciprocal_root, "sigmoid": _sigmoid, "erf": _erf, "abs": abs, "fma": _multiplied_and_added,
        "likely": _itself, "popcount": _popcount, "shift_left": _shifted_left, "shift_right": _operator.rshift,
        "bitwise_and": _operator.and_, "bitwise_or": _operator.or_, "bitwise_xor": _operator.xor,
        "bitwise_not": _operator.invert,
    }
)  # fmt: skip
"""Functions of numbers, by the names of TIR's intrinsics."""
