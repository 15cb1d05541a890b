"""Blocks as they were written in 2021: `with T.block([8, T.reduce_axis(0, 4)], "name") as [vi, vk]`."""

import ast
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from relax_core.frontend.tvmscript.context import source_of
from relax_core.frontend.tvmscript.tir.arguments import given
from relax_core.frontend.tvmscript.tir.body import TirBody
from relax_core.frontend.tvmscript.tir.reader import TirReader
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar, dtype_of, is_number
from relax_core.ir.tir import IterKind, IterVar

_KINDS: Mapping[str, IterKind] = MappingProxyType(
    {"range": "spatial", "reduce_axis": "reduce", "scan_axis": "scan", "opaque_axis": "opaque"}
)


def read_head(body: TirBody, call: ast.Call, target: ast.expr | None) -> str:
    """Define the axes of the block that `body` is the list of statements of; return its name.

    Until `T.bind(vi, i)` says otherwise, the axes take the values of the innermost loops around the block.
    """
    context, block = body.reader.context, body.block
    assert block is not None
    match call.args:
        case [ast.List(elts=domains) | ast.Tuple(elts=domains)]:
            name = ""
        case [ast.List(elts=domains) | ast.Tuple(elts=domains), ast.Constant(value=str(name))]:
            pass
        case _:
            raise context.unsupported(call, f"`{source_of(call)}`", 'write T.sblock("name")')
    targets = target.elts if isinstance(target, ast.Tuple | ast.List) else [] if target is None else [target]
    names = [item for item in targets if isinstance(item, ast.Name)]
    if len(names) != len(domains) or len(names) != len(targets):
        raise context.fail("PA006", call, f"{len(domains)} axes for {len(targets)} names")
    around = list(body.reader.ranges)
    for number, (item, domain) in enumerate(zip(names, domains, strict=True)):
        kind, start, extent = _domain(body.reader, domain)
        var = body.reader.define(item.id, dtype_of(extent), item)
        place = len(around) - len(names) + number
        binding: PrimExpr = around[place] if place >= 0 else IntImm(0, dtype_of(extent))
        start = None if is_number(start, 0) else start
        block.iter_vars.append(IterVar(var, extent, binding, kind, start, span=context.span(item)))
    return name


def _domain(reader: TirReader, node: ast.expr) -> tuple[IterKind, PrimExpr | None, PrimExpr]:
    """Read `8`, `(1, 8)`, `T.range(1, 8)`, `T.reduce_axis(0, 8)`."""
    match node:
        case ast.Tuple(elts=[lower, upper]):
            return "spatial", *reader.extent(node, lower, upper)
        case ast.Call() if (kind := _KINDS.get(reader.name_of(node))) is not None:
            values = given(reader.context, node, "begin end", 1)
            if "end" not in values:
                return kind, None, reader.read(values["begin"])
            return kind, *reader.extent(node, values["begin"], values["end"])
        case _:
            return "spatial", None, reader.read(node)


def read_binding(body: TirBody, args: Sequence[ast.expr]) -> bool:
    """Read `T.bind(vi, i)` of an axis of the block; tell whether it is that."""
    match args:
        case [ast.Name(id=name), value] if body.block is not None:
            var = body.reader.scope.find(name)
        case _:
            return False
    places = [place for place, axis in enumerate(body.block.iter_vars) if axis.var is var]
    if not isinstance(var, PrimVar) or not places:
        return False
    axis = body.block.iter_vars[places[0]]
    made = body.reader.scalars.as_dtype(value, var.dtype)
    body.block.iter_vars[places[0]] = IterVar(var, axis.extent, made, axis.kind, axis.start, span=axis.span)
    return True
