"""Mappings of indices as functions of Python, for TVM, which calls them."""

import ast
from collections.abc import Callable
from typing import Any

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}


def index_map_of(text: str) -> Any:
    """Return the mapping that the text of a lambda describes."""
    from tests.apache_tvm import tirx

    tree = ast.parse(text, mode="eval").body
    assert isinstance(tree, ast.Lambda)
    names = [item.arg for item in tree.args.args]
    body = tree.body

    def mapped(*indices: Any) -> list[Any]:
        at = dict(zip(names, indices, strict=True))
        return [_value(item, at) for item in (body.elts if isinstance(body, ast.Tuple) else [body])]

    return tirx.IndexMap.from_func(mapped, len(names), index_dtype="int64")


def _value(node: ast.expr, at: dict[str, Any]) -> Any:
    match node:
        case ast.Name(id=name):
            return at[name]
        case ast.Constant(value=value):
            return value
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_value(left, at), _value(right, at))
        case _:
            raise AssertionError(ast.dump(node))
