"""Circular functions and their inverses, in doubles that are rounded to float32 at the end."""

from fractions import Fraction
from math import ldexp, pi

from relax_core.jit.functions.exponential import MAGIC
from relax_core.jit.functions.real import Real, Truth, Word, choose, mostly

_SINE = (0.9999999999954484, -0.1666666663043431, 0.00833332868901532, -0.00019839178015657245, 2.717149684813241e-06)
_COSINE = (
    0.9999999999439139,
    -0.49999999571414755,
    0.041666613220258344,
    -0.001388652875995092,
    2.4372644175565645e-05,
)
_ARC_TANGENT = (
    0.9999999999792918,
    -0.3333333213466164,
    0.1999988635542447,
    -0.142816505182662,
    0.1104117968018112,
    -0.08459754391258287,
    0.047142413863836344,
)
_ARC_SINE = (
    0.9999999999849036,
    0.1666666742164453,
    0.07499938200463724,
    0.04466203521212652,
    0.030092212998316537,
    0.024711521163187714,
    0.0072238902715515765,
    0.034951484156946405,
)
# Tangents of an eighth and of three eighths of pi, between which the arc is counted from a quarter.
_LOW_TANGENT, _HIGH_TANGENT = 0.41421356237309503, 2.414213562373095
# The first 256 binary digits of 2 / pi behind the point.
_TWO_OVER_PI = 0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163ABDEBBC561
_DIGITS = 256
# Numbers below two to this power are multiplied by 2 / pi itself, others by what is left of it without full turns.
_FIRST_EXPONENT, _LAST_EXPONENT = 15, 127
_HIGH_BITS, _MANTISSA_BITS, _EXPONENT_BIAS = 29, 52, 1023
_FLOAT_BITS = 23
# sin(r) / r as a function of r**2, for r up to a quarter turn.
_LONG_SINE = (
    0.9999999999788358,
    -0.16666666608796335,
    0.008333330719490176,
    -0.0001984083269013469,
    2.7523964347060148e-06,
    -2.3868228290772397e-08,
)
# Pi in two parts: the first one times a number of half turns in arguments below the limit is exact as a double.
_PI_HIGH, _PI_LOW = 3.141592651605606, 1.984187159361081e-09
_USUAL = 2.0**22
_SIGN_BIT = 63


def _factor(exponent: int) -> Fraction:
    """Return what numbers of this exponent are multiplied by to count quarter turns: full turns are left out."""
    grid = Fraction(2) ** (exponent - _FLOAT_BITS)
    two_over_pi = Fraction(_TWO_OVER_PI, 1 << _DIGITS)
    return two_over_pi if exponent == _FIRST_EXPONENT else (two_over_pi * grid) % 4 / grid


def _high_part(value: Fraction) -> float:
    """Return the leading bits, so few that a float32 times these is exact as a double."""
    digits = _HIGH_BITS - (value.numerator.bit_length() - value.denominator.bit_length() + 1)
    return ldexp(float(int(value * Fraction(2) ** digits)), -digits)


_FACTORS = tuple(_factor(exponent) for exponent in range(_FIRST_EXPONENT, _LAST_EXPONENT + 1))
_HIGH = tuple(_high_part(factor) for factor in _FACTORS)
_LOW = tuple(float(factor - Fraction(high)) for factor, high in zip(_FACTORS, _HIGH, strict=True))


def sin(x: Real) -> Real:
    """Return the sine of a float32, however large."""
    wide = x.to("double")
    shifted = wide.times_plus(wide.number(1 / pi), MAGIC)
    usual = _sine(_turned_back(wide, shifted - MAGIC, 1.0), shifted)
    return mostly(abs(x).is_below(_USUAL), usual, _sine_of_any)


def cos(x: Real) -> Real:
    """Return the cosine of a float32, however large."""
    wide = x.to("double")
    # The sine's sign is the opposite behind an odd number of half turns, so the angle is counted backwards.
    shifted = wide.times_plus(wide.number(1 / pi), -0.5) + MAGIC
    usual = _sine(_turned_back(-wide, shifted - MAGIC + 0.5, -1.0), shifted)
    return mostly(abs(x).is_below(_USUAL), usual, _cosine_of_any)


def tan(x: Real) -> Real:
    """Return the tangent of a float32, however large."""
    wide = x.to("double")
    shifted = wide.times_plus(wide.number(2 / pi), MAGIC)
    angle = _turned_back(wide, shifted - MAGIC, 0.5)
    usual = _tangent(shifted.bits(), angle).to("float")
    return mostly(abs(x).is_below(_USUAL), usual, _tangent_of_any)


