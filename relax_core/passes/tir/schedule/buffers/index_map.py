"""Maps of indices as text: `lambda i, j: (j // 4, i, j % 4)`."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from relax_core.ir.prim import BinaryKind, IntImm, PrimExpr, binary, dtype_of

_OPERATORS: Mapping[type[ast.operator], BinaryKind] = MappingProxyType(
    {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%"}
)


LONGEST = 1000
"""A longer text is no map that someone wrote; its expression could be deeper than the host's stack."""


class IndexMapError(ValueError):
    """A text is no map of indices."""


@dataclass(frozen=True, slots=True)
class IndexMap:
    """What the indices of an element are after a change of layout, in terms of those before it."""

    names: tuple[str, ...]
    results: tuple[ast.expr, ...]

    def apply(self, indices: Sequence[PrimExpr]) -> tuple[PrimExpr, ...]:
        """Return the indices that `indices` become.

        Raises:
            IndexMapError: an expression is not made of the names, of literals and of + - * // %.
        """
        values = dict(zip(self.names, indices, strict=True))
        dtype = dtype_of(indices[0]) if indices else "int32"
        return tuple(_value(item, values, dtype) for item in self.results)


def index_map(text: str) -> IndexMap:
    """Read `lambda i, j: (j, i)`.

    Raises:
        IndexMapError: the text is no function of names.
    """
    try:
        read = ast.parse(text.strip(), mode="eval").body if len(text) <= LONGEST else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        read = None
    match read:
        case ast.Lambda(
            args=ast.arguments(posonlyargs=[], args=args, vararg=None, kwonlyargs=[], defaults=[]), body=body
        ):
            names = tuple(item.arg for item in args)
            results = tuple(body.elts) if isinstance(body, ast.Tuple | ast.List) else (body,)
            return IndexMap(names, results)
        case _:
            raise IndexMapError("a map of indices is a lambda")


def _value(item: ast.expr, values: Mapping[str, PrimExpr], dtype: str) -> PrimExpr:
    match item:
        case ast.Name(id=name) if name in values:
            return values[name]
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return IntImm(value, dtype)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return binary(_OPERATORS[type(op)], _value(left, values, dtype), _value(right, values, dtype))
        case _:
            raise IndexMapError(f"{ast.unparse(item)} is not made of the indices, literals and + - * // %")
