"""Kernels compute what NumPy and Python compute, for every dtype and for odd shapes."""

import math
import operator
from typing import Any

import numpy as np
import pytest

from relax_core.diagnostics import CompileError, RunError
from relax_core.ir.prim import Binary, BinaryKind, Cast, Intrinsic, PrimExpr, Select, Unary, binary, const
from relax_core.ir.tir import PrimFunc
from relax_core.jit.engine import Engine
from relax_core.jit.lowering.scalars.intrinsics import COMPOSED, FUNCTIONS
from tests.callables import Compute
from tests.jit import reference
from tests.jit.programs import compared, elementwise, intrinsic, row_sum, tir_matmul

SHAPES = ((), (1,), (0,), (7,), (1000,), (3, 5), (4, 0), (2, 3, 4), (1, 1, 33))
FLOATS = ("float16", "float32", "float64")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


def call(engine: Engine, function: PrimFunc, *inputs: Any, result: str) -> Any:
    out = np.empty(inputs[0].shape, result)
    engine.kernel(function, "elementwise")(*inputs, out)
    return out


def edge_values(dtype: str) -> list[int]:
    info = np.iinfo(dtype)
    return sorted(
        {info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3, 7} | ({-1, -2, -7} if info.min else set())
    )


def pairs(dtype: str, *, has_zero_divisor: bool) -> tuple[Any, Any]:
    values = edge_values(dtype)
    divisors = values if has_zero_divisor else [value for value in values if value]
    both = [(a, b) for a in values for b in divisors]
    a, b = (np.array(side, dtype) for side in zip(*both, strict=True))
    return a, b


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_add_for_every_shape_and_dtype(engine: Engine, shape: tuple[int, ...], dtype: str) -> None:
    size = math.prod(shape)
    a = np.arange(size).reshape(shape).astype(dtype)
    function = elementwise(lambda x, y: binary("+", x, y), len(shape), (dtype, dtype), dtype)
    got = call(engine, function, a, a[...], result=dtype)
    assert np.array_equal(got, a + a)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("op", "expected"),
    [("+", np.add), ("-", np.subtract), ("*", np.multiply), ("/", np.divide)],
    ids=["+", "-", "*", "/"],
)
def test_float_operations_round_as_numpy_does(engine: Engine, op: BinaryKind, expected: Any, dtype: str) -> None:
    values = np.array([0.0, -0.0, 1.0, 1.5, -2.25, 1e-3, 6e4, np.inf, -np.inf, np.nan, 3.14159], dtype)
    a, b = (side.ravel().copy() for side in np.meshgrid(values, values))
    got = call(engine, elementwise(lambda x, y: binary(op, x, y), 1, (dtype, dtype), dtype), a, b, result=dtype)
    with np.errstate(all="ignore"):
        assert np.array_equal(got, expected(a, b), equal_nan=True)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("op", ["+", "-", "*", "//", "%", "truncdiv", "truncmod", "min", "max", "&", "|", "^"])
def test_integer_operations_agree_with_python(engine: Engine, op: BinaryKind, dtype: str) -> None:
    a, b = pairs(dtype, has_zero_divisor="/" not in op and "%" not in op and "trunc" not in op)
    got = call(engine, elementwise(lambda x, y: binary(op, x, y), 1, (dtype, dtype), dtype), a, b, result=dtype)
    operation = reference.OPERATIONS[op]
    expected = [reference.wrapped(operation(int(x), int(y)), dtype) for x, y in zip(a, b, strict=True)]
    assert got.tolist() == expected


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
@pytest.mark.parametrize("op", ["==", "!=", "<", "<=", ">", ">="])
def test_comparisons_agree_with_numpy(engine: Engine, op: BinaryKind, dtype: str) -> None:
    if dtype in FLOATS:
        values = np.array([0.0, -0.0, 1.0, -1.0, np.nan, np.inf], dtype)
        a, b = (side.ravel().copy() for side in np.meshgrid(values, values))
    else:
        a, b = pairs(dtype, has_zero_divisor=True)
    got = call(engine, elementwise(lambda x, y: binary(op, x, y), 1, (dtype, dtype), "bool"), a, b, result="bool")
    assert np.array_equal(got, reference.OPERATIONS[op](a, b))


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("op", ["<<", ">>"])
def test_shifts_agree_with_python(engine: Engine, op: BinaryKind, dtype: str) -> None:
    bits = np.iinfo(dtype).bits
    both = [(a, b) for a in edge_values(dtype) for b in (0, 1, bits - 1)]
    a, b = (np.array(side, dtype) for side in zip(*both, strict=True))
    got = call(engine, elementwise(lambda x, y: binary(op, x, y), 1, (dtype, dtype), dtype), a, b, result=dtype)
    operation = reference.OPERATIONS[op]
    assert got.tolist() == [reference.wrapped(operation(x, y), dtype) for x, y in both]


