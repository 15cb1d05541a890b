"""DeadCodeElimination: lets whose variables nothing uses go.

See: tvm/src/relay/transforms/dead_code.cc, v0.19
"""

from collections.abc import Mapping
from dataclasses import dataclass

from relax_core.analysis.relay_effects import Effects, effects_of
from relax_core.ir.expr import Function, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children
from relax_core.ir.relay import Let, PatternVar
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.relay.rebuild import change_functions, keep, let_vars, rebuild


@dataclass(frozen=True, slots=True)
class RelayDCEOptions:
    """With `inline_once` a value that is used once, and in the function that binds it, takes the place of its variable.

    With `ignore_impurity` unused values go even if they may have an effect.
    """

    inline_once: bool = False
    ignore_impurity: bool = False


def run(module: IRModule, options: RelayDCEOptions, ctx: PassContext) -> IRModule:
    """Remove lets without uses, and what only they use; values that may have an effect stay."""
    effects = effects_of(module)
    return change_functions(module, lambda function: _pruned(function, effects, options, ctx), ctx)


def _pruned(function: Function, effects: Effects, options: RelayDCEOptions, ctx: PassContext) -> Function:
    lets = let_vars(function)
    free = {var for var, let in lets.items() if options.ignore_impurity or effects.is_pure(let.value)}
    counts = _use_counts(function, lets, free)
    captured = _captured(function, lets) if options.inline_once else frozenset[Var]()
    value_of: dict[Node, Node] = {}
    for var, let in lets.items():
        if var not in counts:
            if var in free:
                ctx.remark(let, "applied", f"%{var.name} goes: nothing uses it")
                value_of[var] = let.value
            else:
                ctx.remark(let, "missed", f"%{var.name} stays although nothing uses it: its value may have an effect")
        elif options.inline_once and counts[var] == 1 and var in free and var not in captured:
            ctx.remark(let, "applied", f"%{var.name} is used once: its value takes its place")
            value_of[var] = let.value
    return rebuild(function, keep, ctx, value_of) if value_of else function


def _use_counts(function: Function, lets: Mapping[Var, Let], free: set[Var]) -> dict[Var, int]:
    """Count the uses of variables by what is needed: a value in `free` is needed once its variable is used.

    A function that calls itself uses its variable, besides those who need it.
    """
    counts: dict[Var, int] = {}
    seen: set[Node] = set()
    stack: list[Node] = [function.body]
    while stack:
        node = stack.pop()
        if isinstance(node, Var):
            counts[node] = counts.get(node, 0) + 1
            if counts[node] == 1 and node in lets and node in free:
                stack.append(lets[node].value)
        elif node not in seen:
            seen.add(node)
            match node:
                case Let(var=var, value=value, body=body):
                    stack.extend((body,) if var in free else (body, value))
                case Function(body=body):
                    stack.append(body)
                case PatternVar():
                    pass
                case _:
                    stack.extend(children(node))
    return counts


def _captured(function: Function, lets: Mapping[Var, Let]) -> frozenset[Var]:
    """Return the variables of lets that a function literal uses from outside: it may be called more than once."""
    found: set[Var] = set()
    functions = [function]
    entered: set[Node] = set(functions)
    while functions:
        own: set[Node] = set()
        stack: list[Node] = [functions.pop().body]
        while stack:
            node = stack.pop()
            if node in own:
                continue
            own.add(node)
            if not isinstance(node, Function):
                stack.extend(children(node))
            elif node not in entered:
                entered.add(node)
                functions.append(node)
        found.update(node for node in own if isinstance(node, Var) and node in lets and lets[node] not in own)
    return frozenset(found)


PASS = Pass(
    "DeadCodeElimination",
    "Removes lets whose variables nothing uses; with inline_once, values used once take the place of their variables.",
    run,
    options=RelayDCEOptions,
    dialect="relay",
    see="tvm/src/relay/transforms/dead_code.cc",
    reads_data=False,
)
