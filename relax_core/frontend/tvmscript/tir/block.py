"""Read the parts of a block: its axes, regions, predicate, matched buffers and annotations."""

import ast
from collections.abc import Mapping
from types import MappingProxyType

from relax_core.frontend.tvmscript.buffers.buffer import UNUSED_OF_PARAMETER, read_buffer
from relax_core.frontend.tvmscript.context import source_of
from relax_core.frontend.tvmscript.literal.literals import read_attributes
from relax_core.frontend.tvmscript.names import dotted, suggestion
from relax_core.frontend.tvmscript.scope import Several
from relax_core.frontend.tvmscript.tir.arguments import given
from relax_core.frontend.tvmscript.tir.body import BlockParts, TirBody
from relax_core.frontend.tvmscript.unread import tell_arguments, tell_unused
from relax_core.ir.attrs import attr, attrs_of
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar, dtype_of, is_number
from relax_core.ir.tir import BufferParam, IterKind, IterVar, MatchRegion

_KINDS: Mapping[str, IterKind] = MappingProxyType(
    {
        "spatial": "spatial", "S": "spatial", "reduce": "reduce", "R": "reduce", "opaque": "opaque", "O": "opaque",
        "scan": "scan",
    }
)  # fmt: skip
BUFFER = "@buffer"
PARTS = ("reads", "writes", "where", "block_attr", "sblock_attr")

_Axis = tuple[IterKind, PrimExpr | None, PrimExpr, PrimExpr]


def read_axes(body: TirBody, target: ast.expr, value: ast.expr, name: str) -> None:
    """Read `vi = T.axis.spatial(n, i)` or `vi, vj = T.axis.remap("SR", [i, j])`."""
    context = body.reader.context
    assert isinstance(value, ast.Call)
    if body.block is None:
        raise context.fail("PA005", value, "T.axis stands in a block")
    targets = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    names = [item for item in targets if isinstance(item, ast.Name)]
    if name == "remap":
        axes = _remap(body, value)
    elif name in _KINDS:
        axes = [_axis(body, value, _KINDS[name])]
    else:
        written = ".".join(dotted(value.func) or ())
        near = suggestion(name, (*_KINDS, "remap"), written.removesuffix(name))
        place = value.func if near else value
        raise context.unsupported(place, f"`{source_of(value)}`", near or "write T.axis.spatial(extent, i)")
    if len(names) != len(targets) or len(names) != len(axes):
        raise context.fail("PA006", value, f"{len(axes)} axes for {len(targets)} names")
    for item, (kind, start, extent, binding) in zip(names, axes, strict=True):
        if any(axis.var is body.reader.scope.names.get(item.id) for axis in body.block.iter_vars):
            raise context.fail("PA022", item, f"the axis `{item.id}` is there twice")
        var = body.reader.define(item.id, dtype_of(extent), item)
        body.block.iter_vars.append(IterVar(var, extent, binding, kind, start, span=context.span(value)))


def _axis(body: TirBody, value: ast.Call, kind: IterKind) -> _Axis:
    """Read `T.axis.spatial(n, i)` or `T.axis.spatial((1, n), i)`."""
    reader = body.reader
    values = given(reader.context, value, "dom binding dtype", 2)
    binding = reader.read(values["binding"])
    if "dtype" in values and reader.dtype(values["dtype"]) != dtype_of(binding):
        tell_unused(reader.context, value, values, ("dtype",))
    start: PrimExpr | None = None
    match values["dom"]:
        case ast.Tuple(elts=[lower, upper]):
            start, extent = reader.extent(value, lower, upper)
        case ast.Tuple():
            raise reader.context.fail("PA006", values["dom"], "a domain is an extent, or a start and an end")
        case domain if isinstance(binding, IntImm):
            # `T.axis.spatial(1, T.int64(0))`: a constant's dtype says nothing about the axis, as in TVM.
            extent = reader.read(domain)
        case domain:
            extent = reader.scalars.as_dtype(domain, dtype_of(binding))
    return kind, _nonzero(start), extent, binding


def _nonzero(start: PrimExpr | None) -> PrimExpr | None:
    return None if is_number(start, 0) else start


