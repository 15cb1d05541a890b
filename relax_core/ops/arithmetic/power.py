"""Powers: of floats by the function, of integers by multiplications that wrap around."""

from typing import Any

import numpy as np
import numpy.typing as npt

from relax_core.ir.prim import Cast, IntImm, LetExpr, PrimExpr, PrimVar, binary, const, dtype_of
from relax_core.ops.kernels.scalar import choose, eq, lit, lt
from relax_core.ops.spec import OpValueError
from relax_core.ops.steps import integers, is_float

Array = npt.NDArray[Any]


def integer_power(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    """Return the expression of a power of integers: squares of `a`, multiplied where `b` has the bit.

    A negative power of `a` is one of `1 / a`, rounded towards zero: that is 0 but for 1 and -1, and stops for 0.
    """
    dtype = dtype_of(a)
    if dtype == "bool":
        return Cast(integer_power(Cast(a, "int8"), Cast(b, "int8")), "bool")
    if isinstance(b, IntImm) and b.value >= 0:
        return _literal_power(a, b.value, dtype)
    one, zero = lit(1, dtype), lit(0, dtype)
    base = a
    if not dtype.startswith("uint"):
        # Of 0 and a negative power this is a division by zero, which stops the kernel.
        base = choose(lt(b, zero), binary("truncdiv", one, a), a)
    return _multiplied(base, b, dtype)


def _literal_power(a: PrimExpr, exponent: int, dtype: str) -> PrimExpr:
    result: PrimExpr = lit(1, dtype)
    square = a
    while exponent:
        if exponent & 1:
            result = square if isinstance(result, IntImm) else binary("*", result, square)
        exponent >>= 1
        if exponent:
            square = binary("*", square, square)
    return result


def _multiplied(base: PrimExpr, exponent: PrimExpr, dtype: str) -> PrimExpr:
    """Return the product over all bits; a negative exponent counts down, which is alike for bases of 1, -1 and 0."""
    bits = int("".join(ch for ch in dtype if ch.isdigit()))
    squares = [PrimVar(f"s{k}", dtype) for k in range(bits)]
    products = [PrimVar(f"p{k}", dtype) for k in range(bits)]
    count = PrimVar("e", dtype)
    values: list[tuple[PrimVar, PrimExpr]] = [(count, exponent)]
    for k in range(bits):
        values.append((squares[k], base if k == 0 else binary("*", squares[k - 1], squares[k - 1])))
        has_bit = eq(binary("&", binary(">>", count, const(k, dtype)), const(1, dtype)), lit(1, dtype))
        before = products[k - 1] if k else lit(1, dtype)
        values.append((products[k], choose(has_bit, binary("*", before, squares[k]), before)))
    result: PrimExpr = products[-1]
    for var, value in reversed(values):
        result = LetExpr(var, value, result, dtype)
    return result


def power_of(a: Array, b: Array) -> Array:
    """Raise the elements to powers, as `integer_power` says for integers.

    Raises:
        OpValueError: JT011 for a negative power of the integer 0.
    """
    if is_float(a):
        return np.power(a, b)
    x, y = np.broadcast_arrays(integers(a), integers(b))
    if np.any((x == 0) & (y < 0)):
        raise OpValueError("JT011", "0 is raised to a negative power", "make sure that no such base is 0")
    base = np.where((y < 0) & (np.abs(x) != 1), 0, x).astype(x.dtype)
    result = np.ones_like(base)
    for bit in range(base.dtype.itemsize * 8):
        result = np.where((y >> y.dtype.type(bit)) & 1 == 1, result * base, result).astype(base.dtype)
        base = base * base
    return result.astype(a.dtype)
