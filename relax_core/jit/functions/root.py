"""The reciprocal of the square root, corrected in doubles."""

from relax_core.jit.functions.real import Real, choose


def rsqrt(x: Real) -> Real:
    """Return `1 / sqrt(x)`, where two roundings of float32 alone would err by up to one and a half units."""
    near = (1.0 / x.to("float").root()).to("double")
    # One step of Newton's method; where its residual is no number, the first value is infinity, zero or NaN.
    residual = 1.0 - x * near * near
    return choose(residual.is_nan(), near, near + near * residual * 0.5)
