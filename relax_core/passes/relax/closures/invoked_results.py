"""Calls of closures that functions return."""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace

from relax_core.ir.expr import (
    OBJECT,
    Call,
    Function,
    FuncType,
    GlobalVar,
    Op,
    SeqExpr,
    Tuple,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children, preorder
from relax_core.passes.core import PassContext
from relax_core.passes.functions import change_functions


def invoked(call: Call, result: Type, *, is_pure: bool) -> Call:
    """Return the call of a closure for `f(x)`, whose result has the type `result`."""
    name = "relax.invoke_pure_closure" if is_pure else "relax.invoke_closure"
    return Call(Op(name), (call.op, Tuple(call.args)), type_args=(result,))


def invoking_results(module: IRModule, lifted: AbstractSet[str], ctx: PassContext) -> IRModule:
    """Return `module` with what functions return as closures called as closures.

    A function of `lifted` says no more of such a result than that it is an object, unless the result goes elsewhere
    than to a call: what takes it may want the type of the function.
    """
    returning = _returning(module)
    if not returning:
        return module
    results = {var: name for _, function in module.relax_functions for var, name in _results(function, returning)}
    kept = _elsewhere(module, results)
    objects = (lifted & returning) - kept
    type_of = ctx.types(module)
    without_type = {var: replace(var, annotation=None) for var, name in results.items() if name in objects}

    def invoke(node: Node) -> Node | None:
        """Rule: f(x) with f = g(y) -> invoke_closure(f, (x,))."""
        match node:
            case Call(op=Var() as callee) if results.get(callee, "") in returning - kept:
                type_ = type_of.get(callee)
                is_pure = isinstance(type_, FuncType) and type_.is_pure
                return invoked(node, type_of.get(node, OBJECT), is_pure=is_pure)
            case _:
                return None

    def forget(node: Node) -> Node | None:
        """Rule: variable with the type of a function -> variable of an object."""
        return without_type.get(node) if isinstance(node, Var) else None

    def change(var: GlobalVar, function: Function) -> Function:
        made = ctx.rewrite(ctx.rewrite(function, invoke), forget)
        if var.name not in objects:
            return made
        return ctx.derive(
            replace(made, ret_type=OBJECT), function, rule="function of a closure -> function of an object"
        )

    return change_functions(module, ctx, change)


def _returning(module: IRModule) -> frozenset[str]:
    """Return the names of the functions whose result is a closure that they make, or that such a function gives."""
    found: frozenset[str] = frozenset()
    while True:
        more = frozenset(var.name for var, item in module.relax_functions if _returns_closure(item, found))
        if more == found:
            return found
        found = more


def _returns_closure(function: Function, known: AbstractSet[str]) -> bool:
    if not isinstance(function.body, SeqExpr):
        return False
    bindings = (item for block in function.body.blocks for item in block.bindings)
    value = next((item.value for item in bindings if item.var is function.body.body), None)
    match value:
        case Call(op=Op(name="relax.make_closure")):
            return True
        case Call(op=GlobalVar(name=name)):
            return name in known
        case _:
            return False


def _results(function: Function, returning: AbstractSet[str]) -> Iterator[tuple[Var, str]]:
    """Yield the variables that hold closures from functions, each with the name of the function."""
    for item in preorder(function):
        match item:
            case VarBinding(var=var, value=Call(op=GlobalVar(name=name))) if name in returning:
                yield var, name
            case _:
                pass


def _elsewhere(module: IRModule, results: Mapping[Var, str]) -> frozenset[str]:
    """Return the functions of whose results one is used in another way than to be called or returned."""
    found: set[str] = set()
    for _, function in module.relax_functions:
        for item in preorder(function):
            used: tuple[Node, ...] = children(item)
            match item:
                case Call(args=args):
                    used = args
                case SeqExpr() | VarBinding():
                    used = ()
                case _:
                    pass
            found.update(results[part] for part in used if isinstance(part, Var) and part in results)
    return frozenset(found)
