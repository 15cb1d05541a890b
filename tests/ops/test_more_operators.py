"""The further operators: types fit values, with static and symbolic sizes, and kernels compute the values."""

from typing import Any

import numpy as np
import pytest

from relax_core.ir.expr import PrimType, ShapeType, TensorType, TupleType, Type, Var
from relax_core.ir.integer.evaluate import evaluate
from relax_core.jit.engine import Engine
from relax_core.ops.show import show_type
from tests.narrow import as_tuple, is_tuple
from tests.ops.cases import SIZES, Builder, Case
from tests.ops.cases_evaluated import EVALUATED
from tests.ops.cases_more import MORE

# A kernel adds in the order of its loops, NumPy pairwise or in double precision; libm differs in the last bits.
TOLERANCE = {"float16": 2e-3, "float32": 3e-5, "float64": 1e-9}


def values_of(case: Case) -> tuple[Any, ...]:
    assert case.spec.evaluate is not None
    value = case.spec.evaluate(case.args)
    is_shape = is_tuple(value) and all(type(item) is int for item in value)
    return (value,) if is_shape else as_tuple(value)


def assert_fits(type_: Type, value: Any) -> None:
    match type_:
        case TensorType(dtype=dtype, ndim=ndim):
            assert dtype == str(value.dtype)
            assert ndim in (None, value.ndim)
            if type_.dims is not None:
                assert tuple(evaluate(dim, SIZES) for dim in type_.dims) == value.shape
        case PrimType(value=known):
            assert known is None or evaluate(known, SIZES) == value
        case ShapeType(ndim=ndim):
            assert ndim in (None, len(value))
        case _:
            pytest.fail(f"no computed value has the type {show_type(type_)}")


def assert_close(result: Any, expected: Any) -> None:
    tolerance = TOLERANCE.get(str(expected.dtype), 0)
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("is_symbolic", [False, True], ids=["static", "symbolic"])
@pytest.mark.parametrize("case", [*MORE, *EVALUATED], ids=str)
def test_the_type_fits_the_value(case: Case, *, is_symbolic: bool) -> None:
    built = Builder(case, is_symbolic=is_symbolic)
    type_ = case.spec.infer(built.call, built.types)
    types = type_.fields if isinstance(type_, TupleType) else (type_,)
    for item, value in zip(types, values_of(case), strict=True):
        assert_fits(item, value)


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


@pytest.mark.parametrize("is_symbolic", [False, True], ids=["static", "symbolic"])
@pytest.mark.parametrize("case", MORE, ids=str)
def test_the_kernel_computes_the_value(engine: Engine, case: Case, *, is_symbolic: bool) -> None:
    built = Builder(case, is_symbolic=is_symbolic)
    out_type = case.spec.infer(built.call, built.types)
    assert case.spec.legalize is not None
    legalized = case.spec.legalize(built.call, built.types, out_type)
    if legalized is None:
        assert is_symbolic, "a call whose sizes are known has a prim func"
        return
    expected = values_of(case)
    results = [np.zeros(item.shape, item.dtype) for item in expected]
    inputs = [np.array(built.variables[arg], order="C") for arg in legalized.args if isinstance(arg, Var)]
    scalars = [int(evaluate(item, SIZES)) for item in legalized.tir_vars]
    engine.kernel(legalized.prim_func, legalized.name)(*inputs, *results, *scalars)
    for result, value in zip(results, expected, strict=True):
        assert_close(result, value)
