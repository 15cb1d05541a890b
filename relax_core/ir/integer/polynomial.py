"""Integer polynomials over atoms, which are numbers or words.

A polynomial maps a monomial, the sorted tuple of its atoms, to a coefficient that is not zero; the empty monomial is
the constant. What an atom stands for is known to whoever makes the polynomial.
"""

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any, TypeAlias, TypeVar

K = TypeVar("K", bound=Hashable)
A = TypeVar("A", int, str)
Polynomial: TypeAlias = Mapping[tuple[A, ...], int]


def constant(value: int) -> Polynomial[Any]:
    """Make the polynomial of a number."""
    return {(): value} if value else {}


def constant_of(p: Polynomial[Any]) -> int | None:
    """Return the number that `p` is, or `None` if it has atoms."""
    return None if any(monomial for monomial in p) else p.get((), 0)


def add(a: Mapping[K, int], b: Mapping[K, int], factor: int = 1) -> dict[K, int]:
    """Return `a + factor * b`, of polynomials or of any other sums of terms with coefficients."""
    total = dict(a)
    for term, coefficient in b.items():
        value = total.get(term, 0) + factor * coefficient
        if value:
            total[term] = value
        else:
            total.pop(term, None)
    return total


def multiply(a: Polynomial[A], b: Polynomial[A]) -> Polynomial[A]:
    """Return `a * b`."""
    total: dict[tuple[A, ...], int] = {}
    for left, x in a.items():
        for right, y in b.items():
            monomial = tuple(sorted(left + right))
            total[monomial] = total.get(monomial, 0) + x * y
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def degree(p: Polynomial[Any]) -> int:
    """Return how many atoms the longest product in `p` has."""
    return max(map(len, p), default=0)


def split(p: Polynomial[A], atom: A) -> tuple[Polynomial[A], Polynomial[A]] | None:
    """Return `(q, r)` with `p = q * atom + r`, or `None` if `atom` occurs with a higher power."""
    quotient: dict[tuple[A, ...], int] = {}
    rest: dict[tuple[A, ...], int] = {}
    for monomial, coefficient in p.items():
        match monomial.count(atom):
            case 0:
                rest[monomial] = coefficient
            case 1:
                position = monomial.index(atom)
                quotient[monomial[:position] + monomial[position + 1 :]] = coefficient
            case _:
                return None
    return quotient, rest


def split_by_divisor(terms: Mapping[K, int], divisor: int) -> tuple[dict[K, int], dict[K, int]]:
    """Return `(q, r)` with `terms = divisor * q + r`, where `r` holds the terms that `divisor` does not divide.

    The constant is divided with a remainder, so that in `r` it lies in `[0, divisor)`.
    """
    quotient: dict[K, int] = {}
    rest: dict[K, int] = {}
    for term, coefficient in terms.items():
        whole, left = divmod(coefficient, divisor)
        if left and term != ():
            rest[term] = coefficient
            continue
        if whole:
            quotient[term] = whole
        if left:
            rest[term] = left
    return quotient, rest


def split_by_product(p: Polynomial[A], factors: tuple[A, ...], count: int) -> tuple[Polynomial[A], Polynomial[A]]:
    """Return `(q, r)` with `p = count * product of factors * q + r`, where `r` holds the terms not divided by both."""
    quotient: dict[tuple[A, ...], int] = {}
    rest: dict[tuple[A, ...], int] = {}
    needed = Counter(factors)
    for monomial, coefficient in p.items():
        atoms = Counter(monomial)
        if atoms >= needed and coefficient % count == 0:
            quotient[tuple(sorted((atoms - needed).elements()))] = coefficient // count
        else:
            rest[monomial] = coefficient
    return quotient, rest
