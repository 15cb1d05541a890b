"""Whether what a pattern names is what it meets: expressions, attributes, sizes."""

from relax_core.ir.attrs import AttrValue
from relax_core.ir.equality import structural_equal
from relax_core.ir.expr import Constant, Expr, GlobalVar, Op, TensorType
from relax_core.ir.integer.prove import prove_equal
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import IntImm, PrimExpr
from relax_core.pattern.language.nodes import Size
from relax_core.pattern.matching.facts import is_same, operator_name


def is_equal(expected: Expr, expr: Expr) -> bool:
    """Tell whether `expr` is the expression that a pattern names; operators are compared by name."""
    if isinstance(expected, Op) and isinstance(expr, Op):
        return expected.name == expr.name or operator_name(expected) == operator_name(expr)
    return type(expected) is type(expr) and (is_same(expected, expr) or structural_equal(expected, expr))


def sizes_text(sizes: tuple[Size, ...]) -> str:
    """Show sizes that a pattern asks for as a tuple of Python."""
    shown = [repr(size) if size is None or isinstance(size, int) else show_prim(size) for size in sizes]
    return f"({', '.join(shown)}{',' if len(shown) == 1 else ''})"


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


def has_shape(type_: object, shape: tuple[Size, ...]) -> bool:
    """Tell whether a type is that of a tensor of `shape`; `None` takes any size."""
    return isinstance(type_, TensorType) and type_.dims is not None and are_sizes(type_.dims, shape)


def are_sizes(found: tuple[PrimExpr, ...], expected: tuple[Size, ...]) -> bool:
    """Tell whether sizes are those that a pattern asks for, as far as that is proven."""
    return len(found) == len(expected) and all(map(_is_size, found, expected))


def _is_size(found: PrimExpr, expected: Size) -> bool:
    match expected:
        case None:
            return True
        case int():
            return isinstance(found, IntImm) and found.value == expected
        case _:
            return prove_equal(found, expected)
