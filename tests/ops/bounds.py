"""How far the two meanings of each operator may be apart, and why: derived from what they compute, not from results.

`eps` is the distance from 1 to the next number of the dtype. A kernel in the mode "exact" computes elementary
functions to less than 1 unit in the last place (`relax_core/jit/options.py`), NumPy's are within 4, so that one
function is FUNCTION = 5 units. In float16 and bfloat16 both compute functions in float32 and round: two neighbours
at most, which is within that. What is not named here is exact, bit for bit, with the sign of zero; a NaN equals a NaN.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from types import MappingProxyType
from typing import Any, cast

import ml_dtypes
import numpy as np

from tests.narrow import as_tuple, is_array, is_list
from tests.ops.cases import Array, Case

FUNCTION = 5.0


@dataclass(frozen=True)
class Bound:
    """`|kernel - evaluated| <= ulps of the result + steps * eps * scale(case, result)`, in float64.

    `scale` is the magnitude of what is rounded on the way. With `is_ordered` off the two add in different orders:
    nothing is claimed where the magnitude is beyond half of the greatest number, as a partial sum may overflow in one.
    With `is_truncated` an integer result is a float32 that was cut: it may be off by so much, and by 1 more.
    """

    why: str
    ulps: float = 0.0
    steps: Callable[[Case], float] = lambda _: 0.0
    scale: Callable[[Case, Array], Any] = lambda _, result: np.zeros_like(result)
    is_ordered: bool = True
    is_truncated: bool = False


EXACT = Bound("the same operations on the same numbers, in the same order")
ONE_FUNCTION = Bound("one elementary function", ulps=FUNCTION)


def finfo_of(dtype: "str | np.dtype[Any]") -> Any:
    """Return the limits of a dtype of floats; of some of their types ml_dtypes says nothing."""
    return cast("Any", ml_dtypes.finfo(dtype))


def _tensors(case: Case) -> list[Array]:
    items: Iterator[Any] = (item for value in case.args for item in (value if is_list(value) else (value,)))
    return [item for item in items if is_array(item) and item.ndim]


def magnitudes(case: Case) -> tuple[Array, ...]:
    """Return the results for the sizes of the finite elements, in float64: the sum of the sizes of the terms."""

    def size(value: Any) -> Any:
        if is_list(value):
            return [size(item) for item in value]
        if not is_array(value) or value.dtype.kind not in "fV" or value.dtype.kind in "iub":
            return value
        wide = np.abs(value.astype(np.float64))
        return np.where(np.isfinite(wide), wide, 0.0)

    assert case.spec.evaluate is not None
    kinds = [param.kind for param in case.spec.params]
    args = [None if kind == "dtype" else size(v) for kind, v in zip(kinds, case.args, strict=True)]
    found = case.spec.evaluate(tuple(args))
    return as_tuple(found)


def _terms(case: Case) -> float:
    """Return twice the number of terms: a sum has no more of them than the smaller operand has elements."""
    return 2.0 * min(prod(item.shape) for item in _tensors(case))


def _of_terms(case: Case, _: Array) -> Any:
    return magnitudes(case)[0]


def _of_data(case: Case, _: Array) -> Any:
    return np.abs(np.asarray(case.args[0]).astype(np.float64))


def _of_one(_: Case, result: Array) -> Any:
    return np.ones_like(result)


def _of_one_and_result(_: Case, result: Array) -> Any:
    return 1 + np.abs(result)


def _largest_weight(case: Case, result: Array) -> Any:
    """The normalized data times a weight, which a last addition may cancel."""
    weights = [np.abs(item.astype(np.float64)) for item in _tensors(case)[1:]]
    return np.abs(result) + 2 * max((item.max(initial=0, where=np.isfinite(item)) for item in weights), default=0)


def _largest_value(case: Case, _: Array) -> Any:
    """An attention is a mean of the values."""
    value = np.abs(np.asarray(case.args[2]).astype(np.float64))
    return value.max(initial=0, where=np.isfinite(value))


def _constant(value: float) -> Callable[[Case], float]:
    return lambda _: value


IN_ANY_ORDER = Bound(
    "NumPy adds the products in another order: 2 * terms * eps * sum(|terms|)",
    steps=_terms,
    scale=_of_terms,
    is_ordered=False,
)
_NORM = Bound(
    "the reciprocal of the root differs by a unit or two, and the shift may cancel: 8 * eps * (|result| + |shift|)",
    ulps=FUNCTION,
    steps=_constant(8),
    scale=_largest_weight,
)

BOUNDS: Mapping[str, Bound] = MappingProxyType(
    {
        **dict.fromkeys(
            ("exp", "log", "sqrt", "rsqrt", "sin", "cos", "tan", "tanh", "asin", "acos", "atan", "sinh", "cosh",
             "asinh", "acosh", "atanh", "erf", "sigmoid", "atan2"),
            ONE_FUNCTION,
        ),
        "power": Bound("of floats one function; of integers exact", ulps=FUNCTION),
        "log_add_exp": Bound(
            "log1p of an exp, added to the greater", ulps=FUNCTION, steps=_constant(2 * FUNCTION),
            scale=_of_one_and_result,
        ),
        "nn.silu": Bound("one function, then a product", ulps=FUNCTION + 1),
        "nn.gelu": Bound("0.5 + 0.5 * erf cancels: 4 * eps * |x|", steps=_constant(4), scale=_of_data),
        "nn.gelu_tanh": Bound("1 + tanh cancels: 5 * eps * |x|", ulps=FUNCTION, steps=_constant(5), scale=_of_data),
        "nn.softplus": Bound("the exp is rounded when 1 is added: 6 * eps", ulps=FUNCTION, steps=_constant(6),
                             scale=_of_one),
        "nn.selu": Bound("exp - 1 cancels: 2 * 5 * eps", ulps=FUNCTION, steps=_constant(10), scale=_of_one),
        "nn.softmax": Bound("each exp one function, their sum and the quotient as well", ulps=2 * FUNCTION + 2),
        "nn.log_softmax": Bound("the sum of exponentials to 5 units, so its log to 5 * eps", ulps=FUNCTION,
                                steps=_constant(2 * FUNCTION), scale=_of_one_and_result),
        **dict.fromkeys(
            ("matmul", "linear", "einsum", "nn.conv1d", "nn.conv2d", "nn.conv3d", "nn.conv1d_transpose",
             "nn.conv2d_transpose", "nn.conv3d_transpose"),
            IN_ANY_ORDER,
        ),
        **dict.fromkeys(
            ("nn.attention", "nn.attention_bias", "nn.attention_var_len"),
            Bound("a softmax, whose weights of the same sum and values: 2 * 12 units of the values", ulps=FUNCTION,
                  steps=_constant(24), scale=_largest_value),
        ),
        **dict.fromkeys(
            ("nn.layer_norm", "nn.group_norm", "nn.instance_norm", "nn.batch_norm", "nn.rms_norm"), _NORM
        ),
    }
)  # fmt: skip

# The mode "bitwise" makes these of exponentials and logarithms, as apache-tvm does, which cancel near 0.
_COMPOSED = Bound("made of exp or log: 4 * eps near 0", ulps=2 * FUNCTION, steps=_constant(4), scale=_of_one)
BITWISE: Mapping[str, Bound] = MappingProxyType(
    {
        "tanh": _COMPOSED,
        "atanh": _COMPOSED,
        "tan": Bound("the quotient of two functions", ulps=2 * FUNCTION + 1),
        "sigmoid": _COMPOSED,
        "nn.silu": Bound("the sigmoid to 4 * eps, times x", ulps=2 * FUNCTION, steps=_constant(4), scale=_of_data),
        "nn.gelu_tanh": Bound("the tanh to 4 * eps, times x", ulps=2 * FUNCTION, steps=_constant(8), scale=_of_data),
    }
)


def _of_operands(case: Case, _: Array) -> Any:
    """The product that is subtracted is no larger than both operands together."""
    a, b = (np.abs(item.astype(np.float64)) for item in _tensors(case))
    return a + b


def _numbers(case: Case) -> Array:
    """Return the sizes of the data, in float64; of what is not finite more than is claimed of."""
    data = np.abs(np.asarray(case.args[0]).astype(np.float64))
    return np.where(np.isfinite(data), data, np.finfo(np.float64).max)


def _of_squares(case: Case, result: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.full(result.shape, np.minimum(np.square(_numbers(case)).max(initial=0), np.finfo(np.float64).max))


def _of_root(case: Case, result: Array) -> Any:
    """A root is off by what is under it over the root, and by no more than the root of that."""
    squares = _of_squares(case, result)
    off = 4 * _terms(case) * float(finfo_of(np.asarray(case.args[0]).dtype).eps)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        near = np.minimum(squares / result, np.sqrt(squares / off))
    return np.where(squares > np.sqrt(np.finfo(np.float64).max), squares, near)


def _largest(case: Case, result: Array) -> Any:
    return np.full(result.shape, _numbers(case).max(initial=0))


def _largest_finite(case: Case, result: Array) -> Any:
    return np.full(result.shape, _of_data(case, result).max(initial=0, where=np.isfinite(_of_data(case, result))))


def _extents(case: Case) -> float:
    """A place is a quotient of sizes times a place, so off by a few units of the extent; it weighs two neighbours.

    Places are float32 for float64 as well, whose `eps` is 2**29 times smaller.
    """
    data = _tensors(case)[0]
    return 16.0 * sum(data.shape[2:]) * (2.0**29 if data.dtype == np.float64 else 1.0)


def _of_entropy(case: Case, result: Array) -> Any:
    logits, targets = _numbers(case), np.abs(np.asarray(case.args[1]).astype(np.float64))
    finite = np.where(np.isfinite(targets), targets, np.finfo(np.float64).max)
    with np.errstate(over="ignore"):
        scale = finite.sum() * (1 + 2 * logits.max(initial=0))
    return np.full(result.shape, np.minimum(scale, np.finfo(np.float64).max))


# The mode "fast" adds and multiplies in another order, and does not round a product that is added or subtracted.
_REORDERED = Bound(
    "terms are added, factors multiplied, in another order, and products not rounded: 2 * terms * eps * sum(|terms|)",
    steps=_terms,
    scale=lambda case, result: np.nan_to_num(_of_terms(case, result), posinf=np.finfo(np.float64).max),
    is_ordered=False,
)
_PLACES = Bound("a place between elements is off by rounding: 16 * eps * extents * largest", ulps=FUNCTION,
                steps=_extents, scale=_largest, is_ordered=False, is_truncated=True)  # fmt: skip
FAST: Mapping[str, Bound] = MappingProxyType(
    {
        **dict.fromkeys(
            ("sum", "mean", "prod", "collapse_sum_to", "collapse_sum_like", "nn.avg_pool1d", "nn.avg_pool2d",
             "nn.avg_pool3d", "nn.adaptive_avg_pool1d", "nn.adaptive_avg_pool2d", "nn.adaptive_avg_pool3d"),
            _REORDERED,
        ),
        **{op: _REORDERED for op, bound in BOUNDS.items() if bound is IN_ANY_ORDER},
        "floor_mod": Bound("the product is not rounded: 2 * eps * (|a| + |b|)", steps=_constant(2),
                           scale=_of_operands, is_ordered=False),
        "variance": Bound("the mean is off by terms * eps, and so is each deviation: 4 * terms * eps * max(x * x)",
                          steps=lambda case: 4 * _terms(case), scale=_of_squares, is_ordered=False),
        "std": Bound("the root of the variance", ulps=FUNCTION, steps=lambda case: 4 * _terms(case), scale=_of_root,
                     is_ordered=False),
        "nn.cross_entropy_with_logits": Bound(
            "the logits, with a sum of exponentials each, weighed by the targets", ulps=FUNCTION,
            steps=lambda case: 4 * FUNCTION + _terms(case), scale=_of_entropy, is_ordered=False,
        ),
        "image.affine_grid": Bound("up to 3 products by places in [-1, 1] are not rounded: 6 * eps * largest",
                                   steps=_constant(6), scale=_largest_finite),
        "image.resize2d": _PLACES,
        "image.resize3d": _PLACES,
    }
)  # fmt: skip


def bound_of(case: Case, mode: str) -> Bound:
    """Return the bound of an operator in a mode."""
    other = {"bitwise": BITWISE, "fast": FAST}.get(mode, BOUNDS)
    return other.get(case.op, BOUNDS.get(case.op, EXACT))


def excess(bound: Bound, case: Case, got: Array, want: Array) -> Array:
    """Return where a result is not what the bound allows; both are of one dtype and shape."""
    if not (got.dtype.kind == "f" or str(got.dtype) == "bfloat16"):
        return _excess_of_integers(bound, case, got, want) if bound.is_truncated else got != want
    a, b = got.astype(np.float64), want.astype(np.float64)
    is_same = ((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))
    if bound is EXACT:
        return ~is_same
    limits = finfo_of(got.dtype)
    least, eps, most = float(limits.smallest_subnormal), float(limits.eps), float(limits.max)
    with np.errstate(all="ignore"):
        scale = np.nan_to_num(np.broadcast_to(bound.scale(case, b), b.shape), nan=0.0, posinf=0.0)
        allowed = bound.ulps * np.maximum(np.abs(b) * eps, least) + bound.steps(case) * (scale * eps + least)
        is_near = np.isfinite(a) & np.isfinite(b) & (np.abs(a - b) <= allowed)
        # Next to the greatest number an allowed error is one to infinity.
        is_over = np.isfinite(a) & np.isinf(b) | np.isfinite(b) & np.isinf(a)
        finite = np.where(np.isfinite(a), a, b)
        other = np.where(np.isfinite(a), b, a)
        is_at_end = is_over & (np.sign(finite) == np.sign(other)) & (np.abs(finite) + allowed >= most)
        is_claimed = np.ones(b.shape, np.bool_) if bound.is_ordered else scale <= most / 2
    return ~(is_same | is_near | is_at_end) & is_claimed


def _excess_of_integers(bound: Bound, case: Case, got: Array, want: Array) -> Array:
    a, b = got.astype(np.float64), want.astype(np.float64)
    eps = float(np.finfo(np.float32).eps)
    return np.abs(a - b) > 1 + bound.steps(case) * eps * bound.scale(case, b)
