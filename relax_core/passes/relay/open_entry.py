"""The entry of a first-order Relay program, for hosts that give and take functions."""

from dataclasses import replace

from relax_core.ir.expr import Call, Expr, Function, FuncType, GlobalVar, Var
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node
from relax_core.ir.relay import Constructor, Let
from relax_core.ir.rewriting.builder import Names
from relax_core.passes.core import PassContext
from relax_core.passes.relay.rebuild import change_functions, rebuild


def with_open_entry(
    module: IRModule, entry: str, before: tuple[Function, FuncType], data: "Boundary", ctx: PassContext
) -> IRModule:
    """Return `module` with an entry that takes and gives functions, as the function `before` of that type did.

    The entry that takes data gets another name; the new one makes data of each function that it is given, and a
    function of the data that the other gives.
    """
    inner = GlobalVar(Names(module.names).fresh(f"{entry}_first_order"))

    def change(old: Node, rebuilt: Node) -> Node:
        return inner if isinstance(old, GlobalVar) and old.name == entry else rebuilt

    renamed = change_functions(module, lambda function: rebuild(function, change, ctx), ctx)
    definitions: list[Definition] = []
    for item in renamed.definitions:
        if item.var.name == entry:
            assert isinstance(item.function, Function), "Relay has functions only"
            hidden = ctx.derive(replace(item.function, attrs=()), item.function)
            made = ctx.derive(_entry(before, inner, data), item.function)
            definitions += (replace(item, function=made), Definition(inner, hidden))
        else:
            definitions.append(item)
    ctx.remark(before[0], "applied", f"@{entry} takes and gives functions of the host; @{inner.name} is first-order")
    return ctx.derive(replace(renamed, definitions=tuple(definitions)), module)


Boundary = tuple[dict[int, Constructor], GlobalVar | None]
"""The constructors that hold given functions, by parameter, and the function that calls what is given back."""


def _entry(before: tuple[Function, FuncType], inner: GlobalVar, data: Boundary) -> Function:
    function, signature = before
    constructors, apply = data
    params = tuple(
        Var(param.name, type_, span=param.span)
        for param, type_ in zip(function.params, signature.params or (), strict=True)
    )
    args: list[Expr] = [
        Call(constructors[at], (param,)) if at in constructors else param for at, param in enumerate(params)
    ]
    body: Expr = Call(inner, tuple(args))
    if apply is not None:
        assert isinstance(signature.ret, FuncType), "what is called is a function"
        taken = tuple(Var(f"a{k}", type_) for k, type_ in enumerate(signature.ret.params or ()))
        found = Var("f")
        body = Let(found, body, Function(taken, Call(apply, (found, *taken)), signature.ret.ret))
    return Function(params, body, signature.ret, function.attrs, span=function.span)
