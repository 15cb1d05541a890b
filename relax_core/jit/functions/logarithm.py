"""Logarithms, and powers by them, in doubles that are rounded to float32 at the end."""

from math import e, inf, log, log2, nan
from math import log10 as math_log10

from relax_core.jit.functions.exponential import MAGIC, exp2, exp2_within
from relax_core.jit.functions.real import Real, Truth, Word, choose, mostly

_MANTISSA_BITS = 52
# The bits of the root of one half: mantissas from there to twice that are nearest to one.
_ROOT_OF_HALF = 0x3FE6A09E667F3BCD
_MAGIC_BITS = 0x4338000000000000
# log((1 + s) / (1 - s)) / s as a function of s**2, for mantissas between the roots of one half and of two.
_RATIO = (2.000000000008425, 0.6666666524032068, 0.40000385896515245, 0.2853498416389058, 0.2361750039704212)
# The same for powers, where the exponent magnifies errors.
_FINE_RATIO = (
    1.9999999999999465,
    0.6666666667965303,
    0.39999994871670763,
    0.28572168072732884,
    0.22174174767048008,
    0.19609121093856607,
)
# The logarithm to the base two of float32 mantissas, as good as powers below `_USUAL_POWER` of two need it.
_RATIO_OF_TWO = (
    2.885390081790142,
    0.9617966732662703,
    0.5770836003345684,
    0.4116717455173089,
    0.34074898608304716,
)
_USUAL_POWER = 126.0
_FLOAT_MANTISSA_BITS, _FLOAT_ROOT_OF_HALF = 23, 0x3F3504F3
_LEAST_NORMAL, _NORMAL_COUNT = 0x00800000, 0x7F000000


def ln(x: Real) -> Real:
    """Return the natural logarithm."""
    exponent, mantissa = split(x)
    return with_limits(x, _log(mantissa - 1.0, mantissa + 1.0, _RATIO) + exponent * log(2))


def log2_of(x: Real) -> Real:
    """Return the logarithm to the base two."""
    return with_limits(x, _log2(x, _RATIO))


def log10(x: Real) -> Real:
    """Return the logarithm to the base ten."""
    return with_limits(x, _log2(x, _RATIO) * math_log10(2))


def log1p(x: Real) -> Real:
    """Return the natural logarithm of `1 + x`, without cancellation near zero."""
    total = x + 1.0
    exponent, mantissa = split(total)
    # Near zero the sum drops bits of `x`, which is the whole mantissa's distance from one there.
    distance = choose(exponent.equals(0.0), x, mantissa - 1.0)
    result = _log(distance, distance + 2.0, _RATIO) + exponent * log(2)
    return with_limits(total, result).with_sign_of(x)


def power(x: Real, y: Real) -> Real:
    """Return a float32 `x` to the power `y`: a positive one in short if the result is neither tiny nor too great."""
    bits = x.bits()
    exponent = (bits - _FLOAT_ROOT_OF_HALF) >> _FLOAT_MANTISSA_BITS
    mantissa = (bits - (exponent << _FLOAT_MANTISSA_BITS)).number().to("double")
    ratio = (mantissa - 1.0) / (mantissa + 1.0)
    logarithm = ratio.times_plus((ratio * ratio).polynomial(_RATIO_OF_TWO), exponent.converted("double"))
    turned = logarithm * y.to("double")
    is_usual = is_normal(bits) & abs(turned).is_below(_USUAL_POWER)
    return mostly(is_usual, exp2_within(turned).to("float"), _power_of_any)


def is_normal(bits: Word) -> Truth:
    """Tell whether a float32 of these bits is a positive normal number."""
    return (bits - _LEAST_NORMAL).is_among(_NORMAL_COUNT)


def _power_of_any(x: Real, y: Real) -> Real:
    return _power(x.to("double"), y.to("double")).to("float")


def _power(x: Real, y: Real) -> Real:
    """Return `x` to the power `y`, with the special cases of C's `pow`."""
    base = abs(x)
    logarithm = choose(base.equals(0.0), x.number(-inf), _log2(base, _FINE_RATIO))
    logarithm = choose(base.equals(inf), base, logarithm)
    one = x.number(1.0)
    size = choose(base.equals(1.0) | y.equals(0.0), one, exp2(y * logarithm))
    half = y * 0.5
    is_integer, is_even = y.truncated().equals(y), half.truncated().equals(half)
    signed = choose(is_integer & ~is_even, size.with_sign_of(x), size)
    is_undefined = x.is_below(0.0) & ~is_integer & ~base.equals(inf)
    result = choose(is_undefined, x.number(nan), signed)
    result = choose(x.is_nan() | y.is_nan(), x + y, result)
    return choose(y.equals(0.0) | x.equals(1.0), one, result)


def _log2(x: Real, coefficients: tuple[float, ...]) -> Real:
    exponent, mantissa = split(x)
    return _log(mantissa - 1.0, mantissa + 1.0, coefficients) * log2(e) + exponent


def _log(above: Real, below: Real, coefficients: tuple[float, ...]) -> Real:
    """Return the logarithm of a mantissa from its distances from one and from minus one."""
    ratio = above / below
    return ratio * (ratio * ratio).polynomial(coefficients)


def split(x: Real) -> tuple[Real, Real]:
    """Return the exponent of two and the mantissa, which is between the roots of one half and of two."""
    bits = x.bits()
    exponent = (bits - _ROOT_OF_HALF) >> _MANTISSA_BITS
    mantissa = (bits - (exponent << _MANTISSA_BITS)).number()
    # Not every processor converts 64-bit integers; in the low bits of a double they are one already.
    return (exponent + _MAGIC_BITS).number() - MAGIC, mantissa


def with_limits(x: Real, result: Real) -> Real:
    """Return the logarithm of zero, of infinity and of what has none as C does, else `result`."""
    result = choose(x.equals(0.0), x.number(-inf), result)
    result = choose(x.is_below(0.0), x.number(nan), result)
    return choose(x.equals(inf) | x.is_nan(), x, result)