def _remap(body: TirBody, value: ast.Call) -> list[_Axis]:
    reader = body.reader
    tell_arguments(reader.context, value, 2)
    match value.args[:2]:
        case [ast.Constant(value=str(kinds)), ast.List(elts=items) | ast.Tuple(elts=items)]:
            bindings = [reader.read(item) for item in items]
        case [ast.Constant(value=str(kinds)), ast.Name(id=word) as name] if isinstance(
            several := reader.scope.find(word), Several
        ):
            bindings = [item for item in several.items if isinstance(item, PrimExpr)]
            items = [name] * len(bindings)
        case _:
            raise reader.context.fail(
                "PA006", value, '`remap` takes kinds and loop variables: T.axis.remap("SR", [i, j])'
            )
    if len(kinds) != len(items) or any(kind not in _KINDS for kind in kinds):
        raise reader.context.fail("PA006", value.args[0], f"expected one of S, R for each of {len(items)} variables")
    axes: list[_Axis] = []
    for kind, item, binding in zip(kinds, items, bindings, strict=True):
        found = reader.ranges.get(binding) if isinstance(binding, PrimVar) else None
        if found is None:
            raise reader.context.fail("PA006", item, f"`{source_of(item)}` is no loop variable", "write T.axis.spatial")
        axes.append((_KINDS[kind], _nonzero(found[0]), found[1], binding))
    return axes


def read_part(body: TirBody, name: str, node: ast.expr) -> None:
    """Read `T.reads(...)`, `T.writes(...)`, `T.where(...)`, `T.sblock_attr(...)`."""
    reader, block = body.reader, body.block
    assert isinstance(node, ast.Call)
    if block is None:
        raise reader.context.fail("PA005", node, f"T.{name} stands in a block")
    tell_arguments(reader.context, node, None)
    if name in ("reads", "writes", "where") and _said(block, name):
        raise reader.context.fail("PA022", node, f"T.{name} is there twice in this block")
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
        plain = read_attributes(reader.context, _BufferNames(body).visit(node.args[0]))
        for key, value in plain:
            if attr(block.annotations, key, value) != value:
                raise reader.context.fail("PA022", node, f'the annotation "{key}" is there twice, with two values')
        block.annotations = attrs_of([*block.annotations, *plain])


def _said(block: BlockParts, name: str) -> bool:
    part = {"reads": block.reads, "writes": block.writes, "where": block.predicate}[name]
    return part is not None


class _BufferNames(ast.NodeTransformer):
    """Marks the buffers that an annotation lists, as `layout_free_placeholders` does: `{"@buffer": "A"}`."""

    def __init__(self, body: TirBody) -> None:
        self.body = body

    def visit_Call(self, node: ast.Call) -> ast.expr:
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        buffer = self.body.reader.buffer(node)
        key, name = (ast.copy_location(ast.Constant(text), node) for text in (BUFFER, buffer.name))
        return ast.copy_location(ast.Dict([key], [name]), node)


def read_match(body: TirBody, target: ast.Name, value: ast.Call) -> None:
    """Read `A = T.match_buffer(a, (n,))` of a parameter, or `B = T.match_buffer(A[i, 0:4], (4,))` in a block."""
    reader = body.reader
    span = reader.context.span(value)
    subject = value.args[0] if value.args else None
    is_region = isinstance(subject, ast.Subscript) or (subject is not None and reader.known_buffer(subject) is not None)
    if subject is not None and is_region:
        if body.block is None:
            raise reader.context.fail("PA005", value, "T.match_buffer of a region stands in a block")
        region = reader.region(subject)
        buffer, values = read_buffer(reader, target.id, value, value.args[1:])
        body.block.matches.append(MatchRegion(buffer, region, span=span))
    else:
        handle = reader.read(subject) if isinstance(subject, ast.Name) else None
        if not isinstance(handle, PrimVar) or handle.dtype != "handle" or not body.is_function:
            hint = "match the handle parameters at the head of the function"
            raise reader.context.unsupported(value, f"`{source_of(value)}`", hint)
        if any(item.handle is handle for item in body.buffers):
            raise reader.context.unsupported(value, f"a second buffer of the parameter `{handle.name}`")
        buffer, values = read_buffer(reader, target.id, value, value.args[1:])
        body.buffers.append(BufferParam(handle, buffer, is_inline=False, span=span))
    tell_unused(reader.context, value, values, UNUSED_OF_PARAMETER)
    reader.scope.define(target.id, buffer)