@pytest.mark.parametrize("source", [*INTEGERS, *FLOATS, "bool"])
@pytest.mark.parametrize("target", [*INTEGERS, *FLOATS, "bool"])
def test_casts_agree_with_numpy_where_the_value_fits(engine: Engine, source: str, target: str) -> None:
    a = np.array([0, 1, 2, 100], source)
    got = call(engine, elementwise(lambda x: Cast(x, target), 1, (source,), target), a, result=target)
    assert np.array_equal(got, a.astype(target))


def test_a_double_becomes_a_half_with_one_rounding(engine: Engine) -> None:
    special = [
        1.0 + 2**-11 + 2**-40,
        1.0 + 2**-11,
        65519.999999,
        65520.0,
        1e300,
        -1e-8,
        0.0,
        -0.0,
        np.inf,
        np.nan,
        2**-25,
    ]
    a = np.array([*special, *np.random.default_rng(0).normal(size=2000)], "float64")
    got = call(engine, elementwise(lambda x: Cast(x, "float16"), 1, ("float64",), "float16"), a, result="float16")
    with np.errstate(over="ignore"):
        assert np.array_equal(got, a.astype("float16"), equal_nan=True)


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_floats_become_the_nearest_integer_towards_zero(engine: Engine, source: str, target: str) -> None:
    low, high = int(np.iinfo(target).min), int(np.iinfo(target).max)
    with np.errstate(over="ignore"):
        limits = np.array([item for limit in (low, high, high + 1) for item in (limit, -limit)], "float64")
        near = np.concatenate([limits.astype(source), np.nextafter(limits.astype(source), np.array(0, source))])
        a = np.concatenate([near, np.array([0.0, -0.0, 0.9, -0.9, -1.5, 1e30, -1e30, np.nan, np.inf, -np.inf], source)])
    got = call(engine, elementwise(lambda x: Cast(x, target), 1, (source,), target), a, result=target)
    expected = [
        0 if math.isnan(x) else (high if x > 0 else low) if math.isinf(x) else min(max(math.trunc(x), low), high)
        for x in a.tolist()
    ]
    assert got.tolist() == expected


def test_a_float_that_fits_no_integer_becomes_the_nearest_one(engine: Engine) -> None:
    a = np.array([1e30, -1e30, np.nan, np.inf, 2.9, -2.9], "float32")
    got = call(engine, elementwise(lambda x: Cast(x, "int32"), 1, ("float32",), "int32"), a, result="int32")
    assert got.tolist() == [2**31 - 1, -(2**31), 0, 2**31 - 1, 2, -2]


NUMPY_NAMES = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
    "fabs": "abs", "nearbyint": "rint", "pow": "power", "atan2": "arctan2", "power": "power", "fmod": "fmod",
}  # fmt: skip
BY_HAND: dict[str, Compute[Any, Any]] = {
    "exp10": lambda x: 10.0**x,
    "round": np.rint,
    "round_half_away": lambda x: np.trunc(x + np.copysign(0.5, x)),
    "fma": lambda x, y, z: x * y + z,
    "erf": np.vectorize(math.erf),
    "erfc": np.vectorize(math.erfc),
    "lgamma": np.vectorize(math.lgamma),
    "tgamma": np.vectorize(math.gamma),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "likely": lambda x: x,
}
ARGUMENTS = {"acosh": [1.25, 1.5, 3.0, 1.0]}
OF_FLOATS = sorted({*FUNCTIONS, *COMPOSED} - {"popcount", "clz", "reinterpret", "infinity", "nextafter"})


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", OF_FLOATS)
def test_every_intrinsic_of_floats_agrees_with_numpy(engine: Engine, name: str, dtype: str) -> None:
    arity = FUNCTIONS[name].arity if name in FUNCTIONS else COMPOSED[name]
    x = np.array(ARGUMENTS.get(name, [0.125, 0.5, 0.75, 0.9375]), dtype)
    inputs = [x, *(np.array([0.5, 1.5, 2.0, 0.25], dtype) for _ in range(arity - 1))]
    result = "bool" if name.startswith("is") else dtype
    function = elementwise(intrinsic(name, result), 1, (dtype,) * arity, result)
    expected: Compute[Any, Any] = BY_HAND.get(name) or getattr(np, NUMPY_NAMES.get(name, name))
    got = call(engine, function, *inputs, result=result)
    wide = [side.astype("float64") for side in inputs]
    np.testing.assert_allclose(
        got, expected(*wide).astype(result), rtol={"float16": 2e-3, "float32": 2e-6}.get(dtype, 1e-13)
    )


def test_nextafter_is_the_neighbour(engine: Engine) -> None:
    x, y = np.array([1.0, 0.0], "float32"), np.array([2.0, -1.0], "float32")
    function = elementwise(lambda a, b: Intrinsic("nextafter", (a, b), "float32"), 1, ("float32",) * 2, "float32")
    assert np.array_equal(call(engine, function, x, y, result="float32"), np.nextafter(x, y))


