"""Read the parts of a block: its axes, regions, predicate and annotations."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from relax_core.frontend.tvmscript.context import source_of
from relax_core.frontend.tvmscript.literals import read_attributes
from relax_core.ir.attrs import NO_ATTRS, Attrs, attrs_of
from relax_core.ir.prim import PrimExpr, PrimVar, dtype_of
from relax_core.ir.tir import BufferRegion, IterKind, IterVar, Stmt

if TYPE_CHECKING:
    from relax_core.frontend.tvmscript.tir_stmt import TirBody

_KINDS: Mapping[str, IterKind] = MappingProxyType(
    {"spatial": "spatial", "S": "spatial", "reduce": "reduce", "R": "reduce", "opaque": "opaque", "O": "opaque"}
)


@dataclass(slots=True)
class BlockParts:
    """What the statements of a block say about the block itself."""

    iter_vars: list[IterVar] = field(default_factory=list[IterVar])
    init: Stmt | None = None
    reads: tuple[BufferRegion, ...] | None = None
    writes: tuple[BufferRegion, ...] | None = None
    predicate: PrimExpr | None = None
    annotations: Attrs = NO_ATTRS


def read_axes(body: "TirBody", target: ast.expr, value: ast.expr, name: str) -> None:
    """Read `vi = T.axis.spatial(n, i)` or `vi, vj = T.axis.remap("SR", [i, j])`."""
    context = body.reader.context
    assert isinstance(value, ast.Call)
    if body.block is None:
        raise context.fail("PA005", value, "T.axis stands in a block")
    targets = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    names = [item for item in targets if isinstance(item, ast.Name)]
    axes: list[tuple[IterKind, PrimExpr, PrimExpr]]
    if name == "remap":
        axes = _remap(body, value)
    elif name in _KINDS and len(value.args) == 2 and not value.keywords:
        binding = body.reader.read(value.args[1])
        extent = body.reader.scalars.as_dtype(_domain(body, value.args[0]), dtype_of(binding))
        axes = [(_KINDS[name], extent, binding)]
    else:
        raise context.unsupported(value, f"`{source_of(value)}`", "write T.axis.spatial(extent, i)")
    if len(names) != len(targets) or len(names) != len(axes):
        raise context.fail("PA006", value, f"{len(axes)} axes for {len(targets)} names")
    for item, axis in zip(names, axes, strict=True):
        kind, extent, binding = axis
        var = body.reader.define(item.id, dtype_of(extent), item)
        body.block.iter_vars.append(IterVar(var, extent, binding, kind, span=context.span(value)))


def _domain(body: "TirBody", node: ast.expr) -> ast.expr:
    """Return the extent of `n` or `(0, n)`."""
    match node:
        case ast.Tuple(elts=[ast.Constant(value=0), extent]):
            return extent
        case ast.Tuple():
            raise body.reader.context.unsupported(node, "an axis that does not start at 0")
        case _:
            return node


def _remap(body: "TirBody", value: ast.Call) -> list[tuple[IterKind, PrimExpr, PrimExpr]]:
    reader = body.reader
    match value.args:
        case [ast.Constant(value=str(kinds)), ast.List(elts=items) | ast.Tuple(elts=items)]:
            pass
        case _:
            raise reader.context.fail(
                "PA006", value, '`remap` takes kinds and loop variables: T.axis.remap("SR", [i, j])'
            )
    if len(kinds) != len(items) or any(kind not in _KINDS for kind in kinds):
        raise reader.context.fail("PA006", value.args[0], f"expected one of S, R for each of {len(items)} variables")
    axes: list[tuple[IterKind, PrimExpr, PrimExpr]] = []
    for kind, item in zip(kinds, items, strict=True):
        binding = reader.read(item)
        extent = reader.extents.get(binding) if isinstance(binding, PrimVar) else None
        if extent is None:
            raise reader.context.fail("PA006", item, f"`{source_of(item)}` is no loop variable", "write T.axis.spatial")
        axes.append((_KINDS[kind], extent, binding))
    return axes


def read_part(body: "TirBody", name: str, node: ast.expr) -> None:
    """Read `T.reads(...)`, `T.writes(...)`, `T.where(...)`, `T.sblock_attr(...)`."""
    reader, block = body.reader, body.block
    assert isinstance(node, ast.Call)
    if block is None:
        raise reader.context.fail("PA005", node, f"T.{name} stands in a block")
    if name in ("reads", "writes"):
        lists = [item.elts if isinstance(item, ast.List | ast.Tuple) else [item] for item in node.args]
        regions = tuple(reader.region(item) for items in lists for item in items)
        if name == "reads":
            block.reads = regions
        else:
            block.writes = regions
        return
    if len(node.args) != 1:
        raise reader.context.fail("PA006", node, f"T.{name} takes one argument")
    if name == "where":
        block.predicate = reader.read(node.args[0])
    else:
        plain = _BufferNames(body).visit(node.args[0])
        block.annotations = attrs_of([*block.annotations, *read_attributes(reader.context, plain)])


class _BufferNames(ast.NodeTransformer):
    """Replaces the buffers that an annotation lists, as `layout_free_placeholders` does, by their names."""

    def __init__(self, body: "TirBody") -> None:
        self.body = body

    def visit_Name(self, node: ast.Name) -> ast.expr:
        buffer = self.body.reader.buffer(node)
        return ast.copy_location(ast.Constant(buffer.name), node)
