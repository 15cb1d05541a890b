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


def is_array(value: Plain) -> TypeGuard[Array]:
    """Tell whether a value has one element, or one row, for each lane."""
    return isinstance(value, np.ndarray)


def numpy_type(dtype: str) -> "np.dtype[Any]":
    """Return NumPy's dtype of the elements of a dtype."""
    return np.dtype(np.bool_ if dtype in ("bool", "uint1") else dtype)


def cast(value: Plain, dtype: str) -> Plain:
    """Convert elements; floats become integers by truncation. Integers for all lanes stay exact numbers of Python."""
    kind = numpy_type(dtype)
    if is_array(value):
        return value.astype(kind)
    if kind.kind in "iu":
        bits = 8 * kind.itemsize
        number = int(value) & ((1 << bits) - 1)
        return number - (1 << bits) if kind.kind == "i" and number >> (bits - 1) else number
    return bool(value) if kind.kind == "b" else kind.type(value)


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


def _floor_divided(a: Plain, b: Plain) -> Plain:
    if _is_array(a, b):
        return np.floor_divide(a, b)
    return a // b if b else 0


def _floor_remainder(a: Plain, b: Plain) -> Plain:
    if _is_array(a, b):
        return np.mod(a, b)
    return a % b if b else 0


def _truncated_quotient(a: Plain, b: Plain) -> Plain:
    if _is_array(a, b):
        return np.sign(a) * np.sign(b) * (np.abs(a) // np.where(np.asarray(b) == 0, 1, np.abs(b)))
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _truncated_remainder(a: Plain, b: Plain) -> Plain:
    return a - _truncated_quotient(a, b) * b


def _and(a: Plain, b: Plain) -> Plain:
    return np.logical_and(a, b) if _is_array(a, b) else bool(a) and bool(b)


def _or(a: Plain, b: Plain) -> Plain:
    return np.logical_or(a, b) if _is_array(a, b) else bool(a) or bool(b)


def _not(a: Plain) -> Plain:
    return np.logical_not(a) if _is_array(a) else not a


BINARY: Final[Mapping[str, Callable[[Plain, Plain], Plain]]] = MappingProxyType(
    {
        "+": _operator.add, "-": _operator.sub, "*": _operator.mul, "/": _operator.truediv,
        "//": _floor_divided, "%": _floor_remainder, "truncdiv": _truncated_quotient, "truncmod": _truncated_remainder,
        "min": _minimum, "max": _maximum, "and": _and, "or": _or, "==": _operator.eq, "!=": _operator.ne,
        "<": _operator.lt, "<=": _operator.le, ">": _operator.gt, ">=": _operator.ge, "&": _operator.and_,
        "|": _operator.or_, "^": _operator.xor, "<<": _operator.lshift, ">>": _operator.rshift,
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


_erf_of_number: Final = np.vectorize(math.erf, otypes=[np.float64])


def _erf(x: Plain) -> Plain:
    return _erf_of_number(x).astype(np.asarray(x).dtype)


_NAMES_OF_NUMPY: Final = (
    "exp exp2 log log2 log10 log1p sqrt tanh sin cos tan sinh cosh floor ceil trunc fmod isnan isinf isfinite copysign "
    "hypot ldexp asin:arcsin acos:arccos atan:arctan atan2:arctan2 asinh:arcsinh acosh:arccosh atanh:arctanh "
    "round:rint nearbyint:rint fabs:abs pow:power popcount:bitwise_count"
)
"""What NumPy computes, with NumPy's name where that is another one."""
FUNCTIONS: Final[Mapping[str, Callable[..., Plain]]] = MappingProxyType(
    {
        **{
            name: getattr(_numpy, other or name)
            for name, _, other in (item.partition(":") for item in _NAMES_OF_NUMPY.split())
        },
        "rsqrt": _reciprocal_root, "sigmoid": _sigmoid, "erf": _erf, "abs": abs, "fma": _multiplied_and_added,
        "likely": _itself, "shift_left": _operator.lshift, "shift_right": _operator.rshift,
        "bitwise_and": _operator.and_, "bitwise_or": _operator.or_, "bitwise_xor": _operator.xor,
        "bitwise_not": _operator.invert,
    }
)  # fmt: skip
"""Functions of numbers, by the names of TIR's intrinsics."""
