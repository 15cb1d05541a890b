"""Elementary functions of kernels: how far they are from the exact value, and their special values."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from relax_core.jit.compilation.target import Target
from relax_core.jit.engine import Engine
from relax_core.jit.functions.table import ELEMENTARY, ELEMENTARY_DOUBLE, define_function
from relax_core.jit.lowering.code import FunctionBuilder
from tests.jit.programs import elementwise, intrinsic

Array = npt.NDArray[Any]
Long = np.longdouble

SAME_NAME = (
    "exp", "exp2", "expm1", "tanh", "sinh", "cosh", "log", "log2", "log10", "log1p", "sin", "cos", "tan",
)  # fmt: skip
_ERF = np.vectorize(math.erf, otypes=["float64"])


def _exp10(x: Array) -> Array:
    return np.power(Long(10), x)


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _erf(x: Array) -> Array:
    return _ERF(x.astype("float64")).astype(Long)


def _rsqrt(x: Array) -> Array:
    return 1 / np.sqrt(x)


# What is exact enough to compare with: 64 bits of mantissa, except for `erf`, which Python has in double precision.
EXACT: Mapping[str, Callable[..., Array]] = MappingProxyType(
    {
        **{name: getattr(np, name) for name in SAME_NAME},
        "exp10": _exp10,
        "sigmoid": _sigmoid,
        "pow": np.power,
        "power": np.power,
        "erf": _erf,
        "atan": np.arctan,
        "asin": np.arcsin,
        "acos": np.arccos,
        "rsqrt": _rsqrt,
    }
)
# The greatest distance from the exact value, in units in the last place of a float32; one half is what rounding costs.
LIMITS: Mapping[str, float] = MappingProxyType(dict.fromkeys(EXACT, 0.51) | {"exp": 0.8, "log": 0.9, "tanh": 0.95})
SPECIAL = (0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 1e-45, -1e-45, 2.0**-126, 3.4e38)
# The floats that are nearest to a multiple of a quarter turn, found among all 2**32 by a search.
NEAR_A_QUARTER_TURN = (0x543146A6, 0x53B146A6, 0x474D246F, 0x4096CBE4, 0x50A3E87F, 0x6FF9BE45, 0x77584625)
# Every so manieth of all 2**32 floats; a prime number, so that all exponents and mantissas are met.
STRIDE = 32_771


def every_exponent() -> Array:
    """Return floats from the whole range, NaN and infinities, and those that are hard for some function."""
    bits = np.arange(0, 1 << 32, STRIDE, dtype="uint64").astype("uint32")
    hard = np.array(NEAR_A_QUARTER_TURN, "uint32")
    near_one = np.arange(0x3F7FF000, 0x3F801000, dtype="uint32")
    numbers = np.concatenate([bits, hard, near_one]).view("float32")
    return np.concatenate([numbers, -numbers[-len(near_one) :], np.array(SPECIAL, "float32")])


def pairs() -> tuple[Array, Array]:
    """Return bases and exponents: any with any, ordinary ones, integers, and every pair of special values."""
    random = np.random.default_rng(0)
    anything = every_exponent()
    x, y = (random.permutation(anything) for _ in range(2))
    count = len(x) // 4
    x[:count] = np.exp(random.standard_normal(count))
    y[: 2 * count] = random.standard_normal(2 * count) * 20
    y[::5] = np.round(y[::5])
    special = np.array([*SPECIAL, 3.0, -3.0, 1e30, 16777217.0], "float32")
    return (np.concatenate([x, np.repeat(special, len(special))]), np.concatenate([y, np.tile(special, len(special))]))


def arguments(name: str) -> tuple[Array, ...]:
    return pairs() if name in ("pow", "power") else (every_exponent(),)


def computed(name: str, args: tuple[Array, ...], dtype: str = "float32") -> Array:
    function = elementwise(intrinsic(name, dtype), 1, (dtype,) * len(args), dtype)
    out = np.zeros(len(args[0]), dtype)
    Engine().kernel(function, name)(*args, out)
    return out


def distances(got: Array, exact: Array) -> Array:
    """Return the errors of finite results in units in the last place; anything else has to be the same."""
    rounded = exact.astype(got.dtype)
    is_finite = np.isfinite(rounded) & np.isfinite(got)
    assert np.array_equal(got[~is_finite], rounded[~is_finite], equal_nan=True)
    is_zero = is_finite & (got == 0) & (rounded == 0)
    assert np.array_equal(np.signbit(got[is_zero]), np.signbit(rounded[is_zero]))
    return np.abs(got[is_finite] - exact[is_finite]) / np.spacing(np.abs(rounded[is_finite])).astype(Long)


@pytest.mark.parametrize("name", ELEMENTARY)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_error_is_below_one_unit(name: str) -> None:
    args = arguments(name)
    exact = EXACT[name](*(arg.astype(Long) for arg in args))
    found = distances(computed(name, args), exact)
    assert len(found) > len(args[0]) // 5
    assert found.max() < LIMITS[name] < 1.0


# Where a function computes in float32, or in short: the first and the last float, by their bits, and how far apart.
DENSE = {
    "log": (0x3F000000, 0x40000000, 7), "tanh": (0x3C000000, 0x41300000, 61), "sin": (0x3C000000, 0x4B000000, 181),
    "cos": (0x3C000000, 0x4B000000, 181), "tan": (0x3C000000, 0x4B000000, 181),
}  # fmt: skip


@pytest.mark.parametrize("name", DENSE)
def test_error_is_below_one_unit_where_most_arguments_are(name: str) -> None:
    x = np.arange(*DENSE[name], dtype="uint32").view("float32")
    found = distances(computed(name, (x,)), EXACT[name](x.astype("float64")).astype(Long))
    assert found.max() < LIMITS[name]


def test_powers_are_near_the_exact_value_where_most_arguments_are() -> None:
    random = np.random.default_rng(2)
    x = np.exp(random.uniform(-10, 10, 1 << 20)).astype("float32")
    x[::2] = random.uniform(0.9, 1.1, len(x) // 2)
    y = np.where(np.arange(len(x)) % 2 == 0, 800, 8) * random.uniform(-1, 1, len(x))
    exact = np.power(x.astype("float64"), y.astype("float32").astype("float64"))
    assert distances(computed("pow", (x, y.astype("float32"))), exact.astype(Long)).max() < LIMITS["pow"]


def test_lanes_that_need_another_way_leave_the_bits_of_the_others_alone() -> None:
    usual = np.random.default_rng(3).uniform(0.1, 9, 4096).astype("float32")
    for name, seldom in (("log", 1e-40), ("sin", 1e30), ("cos", math.inf), ("tan", -1e25)):
        mixed = usual.copy()
        mixed[::7] = seldom
        got, alone = computed(name, (mixed,)), computed(name, (usual,))
        is_usual = np.arange(len(usual)) % 7 != 0
        assert np.array_equal(got[is_usual].view("uint32"), alone[is_usual].view("uint32"))
        last = np.tile(np.array([seldom], "float32"), 3)
        others, expected = got[~is_usual], computed(name, (last,))[0]
        assert np.array_equal(others, np.full_like(others, expected), equal_nan=True)


def doubles(name: str) -> Array:
    """Return doubles from the whole range, and those around where the function is near zero or leaves the range."""
    random = np.random.default_rng(0)
    anything = random.integers(0, 1 << 63, 30_000, dtype="uint64") * 2 + random.integers(0, 2, 30_000, dtype="uint64")
    around = 1 if name == "log" else 0
    near = around + random.uniform(-1, 1, 60_000) * 10.0 ** random.uniform(-16, 0, 60_000)
    ends = np.array([709.78, 709.79, -745.13, -745.14, -708.4, 5e-324, 2.0**-1022, 1e308, *SPECIAL])
    return np.concatenate([anything.view("float64"), near, random.uniform(-746, 710, 60_000), ends])


@pytest.mark.parametrize("name", ELEMENTARY_DOUBLE)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_error_of_doubles_is_below_one_unit(name: str) -> None:
    x = doubles(name)
    found = distances(computed(name, (x,), "float64"), EXACT[name](x.astype(Long)))
    assert len(found) > len(x) // 2
    assert found.max() < 0.85


@pytest.mark.parametrize(("lanes", "has_scaling"), [(4, False), (8, False), (16, True)])
@pytest.mark.parametrize("name", ELEMENTARY)
def test_every_lane_of_a_vector_has_the_bits_of_the_scalar(name: str, lanes: int, *, has_scaling: bool) -> None:
    args = tuple(arg[::311][: 16 * lanes].copy() for arg in arguments(name))
    out = np.zeros_like(args[0])
    code = FunctionBuilder()
    symbol = define_function(code, name, lanes, has_scaling=has_scaling)
    vector = f"<{lanes} x float>"
    loads = [
        f"  %a{n} = getelementptr i64, ptr %slots, i64 {n}\n  %p{n} = load ptr, ptr %a{n}" for n in range(len(args) + 1)
    ]
    values = [f"  %x{n} = load {vector}, ptr %p{n}, align 4" for n in range(len(args))]
    operands = ", ".join(f"{vector} %x{n}" for n in range(len(args)))
    text = "\n".join((
        "define i32 @kernel(ptr %slots, ptr %record) {", *loads, *values, f"  %y = call {vector} {symbol}({operands})",
        f"  store {vector} %y, ptr %p{len(args)}, align 4", "  ret i32 0", "}", *code.declarations.values(),
    ))  # fmt: skip
    target = Target()
    program = target.link(target.compile(text), "kernel")
    for start in range(0, len(out), lanes):
        slots = np.array([array.ctypes.data + 4 * start for array in (*args, out)], "uint64")
        assert program.run(slots.ctypes.data, 0) == 0
    expected = computed(name, args)
    is_number = ~np.isnan(expected)
    assert np.array_equal(is_number, ~np.isnan(out))
    assert np.array_equal(out[is_number].view("uint32"), expected[is_number].view("uint32"))
