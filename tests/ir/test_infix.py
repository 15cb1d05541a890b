"""Scalar expressions for messages and for pages: parentheses where they are needed, and no recursion on long sums."""

from collections.abc import Callable

import pytest

from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import PrimExpr, PrimVar, binary
from relax_core.present.words import prim_text

X, Y = PrimVar("x", "int32"), PrimVar("y", "int32")
both = pytest.mark.parametrize("show", [show_prim, prim_text])


@both
@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (binary("-", X, binary("-", Y, X)), "x - (y - x)"),
        (binary("-", binary("-", X, Y), X), "x - y - x"),
        (binary("*", binary("+", X, Y), X), "(x + y) * x"),
        (binary("+", binary("*", X, Y), X), "x * y + x"),
        (binary("<", binary("+", X, Y), binary("+", Y, X)), "x + y < y + x"),
        (binary("==", binary("<", X, Y), binary("<", Y, X)), "(x < y) == (y < x)"),
        (binary("and", binary("or", X, Y), binary("==", X, Y)), "(x or y) and x == y"),
        (binary("*", binary("min", X, Y), X), "min(x, y) * x"),
    ],
)
def test_parentheses_stand_where_they_are_needed(show: Callable[[PrimExpr], str], expr: PrimExpr, text: str) -> None:
    assert show(expr).replace("T.min", "min") == text


@both
def test_a_long_sum_is_written_without_recursion(show: Callable[[PrimExpr], str]) -> None:
    total: PrimExpr = X
    for _ in range(5000):
        total = binary("+", total, Y)
    words = " + ".join(["x", *["y"] * 5000])
    assert show(total) == words
    assert show(binary("*", total, X)) == f"({words}) * x"
