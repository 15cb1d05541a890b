"""Inline: calls of functions marked `Inline` become their bodies.

See: tvm/src/relay/transforms/inline.cc, v0.19
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from relax_core.analysis.call_graph import call_graph
from relax_core.analysis.regions import is_closed
from relax_core.analysis.relay_effects import Effects, effects_of
from relax_core.analysis.relay_scopes import ATOMS
from relax_core.check.infer import infer
from relax_core.check.order import components
from relax_core.ir.attrs import attr
from relax_core.ir.expr import Call, Expr, Function, GlobalVar, Type, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, map_children
from relax_core.ir.relay import Let
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relay.copying import copied
from relax_core.passes.relay.rebuild import rebuild

MARK = "Inline"
_ENTRY = "main"


def run(module: IRModule, options: NoOptions, ctx: PassContext) -> IRModule:
    """Put the bodies of functions marked `Inline` in the place of their calls; the functions then go.

    Recursive functions stay, and those that call a function that stays. A function of another compiler, or one that
    stands for one operator, becomes a function literal where it is called.
    """
    inlining = _Inlining(ctx, effects_of(module), infer(module).type_args)
    graph = call_graph(module)
    for group in components(module):
        names = {var.name for var in group}
        is_recursive = len(group) > 1 or any(used.name in names for var in group for used in graph[var])
        for var in group:
            function = module[var.name]
            if isinstance(function, Function):
                called = tuple(used.name for used in graph[var])
                inlining.visit(var, function, called, is_recursive=is_recursive)
    kept = [
        replace(item, function=inlining.changed.get(item.var.name, item.function))
        if inlining.changed.get(item.var.name, item.function) is not item.function
        else item
        for item in module.definitions
        if item.var.name not in inlining.body_of or item.var.name == _ENTRY
    ]
    is_same = len(kept) == len(module.definitions) and all(
        a is b for a, b in zip(kept, module.definitions, strict=True)
    )
    return module if is_same else ctx.derive(replace(module, definitions=tuple(kept)), module)


@dataclass(slots=True)
class _Inlining:
    """`body_of` are the functions that are put in place of their calls, what they call being in place already."""

    ctx: PassContext
    effects: Effects
    type_args: Mapping[Node, tuple[Type, ...]]
    changed: dict[str, Function] = field(default_factory=dict[str, Function])
    body_of: dict[str, Function] = field(default_factory=dict[str, Function])

    def visit(self, var: GlobalVar, function: Function, called: tuple[str, ...], *, is_recursive: bool) -> None:
        after = function if is_closed(function) else rebuild(function, self.change, self.ctx)
        self.changed[var.name] = after
        if not attr(function.attrs, MARK):
            return
        staying = next((name for name in called if name not in self.body_of), None)
        if is_recursive:
            self.ctx.remark(function, "missed", f"@{var.name} stays: it is recursive")
        elif staying is not None:
            self.ctx.remark(function, "missed", f"@{var.name} stays: it calls @{staying}, which stays")
        else:
            self.body_of[var.name] = after

    def change(self, old: Node, rebuilt: Node) -> Node:
        match rebuilt:
            case Call(op=GlobalVar(name=name)) if name in self.body_of:
                rebuilt = self.values(rebuilt, keep=rebuilt.op)
                assert isinstance(rebuilt, Call), "a call stays a call"
                made: Node = self.called(name, rebuilt, self.type_args.get(old, ()))
                self.ctx.remark(old, "applied", f"@{name} is inlined")
                self.ctx.log.replace(rebuilt, made, f"inline @{name}", known=rebuilt.args)
                return made
            case Call(op=op):
                return self.values(rebuilt, keep=op)
            case _:
                return self.values(rebuilt)

    def values(self, node: Node, keep: Node | None = None) -> Node:
        """Put function literals in the place of the functions that `node` uses as values, not in that of `keep`."""

        def new(child: Node) -> Node:
            if child is not keep and isinstance(child, GlobalVar) and child.name in self.body_of:
                self.ctx.remark(node, "applied", f"@{child.name} is used as a value: a literal stands in its place")
                return copied(self.body_of[child.name], {}, self.ctx)
            return child

        made = map_children(node, new)
        self.ctx.log.rebuilt(node, made)
        return made

    def called(self, name: str, call: Call, type_args: tuple[Type, ...]) -> Expr:
        """Return the body of a function with the arguments of a call; what may have an effect keeps its place."""
        function = self.body_of[name]
        if is_closed(function):
            return replace(call, op=copied(function, {}, self.ctx))
        lets: list[tuple[Var, Expr]] = []
        given: dict[Var, Expr] = {}
        types = dict(zip(function.type_params, type_args, strict=False))
        for param, arg in zip(function.params, call.args, strict=True):
            if isinstance(arg, ATOMS) or self.effects.is_pure(arg):
                given[param] = arg
            else:
                given[param] = var = Var(param.name, span=call.span)
                lets.append((var, arg))
        body = copied(function.body, given, self.ctx, types)
        for var, arg in reversed(lets):
            body = Let(var, arg, body)
        return body


PASS = Pass(
    "Inline",
    "Puts the bodies of functions marked Inline in the place of their calls.",
    run,
    dialect="relay",
    see="tvm/src/relay/transforms/inline.cc",
    reads_data=False,
)
