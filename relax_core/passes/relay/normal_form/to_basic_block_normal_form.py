"""ToBasicBlockNormalForm: what is used across scopes gets a name in the scope that holds all its uses.

See: tvm/src/relay/transforms/to_basic_block_normal_form.cc, v0.19
"""

from relax_core.analysis.relay_effects import Effects, effects_of
from relax_core.analysis.relay_scopes import ATOMS, Scopes, operands, scopes_of
from relax_core.ir.expr import Expr, Function
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, postorder
from relax_core.ir.relay import Let
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relay.normal_form.to_a_normal_form import is_opaque, normalized
from relax_core.passes.relay.rebuild import change_functions


def run(module: IRModule, options: NoOptions, ctx: PassContext) -> IRModule:
    """Return `module` with a let for each value that several scopes use; what one scope uses stays a graph."""
    return to_basic_block_normal_form(module, ctx)


def to_basic_block_normal_form(module: IRModule, ctx: PassContext) -> IRModule:
    """Return `module` with a let for each value that is used in a scope other than the one that it belongs to.

    A function in which that would move an effect is brought into A-normal form, which keeps the order of all.
    """
    effects = effects_of(module)
    return change_functions(module, lambda function: _blocks(function, effects, ctx), ctx)


def _blocks(function: Function, effects: Effects, ctx: PassContext) -> Function:
    scopes = scopes_of(function)
    order = _entered(function)
    crossing = _crossing(order, scopes)
    if not crossing:
        return function
    effectful = effects.effectful(order)
    movable = crossing | _inner_lets(order)
    moved = next((node for node in order if node in effectful and node in movable), None)
    for node in order:
        if node in crossing:
            ctx.remark(node, "applied", "the value gets a name: it is used in other scopes than its own")
    if moved is not None:
        ctx.remark(moved, "note", "a name could move this effect: every value of the function gets one")
        return normalized(function, scopes, ctx.log)
    return normalized(function, scopes, ctx.log, named=frozenset(crossing))


def _entered(function: Function) -> list[Expr]:
    """List the expressions of a function, parts first, without what is inside of functions that are one operator."""
    hidden: set[Node] = set()
    for node in postorder(function):
        if isinstance(node, Function) and node is not function and is_opaque(node):
            hidden.update(part for part in postorder(node) if part is not node)
    return [node for node in postorder(function) if isinstance(node, Expr) and node not in hidden]


def _crossing(order: list[Expr], scopes: Scopes) -> set[Expr]:
    """Return the values that a scope inside of their own uses."""
    found: set[Expr] = set()
    entered = set(order)
    for expr in order:
        if isinstance(expr, ATOMS):
            continue
        here = scopes.scope_of[expr]
        for item, slot in operands(expr):
            if item in entered and not isinstance(item, ATOMS):
                used = here if slot < 0 else scopes.inner[expr][slot]
                if scopes.scope_of[item] is not used:
                    found.add(item)
    return found


def _inner_lets(order: list[Expr]) -> set[Expr]:
    """Return the lets that are operands: flat, theirs would be bound before the operands left of them."""
    return {
        item
        for user in order
        if not isinstance(user, (Let, *ATOMS))
        for item, slot in operands(user)
        if slot < 0 and isinstance(item, Let)
    }


PASS = Pass(
    "ToBasicBlockNormalForm",
    "Gives a name to each value that several scopes use, in the scope that holds all its uses.",
    run,
    dialect="relay",
    see="tvm/src/relay/transforms/to_basic_block_normal_form.cc",
    reads_data=False,
)
