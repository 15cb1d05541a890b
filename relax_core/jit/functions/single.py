"""Functions of float32 that are computed in float32 itself: those that programs call most."""

from math import e, log2

from relax_core.jit.functions.logarithm import is_normal, with_limits
from relax_core.jit.functions.real import Real, Word, choose, mostly

_MAGIC, _MAGIC_BITS = 1.5 * 2.0**23, 0x4B400000
# The natural logarithm of two; the first part times any exponent is exact.
_HIGH, _LOW = 0.693359375, -2.12194440e-4
_LEAST, _GREATEST = -104.5, 89.0
_EXPONENT_BIAS, _MANTISSA_BITS = 127, 23
# The bits of the root of one half: mantissas from there to twice that are nearest to one.
_ROOT_OF_HALF = 0x3F3504F3
# Numbers below the least normal one are normal times two to that power.
_LEAST_NORMAL, _RAISED_BITS = 2.0**-126, 24
# (log(1 + f) - f) / f**2 for mantissas between the roots of one half and of two.
_BEHIND_LOG = (
    -0.5,
    0.3333333134651184,
    -0.2500081956386566,
    0.2000124156475067,
    -0.166234090924263,
    0.14201581478118896,
    -0.1315961331129074,
    0.12762197852134705,
    -0.0763639509677887,
)
# (tanh(x) - x) / x**3 as a function of x**2, for x up to one.
_NEAR_TANH = (
    -0.33333295583724976,
    0.13332347571849823,
    -0.0538799911737442,
    0.021487198770046234,
    -0.007946893572807312,
    0.0023019297514110804,
    -0.00035861122887581587,
)
# (exp(2 * r) - 1) / r for r up to a quarter of the logarithm of two.
_TWICE_LESS_ONE = (2.0, 2.0, 1.3333216905593872, 0.6666622161865234, 0.26779773831367493, 0.0892279520630836)
# Beyond, the float32 nearest to tanh(x) is one.
_ONE = 10.0
# (exp(r) - 1 - r) / r**2 for r up to half the logarithm of two.
_BEHIND = (0.4999999344756022, 0.1666652062943919, 0.04166838809269516, 0.008368717090860789, 0.0013814596382332486)


def exp(x: Real) -> Real:
    """Return e to the power `x`; the error is below 0.8 units in the last place."""
    x = x.at_most(_GREATEST).at_least(_LEAST)
    shifted = x.times_plus(x.number(log2(e)), _MAGIC)
    count = shifted - _MAGIC
    rest = count.times_plus(x.number(-_LOW), count.times_plus(x.number(-_HIGH), x))
    one = rest + 1.0
    # What the sum dropped.
    lost = rest - (one - 1.0)
    value = one + (rest * rest).times_plus(rest.polynomial(_BEHIND), lost)
    return value.scaled(shifted.bits() - _MAGIC_BITS)


def ln(x: Real) -> Real:
    """Return the natural logarithm; the error is below 0.9 units in the last place."""
    return mostly(is_normal(x.bits()), _ln_of_normal(x, None), _ln_of_any)


def tanh(x: Real) -> Real:
    """Return the hyperbolic tangent; the error is below 0.95 units in the last place."""
    size = abs(x)
    square = size * size
    near = (size * square).times_plus(square.polynomial(_NEAR_TANH), size)
    # 1 - 2 / (1 + exp(2 * x)): the quotient, and with it the error of the power, is small where x is above one.
    shifted = size.at_most(_ONE).times_plus(x.number(2 * log2(e)), _MAGIC)
    count = shifted - _MAGIC
    rest = count.times_plus(x.number(-_LOW / 2), count.times_plus(x.number(-_HIGH / 2), size.at_most(_ONE)))
    scale = _power_of_two(shifted.bits())
    far = 1.0 - 2.0 / scale.times_plus(rest * rest.polynomial(_TWICE_LESS_ONE), scale + 1.0)
    return choose(size.is_above(1.0), far, near).with_sign_of(x)


def _power_of_two(exponent: Word) -> Real:
    """Return two to the power that is in the low bits of an integer."""
    return ((exponent + _EXPONENT_BIAS) << _MANTISSA_BITS).number()


def _ln_of_any(x: Real) -> Real:
    is_subnormal = x.is_below(_LEAST_NORMAL)
    raised = choose(is_subnormal, x * 2.0**_RAISED_BITS, x)
    return with_limits(x, _ln_of_normal(raised, choose(is_subnormal, x.number(-_RAISED_BITS), x.number(0.0))))


def _ln_of_normal(x: Real, raised: Real | None) -> Real:
    """Return the logarithm of a positive normal number, and of as many powers of two as are `raised`."""
    bits = x.bits()
    exponent = (bits - _ROOT_OF_HALF) >> _MANTISSA_BITS
    above = (bits - (exponent << _MANTISSA_BITS)).number() - 1.0
    count = exponent.converted("float") if raised is None else exponent.converted("float") + raised
    high = count * _HIGH
    total = high + above
    # What the sum dropped.
    lost = above - (total - high)
    behind = (above * above).times_plus(above.polynomial(_BEHIND_LOG), count.times_plus(x.number(_LOW), lost))
    return total + behind
