"""Short words for scalar expressions."""

import pytest

from relax_core.ir.prim import PrimExpr, PrimVar, binary
from relax_core.present.words import prim_text

X, Y = PrimVar("x", "int32"), PrimVar("y", "int32")


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (binary("-", X, binary("-", Y, X)), "x - (y - x)"),
        (binary("-", binary("-", X, Y), X), "x - y - x"),
        (binary("*", binary("+", X, Y), X), "(x + y) * x"),
        (binary("+", binary("*", X, Y), X), "x * y + x"),
        (binary("<", binary("+", X, Y), binary("+", Y, X)), "x + y < y + x"),
    ],
)
def test_parentheses_stand_where_they_are_needed(expr: PrimExpr, text: str) -> None:
    assert prim_text(expr) == text


def test_a_long_sum_is_printed_without_recursion() -> None:
    total: PrimExpr = X
    for _ in range(5000):
        total = binary("+", total, Y)
    words = " + ".join(["x", *["y"] * 5000])
    assert prim_text(total) == words
    assert prim_text(binary("*", total, X)) == f"({words}) * x"
