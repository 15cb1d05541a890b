"""Affine forms have the value that a machine computes, or that value modulo the size of its dtype."""

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.ir.integer.affine import Affine, affine_of, is_onto, overlapping
from relax_core.ir.integer.interval import Interval, dtype_interval
from relax_core.ir.integer.iter_split import affine_sum, interval_of, splits_of
from relax_core.ir.prim import PrimVar, dtype_of
from tests.ir.integer.machine import DTYPES, expressions, machine_value, ranges, within

VARIABLES = tuple(PrimVar(name, dtype) for dtype in DTYPES for name in "xy")
TERMS = st.lists(st.tuples(st.integers(-12, 12), st.integers(0, 4)), max_size=3)


def at(form: Affine, values: dict[PrimVar, int]) -> int:
    return form.constant + sum(values[var] * factor for var, factor in form.coefficients.items())


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_an_affine_form_is_what_a_machine_computes(data: st.DataObject) -> None:
    expr = data.draw(expressions(VARIABLES))
    intervals = {var: data.draw(ranges(var.dtype)) for var in VARIABLES}
    values = {var: data.draw(within(intervals[var])) for var in VARIABLES}
    form, splits = affine_of(expr, {}, intervals), splits_of(expr, {}, intervals)
    try:
        computed = machine_value(expr, values)
    except ZeroDivisionError:
        return
    limits = dtype_interval(dtype_of(expr))
    if form is not None:
        found = form.interval(intervals)
        assert found is not None
        assert at(form, values) in found
        assert (at(form, values) - computed) % (limits.high - limits.low + 1) == 0
        assert not form.fits(dtype_of(expr), intervals) or at(form, values) == computed
    if splits is not None:
        found, total = interval_of(splits, intervals), affine_sum(splits, intervals)
        assert found is not None
        assert not found.is_within(limits) or computed in found
        assert total is None or not found.is_within(limits) or at(total, values) == computed


@given(st.integers(-50, 50), st.integers(-9, 9), st.integers(1, 12), st.integers(-9, 9), st.integers(0, 9))
def test_a_divided_form_is_the_quotient(constant: int, factor: int, divisor: int, low: int, count: int) -> None:
    x, form = PrimVar("x"), Affine(constant)
    form = form.plus(Affine(0, {x: 1}), factor)
    intervals = {x: Interval(low, low + count)}
    quotient, rest = form.divided("//", divisor, intervals), form.divided("%", divisor, intervals)
    assert (quotient is None) == (rest is None)
    for value in range(low, low + count + 1):
        assert quotient is None or at(quotient, {x: value}) == at(form, {x: value}) // divisor
        assert rest is None or at(rest, {x: value}) == at(form, {x: value}) % divisor


@given(TERMS)
def test_a_sum_that_overlaps_nowhere_is_injective(terms: list[tuple[int, int]]) -> None:
    sums = [
        sum(s * c for (s, _), c in zip(terms, point, strict=True)) for point in product(*(range(e) for _, e in terms))
    ]
    if overlapping((number, *term) for number, term in enumerate(terms)) is None:
        assert len(set(sums)) == len(sums)


@given(TERMS, st.integers(0, 64))
def test_a_sum_that_is_onto_is_every_number_once(terms: list[tuple[int, int]], count: int) -> None:
    terms = [(stride, max(extent, 1)) for stride, extent in terms]
    sums = [
        sum(s * c for (s, _), c in zip(terms, point, strict=True)) for point in product(*(range(e) for _, e in terms))
    ]
    if is_onto(terms, count):
        assert sorted(sums) == [*range(count)]
    elif sorted(sums) == [*range(count)] and all(stride > 0 for stride, extent in terms if extent > 1):
        raise AssertionError("the strides are place values")
