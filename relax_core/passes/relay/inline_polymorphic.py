"""Copies of polymorphic local Relay functions that capture, put where they are called, at the types of the call."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from relax_core.analysis.regions import is_closed
from relax_core.check.infer import infer
from relax_core.check.inference import Inference
from relax_core.ir.expr import Call, Function, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children, postorder
from relax_core.ir.relay import Let
from relax_core.ir.substitute import free_vars
from relax_core.passes.core import PassContext
from relax_core.passes.relay.copying import copied
from relax_core.passes.relay.rebuild import change_functions, let_vars, rebuild

MAX_COPIES: Final = 500


def with_calls_inlined(module: IRModule, ctx: PassContext, code: str) -> IRModule:
    """Return `module` with a copy of its literal in each call of a variable that a let binds to such a function.

    So it is if the variable is only called, and not inside of the literal itself. The rest stays.

    Raises:
        CompileError: `code` for a program that needs more than `MAX_COPIES`.
    """
    count = 0
    while True:
        facts = infer(module)
        changed = change_functions(module, lambda function, facts=facts: _inlined(function, facts, ctx), ctx)
        if changed is module:
            return module
        # Each round puts in literals as they were; calls inside of those are for the next.
        count += sum(len(_literals(item.function, facts)) for item in module if isinstance(item.function, Function))
        if count > MAX_COPIES:
            message = f"the program needs more than {MAX_COPIES} copies of its local functions with type variables"
            ctx.fail(code, message, module, "make a function of the module of one, which takes what it captures")
        module = changed


def _inlined(function: Function, facts: Inference, ctx: PassContext) -> Function:
    literals = _literals(function, facts)
    if not literals:
        return function

    def change(old: Node, rebuilt: Node) -> Node:
        match old, rebuilt:
            case Let(var=var), Let(body=body) if var in literals:
                ctx.log.replace(rebuilt, body, "inline a polymorphic function", known=(body,))
                return body
            case Call(op=Var() as var), Call() if var in literals:
                literal = literals[var]
                types = dict(zip(literal.type_params, facts.type_args[old], strict=True))
                made = replace(copied(literal, {}, ctx, types), type_params=())
                ctx.remark(old, "applied", f"a copy of %{var.name} at the types of this call")
                return ctx.derive(replace(rebuilt, op=ctx.derive(made, literal), type_args=()), old)
            case _:
                return rebuilt

    return rebuild(function, change, ctx)


def _literals(function: Function, facts: Inference) -> Mapping[Var, Function]:
    """Return the polymorphic literals that lets bind in a function, of which all uses are calls at known types."""
    found = {
        var: let.value
        for var, let in let_vars(function).items()
        if isinstance(let.value, Function) and let.value.type_params and not is_closed(let.value)
    }
    if not found:
        return found
    found = {var: literal for var, literal in found.items() if var not in free_vars(literal)}
    for node in postorder(function):
        if isinstance(node, Let):
            used: tuple[Node, ...] = (node.value, node.body)
        elif isinstance(node, Call) and len(facts.type_args.get(node, ())) == _parameter_count(node, found):
            used = node.args
        else:
            used = children(node)
        for item in used:
            if isinstance(item, Var):
                found.pop(item, None)
    # What others of these call stays until they are in the places of their calls.
    inner = {var for literal in found.values() for var in free_vars(literal)}
    return {var: literal for var, literal in found.items() if var not in inner}


def _parameter_count(call: Call, literals: Mapping[Var, Function]) -> int:
    literal = literals.get(call.op) if isinstance(call.op, Var) else None
    return -1 if literal is None else len(literal.type_params)
