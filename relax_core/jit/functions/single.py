"""The exponential function of float32 without doubles, as it is the one that programs call most."""

from math import e, log2

from relax_core.jit.functions.real import Real

_MAGIC, _MAGIC_BITS = 1.5 * 2.0**23, 0x4B400000
# The natural logarithm of two; the first part times any exponent is exact.
_HIGH, _LOW = 0.693359375, -2.12194440e-4
_LEAST, _GREATEST = -104.5, 89.0
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
