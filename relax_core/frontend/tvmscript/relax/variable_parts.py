"""What a text asks of a variable's type: `x.struct_info`, `x.ty`, `x.shape`, `x.ty.shape`, `x.dtype`, `x.ndim`."""

import ast
from typing import Final

from relax_core.frontend.tvmscript.context import Context, source_of
from relax_core.frontend.tvmscript.scalar.prim_variables import PrimVariables
from relax_core.frontend.tvmscript.scope import Entity
from relax_core.ir.expr import (
    OBJECT,
    Call,
    Constant,
    DataTypeImm,
    Dims,
    Expr,
    Null,
    Op,
    ShapeExpr,
    ShapeType,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
)
from relax_core.ir.prim import IntImm, PrimExpr
from relax_core.ops import find
from relax_core.ops.spec import OpTypeError

TYPE_PARTS: Final = ("struct_info", "ty", "checked_type")


def plain_part(node: ast.Attribute) -> ast.Attribute:
    """Return `x.shape` for `x.ty.shape`, and any other attribute as it is."""
    match node:
        case ast.Attribute(value=ast.Attribute(value=ast.Name() as name, attr=part), attr=attr) if part in TYPE_PARTS:
            return ast.copy_location(ast.Attribute(name, attr, ast.Load()), node)
        case _:
            return node


def declared_type(context: Context, node: ast.Attribute, of: Entity, prims: PrimVariables) -> Type:
    """Return the type of the variable `of`, of which `node` asks: that which the text declares, or its value's.

    Raises:
        Failed: PA004, the value's is not known while the text is read, as that of a function without a result type.
    """
    if isinstance(of, Var) and (found := known_type(prims, of)) is not None:
        return found
    hint = "declare the type of the variable, x: R.Tensor(...), or write it out here"
    raise context.unsupported(node, f"`{source_of(node)}` of a variable without a declared type", hint)


def known_type(prims: PrimVariables, root: Expr) -> Type | None:
    """Return the type of a value, `None` if it is not known; that of a call is inferred, without recursion."""
    found: dict[Expr, Type | None] = {}
    stack = [root]
    while stack:
        current = stack[-1]
        if current in found:
            stack.pop()
            continue
        waiting = [item for item in _rests_on(prims, current) if item not in found]
        if waiting:
            stack += waiting
            continue
        found[stack.pop()] = _made(prims, current, found)
    return found[root]


def _rests_on(prims: PrimVariables, expr: Expr) -> tuple[Expr, ...]:
    """Return the values whose types have to be known before that of `expr`."""
    if isinstance(expr, Call) and isinstance(expr.op, Op) and not expr.type_args:
        return expr.args
    if isinstance(expr, Tuple):
        return expr.fields
    if prims.type(expr) is not None:
        return ()
    match expr:
        case Var() if (value := prims.values.get(expr)) is not None:
            return (value,)
        case TupleGetItem(tuple_value=source):
            return (source,)
        case _:
            return ()


def _made(prims: PrimVariables, expr: Expr, found: dict[Expr, Type | None]) -> Type | None:
    match expr:
        case Call(op=Op(name=name), args=args, type_args=()) if (spec := find(name)) is not None:
            types = [type_ for item in args if (type_ := found[item]) is not None]
            try:
                return spec.infer(expr, tuple(types)) if len(types) == len(args) else None
            except OpTypeError:
                # The check of the module says why, at the call.
                return None
        case Call(type_args=(_, _, *_) as types):
            return TupleType(types)
        case Tuple(fields=fields):
            types = [type_ for item in fields if (type_ := found.get(item) or prims.type(item)) is not None]
            return TupleType(tuple(types)) if len(types) == len(fields) else None
        case _ if (known := prims.type(expr)) is not None:
            # Of a function's result only the dtype is known while the text is read.
            is_call = isinstance(expr, Call) and not expr.type_args
            return None if is_call and isinstance(known, TensorType) and known.shape is None else known
        case Var() if (value := prims.values.get(expr)) is not None:
            return found[value]
        case TupleGetItem(tuple_value=source, index=index):
            of_tuple = found.get(source)
            fields = of_tuple.fields if isinstance(of_tuple, TupleType) else ()
            return fields[index] if 0 <= index < len(fields) else None
        case Constant(data=data):
            return TensorType(tuple(IntImm(size, "int64") for size in data.shape), str(data.dtype))
        case ShapeExpr(values=values):
            return ShapeType(values)
        case DataTypeImm() | Null():
            return OBJECT
        case _:
            return None


def declared_tensor(context: Context, node: ast.Attribute, of: Entity, prims: PrimVariables) -> TensorType:
    """Return the type of a tensor.

    Raises:
        Failed: PA004, it is not known; PA009, it is no tensor.
    """
    found = declared_type(context, node, of, prims)
    if isinstance(found, TensorType):
        return found
    raise context.fail("PA009", node, f"`{source_of(node.value)}` is no tensor, and has no {node.attr}")


def shape_of(context: Context, node: ast.Attribute, of: Entity, prims: PrimVariables) -> "Dims | Var":
    """Return the shape of a tensor: its dimensions, or the variable that holds them."""
    found = declared_tensor(context, node, of, prims).shape
    if found is None:
        raise context.unsupported(node, f"`{source_of(node)}` of a tensor without a declared shape")
    return found


def dim_of(context: Context, node: ast.Subscript, shape: "Dims | Var") -> PrimExpr:
    """Return the dimension that `x.shape[0]` asks for.

    Raises:
        Failed: PA009, the shape has no such dimension, or `node` does not say which.
    """
    dims = shape if isinstance(shape, tuple) else ()
    match node.slice:
        case ast.Constant(value=int(index)) if 0 <= index < len(dims):
            return dims[index]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(index))) if 0 < index <= len(dims):
            return dims[-index]
        case _:
            raise context.fail("PA009", node, f"`{source_of(node.value)}` has {len(dims)} known dimensions")


def dtype_of_variable(context: Context, node: ast.Attribute, of: Entity, prims: PrimVariables) -> str:
    """Return the dtype of a tensor."""
    found = declared_tensor(context, node, of, prims).dtype
    if found is None:
        raise context.unsupported(node, f"`{source_of(node)}` of a tensor without a declared dtype")
    return found
