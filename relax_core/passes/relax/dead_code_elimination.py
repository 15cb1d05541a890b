"""Drop functions that nothing reaches and bindings that nothing uses.

A match_cast stays, used or not: it stops the program if the value is not of its type. So it does in TVM.
"""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from relax_core.analysis.call_graph import call_graph, reachable
from relax_core.ir.expr import Binding, BindingBlock, Function, GlobalVar, MatchCast, SeqExpr, Type, Var, VarBinding
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, children, preorder
from relax_core.ir.prim import PrimVar
from relax_core.ir.rewriting.rewrite import Rule
from relax_core.ir.rewriting.substitute import free_symbols, type_nodes, types_in
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.functions import with_definitions
from relax_core.passes.relax.effects import has_effect
from relax_core.passes.relax.functions import join_blocks, rewrite_functions
from relax_core.passes.remarks import UnnumberedRemark


@dataclass(frozen=True, slots=True)
class DCEOptions:
    """`entry_functions` are kept besides the public functions."""

    entry_functions: tuple[str, ...] = ()


def run(module: IRModule, options: DCEOptions, ctx: PassContext) -> IRModule:
    """Drop unreachable functions, then unused bindings without effect, then functions once more."""
    reached = without_unused(_without_unreachable(module, options, ctx), ctx)
    result = _without_unreachable(reached, options, ctx)
    ctx.remark_on_reading(partial(_kept, result))
    return result


def _kept(module: IRModule) -> Iterator[UnnumberedRemark]:
    """Say why bindings that nothing uses stay."""
    for _, function in module.relax_functions:
        bindings = [item for item in preorder(function) if isinstance(item, Binding)]
        parts = (part for item in preorder(function) if not isinstance(item, Binding) for part in children(item))
        types = (type_ for item in preorder(function) for type_ in types_in(item))
        sizes = (part for type_ in types for item in type_nodes(type_) for part in preorder(item))
        used = {*parts, *sizes, *(item.value for item in bindings)}
        for item in bindings:
            if item.var not in used and item.var.name != "_":
                is_cast = isinstance(item, MatchCast)
                why = "the cast checks its value" if is_cast else "computing it may have an effect"
                yield UnnumberedRemark(item, "missed", f"{item.var.name} stays, which nothing uses: {why}")


def without_unused(module: IRModule, ctx: PassContext, names: Container[str] | None = None) -> IRModule:
    """Drop the bindings without effect that nothing uses, in the functions called `names` or in all."""
    type_of = ctx.types_when_read(module)

    def rules_for(name: GlobalVar, function: Function) -> tuple[Rule, ...]:
        if names is not None and name.name not in names:
            return ()
        dropped = _Liveness(type_of).mark(function)

        def drop(node: Node) -> tuple[Node, ...] | None:
            """Rule: binding that nothing uses -> nothing."""
            match node:
                case VarBinding(var=var) | MatchCast(var=var) if var in dropped:
                    ctx.remark(dropped[var], "applied", f"{var.name} is dropped: nothing uses it")
                    return ()
                case BindingBlock(bindings=()):
                    return ()
                case _:
                    return None

        return (drop, join_blocks)

    return rewrite_functions(module, ctx, rules_for, (Binding, BindingBlock, SeqExpr))


@dataclass(slots=True)
class _Liveness:
    """Marks from the results and effects of a function what is needed."""

    type_of: Mapping[Node, Type]
    binding_of: dict[Var, Binding] = field(default_factory=dict[Var, Binding])
    binder_of: dict[PrimVar, Binding] = field(default_factory=dict[PrimVar, Binding])
    marked: set[Node] = field(default_factory=set[Node])

    def mark(self, function: Function) -> Mapping[Var, Binding]:
        """Mark what `function` needs, and return the bindings that it does not."""
        for item in preorder(function):
            match item:
                case MatchCast(var=var, type=type_):
                    self.binding_of[var] = item
                    for symbol in free_symbols(type_):
                        self.binder_of.setdefault(symbol, item)
                case VarBinding(var=var):
                    self.binding_of[var] = item
                case _:
                    pass
        stack: list[Node] = [function]
        while stack:
            current = stack.pop()
            if current not in self.marked:
                self.marked.add(current)
                stack.extend(self.needed(current))
        return {var: binding for var, binding in self.binding_of.items() if binding not in self.marked}

    def has_effect(self, binding: Binding) -> bool:
        """Tell whether a binding is needed for more than its value."""
        return isinstance(binding, MatchCast) or has_effect(binding.value, self.type_of)

    def needed(self, node: Node) -> Iterator[Node]:
        """What is needed if `node` is."""
        for type_ in types_in(node):
            for item in type_nodes(type_):
                yield from preorder(item)
        match node:
            case SeqExpr(blocks=blocks, body=body):
                yield body
                for block in blocks:
                    yield from (item for item in block.bindings if self.has_effect(item))
            case Var():
                yield from (self.binding_of[node],) if node in self.binding_of else ()
            case PrimVar():
                yield from (self.binder_of[node],) if node in self.binder_of else ()
            case _:
                yield from children(node)


def _without_unreachable(module: IRModule, options: DCEOptions, ctx: PassContext) -> IRModule:
    """Keep what public and entry functions reach; all of it if a function is missing, or if there is none of these.

    TVM leaves an empty module then.
    """
    public = (item.var.name for item in module.definitions if not item.function.is_private)
    entries = {*public, *options.entry_functions}
    graph = call_graph(module)
    used = reachable(module, tuple(map(GlobalVar, entries)))
    named = entries | {called.name for var in used for called in graph[var]}
    if not entries or any(name not in module for name in named):
        return module
    kept: list[Definition] = []
    for item in module.definitions:
        if item.var in used:
            kept.append(item)
        else:
            ctx.remark(item, "applied", f"{item.var.name} is dropped: no public function reaches it")
            ctx.log.replace(item, (), "function that nothing reaches -> nothing")
    return with_definitions(module, tuple(kept), ctx)


PASS = Pass(
    "DeadCodeElimination",
    "Drops bindings without effect that nothing uses, and private functions that nothing reaches.",
    run,
    options=DCEOptions,
    see="tvm/src/relax/transform/dead_code_elimination.cc",
)
