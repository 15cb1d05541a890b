"""Other forms of a pattern that compute the same: products and quotients grouped the other way."""

from collections.abc import Iterator

from relax_core.ir.expr import Call, Expr
from relax_core.pattern.facts import operator_name
from relax_core.pattern.nodes import CallPattern, ExprPattern, Pattern

COMMUTATIVE = frozenset(("add", "multiply"))


def regrouped(pattern: CallPattern, expr: Expr) -> Iterator[CallPattern]:
    """Yield `x * (y / z)` and `y * (x / z)` for `(x * y) / z`, and `(x * y) / z` for `x * (y / z)`.

    Only for an `expr` whose outer and inner operators are those of the variant.
    """
    if not isinstance(expr, Call) or pattern.args is None:
        return
    outer = pattern_operator(pattern)
    inner = {operator_name(arg.op) for arg in expr.args if isinstance(arg, Call)}
    match outer, operator_name(expr.op), pattern.args:
        case "divide", "multiply", (CallPattern(args=(x, y)) as product, z) if "divide" in inner:
            if pattern_operator(product) == "multiply":
                yield CallPattern(product.op, (y, CallPattern(pattern.op, (x, z))))
                yield CallPattern(product.op, (x, CallPattern(pattern.op, (y, z))))
        case "multiply", "divide", (first, second) if "multiply" in inner:
            for quotient, other in ((first, second), (second, first)):
                if isinstance(quotient, CallPattern) and pattern_operator(quotient) == "divide" and quotient.args:
                    x, z = quotient.args
                    yield CallPattern(quotient.op, (CallPattern(pattern.op, (x, other)), z))
        case _:
            pass


def pattern_operator(pattern: Pattern) -> str | None:
    """Return the name of the operator that `pattern` matches calls of."""
    match pattern:
        case CallPattern(op=ExprPattern(expr=expr)):
            return operator_name(expr)
        case _:
            return None
