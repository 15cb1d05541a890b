"""How tightly operators bind in Python's notation, and expressions with as few parentheses as they need."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from relax_core.ir.prim import Binary, BinaryKind, PrimExpr

PRECEDENCE: Mapping[BinaryKind, int] = MappingProxyType(
    {
        "or": 1, "and": 2, "==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "|": 5, "^": 6, "&": 7, "<<": 8, ">>": 8,
        "+": 9, "-": 9, "*": 10, "/": 10, "//": 10, "%": 10,
    }
)  # fmt: skip
"""Of the operators that stand between their operands; the others are written as calls."""
NOT, COMPARISON, UNARY = 3, 4, 11


def left_precedence(own: int) -> int:
    """Return how tightly a left operand has to bind: comparisons do not chain, so both sides of one bind tighter."""
    return own + 1 if own == COMPARISON else own


def infix(expr: PrimExpr, precedence: int, operand: Callable[[PrimExpr], str]) -> str:
    """Write an expression in a place that binds with `precedence`; `operand` writes what is no operator of the table.

    A sum may be long: its left operands are walked without recursion.
    """
    spine: list[Binary] = []
    while isinstance(expr, Binary) and expr.op in PRECEDENCE:
        spine.append(expr)
        expr = expr.a
    text, inner = operand(expr), UNARY
    for item in reversed(spine):
        own = PRECEDENCE[item.op]
        left = f"({text})" if inner < left_precedence(own) else text
        text, inner = f"{left} {item.op} {infix(item.b, own + 1, operand)}", own
    return f"({text})" if inner < precedence else text
