"""Comparisons of patterns with one expression: equality, attributes, shape."""

from relax_core.ir.attrs import AttrValue
from relax_core.ir.equality import structural_equal
from relax_core.ir.expr import Constant, Expr, GlobalVar, Op, TensorType
from relax_core.ir.prim import IntImm
from relax_core.pattern.matching.facts import is_same, operator_name


def is_equal(expected: Expr, expr: Expr) -> bool:
    """Tell whether `expr` is the expression that a pattern names; operators are compared by name."""
    if isinstance(expected, Op) and isinstance(expr, Op):
        return expected.name == expr.name or operator_name(expected) == operator_name(expr)
    return type(expected) is type(expr) and (is_same(expected, expr) or structural_equal(expected, expr))


def words(expected: Expr) -> str:
    """Describe an expected expression for a message."""
    match expected:
        case GlobalVar(name=name):
            return f"@{name}"
        case Constant(data=data) if data.ndim == 0:
            return f"the number {data.item()}"
        case _:
            return operator_name(expected) or f"the expected {type(expected).__name__}"


def is_value(found: AttrValue, expected: AttrValue) -> bool:
    """Compare attribute values; a list matches every list that it is a prefix of."""
    if isinstance(found, tuple) and isinstance(expected, tuple):
        return found[: len(expected)] == expected
    if isinstance(found, int) and isinstance(expected, int):
        return int(found) == int(expected)
    return found == expected and isinstance(found, str) == isinstance(expected, str)


def has_shape(type_: object, shape: tuple[int | None, ...]) -> bool:
    """Tell whether a type is that of a tensor of `shape`; `None` takes any size."""
    if not isinstance(type_, TensorType) or type_.dims is None or len(type_.dims) != len(shape):
        return False
    sizes = (
        (dim.value if isinstance(dim, IntImm) else None, size) for dim, size in zip(type_.dims, shape, strict=True)
    )
    return all(size is None or found == size for found, size in sizes)