def atan(x: Real) -> Real:
    """Return the arc tangent."""
    size = abs(x)
    is_high, is_low = size.is_above(_HIGH_TANGENT), ~size.is_above(_LOW_TANGENT)
    # tan(y - pi / 4) is (x - 1) / (x + 1), and tan(y - pi / 2) is -1 / x.
    above = choose(is_low, size, choose(is_high, x.number(-1.0), size - 1.0))
    below = choose(is_low, x.number(1.0), choose(is_high, size, size + 1.0))
    start = choose(is_low, x.number(0.0), choose(is_high, x.number(pi / 2), x.number(pi / 4)))
    ratio = above / below
    return (start + ratio * (ratio * ratio).polynomial(_ARC_TANGENT)).with_sign_of(x)


def asin(x: Real) -> Real:
    """Return the arc sine; no number beyond one."""
    size = abs(x)
    is_near, arc = _arc_sine(size)
    return choose(is_near, arc, pi / 2 - arc * 2.0).with_sign_of(x)


def acos(x: Real) -> Real:
    """Return the arc cosine; no number beyond one."""
    is_near, arc = _arc_sine(abs(x))
    double = arc * 2.0
    return choose(is_near, pi / 2 - arc.with_sign_of(x), choose(x.is_above(0.0), double, pi - double))


def _turned_back(x: Real, count: Real, turns: float) -> Real:
    """Return an angle less `count` times so many half turns."""
    near = count.times_plus(x.number(-turns * _PI_HIGH), x)
    return count.times_plus(x.number(-turns * _PI_LOW), near)


def _sine(angle: Real, shifted: Real) -> Real:
    """Return the sine of up to a quarter turn as a float32, negated if the lowest bit of `shifted` is set."""
    size = angle * (angle * angle).polynomial(_LONG_SINE)
    return (size.bits() ^ (shifted.bits() << _SIGN_BIT)).number().to("float")


def _sine_of_any(x: Real) -> Real:
    quarter, angle = _reduced(x.to("double"))
    sine, cosine = _of_small(angle)
    return _negated(choose((quarter & 1).is_not(0), cosine, sine), quarter).to("float")


def _cosine_of_any(x: Real) -> Real:
    quarter, angle = _reduced(x.to("double"))
    sine, cosine = _of_small(angle)
    return _negated(choose((quarter & 1).is_not(0), sine, cosine), quarter + 1).to("float")


def _tangent_of_any(x: Real) -> Real:
    return _tangent(*_reduced(x.to("double"))).to("float")


def _tangent(quarter: Word, angle: Real) -> Real:
    sine, cosine = _of_small(angle)
    is_odd = (quarter & 1).is_not(0)
    return choose(is_odd, -cosine, sine) / choose(is_odd, sine, cosine)


def _reduced(x: Real) -> tuple[Word, Real]:
    """Return which quarter turn is nearest, counted in the low bits, and the angle from it in radians."""
    count = len(_FACTORS)
    place = ((x.bits() >> _MANTISSA_BITS) & 0x7FF) - (_EXPONENT_BIAS + _FIRST_EXPONENT)
    place = choose(place.is_above(0), place, place.constant(0))
    place = choose(place.is_above(count - 1), place.constant(count - 1), place)
    high, low = x * x.lookup("quarters.high", _HIGH, place), x * x.lookup("quarters.low", _LOW, place)
    shifted = (high + low) + MAGIC
    turn = (high - (shifted - MAGIC)) + low
    return shifted.bits(), turn * (pi / 2)


def _of_small(angle: Real) -> tuple[Real, Real]:
    """Return the sine and the cosine of an angle of at most an eighth of a turn."""
    square = angle * angle
    return angle * square.polynomial(_SINE), square.polynomial(_COSINE)


def _negated(value: Real, quarter: Word) -> Real:
    return choose((quarter & 2).is_not(0), -value, value)


def _arc_sine(size: Real) -> tuple[Truth, Real]:
    """Tell whether `size` is at most one half; if not, return the arc sine of the root of half its distance to one."""
    is_near = ~size.is_above(0.5)
    square = choose(is_near, size * size, (1.0 - size) * 0.5)
    return is_near, choose(is_near, size, square.root()) * square.polynomial(_ARC_SINE)
