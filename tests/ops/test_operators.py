"""Every operator: its inferred type is the type of its value, and its prim func computes that value."""

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from relax_core.ir.expr import ShapeType, TensorType, Type, Var
from relax_core.ir.integer.evaluate import evaluate
from relax_core.ops import OPS, find
from relax_core.ops.show import show_type
from relax_core.ops.spec import OpSpec, OpTypeError, Param, default_expr
from tests.ops.cases import CASES, LEGALIZED, SIZES, SYMBOLS, Builder, Case
from tests.ops.cases_evaluated import EVALUATED
from tests.ops.cases_more import MORE
from tests.ops.refused import MORE_REFUSED, REFUSED
from tests.tir_interpreter import run_prim_func

Array = npt.NDArray[Any]
ALL_REFUSED = (*REFUSED, *MORE_REFUSED)
COUNTS = Counter(case.spec.name for case in (*CASES, *MORE, *EVALUATED))

# A prim func adds in the order of its loops, NumPy pairwise; functions of libm differ in the last bits.
TOLERANCE = {"float16": 2e-3, "float32": 3e-6, "float64": 1e-12}


def value_of(case: Case) -> Any:
    assert case.spec.evaluate is not None
    return case.spec.evaluate(case.args)


def assert_type_fits(type_: Type, value: Any) -> None:
    match type_:
        case TensorType(dtype=dtype, ndim=ndim):
            assert dtype == str(value.dtype)
            assert ndim in (None, value.ndim)
            if type_.dims is not None:
                assert tuple(evaluate(dim, SIZES) for dim in type_.dims) == value.shape
        case ShapeType(values=values, ndim=ndim):
            assert ndim in (None, len(value))
            assert values is None or tuple(evaluate(dim, SIZES) for dim in values) == value
        case _:
            pytest.fail(f"no computed value has the type {show_type(type_)}")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_inferred_type_is_the_type_of_the_value(case: Case) -> None:
    built = Builder(case)
    type_ = case.spec.infer(built.call, built.types)
    assert_type_fits(type_, value_of(case))
    if isinstance(type_, TensorType):
        assert type_.dims is not None


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_type_with_symbolic_sizes_fits_the_value(case: Case) -> None:
    built = Builder(case, is_symbolic=True)
    assert_type_fits(case.spec.infer(built.call, built.types), value_of(case))


@pytest.mark.parametrize("is_symbolic", [False, True], ids=["static", "symbolic"])
@pytest.mark.parametrize("case", LEGALIZED, ids=str)
def test_the_prim_func_computes_the_value(case: Case, *, is_symbolic: bool) -> None:
    built = Builder(case, is_symbolic=is_symbolic)
    out_type = case.spec.infer(built.call, built.types)
    expected: Array = value_of(case)
    assert case.spec.legalize is not None
    legalized = case.spec.legalize(built.call, built.types, out_type)
    if legalized is None:
        assert isinstance(out_type, TensorType)
        assert out_type.dims is None
        return
    inputs = [built.variables[arg] for arg in legalized.args if isinstance(arg, Var)]
    assert len(inputs) == len(legalized.args)
    scalars = [int(evaluate(item, SIZES)) for item in legalized.tir_vars]
    result = run_prim_func(legalized.prim_func, inputs, np.zeros(expected.shape, expected.dtype), scalars)
    tolerance = TOLERANCE.get(str(expected.dtype), 0)
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("case", "code"), ALL_REFUSED, ids=[str(case) for case, _ in ALL_REFUSED])
def test_a_wrong_call_is_refused_with_a_code(case: Case, code: str) -> None:
    built = Builder(case, is_variable_fill=True)
    with pytest.raises(OpTypeError) as raised:
        case.spec.infer(built.call, built.types)
    assert raised.value.code == code


@pytest.mark.parametrize("spec", OPS.values(), ids=lambda spec: spec.name)
def test_every_operator_that_computes_has_five_cases(spec: OpSpec) -> None:
    exempt = ("relax.null_value", "relax.to_vdevice", "relax.hint_on_device")
    assert spec.evaluate is None or spec.name in exempt or COUNTS[spec.name] >= 5


@pytest.mark.parametrize("spec", OPS.values(), ids=lambda spec: spec.name)
def test_a_schema_is_consistent(spec: OpSpec) -> None:
    names = [param.name for param in spec.params]
    assert len(set(names)) == len(names)
    assert spec.summary.endswith(".")
    assert not any(param.is_variadic for param in spec.params[:-1])
    for param in spec.params:
        assert param.is_required == (default_expr(param) is None and not _may_be_left_out(param))


def _may_be_left_out(param: Param) -> bool:
    return param.is_variadic or param.name == "tir_vars"


def test_an_alias_leads_to_its_operator() -> None:
    assert find("relax.dot") is OPS["relax.matmul"]
    assert find("relax.no_such_operator") is None


def test_a_symbolic_product_of_matrices_has_the_outer_sizes() -> None:
    built = Builder(
        Case("matmul", (np.zeros((2, 4), "float32"), np.zeros((4, 3), "float32"), None), ""), is_symbolic=True
    )
    type_ = OPS["relax.matmul"].infer(built.call, built.types)
    assert isinstance(type_, TensorType)
    assert type_.dims == (SYMBOLS[2], SYMBOLS[3])
