"""Dimensions in which numbers took the place of symbols, in the order in which TVM writes them."""

from relax_core.ir.integer.bounds import Bounds
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import Binary, IntImm, PrimExpr, PrimVar, binary, dtype_of
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.passes.tir.arithmetic import Terms, terms_of, tidy, written


def canonical_dim(expr: PrimExpr) -> PrimExpr:
    """Return a dimension with sums multiplied out and divided, the largest factors first, the number last.

    A number alone stands before what is taken from it, `4 - n`. Dimensions are not negative, and fit their dtype.
    """
    if isinstance(expr, IntImm | PrimVar):
        return expr
    bounds = Bounds({})
    for symbol in preorder(expr):
        if isinstance(symbol, PrimVar):
            bounds.bind_symbol(symbol)
    made = tidy(rewrite(expr, _number_last, log=RewriteLog()), bounds)
    terms = terms_of(made)
    number = terms.get("", (made, 0))[1]
    match [item for key, item in terms.items() if key and item[1]]:
        case [(atom, -1)] if number > 0:
            return binary("-", IntImm(number, dtype_of(expr)), atom)
        case _:
            pass
    ordered: Terms = dict(sorted(terms.items(), key=_place))
    return written(ordered, dtype_of(expr)) if len(terms) > 1 else made


def _place(item: tuple[str, tuple[PrimExpr, int]]) -> tuple[int, bool]:
    """Order terms by their factors, quotients first among equal ones."""
    _, (atom, factor) = item
    return -factor, not (isinstance(atom, Binary) and atom.op == "//")


def _number_last(node: Node) -> Node | None:
    """Rule: x * number * y -> x * y * number."""
    match node:
        case Binary(op="*", a=Binary(op="*", a=x, b=IntImm() as number), b=y) if not isinstance(y, IntImm):
            return binary("*", binary("*", x, y), number)
        case _:
            return None
