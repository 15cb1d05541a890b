"""What follows where more is known of a value than its type said."""

from collections.abc import Set as AbstractSet
from dataclasses import replace

from relax_core.ir.equality import same_type
from relax_core.ir.expr import (
    Call,
    Expr,
    Function,
    GlobalVar,
    ShapeType,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.passes.core import PassContext
from relax_core.passes.functions import change_functions


def is_open(type_: Type | None) -> bool:
    """Tell whether a type leaves a size of the value open."""
    match type_:
        case TensorType(shape=tuple()) | ShapeType(values=tuple()):
            return False
        case TupleType(fields=fields):
            return any(map(is_open, fields))
        case _:
            return True


def untyped(function: Function, known: AbstractSet[Var]) -> dict[Var, Expr]:
    """Return for each variable whose type follows from those of `known` one without a type.

    The result of branches keeps the type that is common to both.
    """
    found: dict[Var, Expr] = {}
    for item in preorder(function):
        match item:
            case VarBinding(var=var, value=Call() | Var() | Tuple() | TupleGetItem() as value):
                if any(part in known or part in found for part in preorder(value)):
                    found[var] = replace(var, annotation=None)
            case _:
                pass
    return found


def with_known_results(before: IRModule, after: IRModule, ctx: PassContext) -> IRModule:
    """Let functions declare what is known of their results, where they declared all that was known `before`."""
    was, found = ctx.types(before), ctx.types(after)

    def declare(var: GlobalVar, function: Function) -> Function:
        old, known = before.find(var.name), _outside(found.get(function.body))
        if old is None or not isinstance(old.function, Function) or known is None or old.function is function:
            return function
        declared = old.function.ret_type
        is_all = declared is not None and same_type(declared, _outside(was.get(old.function.body)))
        if not is_all or same_type(known, function.ret_type):
            return function
        return ctx.derive(replace(function, ret_type=known), function)

    return change_functions(after, ctx, declare)


def _outside(type_: Type | None) -> Type | None:
    """Return what a type says outside of the function: a variable of it that is a shape is not seen there."""
    match type_:
        case TensorType(shape=Var()):
            return replace(type_, shape=None)
        case TupleType(fields=fields):
            return replace(type_, fields=tuple(_outside(item) or item for item in fields))
        case _:
            return type_
