"""The exponential function and what is made of it, in doubles that are rounded to float32 at the end.

A polynomial that is right to 2**-32 adds less than 0.01 units in the last place of a float32 to its rounding.
"""

from math import e, log2

from relax_core.jit.functions.real import Real

_LOG2_E = log2(e)
# Beyond, two to that power is infinity or zero as a float32, and a double still holds it.
_LIMIT = 160.0
# Added to a small number, it leaves the nearest integer in the low bits.
MAGIC = 1.5 * 2.0**52
_EXPONENT_BIAS, _MANTISSA_BITS = 1023, 52
# (2**f - 1) / f for -0.5 <= f <= 0.5.
_POWER = (
    0.6931471805815773,
    0.24022650920050403,
    0.055504107275382825,
    0.00961805703721113,
    0.0013333669514575429,
    0.00015461329830812801,
    1.5252702958332102e-05,
)


def exp2(x: Real) -> Real:
    """Return two to the power `x`."""
    scale, rest = _power(x)
    return scale.times_plus(rest, scale)


def exp2_within(x: Real) -> Real:
    """Return two to the power `x`, which is between the least and the greatest exponent of a float32."""
    scale, rest = _power_within(x)
    return scale.times_plus(rest, scale)


def exp(x: Real) -> Real:
    """Return e to the power `x`."""
    return exp2(x * _LOG2_E)


def exp10(x: Real) -> Real:
    """Return ten to the power `x`."""
    return exp2(x * log2(10))


def expm1(x: Real) -> Real:
    """Return e to the power `x` less one, without cancellation near zero."""
    return _less_one(x * _LOG2_E).with_sign_of(x)


def sigmoid(x: Real) -> Real:
    """Return `1 / (1 + exp(-x))`."""
    return 1.0 / (exp2(x * -_LOG2_E) + 1.0)


def tanh(x: Real) -> Real:
    """Return the hyperbolic tangent."""
    power = _less_one(abs(x) * (2 * _LOG2_E))
    return (power / (power + 2.0)).with_sign_of(x)


def sinh(x: Real) -> Real:
    """Return the hyperbolic sine."""
    power = _less_one(abs(x) * _LOG2_E)
    return ((power + power / (power + 1.0)) * 0.5).with_sign_of(x)


def cosh(x: Real) -> Real:
    """Return the hyperbolic cosine."""
    power = exp(abs(x))
    return (power + 1.0 / power) * 0.5


def _power(t: Real) -> tuple[Real, Real]:
    """Return a power of two and `r` near zero so that the product of the first and `1 + r` is two to the power `t`."""
    return _power_within(t.at_most(_LIMIT).at_least(-_LIMIT))


def _power_within(t: Real) -> tuple[Real, Real]:
    shifted = t + MAGIC
    rest = t - (shifted - MAGIC)
    scale = ((shifted.bits() + _EXPONENT_BIAS) << _MANTISSA_BITS).number()
    return scale, rest * rest.polynomial(_POWER)


def _less_one(t: Real) -> Real:
    scale, rest = _power(t)
    return scale.times_plus(rest, scale - 1.0)
