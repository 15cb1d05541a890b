"""Canonical form: what it proves, and that simplification keeps the value."""

from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.ir.integer.evaluate import NoValueError, evaluate
from relax_core.ir.integer.interval import dtype_interval, wrap
from relax_core.ir.integer.prove import (
    canonical_form,
    canonical_key,
    constant_value,
    prove_different,
    prove_equal,
    simplify,
)
from relax_core.ir.prim import Cast, IntImm, PrimExpr, PrimVar, Unary, binary, const, dtype_of
from tests.ir.integer.machine import DTYPES, border, expressions, machine_value

N, M = PrimVar("n"), PrimVar("m")


def _mul(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    return binary("*", a, b)


def _add(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    return binary("+", a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        pytest.param(_mul(N, M), _mul(M, N), id="a product commutes"),
        pytest.param(_mul(const(2), _add(N, const(1))), _add(_add(N, N), const(2)), id="a product distributes"),
        pytest.param(binary("//", _mul(N, const(4)), const(2)), _mul(N, const(2)), id="an exact division divides"),
        pytest.param(binary("%", _mul(N, const(4)), const(2)), const(0), id="a multiple has no remainder"),
        pytest.param(binary("max", _add(N, const(1)), N), _add(N, const(1)), id="max of neighbours"),
        pytest.param(binary("min", N, M), binary("min", M, N), id="min commutes"),
        pytest.param(binary("//", _mul(N, M), const(3)), binary("//", _mul(M, N), const(3)), id="atoms are canonical"),
    ],
)
def test_equal_expressions_are_proven_equal(a: PrimExpr, b: PrimExpr) -> None:
    assert prove_equal(a, b)
    assert not prove_different(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        pytest.param(N, M, id="two variables"),
        pytest.param(binary("//", N, const(2)), binary("//", M, const(2)), id="divisions of two variables"),
        pytest.param(PrimVar("n"), PrimVar("n"), id="two variables of one name"),
    ],
)
def test_what_may_differ_is_neither_proven_equal_nor_different(a: PrimExpr, b: PrimExpr) -> None:
    assert not prove_equal(a, b)
    assert not prove_different(a, b)


def test_a_constant_difference_is_proven_different() -> None:
    assert prove_different(_add(N, const(1)), N)
    assert constant_value(binary("//", const(7), const(2))) == 3
    assert constant_value(N) is None


_LEAVES = st.one_of(st.integers(-9, 9).map(const), st.sampled_from([N, M]))


def _combine(children: st.SearchStrategy[PrimExpr]) -> st.SearchStrategy[PrimExpr]:
    plain = st.builds(binary, st.sampled_from(["+", "-", "*", "min", "max"]), children, children)
    divided = st.builds(binary, st.sampled_from(["//", "%"]), children, st.integers(1, 7).map(const))
    negated = children.map(lambda item: Unary("-", item, "int64"))
    return st.one_of(plain, divided, negated)


EXPRESSIONS: st.SearchStrategy[PrimExpr] = st.recursive(_LEAVES, _combine, max_leaves=12)


@given(EXPRESSIONS, st.integers(-20, 20), st.integers(-20, 20))
def test_simplification_keeps_the_value(expr: PrimExpr, n: int, m: int) -> None:
    values = {N: n, M: m}
    assert evaluate(simplify(expr), values) == evaluate(expr, values)


@given(EXPRESSIONS, EXPRESSIONS, st.integers(-20, 20), st.integers(-20, 20))
def test_what_is_proven_holds(a: PrimExpr, b: PrimExpr, n: int, m: int) -> None:
    values = {N: n, M: m}
    if prove_equal(a, b):
        assert evaluate(a, values) == evaluate(b, values)
    if prove_different(a, b):
        assert evaluate(a, values) != evaluate(b, values)


def test_evaluation_of_deep_expressions_does_not_recurse() -> None:
    expr: PrimExpr = IntImm(0)
    for _ in range(20_000):
        expr = binary("+", expr, IntImm(1))
    assert evaluate(expr, {}) == 20_000
    assert constant_value(expr) == 20_000


def test_powers_of_sums_that_would_have_millions_of_terms() -> None:
    total: PrimExpr = PrimVar("i0", "int64")
    for at in range(1, 8):
        total = binary("+", total, PrimVar(f"i{at}", "int64"))
    power, square = total, binary("*", total, total)
    for _ in range(30):
        power = binary("*", power, total)
    assert constant_value(power) is None
    assert prove_equal(binary("+", power, IntImm(1)), binary("+", IntImm(1), power))
    assert prove_different(binary("+", power, IntImm(1)), power)
    assert not prove_equal(power, square)
    assert simplify(power) is not None


def test_numbers_that_double_their_length() -> None:
    expr: PrimExpr = IntImm(3)
    for _ in range(40):
        expr = binary("*", expr, expr)
    assert constant_value(expr) is None


@pytest.mark.parametrize("amount", [-1, 64, 10**15])
def test_shifts_by_no_number_of_bits_have_no_value(amount: int) -> None:
    expr = binary("<<", IntImm(1), IntImm(amount))
    assert constant_value(expr) is None
    with pytest.raises(NoValueError):
        evaluate(expr, {})


def test_quotients_of_quotients_do_not_recurse() -> None:
    expr: PrimExpr = N
    for _ in range(5_000):
        expr = binary("//", expr, const(3))
    assert prove_equal(_add(expr, const(1)), _add(const(1), expr))
    assert prove_different(_add(expr, const(1)), expr)
    assert not prove_equal(expr, binary("//", expr, const(3)))
    assert len(canonical_key(expr)) < 1000


VARIABLES = tuple(PrimVar(name, dtype) for dtype in DTYPES for name in "xy")


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_the_form_of_a_scalar_is_what_a_machine_computes(data: st.DataObject) -> None:
    expr = data.draw(expressions(VARIABLES))
    values = {var: data.draw(border(var.dtype)) for var in VARIABLES}
    atoms: dict[str, PrimExpr] = {}
    form = canonical_form(expr, atoms, wraps=True)
    try:
        known = {name: machine_value(atom, values) for name, atom in atoms.items()}
        computed = machine_value(expr, values)
    except ZeroDivisionError:
        return
    total = sum(count * prod(known[atom] for atom in monomial) for monomial, count in form.items())
    assert wrap(total, dtype_of(expr)) == computed


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_scalars_wrap_around_and_counts_do_not(dtype: str) -> None:
    x, two = PrimVar("x", dtype), IntImm(2, dtype)
    halved = binary("//", _mul(x, two), two)
    most = dtype_interval(dtype).high
    beyond = binary("+", IntImm(most, dtype), IntImm(1, dtype))
    assert prove_equal(halved, x)
    assert not prove_equal(halved, x, wraps=True)
    assert prove_equal(_mul(two, _add(x, two)), _add(_add(x, x), IntImm(4, dtype)), wraps=True)
    assert prove_equal(beyond, IntImm(-most - 1, dtype), wraps=True)
    assert canonical_key(halved, wraps=True) != canonical_key(x, wraps=True)


def test_a_narrow_scalar_is_not_the_wide_one() -> None:
    narrow = Cast(Cast(N, "int8"), "int64")
    assert prove_equal(narrow, N)
    assert not prove_equal(narrow, N, wraps=True)