@pytest.mark.parametrize(
    ("name", "dtype", "result", "value", "expected"),
    [
        ("popcount", "uint32", "int32", 0xF0F0, 8),
        ("clz", "int32", "int32", 1, 31),
        ("abs", "int16", "int16", -7, 7),
        ("reinterpret", "float32", "int32", 1.0, 0x3F800000),
        ("isnan", "int32", "bool", 3, False),
        ("isfinite", "int32", "bool", 3, True),
    ],
)
def test_intrinsics_of_integers(engine: Engine, name: str, dtype: str, result: str, value: Any, expected: Any) -> None:
    function = elementwise(lambda x: Intrinsic(name, (x,), result), 0, (dtype,), result)
    assert call(engine, function, np.array(value, dtype), result=result) == expected


def test_special_floats_are_classified(engine: Engine) -> None:
    x = np.array([1.0, np.nan, np.inf, -np.inf, 0.0, 1e-45], "float32")
    for name in ("isnan", "isinf", "isfinite"):
        function = elementwise(intrinsic(name, "bool"), 1, ("float32",), "bool")
        assert np.array_equal(call(engine, function, x, result="bool"), getattr(np, name)(x))


@pytest.mark.parametrize("dtype", FLOATS)
def test_infinity(engine: Engine, dtype: str) -> None:
    function = elementwise(lambda _: Intrinsic("infinity", (), dtype), 0, (dtype,), dtype)
    assert call(engine, function, np.zeros((), dtype), result=dtype) == np.inf


@pytest.mark.parametrize(("op", "expected"), [("-", operator.neg), ("~", operator.inv)])
def test_unary_operations(engine: Engine, op: Any, expected: Any) -> None:
    x = np.array([1, -5, 0, -(2**31)], "int32")
    got = call(engine, elementwise(lambda a: Unary(op, a, "int32"), 1, ("int32",), "int32"), x, result="int32")
    assert np.array_equal(got, expected(x))


def test_logic_and_select(engine: Engine) -> None:
    x = np.array([-2.0, -0.5, 0.0, 0.5, 2.0], "float32")

    def compute(a: PrimExpr) -> PrimExpr:
        inside = Binary(
            "and", compared(">", a, const(-1.0)), Unary("not", compared(">", a, const(1.0)), "bool"), "bool"
        )
        outside = Binary("or", inside, compared("==", a, const(2.0)), "bool")
        return Select(outside, a, const(9.0), "float32", is_lazy=False)

    got = call(engine, elementwise(compute, 1, ("float32",), "float32"), x, result="float32")
    assert got.tolist() == [9.0, -0.5, 0.0, 0.5, 2.0]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "uint8"])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (3, 4, 5), (17, 33, 9), (0, 3, 4), (3, 4, 0)])
def test_matmul_with_corrected_indices(engine: Engine, m: int, n: int, k: int, dtype: str) -> None:
    x, y = np.arange(m * n).reshape(m, n).astype(dtype) % 7, np.arange(n * k).reshape(n, k).astype(dtype) % 5
    x, y, z = x.astype(dtype), y.astype(dtype), np.full((m, k), 7, dtype)
    engine.kernel(tir_matmul(is_corrected=True, dtype=dtype), "matmul")(x, y, z)
    assert np.array_equal(z, x @ y)


def test_a_reduction_over_nothing_stores_its_start(engine: Engine) -> None:
    out = np.array([3.0, 4.0], "float32")
    engine.kernel(row_sum(), "row_sum")(np.zeros((2, 0), "float32"), out)
    assert out.tolist() == [0.0, 0.0]


def test_a_sum_keeps_the_order_of_the_text(engine: Engine) -> None:
    row = np.array([[3e38, 3e38, -3e38, -3e38, 1.0]], "float32")
    out = np.zeros(1, "float32")
    engine.kernel(row_sum(), "row_sum")(row, out)
    assert out[0] == np.inf


@pytest.mark.parametrize("name", ["call_extern", "call_packed", "system", "printf", "tvm_struct_get"])
def test_an_unknown_intrinsic_is_named(engine: Engine, name: str) -> None:
    function = elementwise(lambda x: Intrinsic(name, (x,), "float32"), 0, ("float32",), "float32")
    with pytest.raises(CompileError, match=rf"JT001.*`T\.{name}`"):
        call(engine, function, np.zeros((), "float32"), result="float32")


def test_division_by_zero_is_located(engine: Engine) -> None:
    function = elementwise(lambda x, y: binary("//", x, y), 1, ("int32", "int32"), "int32")
    with pytest.raises(RunError, match=r"JT011.*`In0\[i0\] // In1\[i0\]` at i0 = 2"):
        call(engine, function, np.ones(4, "int32"), np.array([1, 2, 0, 3], "int32"), result="int32")


@pytest.mark.parametrize("amount", [-1, 32, 100])
def test_a_shift_amount_is_checked(engine: Engine, amount: int) -> None:
    function = elementwise(lambda x, y: binary("<<", x, y), 1, ("int32", "int32"), "int32")
    with pytest.raises(RunError, match=rf"JT012.*Shift amount {amount} is not in \[0, 32\)"):
        call(engine, function, np.ones(2, "int32"), np.array([1, amount], "int32"), result="int32")
