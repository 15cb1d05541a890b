"""The stricter policy for host scalars: they stand only among the arguments of packed functions.

It keeps the values that passes see to tensors, shapes and tuples of them; an attribute of an operator that is written
out is no value of the program and may stay.
"""

from collections.abc import Iterator
from typing import Literal

from relax_core.check.inference import Inference
from relax_core.diagnostics import Diagnostic
from relax_core.ir.expr import (
    Call,
    Expr,
    ExternFunc,
    Function,
    If,
    MatchCast,
    Op,
    PrimType,
    PrimValue,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
    tuple_leaves,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ops.show import show_type

Prims = Literal["everywhere", "packed_only"]

_PACKED = ("relax.call_packed", "relax.call_pure_packed", "relax.call_dps_packed", "relax.call_inplace_packed",
           "relax.call_builtin_with_ctx")  # fmt: skip
_HINT = "give it to a packed function, or run BoxPrims, which makes it a tensor of rank 0"


def prims_outside_packed(module: IRModule, inference: Inference) -> Iterator[Diagnostic]:
    """Yield a warning for each use of a host scalar that is no argument of a packed function."""
    for _, function in module.relax_functions:
        for node in preorder(function):
            for value, place, what in _uses(node):
                type_ = inference.types.get(value)
                if isinstance(type_, PrimType):
                    span = place.span or node.span or function.span
                    yield Diagnostic("TY043", f"{what} is a host scalar, {show_type(type_)}", span, _HINT, "warning")


def _uses(node: Node) -> Iterator[tuple[Expr, Node, str]]:
    """Yield the values in `node` that the policy speaks of, each with its place and words for it.

    The span of a variable is its definition, so a use of one is placed at what holds it.
    """
    match node:
        case Function(params=params, body=body):
            yield from ((item, item, f"the parameter {item.name}") for item in params)
            yield from _parts(_result(body), node, "the result")
        case If(condition=condition, true_branch=yes, false_branch=no):
            yield condition, _place(condition, node), "the condition"
            for branch in (yes, no):
                yield from _parts(_result(branch), node, "the value of the branch")
        case Call(op=ExternFunc()):
            return
        case Call(op=Op(name=name)) if name in _PACKED:
            return
        case Call(op=Op(), args=args):
            for item in args:
                yield from (use for use in _parts(item, node, "the attribute") if not isinstance(use[0], PrimValue))
        case Call(args=args):
            for item in args:
                yield from _parts(item, node, "the argument")
        case VarBinding(value=Tuple() as value):
            yield from _parts(value, value, "the field of the tuple")
        case VarBinding(value=TupleGetItem() as value):
            yield value, value, "the field of the tuple"
        case MatchCast(value=value):
            yield value, _place(value, node), "the matched value"
        case _:
            return


def _parts(expr: Expr, holder: Node, what: str) -> Iterator[tuple[Expr, Node, str]]:
    """Yield `expr`, or the fields of a tuple one by one."""
    for item in tuple_leaves(expr):
        yield item, _place(item, expr if expr is not item and expr.span is not None else holder), what


def _place(value: Expr, holder: Node) -> Node:
    return holder if isinstance(value, Var) or value.span is None else value


def _result(body: Expr) -> Expr:
    while isinstance(body, SeqExpr):
        body = body.body
    return body
