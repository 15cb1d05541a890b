"""What a text asks of a variable's declared type: `x.struct_info`, `x.ty`, `x.shape`, `x.dtype`, `x.ndim`."""

import ast
from typing import Final

from relax_core.frontend.tvmscript.context import Context, source_of
from relax_core.frontend.tvmscript.scope import Entity
from relax_core.ir.expr import Dims, TensorType, Type, Var

TYPE_PARTS: Final = ("struct_info", "ty")


def declared_type(context: Context, node: ast.Attribute, of: Entity) -> Type:
    """Return the type that the text declares for the variable `of`, of which `node` asks.

    Raises:
        Failed: PA004, the text declares none; what would be inferred is not known while it is read.
    """
    if isinstance(of, Var) and of.annotation is not None:
        return of.annotation
    hint = "declare the type of the variable, x: R.Tensor(...), or write it out here"
    raise context.unsupported(node, f"`{source_of(node)}` of a variable without a declared type", hint)


def declared_tensor(context: Context, node: ast.Attribute, of: Entity) -> TensorType:
    """Return the declared type of a tensor.

    Raises:
        Failed: PA004, none is declared; PA009, it is no tensor.
    """
    found = declared_type(context, node, of)
    if isinstance(found, TensorType):
        return found
    raise context.fail("PA009", node, f"`{source_of(node.value)}` is no tensor, and has no {node.attr}")


def shape_of(context: Context, node: ast.Attribute, of: Entity) -> "Dims | Var":
    """Return the declared shape of a tensor: its dimensions, or the variable that holds them."""
    found = declared_tensor(context, node, of).shape
    if found is None:
        raise context.unsupported(node, f"`{source_of(node)}` of a tensor without a declared shape")
    return found


def dtype_of_variable(context: Context, node: ast.Attribute, of: Entity) -> str:
    """Return the declared dtype of a tensor."""
    found = declared_tensor(context, node, of).dtype
    if found is None:
        raise context.unsupported(node, f"`{source_of(node)}` of a tensor without a declared dtype")
    return found
