"""Every dtype: the first case of each operator in float16, float64 and bfloat16, and arithmetic on all integers."""

import io
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.engine.inputs import write_archive
from relax_core.ir.expr import Var
from relax_core.ir.integer.evaluate import evaluate
from relax_core.jit.engine import Engine
from relax_core.ops.dtypes import BFLOAT16
from tests.narrow import is_array, is_list
from tests.ops.cases import ARITHMETIC, COMPARISONS, LEGALIZED, SIZES, Builder, Case, floats, ints
from tests.ops.cases_more import MORE
from tests.ops.test_more_operators import assert_fits, values_of

FLOATS = ("float16", "float64", "bfloat16")
# The kernel rounds each stage to the dtype, a sum of many products more than once; the evaluation rounds once.
TOLERANCE: Mapping[str, float] = MappingProxyType({"float16": 2e-2, "float64": 1e-9, "bfloat16": 3e-2, "float32": 3e-5})
# Coordinates are of float32 whatever the image is, as in TVM.
IN_SINGLE = "image."
# Rounding a quotient to few bits moves it over a whole number, and the remainder with it.
STEPS = ("floor_divide", "floor_mod", "mod")

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
ON_INTEGERS = (*ARITHMETIC, *COMPARISONS, "floor_mod", "bitwise_and", "bitwise_or", "bitwise_xor")


def of_dtype(value: Any, dtype: str) -> Any:
    if is_list(value):
        return [of_dtype(item, dtype) for item in value]
    if is_array(value) and value.dtype == np.float32:
        return value.astype(BFLOAT16 if dtype == "bfloat16" else dtype)
    return value


def first_cases() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for case in (*LEGALIZED, *MORE):
        is_float = any(item is not value for item, value in zip(_halved(case), case.args, strict=True))
        if is_float and case.op not in found:
            found[case.op] = case
    return found


def _halved(case: Case) -> tuple[Any, ...]:
    return tuple(of_dtype(value, "float16") for value in case.args)


IN_FLOATS = tuple(
    Case(op, tuple(of_dtype(value, dtype) for value in case.args), f"in {dtype}")
    for op, case in first_cases().items()
    for dtype in FLOATS
    if op not in STEPS or dtype == "float64"
)
IN_INTEGERS = tuple(
    Case(op, (np.abs(ints(2, 3)).astype(dtype), np.abs(ints(3)).astype(dtype)), f"in {dtype}")
    for op in ON_INTEGERS
    for dtype in INTEGERS
)


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


@pytest.mark.parametrize("case", [*IN_FLOATS, *IN_INTEGERS], ids=str)
def test_type_evaluation_and_kernel_agree(engine: Engine, case: Case) -> None:
    built = Builder(case)
    out_type = case.spec.infer(built.call, built.types)
    expected = values_of(case)
    for type_, value in zip(getattr(out_type, "fields", (out_type,)), expected, strict=True):
        assert_fits(type_, value)
    assert case.spec.legalize is not None
    legalized = case.spec.legalize(built.call, built.types, out_type)
    assert legalized is not None
    results = [np.zeros(item.shape, item.dtype) for item in expected]
    inputs = [np.array(built.variables[arg], order="C") for arg in legalized.args if isinstance(arg, Var)]
    scalars = [int(evaluate(item, SIZES)) for item in legalized.tir_vars]
    engine.kernel(legalized.prim_func, legalized.name)(*inputs, *results, *scalars)
    for result, value in zip(results, expected, strict=True):
        dtype = "float32" if case.op.startswith(IN_SINGLE) and value.dtype == np.float64 else str(value.dtype)
        tolerance = TOLERANCE.get(dtype, 0)
        np.testing.assert_allclose(
            result.astype(np.float64), value.astype(np.float64), rtol=tolerance, atol=tolerance, err_msg=str(case)
        )


VOID = (
    Case("matmul", (np.ones((2, 2), "float16"), np.ones((2, 2), "float16"), "void"), ""),
    Case("image.resize2d", (np.ones((1, 2, 4, 4), "float64"), (3, 3), (0.0,) * 4, "NCHW", "linear", "half_pixel", "",
                            -0.75, 0, 0.0, "void"), ""),
    Case("nn.conv1d", (np.ones((1, 2, 4), "float16"), np.ones((2, 2, 3), "float16"), (1,), (0,), (1,), 1, "NCW", "OIW",
                       None, "void"), ""),
)  # fmt: skip


@pytest.mark.parametrize("case", VOID, ids=str)
def test_void_is_no_dtype(case: Case) -> None:
    built = Builder(case)
    (value,) = values_of(case)
    assert_fits(case.spec.infer(built.call, built.types), value)
    assert value.dtype == case.args[0].dtype


def test_enough_operators_are_tried_in_bfloat16() -> None:
    assert sum(str(case).endswith("bfloat16") for case in IN_FLOATS) >= 150


@pytest.mark.parametrize(
    ("value", "rounded"),
    [
        (1.0, 1.0),
        (1.00390625, 1.0),
        (1.01171875, 1.015625),
        (float("inf"), float("inf")),
        (-3.4e38, float("-inf")),
        (0.0, 0.0),
    ],
)
def test_a_float_is_rounded_to_the_nearest_bfloat16_ties_to_even(engine: Engine, value: float, rounded: float) -> None:
    for dtype in ("float32", "float64"):
        case = Case("astype", (np.array([value, np.nan], dtype), "bfloat16"), "")
        built = Builder(case)
        assert case.spec.legalize is not None
        made = case.spec.legalize(built.call, built.types, case.spec.infer(built.call, built.types))
        assert made is not None
        result = np.zeros(2, BFLOAT16)
        engine.kernel(made.prim_func, made.name)(*built.variables.values(), result)
        assert float(result[0]) == float(case.args[0].astype(BFLOAT16)[0]) == rounded
        assert np.isnan(result[1])


PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3), "bfloat16"), y: R.Tensor((3,), "bfloat16")):
        a = R.multiply(R.add(x, y), R.const(2.0, "bfloat16"))
        b = R.nn.softmax(a)
        return (b, R.unique(a))
"""


def test_a_program_in_bfloat16_runs_by_kernels_and_by_definition() -> None:
    module = rc.parse(PROGRAM)
    x, y = floats(2, 3).astype(BFLOAT16), floats(3).astype(BFLOAT16)
    results = rc.VirtualMachine(rc.build(module))["main"](x, y)
    for result, expected in zip(results, rc.evaluate(module, "main", x, y), strict=True):
        assert result.dtype == BFLOAT16
        tolerance = TOLERANCE["bfloat16"]
        np.testing.assert_allclose(result.astype(float), expected.astype(float), rtol=tolerance, atol=tolerance)


def test_an_archive_holds_bfloat16_as_float32() -> None:
    x = floats(2, 3).astype(BFLOAT16)
    with np.load(io.BytesIO(write_archive(x))) as found:
        assert found["out"].dtype == np.float32
        np.testing.assert_array_equal(found["out"], x.astype(np.float32))
