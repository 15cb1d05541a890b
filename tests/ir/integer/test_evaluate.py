"""Values of scalar expressions, and expressions that have none."""

import pytest

from relax_core.ir.integer.evaluate import NoValueError, evaluate
from relax_core.ir.prim import Binary, Cast, FloatImm, IntImm, Intrinsic, PrimExpr, PrimVar, Select, binary, const

N, M = PrimVar("n"), PrimVar("m")
QUOTIENT = binary("//", M, N)


@pytest.mark.parametrize(
    "expr",
    [
        pytest.param(Select(binary("==", N, const(0)), const(7), QUOTIENT, "int64"), id="the other side of a choice"),
        pytest.param(Select(binary("!=", N, const(0)), QUOTIENT, const(7), "int64"), id="the first side of a choice"),
        pytest.param(Binary("and", binary("!=", N, const(0)), binary("==", QUOTIENT, N), "bool"), id="behind an and"),
        pytest.param(Binary("or", binary("==", N, const(0)), binary("==", QUOTIENT, N), "bool"), id="behind an or"),
    ],
)
def test_what_is_not_chosen_needs_no_value(expr: PrimExpr) -> None:
    assert evaluate(expr, {N: 0, M: 5}) in (7, False, True)


@pytest.mark.parametrize(
    "expr",
    [
        pytest.param(QUOTIENT, id="a division by zero"),
        pytest.param(binary("truncmod", M, N), id="a remainder by zero"),
        pytest.param(PrimVar("k"), id="a variable without value"),
        pytest.param(binary(">>", M, const(64)), id="a shift by a word"),
        pytest.param(Cast(FloatImm(float("inf")), "int64"), id="infinity as an integer"),
        pytest.param(Cast(FloatImm(float("nan")), "int64"), id="a NaN as an integer"),
        pytest.param(Intrinsic("exp", (FloatImm(1e4),), "float64"), id="a power beyond all floats"),
        pytest.param(Intrinsic("sqrt", (FloatImm(-1.0),), "float64"), id="the root of a negative number"),
        pytest.param(Intrinsic("erf", (FloatImm(1.0),), "float64"), id="a function that is not known"),
    ],
)
def test_an_expression_without_value_says_so(expr: PrimExpr) -> None:
    with pytest.raises(NoValueError):
        evaluate(expr, {N: 0, M: 5})


def test_numbers_that_double_their_length_end() -> None:
    expr: PrimExpr = IntImm(3)
    for _ in range(64):
        expr = binary("*", expr, expr)
    with pytest.raises(NoValueError):
        evaluate(expr, {})
