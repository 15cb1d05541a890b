"""Functions of single elements: sums, activations, bounds, choices."""

import math

import numpy as np

from relax_core.ops.arithmetic.elementwise import erf
from relax_core.vm.objects.values import Array
from relax_core.vm.packed_library.arrays import (
    ArgumentError,
    Given,
    Scalar,
    broadcast_shape,
    cast_to,
    fitting,
    need_float,
    promoted,
    wide,
    write,
)


def add(given: Given) -> Array:
    """Return self + alpha * other.

    See: pytorch/aten/src/ATen/native/BinaryOps.cpp
    """
    self, other, alpha = given.tensor("self"), given.tensor("other"), given.number("alpha")
    broadcast_shape(self, other)
    dtype = promoted(self, other)
    if isinstance(alpha, bool) and dtype.kind != "b":
        raise ArgumentError("alpha may be a truth value only for tensors of bool")
    if isinstance(alpha, float) and dtype.kind in "biu":
        raise ArgumentError(f"alpha is an integer for tensors of {dtype}, got {alpha}")
    if dtype.kind == "b":
        return np.logical_or(self, np.logical_and(alpha, other))
    a, b = wide(self.astype(dtype)), wide(other.astype(dtype))
    return np.asarray(a + np.asarray(alpha).astype(a.dtype) * b).astype(dtype)


def add_out(given: Given) -> None:
    write(given.tensor("out"), add(given))


def gelu(given: Given) -> Array:
    """Return x times the normal distribution function at x, or its approximation by tanh."""
    self = given.tensor("self")
    need_float(self, "self")
    x = self.astype(np.float64)
    if given.text("approximate") == "tanh":
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
        return np.asarray(0.5 * x * (1 + np.tanh(inner))).astype(self.dtype)
    return np.asarray(0.5 * x * (1 + erf(x * math.sqrt(0.5)))).astype(self.dtype)


def gelu_out(given: Given) -> None:
    write(given.tensor("out"), gelu(given))


def leaky_relu_out(given: Given) -> None:
    """Write x where it is positive, else the slope times x."""
    self, out = given.tensor("self"), given.tensor("out")
    need_float(self, "self")
    x = wide(self)
    slope = np.asarray(given.number("negative_slope")).astype(x.dtype)
    write(out, np.where(x > 0, x, x * slope).astype(self.dtype))


def clamp_out(given: Given) -> None:
    """Write the elements kept between two bounds; the upper one wins, and NaN stays."""
    self, out = given.tensor("self"), given.tensor("out")
    least, most = given.optional_number("min"), given.optional_number("max")
    if least is None and most is None:
        raise ArgumentError("at least one of min and max is given")
    bounds = [item for item in (least, most) if item is not None]
    dtype = promoted(self, *bounds)
    if dtype.kind == "b":
        raise ArgumentError("self is a tensor of numbers, got bool")
    if any(math.isnan(item) for item in bounds):
        write(out, np.full(self.shape, math.nan, dtype))
        return
    value = self.astype(dtype)
    value = value if least is None else np.maximum(value, np.asarray(least).astype(dtype))
    write(out, value if most is None else np.minimum(value, np.asarray(most).astype(dtype)))


def fill(given: Given) -> Array:
    """Set every element in place and return the tensor itself."""
    self = given.tensor("self")
    self[...] = fitting(given.number("value"), self.dtype)
    return self


def where(given: Given) -> Array:
    """Return the elements of two tensors by a condition."""
    condition, self, other = (given.tensor(name) for name in ("condition", "self", "other"))
    if condition.dtype != np.bool_:
        raise ArgumentError(f"condition is a tensor of bool, got {condition.dtype}")
    broadcast_shape(condition, self, other)
    dtype = promoted(self, other)
    return np.where(condition, self.astype(dtype), other.astype(dtype))


def full(given: Given) -> Array:
    """Return a tensor of one value; its dtype is that of the value unless one is named."""
    fill_value = given.number("fill_value")
    own = "bool" if isinstance(fill_value, bool) else "int64" if isinstance(fill_value, int) else "float32"
    dtype = np.dtype(given.dtype() or own)
    return np.full(given.integers("size"), fitting(fill_value, dtype), dtype)


def arange(given: Given) -> Array:
    """Return the numbers from `start` to `end`, without `end`."""
    start, end, step = (given.number(name) for name in ("start", "end", "step"))
    if step == 0 or (end - start) * step < 0:
        raise ArgumentError(f"step leads from start to end and is not 0, got {start}, {end}, {step}")
    if not all(math.isfinite(item) for item in (start, end, step)):
        raise ArgumentError(f"the numbers are finite, got {start}, {end}, {step}")
    own = "int64" if all(isinstance(item, int) for item in (start, end, step)) else "float32"
    count = math.ceil((end - start) / step)
    exact = start + np.arange(count, dtype=np.float64 if own == "float32" else np.int64) * step
    return cast_to(exact, given.dtype() or own)


def item(given: Given) -> Scalar:
    """Return the only element as a host scalar."""
    self = given.tensor("self")
    if self.size != 1:
        raise ArgumentError(f"self has one element, got {self.size}")
    return self.reshape(()).item()
