"""Read functions inside Relax functions: local functions, and in 2022 prim funcs."""

import ast

from relax_core.frontend.tvmscript import relax_body, relax_function
from relax_core.frontend.tvmscript.scope import Forward
from relax_core.ir.expr import DataflowVar, Function, GlobalVar, Var, VarBinding


def read_local(body: "relax_body.Body", node: ast.FunctionDef) -> None:
    """Read a function inside a function: it is bound to a variable of its name."""
    reader, context = body.reader, body.reader.context
    if len(node.decorator_list) != 1:
        hint = f"write @R.function above `def {node.name}`"
        raise context.fail("PA016", node, f"the local function `{node.name}` has no decorator", hint)
    decorator = relax_function.read_decorator(context, node.decorator_list[0])
    if decorator.kind == "tir.prim_func" and context.is_2022:
        _prim_func(body, node)
        return
    if decorator.kind != "relax.function":
        raise context.unsupported(node.decorator_list[0], f"`@{decorator.kind}` inside a Relax function")
    known = reader.scope.names.get(node.name)
    is_output = body.outputs is None or body.outputs.get(node.name) is node
    var = known.var if isinstance(known, Forward) else Var(node.name, span=context.span(node))
    if not is_output:
        var = DataflowVar(node.name, span=context.span(node))
    reader.parameters[var] = relax_function.literal_parameters(context, node)
    reader.prims.local_result_of[var] = relax_function.literal_result(context, node)
    # The name is known in the function's own body.
    reader.scope.define(node.name, var)
    made: Function = relax_function.read_function(reader, node, decorator)
    reader.bindings.append(VarBinding(var, made, span=context.span(node)))


def _prim_func(body: "relax_body.Body", node: ast.FunctionDef) -> None:
    """Leave a prim func, which 2022 has inside of Relax functions too, to the module, whose function it is."""
    reader, context = body.reader, body.reader.context
    taken = {*reader.module.functions, *(item.name for item in context.inner_functions)}
    name, count = node.name, 1
    while name in taken:
        name, count = f"{node.name}_{count}", count + 1
    var = GlobalVar(name, span=context.span(node))
    context.inner_functions[var] = node
    reader.scope.define(node.name, var)
