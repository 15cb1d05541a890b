"""Quotients and remainders that make a sum again: whatever is made of them has the same value everywhere."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from relax_core.ir.integer.affine import Affine
from relax_core.ir.integer.interval import Interval
from relax_core.ir.integer.iter_split import IterSplit, affine_sum, interval_of, splits_of
from relax_core.ir.prim import PrimExpr, PrimVar, binary, const

X, Y = PrimVar("x", "int64"), PrimVar("y", "int64")


def _sum(constant: int, a: int, b: int) -> Affine:
    return Affine(constant).plus(Affine(0, {X: 1}), a).plus(Affine(0, {Y: 1}), b)


WHOLE = st.builds(
    _sum,
    st.sampled_from((0, 0, 1, -3)),
    st.sampled_from((0, 1, 2, 4, 6, 12)),
    st.sampled_from((0, 1, 1, 3)),
)
SMALL = st.sampled_from((1, 2, 3, 4, 6, 12))


@st.composite
def digits(draw: st.DrawFn) -> list[IterSplit]:
    """Draw digits, most of which follow each other as those of one number do, and some not quite."""
    whole, factor = draw(WHOLE), draw(st.sampled_from((1, 2, -1)))
    found: list[IterSplit] = []
    divisor = draw(st.sampled_from((1, 1, 1, 2)))
    for _ in range(draw(st.integers(1, 3))):
        modulus = draw(SMALL)
        found.append(IterSplit(whole, divisor, draw(st.sampled_from((modulus, modulus, None))), factor))
        divisor *= draw(st.sampled_from((modulus, modulus, modulus, 2)))
        factor *= draw(st.sampled_from((modulus, modulus, modulus, 2)))
        whole = draw(WHOLE) if draw(st.integers(0, 5)) == 0 else whole
    return draw(st.permutations(found))


def at(item: Affine, x: int, y: int) -> int:
    return item.constant + item.of(X) * x + item.of(Y) * y


def value(items: list[IterSplit], x: int, y: int) -> int:
    total = 0
    for item in items:
        quotient = at(item.source, x, y) // item.lower_factor
        total += item.scale * (quotient if item.extent is None else quotient % item.extent)
    return total


@given(digits(), st.sampled_from((1, 3, 5)), st.sampled_from((1, 3, 4)))
def test_a_sum_has_the_value_of_its_digits(items: list[IterSplit], width: int, height: int) -> None:
    intervals = {X: Interval(0, width - 1), Y: Interval(0, height - 1)}
    places = [*product(range(width), range(height))]
    found, made = interval_of(items, intervals), affine_sum(items, intervals)
    assert found is not None
    assert all(value(items, x, y) in found for x, y in places)
    assert made is None or all(at(made, x, y) == value(items, x, y) for x, y in places)


def test_the_digits_of_a_number_make_it_again() -> None:
    place = binary("+", binary("*", X, const(12, "int64")), Y)
    intervals = {X: Interval(0, 9), Y: Interval(0, 11)}

    def digit(divisor: int, modulus: int) -> PrimExpr:
        return binary("%", binary("//", place, const(divisor, "int64")), const(modulus, "int64"))

    total = binary("+", binary("*", digit(5, 24), const(5, "int64")), digit(1, 5))
    found = splits_of(total, {}, intervals)
    assert found is not None
    assert affine_sum(found, intervals) == Affine(0, {X: 12, Y: 1})
