"""Each legalized operator, compiled, computes the operator's value."""

import numpy as np
import pytest

from relax_core.ir.expr import Var
from relax_core.ir.integer.evaluate import evaluate
from relax_core.jit.engine import Engine
from tests.ops.cases import LEGALIZED, SIZES, Builder, Case
from tests.ops.test_operators import TOLERANCE, value_of


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


@pytest.mark.parametrize("case", LEGALIZED, ids=str)
def test_the_kernel_computes_the_value(engine: Engine, case: Case) -> None:
    built = Builder(case, is_symbolic=True)
    out_type = case.spec.infer(built.call, built.types)
    assert case.spec.legalize is not None
    legalized = case.spec.legalize(built.call, built.types, out_type)
    if legalized is None:
        return
    expected = value_of(case)
    result = np.zeros(expected.shape, expected.dtype)
    inputs = [np.array(built.variables[arg], order="C") for arg in legalized.args if isinstance(arg, Var)]
    scalars = [int(evaluate(item, SIZES)) for item in legalized.tir_vars]
    engine.kernel(legalized.prim_func, legalized.name)(*inputs, result, *scalars)
    tolerance = TOLERANCE.get(str(expected.dtype), 0)
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)
