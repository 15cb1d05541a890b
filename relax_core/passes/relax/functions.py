"""Apply rules to each Relax function of a module, with what such rules commonly make."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from relax_core.ir.expr import (
    VOID,
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    DataTypeImm,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    ShapeType,
    TensorType,
    Tuple,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import PrimExpr, PrimVar, StringImm, const
from relax_core.ir.rewriting.rewrite import Rule
from relax_core.passes.core import PassContext
from relax_core.passes.functions import change_functions

RulesFor = Callable[[GlobalVar, Function], tuple[Rule, ...]]


def rewrite_functions(
    module: IRModule, ctx: PassContext, rules_for: RulesFor, kinds: tuple[type[Node], ...] = ()
) -> IRModule:
    """Return `module` with `rules_for(name, function)` applied to each of its Relax functions.

    `kinds` are the classes of nodes that the rules change, if they are a few.
    """
    return change_functions(
        module, ctx, lambda var, function: ctx.rewrite(function, *rules_for(var, function), kinds=kinds)
    )


def copied_function(
    function: Function, symbols: Mapping[PrimVar, PrimExpr], ctx: PassContext
) -> tuple[Function, dict[Var, Var]]:
    """Return a copy of a function with variables and symbolic dimensions of its own, and the variables by the old."""
    first = ctx.substitute(function, None, symbols) if symbols else function
    olds, middles = list(_bound(function)), list(_bound(first))
    news = {var: ctx.derive(replace(var), old) for old, var in zip(olds, middles, strict=True)}
    made = ctx.substitute(first, dict(news))
    return made, {old: news[middle] for old, middle in zip(olds, middles, strict=True)}


def _bound(function: Function) -> Iterator[Var]:
    yield from function.params
    yield from (item.var for item in preorder(function) if isinstance(item, Binding))


def join_blocks(node: Node) -> Node | None:
    """Rule: neighbouring ordinary blocks -> one block."""
    if not isinstance(node, SeqExpr):
        return None
    blocks: list[BindingBlock] = []
    for item in node.blocks:
        is_plain = blocks and not isinstance(item, DataflowBlock) and not isinstance(blocks[-1], DataflowBlock)
        if is_plain:
            blocks[-1] = BindingBlock((*blocks[-1].bindings, *item.bindings), span=blocks[-1].span)
        else:
            blocks.append(item)
    return replace(node, blocks=tuple(blocks)) if len(blocks) < len(node.blocks) else None


def declared_type(value: Expr) -> Type | None:
    """Return the type of what says all of it, as inference would: a variable of a tensor of known sizes, or a shape."""
    match value:
        case Var(annotation=TensorType(shape=tuple()) as declared):
            return declared
        case ShapeExpr(values=values):
            return ShapeType(values, len(values))
        case _:
            return None


def allocated_type(value: Expr) -> TensorType | None:
    """Return the type of a tensor that is made in a storage, where its shape is written out."""
    match value:
        case Call(
            op=Op(name="relax.memory.alloc_tensor" | "relax.vm.alloc_tensor"),
            args=(_, _, ShapeExpr(values=dims), DataTypeImm(value=dtype), *_),
        ):
            return TensorType(dims, dtype)
        case _:
            return None


def operator_call(name: str, *args: Expr, type_args: tuple[Type, ...] = ()) -> Call:
    """Make a call of the operator `name`."""
    return Call(Op(name), args, type_args=type_args)


def packed_call(name: str, *args: Expr, result: Type = VOID) -> Call:
    """Make a call of the packed function `name` that gives `result`."""
    return Call(ExternFunc(name), args, type_args=(result,))


def context_call(name: str, *args: Expr, result: Type) -> Call:
    """Make a call of the builtin `name` that also gets the machine."""
    return operator_call("relax.call_builtin_with_ctx", ExternFunc(name), Tuple(args), type_args=(result,))


def effect(call: Expr) -> VarBinding:
    """Bind a call that is made for its effect."""
    return VarBinding(Var("_"), call)


def integer(value: int) -> PrimValue:
    """Make an integer argument."""
    return PrimValue(const(value))


def string(value: str) -> PrimValue:
    """Make a string argument."""
    return PrimValue(StringImm(value))


def dtype_argument(dtype: str | None) -> Expr:
    """Make a dtype argument; `None` is no dtype."""
    return DataTypeImm(dtype or "void")


def shape(dims: tuple[PrimExpr, ...]) -> ShapeExpr:
    """Make a shape argument."""
    return ShapeExpr(dims)
