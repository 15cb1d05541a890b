"""Functions of float64, whose rounding errors are kept apart where they would add up to a unit in the last place."""

from math import e, log2

from relax_core.jit.functions.exponential import MAGIC
from relax_core.jit.functions.logarithm import split, with_limits
from relax_core.jit.functions.real import Real, choose

# The natural logarithm of two; the first part times any exponent is exact.
_HIGH, _LOW = 0.6931471805592082, 7.371002565167799e-13
_LEAST, _GREATEST = -760.0, 720.0
# An exponent of two is in as many of the lowest bits as there are others above.
_UNUSED_BITS = 52
# (exp(r) - 1 - r) / r**2 for r up to half the logarithm of two.
_BEHIND = (
    0.5000000000000011,
    0.16666666666666163,
    0.041666666666526776,
    0.00833333333366965,
    0.001388888894486492,
    0.00019841269102158877,
    2.480149163900263e-05,
    2.755796483919247e-06,
    2.7630794597082075e-07,
    2.4876128418472278e-08,
)
# (log((1 + s) / (1 - s)) - 2 * s) / s**3 as a function of s**2.
_RATIO = (
    0.6666666666666728,
    0.3999999999945183,
    0.2857142873379161,
    0.22222199477642282,
    0.1818351662026297,
    0.1531528090372558,
    0.14783597252558933,
)
_LEAST_NORMAL, _RAISED, _RAISED_BITS = 2.0**-1022, 2.0**54, 54.0


def exp(x: Real) -> Real:
    """Return e to the power `x`."""
    x = x.at_most(_GREATEST).at_least(_LEAST)
    shifted = x * log2(e) + MAGIC
    count = shifted - MAGIC
    near, below = x - count * _HIGH, count * _LOW
    rest = near - below
    one = rest + 1.0
    # What the difference and the sum dropped.
    lost = ((near - rest) - below) + (rest - (one - 1.0))
    value = one + (rest * rest).times_plus(rest.polynomial(_BEHIND), lost)
    return value.scaled((shifted.bits() << _UNUSED_BITS) >> _UNUSED_BITS)


def ln(x: Real) -> Real:
    """Return the natural logarithm."""
    is_subnormal = x.is_below(_LEAST_NORMAL)
    exponent, mantissa = split(choose(is_subnormal, x * _RAISED, x))
    exponent = exponent - choose(is_subnormal, x.number(_RAISED_BITS), x.number(0.0))
    distance = mantissa - 1.0
    ratio = distance / (distance + 2.0)
    square = ratio * ratio
    half = distance * distance * 0.5
    behind = ratio * (half + square * square.polynomial(_RATIO)) + exponent * _LOW
    return with_limits(x, exponent * _HIGH - ((half - behind) - distance))
