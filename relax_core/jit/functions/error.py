"""The error function, in doubles that are rounded to float32 at the end."""

from relax_core.jit.functions.exponential import exp2
from relax_core.jit.functions.real import Real, choose

# erf(x) / x as a function of x**2, for x up to one.
_NEAR = (
    1.128379167058022,
    -0.376126384346502,
    0.11283781974093461,
    -0.026865400041477167,
    0.005220945431037926,
    -0.000848282882075137,
    0.00011256947740442078,
    -9.64151562791536e-06,
)
# log2(1 - erf(x)) for x from one to four; beyond, the float32 nearest to erf(x) is one.
_FAR = (
    0.0002948290820743438,
    -1.6297565495772608,
    -0.9132831087099877,
    -0.1567329447075746,
    0.036606304141617155,
    -0.006178172713612423,
    0.0006691048363536799,
    -3.652157553913949e-05,
    3.625895874150735e-07,
)
_BORDER, _END = 1.0, 4.0


def erf(x: Real) -> Real:
    """Return the error function."""
    size = abs(x).at_most(_END)
    near = size * (size * size).polynomial(_NEAR)
    far = 1.0 - exp2(size.polynomial(_FAR))
    return choose(size.is_above(_BORDER), far, near).with_sign_of(x)
