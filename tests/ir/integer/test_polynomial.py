"""Polynomials have the value of what they are made of."""

from math import prod

from hypothesis import assume, given
from hypothesis import strategies as st

from relax_core.ir.integer.polynomial import (
    Polynomial,
    add,
    constant,
    constant_of,
    degree,
    multiply,
    split,
    split_by_divisor,
)

ATOMS = st.integers(0, 2)
POLYNOMIALS = st.dictionaries(
    st.lists(ATOMS, max_size=2).map(lambda atoms: tuple(sorted(atoms))),
    st.integers(-9, 9).filter(bool),
    max_size=4,
)
POINTS = st.tuples(*(st.integers(-(1 << 64), 1 << 64) for _ in range(3)))


def value(p: Polynomial[int], point: tuple[int, ...]) -> int:
    return sum(count * prod(point[atom] for atom in monomial) for monomial, count in p.items())


@given(POLYNOMIALS, POLYNOMIALS, st.integers(-3, 3), POINTS)
def test_sums_and_products(a: Polynomial[int], b: Polynomial[int], factor: int, point: tuple[int, ...]) -> None:
    total, product = add(a, b, factor), multiply(a, b)
    assert value(total, point) == value(a, point) + factor * value(b, point)
    assert value(product, point) == value(a, point) * value(b, point)
    assert all(total.values())
    assert all(product.values())
    assert product == multiply(b, a)
    assert degree(product) == (degree(a) + degree(b) if a and b else 0)


@given(POLYNOMIALS, ATOMS, POINTS)
def test_a_polynomial_split_by_an_atom(p: Polynomial[int], atom: int, point: tuple[int, ...]) -> None:
    parts = split(p, atom)
    assert (parts is None) == any(monomial.count(atom) > 1 for monomial in p)
    assume(parts is not None)
    assert parts is not None
    quotient, rest = parts
    assert value(quotient, point) * point[atom] + value(rest, point) == value(p, point)


@given(POLYNOMIALS, st.integers(1, 12), POINTS)
def test_a_polynomial_split_by_a_divisor(p: Polynomial[int], divisor: int, point: tuple[int, ...]) -> None:
    quotient, rest = split_by_divisor(p, divisor)
    assert value(quotient, point) * divisor + value(rest, point) == value(p, point)
    assert 0 <= rest.get((), 0) < divisor
    assert all(quotient.values())
    assert all(rest.values())


@given(st.integers())
def test_a_constant_is_a_polynomial(number: int) -> None:
    assert constant_of(constant(number)) == number
    assert constant_of({(1,): 2}) is None
