"""Read buffers: `T.Buffer((n, 4), "float32")`, `T.match_buffer(a, (n,), strides=[s])`, `T.alloc_buffer((4,))`."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from relax_core.frontend.tvmscript.context import source_of
from relax_core.frontend.tvmscript.tir.arguments import given, text_argument
from relax_core.frontend.tvmscript.tir.reader import TirReader
from relax_core.ir.attrs import Attrs, AttrValue
from relax_core.ir.prim import PrimExpr, is_number
from relax_core.ir.tir import Buffer

NAMES = (
    "shape dtype data strides elem_offset scope align offset_factor buffer_type axis_separators layout byte_offset "
    "annotations allocated_addr type"
)
UNUSED = ("byte_offset", "allocated_addr")
"""What is read of no buffer."""
UNUSED_OF_PARAMETER = (*UNUSED, "data", "annotations")
"""What is not read of a buffer that is given, or that a block allocates."""
_DEFAULTS: Mapping[str, int] = MappingProxyType({"align": 64, "offset_factor": 0})


def read_buffer(
    reader: TirReader, name: str, node: ast.Call, args: Sequence[ast.expr] | None = None, *, defines: bool = True
) -> tuple[Buffer, dict[str, ast.expr]]:
    """Read the shape, dtype, strides and scope of a buffer; return it and all arguments by name.

    Free names in a shape define dimensions if `defines`.
    """
    values = given(reader.context, node, NAMES, 1, args)
    inner = replace(reader, defines=defines or reader.defines)
    dtype = reader.dtype(values["dtype"]) if "dtype" in values else "float32"
    strides = values.get("strides")
    buffer = Buffer(
        name,
        inner.shape(values["shape"]),
        dtype,
        () if strides is None else inner.shape(strides),
        _offset(inner, values.get("elem_offset"), keeps_zero="offset_factor" in values),
        _scope(reader, values.get("scope")),
        _attrs(reader, node, values),
        span=reader.context.span(node),
    )
    return buffer, values


def _offset(reader: TirReader, node: ast.expr | None, *, keeps_zero: bool) -> PrimExpr | None:
    """Read an offset in elements; 0 is none, unless a factor without an offset would make it a variable."""
    value = None if node is None else reader.dimension(node)
    return None if is_number(value, 0) and not keeps_zero else value


def _scope(reader: TirReader, node: ast.expr | None) -> str:
    return "global" if node is None else text_argument(reader.context, node, "a storage scope") or "global"


def _attrs(reader: TirReader, node: ast.Call, values: dict[str, ast.expr]) -> Attrs:
    """Read what code generators are told besides."""
    found: list[tuple[str, AttrValue]] = []
    for name, default in _DEFAULTS.items():
        match values.get(name):
            case None:
                pass
            case ast.Constant(value=int(number)) if not isinstance(number, bool):
                if number not in (0, default):
                    found.append((name, number))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)):
                pass
            case value:
                raise reader.context.fail("PA006", value, f"`{name}` is a number, got `{source_of(value)}`")
    if "type" in values:
        # What the printer of 2021 wrote.
        values.setdefault("buffer_type", values.pop("type"))
    if "buffer_type" in values:
        kind = text_argument(reader.context, values["buffer_type"], "a buffer type")
        if kind not in ("", "default"):
            found.append(("buffer_type", kind))
    layout = next((item.value for item in node.keywords if item.arg == "layout"), None)
    if layout is not None and not (isinstance(layout, ast.Constant) and layout.value == "default"):
        found.append(("layout", ast.unparse(layout)))
    if "axis_separators" in values:
        axes = values["axis_separators"]
        if not isinstance(axes, ast.List | ast.Tuple) or axes.elts:
            message = f"`axis_separators={source_of(axes)}` is not kept: buffers have one axis of memory here"
            reader.context.report("PA040", axes, message, severity="note")
    return tuple(found)
