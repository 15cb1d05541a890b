"""Annotations without a dtype, as in 2022: `approximate: PrimType = R.PrimValue("tanh")` infers it from the value."""

import ast

from relax_core.frontend.tvmscript.names import qualified
from relax_core.frontend.tvmscript.relax_reader import RelaxReader
from relax_core.ir.expr import Var
from relax_core.ir.types import PrimType, Type

_BARE = ("PrimType", "Prim", "relax.PrimType", "relax.Prim", "relax.ty.PrimType")
_SCALARS = ("relax.PrimValue", "relax.prim_value", "relax.str", "relax.StringImm")


def annotation_of(reader: RelaxReader, node: ast.expr, value: ast.expr) -> Type | None:
    """Read the annotation of a variable that is bound to `value`; `None` leaves its type to the value."""
    if isinstance(node, ast.Name) and node.id in reader.context.plain:
        return reader.declared(node)
    aliases = reader.context.aliases
    is_bare = isinstance(node, ast.Name | ast.Attribute) and qualified(node, aliases) in _BARE
    match value:
        case ast.Call(func=func) if is_bare and qualified(func, aliases) in _SCALARS:
            return None
        case ast.Name(id=name) if is_bare and isinstance(known := reader.scope.find(name), Var):
            return None if isinstance(reader.prims.type(known), PrimType) else reader.declared(node)
        case _:
            return reader.declared(node)
