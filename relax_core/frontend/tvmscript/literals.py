"""Read attributes: plain data in braces, brackets and literals."""

import ast

from relax_core.frontend.tvmscript.context import Context, source_of
from relax_core.frontend.tvmscript.names import qualified
from relax_core.frontend.tvmscript.scalar_calls import is_dtype
from relax_core.ir.attrs import Attrs, AttrValue, attrs_of


def read_attribute(context: Context, node: ast.expr) -> AttrValue:
    """Read one attribute value; lists and tuples become tuples, dictionaries tuples of pairs."""
    match node:
        case ast.Constant(value=value) if value is None or isinstance(value, bool | int | float | str):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value) | float(value))):
            return -value
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value="nan" | "inf" | "-inf" as text)]):
            return float(text)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return tuple(read_attribute(context, item) for item in items)
        case ast.Dict():
            return read_attributes(context, node)
        case ast.Call(func=func, args=[inner], keywords=[]) if _is_typed(context, func):
            return read_attribute(context, inner)
        case _:
            raise context.fail("PA016", node, f"an attribute is plain data, got `{source_of(node)}`")


def read_attributes(context: Context, node: ast.expr) -> Attrs:
    """Read `{"key": value, ...}`."""
    if not isinstance(node, ast.Dict):
        raise context.fail("PA016", node, 'expected a dictionary, such as {"key": 1}')
    pairs: list[tuple[str, AttrValue]] = []
    for key, value in zip(node.keys, node.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            raise context.fail("PA016", key or node, "the key of an attribute is a string")
        pairs.append((key.value, read_attribute(context, value)))
    return attrs_of(pairs)


def _is_typed(context: Context, func: ast.expr) -> bool:
    """`T.int64(4)`, `T.bool(True)`, `R.str("x")` and `R.prim_value(1)` are plain data too."""
    name = qualified(func, context.aliases) or ""
    return name in ("relax.str", "relax.prim_value", "relax.dtype") or (
        name.startswith("tir.") and is_dtype(name.removeprefix("tir."))
    )
