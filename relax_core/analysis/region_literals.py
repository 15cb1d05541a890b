"""Literals that flow into regions: tensors and tuples of them, which external functions hold themselves."""

from relax_core.analysis.regions import is_annotation
from relax_core.ir.expr import Call, Constant, Expr, Tuple


def literals_of(value: Expr) -> tuple[Constant, ...]:
    """Return the tensor literals of a value that is one or a tuple of such, none if it is anything else.

    Annotations are looked through.
    """
    found: list[Constant] = []
    stack = [value]
    while stack:
        match stack.pop():
            case Constant() as literal:
                found.append(literal)
            case Tuple(fields=fields) if fields:
                stack += fields[::-1]
            case Call(args=(inner,)) as call if is_annotation(call):
                stack.append(inner)
            case _:
                return ()
    return tuple(found)
