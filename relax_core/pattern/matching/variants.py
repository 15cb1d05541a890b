"""Equivalent forms of a pattern: products and quotients reassociated."""

from collections.abc import Iterator
from functools import reduce
from types import MappingProxyType

from relax_core.ir.expr import Call, Expr, Op
from relax_core.pattern.language.nodes import (
    AltPattern,
    AndPattern,
    AttrPattern,
    CallPattern,
    DataTypePattern,
    DominatorPattern,
    ExprPattern,
    OperatorPattern,
    Pattern,
    ShapePattern,
    SubtypePattern,
    TypePattern,
    subpatterns,
)
from relax_core.pattern.matching.facts import operator_name

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


_REGROUPED_AS = MappingProxyType({"divide": "multiply", "multiply": "divide"})


def root_operators(pattern: Pattern) -> frozenset[str] | None:
    """Return the operators whose calls `pattern` may match, other forms included; `None` if it may match any."""
    known: dict[Pattern, frozenset[str] | None] = {}
    # Parts come before what holds them.
    for part in subpatterns(pattern):
        match part:
            case CallPattern(op=ExprPattern(expr=Op() as op)):
                name = operator_name(op) or ""
                known[part] = frozenset((name, _REGROUPED_AS.get(name, name)))
            case OperatorPattern(name=name):
                known[part] = frozenset((name.removeprefix("relax."),))
            case AltPattern(options=options):
                found = [known[option] for option in options]
                known[part] = None if None in found else frozenset[str]().union(*(item or () for item in found))
            case AndPattern(options=options):
                named = [found for option in options if (found := known[option]) is not None]
                known[part] = reduce(frozenset[str].__and__, named) if named else None
            case AttrPattern(pattern=inner) | TypePattern(pattern=inner) | SubtypePattern(pattern=inner):
                known[part] = known[inner]
            case DataTypePattern(pattern=inner) | ShapePattern(pattern=inner) | DominatorPattern(child=inner):
                known[part] = known[inner]
            case _:
                known[part] = None
    return known[pattern]


def pattern_operator(pattern: Pattern) -> str | None:
    """Return the name of the operator that `pattern` matches calls of."""
    match pattern:
        case CallPattern(op=ExprPattern(expr=expr)):
            return operator_name(expr)
        case _:
            return None
