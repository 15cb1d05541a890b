"""Read buffers: `T.Buffer((n, 4), "float32")`, `T.match_buffer(a, (n,), strides=[s])`, `T.alloc_buffer((4,))`."""

import ast

from relax_core.frontend.tvmscript.context import source_of
from relax_core.frontend.tvmscript.tir_reader import TirReader
from relax_core.ir.prim import PrimExpr
from relax_core.ir.tir import Buffer

_PROMISES = ("align", "offset_factor", "data", "buffer_type", "axis_separators", "layout")


def read_buffer(
    reader: TirReader, name: str, node: ast.expr, args: list[ast.expr], keywords: list[ast.keyword]
) -> Buffer:
    """Read the shape, dtype, strides and scope of a buffer; free names in them define dimensions."""
    given: dict[str, ast.expr] = dict(zip(("shape", "dtype"), args, strict=False))
    given.update((item.arg, item.value) for item in keywords if item.arg is not None)
    unknown = set(given) - {"shape", "dtype", "strides", "elem_offset", "scope", *_PROMISES}
    if len(args) > 2 or unknown or "shape" not in given:
        raise reader.context.fail(
            "PA006", node, f'expected a shape and a dtype: (n, 4), "float32"; got `{source_of(node)}`'
        )
    defining = TirReader(reader.context, reader.scope, reader.dtypes, reader.extents, reader.allocated, defines=True)
    shape = defining.shape(given["shape"])
    dtype = reader.dtype(given["dtype"]) if "dtype" in given else "float32"
    strides = given.get("strides")
    offset = given.get("elem_offset")
    return Buffer(
        name,
        shape,
        dtype,
        () if strides is None or _is_none(strides) else defining.shape(strides),
        None if offset is None or _is_none(offset) else _offset(defining, offset),
        _scope(reader, given.get("scope")),
        span=reader.context.span(node),
    )


def _offset(reader: TirReader, node: ast.expr) -> PrimExpr:
    return reader.read(node)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _scope(reader: TirReader, node: ast.expr | None) -> str:
    match node:
        case None:
            return "global"
        case ast.Constant(value=str(text)):
            return text or "global"
        case _:
            raise reader.context.fail("PA006", node, 'a storage scope is a string, such as "global"')
