"""Clones of functions that are used on two devices: made for each call that is in conflict, then merged if equal."""

from collections.abc import Mapping
from dataclasses import replace

from relax_core.analysis.device.plan import DevicePlan
from relax_core.check.order import components
from relax_core.ir.equality import structural_equal
from relax_core.ir.expr import Call, Constant, Expr, Function, GlobalVar, Var
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, map_children, postorder
from relax_core.ir.rewriting.builder import Names
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.passes.core import PassContext


def clone_apart(plan: DevicePlan, origin_of: dict[str, str], ctx: PassContext) -> IRModule:
    """Give a call that is in conflict, or on the way to one, its own clones of the functions that it names.

    The module itself is returned if no clone can help. Functions that call each other are cloned together.
    `origin_of` leads from the clones to what they were made from.
    """
    module = plan.module
    groups = {item.name: group for group in components(module) for item in group}
    for call in dict.fromkeys(reason.node for item in plan.proof.conflicts for reason in item.reasons):
        used = _used(call, module)
        if not isinstance(call, Call) or not used or _is_own(module, used, groups, origin_of):
            continue
        names = Names(module.names)
        added: list[Definition] = []
        new_of: dict[str, GlobalVar] = {}
        for name in used:
            if name not in new_of:
                made, vars_ = _cloned(module, groups[name], names, ctx)
                added += made
                new_of.update(vars_)
                origin_of.update({var.name: origin_of.get(old, old) for old, var in vars_.items()})
        ctx.remark(call, "applied", f"cloned for this call: {', '.join(f'@{name}' for name in used)}")
        return ctx.rewrite(module, _Redirected(call, new_of)).with_definitions(*added)
    return module


def _used(node: Node, module: IRModule) -> tuple[str, ...]:
    """Return the functions of the module that a call names, as callee or as argument."""
    parts = (node.op, *node.args) if isinstance(node, Call) else ()
    names = dict.fromkeys(item.name for item in parts if isinstance(item, GlobalVar))
    return tuple(name for name in names if name in module and isinstance(module[name], Function))


def _is_own(
    module: IRModule,
    used: tuple[str, ...],
    groups: Mapping[str, tuple[GlobalVar, ...]],
    origin_of: Mapping[str, str],
) -> bool:
    """Tell whether the functions that a call names are clones that nothing else names: another clone would not help."""
    if not all(name in origin_of for name in used):
        return False
    inside = {var.name for name in used for var in groups[name]}
    outside = (function for var, function in module.relax_functions if var.name not in inside)
    uses = sum(1 for function in outside for node in postorder(function) if set(_used(node, module)) & set(used))
    return uses <= 1


class _Redirected:
    """Rule: a call in conflict -> the call of its own clones."""

    def __init__(self, call: Call, new_of: Mapping[str, GlobalVar]) -> None:
        self._call = call
        self._new_of = new_of

    def __call__(self, node: Node) -> Node | None:
        """Rule: a call in conflict -> the call of its own clones."""
        if node is not self._call:
            return None
        return replace(self._call, op=self._swap(self._call.op), args=tuple(map(self._swap, self._call.args)))

    def _swap(self, expr: Expr) -> Expr:
        return self._new_of.get(expr.name, expr) if isinstance(expr, GlobalVar) else expr


def _cloned(
    module: IRModule, group: tuple[GlobalVar, ...], names: Names, ctx: PassContext
) -> tuple[list[Definition], dict[str, GlobalVar]]:
    new_of = {var.name: GlobalVar(names.fresh(var.name), span=var.span) for var in group}
    made: list[Definition] = []
    for var in group:
        function = module[var.name]
        assert isinstance(function, Function), "prim funcs have no devices"
        made.append(Definition(new_of[var.name], _copied(function, new_of, ctx)))
    return made, new_of


def _copied(function: Function, new_of: Mapping[str, GlobalVar], ctx: PassContext) -> Function:
    """Return `function` made of other nodes, its functions by their new names."""
    copy: dict[Node, Node] = {}
    for node in postorder(function):
        match node:
            case GlobalVar(name=name):
                copy[node] = new_of.get(name, node)
            case Var() | Constant():
                copy[node] = replace(node)
            case _:
                new = map_children(node, lambda child: copy[child])
                copy[node] = replace(new) if new is node and node.CHILDREN else new
        ctx.log.rebuilt(node, copy[node])
    result = copy[function]
    assert isinstance(result, Function), "a copy of a function is one"
    return result


def merge_clones(module: IRModule, origin_of: Mapping[str, str], ctx: PassContext) -> IRModule:
    """Keep one of the clones that are equal, devices included; a clone is equal to one if all that they call is."""
    functions = {var.name: function for var, function in module.relax_functions}
    members: dict[str, list[str]] = {}
    for name in functions:
        origin = origin_of.get(name, name)
        if origin in origin_of.values():
            members.setdefault(origin, []).append(name)
    chosen = {name: group[0] for group in members.values() for name in group}
    while True:
        refined = _refined(functions, members, chosen)
        if refined == chosen:
            break
        chosen = refined
    vars_ = {var.name: var for var, _ in module.relax_functions}
    dropped = {name for name, kept in chosen.items() if name != kept}
    if not dropped:
        return module
    renamed = ctx.rewrite(module, _Renamed({name: vars_[chosen[name]] for name in dropped}))
    kept = tuple(
        new for new, old in zip(renamed.definitions, module.definitions, strict=True) if old.var.name not in dropped
    )
    return replace(renamed, definitions=kept)


def _refined(
    functions: Mapping[str, Function], members: Mapping[str, list[str]], chosen: Mapping[str, str]
) -> dict[str, str]:
    """Split groups of clones whose members differ when equal functions have one name."""
    refined: dict[str, str] = {}
    rename = _Renamed({name: GlobalVar(kept) for name, kept in chosen.items()})
    for group in members.values():
        kept: list[tuple[str, Function]] = []
        for name in group:
            function = _renamed(functions[name], rename)
            same = next(
                (other for other, known in kept if chosen[other] == chosen[name] and structural_equal(known, function)),
                None,
            )
            refined[name] = name if same is None else same
            if same is None:
                kept.append((name, function))
    return refined


class _Renamed:
    """Rule: a clone's name -> the name of the one that is kept."""

    def __init__(self, new_of: Mapping[str, GlobalVar]) -> None:
        self._new_of = new_of

    def __call__(self, node: Node) -> Node | None:
        return self._new_of.get(node.name) if isinstance(node, GlobalVar) else None


def _renamed(function: Function, rename: _Renamed) -> Function:
    return rewrite(function, rename, log=RewriteLog())
