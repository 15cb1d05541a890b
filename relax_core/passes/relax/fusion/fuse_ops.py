"""FuseOps: calls of prim funcs that are computed together become one primitive function.

See: tvm/src/relax/transform/fuse_ops.cc
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from relax_core.analysis.dataflow_fusion import dataflow_graph, prim_func_kinds, prim_func_of
from relax_core.analysis.fusion_graph import FusionGraph, Kind
from relax_core.analysis.fusion_groups import FusionGroup, FusionGroups, fusion_groups
from relax_core.ir.attrs import attrs_of, has_attr
from relax_core.ir.equality import structural_hash
from relax_core.ir.expr import (
    Binding,
    DataflowBlock,
    Function,
    GlobalVar,
    SeqExpr,
    Type,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.rewriting.builder import Names
from relax_core.ir.rewriting.rewrite import Rule
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.fusing import FusionOptions, explain_end
from relax_core.passes.relax.functions import rewrite_functions
from relax_core.passes.relax.fusion.grouped import Group, call_bindings, grouped_function
from relax_core.pattern.partition.dataflow import DataflowGroups

PRIMITIVE: Final = "Primitive"


@dataclass(frozen=True, slots=True)
class FuseOpsOptions(FusionOptions):
    """At level 0 nothing is fused; `max_depth` limits the values in a function."""


def run(module: IRModule, options: FuseOpsOptions, ctx: PassContext) -> IRModule:
    """Put the prim funcs that a dataflow block calls into functions, several in one where fusion allows it.

    Only `call_tir` is fused: an operator that LegalizeOps has not lowered stands alone. Groups that compute the same
    share a function. A group stands where the first of its prim funcs was called, but behind those that it uses. What
    branches and local functions hold stays, as in TVM.
    """
    if options.fuse_opt_level == 0:
        return module
    fusion = _Fusion(options, ctx, ctx.types(module), prim_func_kinds(module), Names(module.names))

    def rules_for(_: GlobalVar, function: Function) -> tuple[Rule, ...]:
        if has_attr(function.attrs, PRIMITIVE) or not isinstance(function.body, SeqExpr):
            return ()
        blocks = frozenset(function.body.blocks)

        def fuse(node: Node) -> Node | None:
            """Rule: bindings that are computed together -> a call of a function that holds them."""
            return fusion.fuse(node) if node in blocks else None

        return (fuse,)

    result = rewrite_functions(module, ctx, rules_for, (DataflowBlock,))
    return ctx.derive(result.with_definitions(*fusion.added), module) if fusion.added else result


@dataclass(slots=True)
class _Fusion:
    options: FuseOpsOptions
    ctx: PassContext
    type_of: Mapping[Node, Type]
    kinds: Mapping[str, Kind]
    names: Names
    added: list[Definition] = field(default_factory=list[Definition])
    by_hash: dict[str, Definition] = field(default_factory=dict[str, Definition])

    def fuse(self, node: Node) -> Node | None:
        """Return a dataflow block with its groups as calls; `None` where nothing is fused."""
        if not isinstance(node, DataflowBlock):
            return None
        graph = dataflow_graph(node, self.kinds)
        groups = fusion_groups(graph, self.options.max_depth)
        members: dict[FusionGroup, list[Binding]] = {}
        for item in graph.nodes:
            members.setdefault(groups.groups[item.index].find(), []).append(node.bindings[item.index])
        self.explain(graph, groups)
        functions = [group for group in members.values() if _is_function(group)]
        if not functions:
            return None
        units = DataflowGroups(node)
        for group in functions:
            units.join(group)
        bindings: list[Binding] = []
        for unit in units.order():
            bindings += self.call(list(unit.bindings)) if len(unit.bindings) > 1 else unit.bindings
        return DataflowBlock(tuple(bindings), span=node.span)

    def call(self, group: list[Binding]) -> tuple[Binding, ...]:
        """Make the function of a group, and return the bindings that call it."""
        callees = [callee.name for item in group if (callee := prim_func_of(item)) is not None]
        whole = Group(tuple(group), (group[-1].var,))
        made = grouped_function(whole, attrs_of({PRIMITIVE: True}), self.type_of, self.ctx)
        key = structural_hash(made.function)
        same = self.by_hash.get(key)
        if same is None:
            name = GlobalVar(self.names.fresh("_".join(("fused", *callees))))
            self.by_hash[key] = definition = self.ctx.derive(Definition(name, made.function), *group)
            self.added.append(definition)
        else:
            # Its bindings compute those of this group as well.
            name = same.var
            held = (item for item in group if item not in made.fields)
            for kept, item in zip(_held(same.function), held, strict=True):
                self.ctx.log.share((kept, kept.value), item)
        words = ", ".join(f"@{item}" for item in callees)
        message = f"{len(callees)} prim funcs become one function, @{name.name}: {words}"
        self.ctx.remark(group[-1], "applied", message, tuple(group))
        return call_bindings(name, whole, made, self.names, self.ctx)

    def explain(self, graph: FusionGraph, groups: FusionGroups) -> None:
        """Say of each value at the end of its group why it is not computed with what uses it."""
        for item in graph.nodes:
            missed = groups.missed.get(item.expr)
            is_end = groups.groups[item.index].find().root is item.expr
            if is_end and item.uses and isinstance(item.expr, Binding):
                explain_end(self.ctx, item.expr, item.expr.var.name, missed)


def _held(function: Node) -> tuple[Binding, ...]:
    return tuple(item for item in preorder(function) if isinstance(item, Binding))


def _is_function(group: list[Binding]) -> bool:
    return len(group) > 1 and any(prim_func_of(item) is not None for item in group)


PASS = Pass(
    "FuseOps",
    "Puts prim funcs that are computed together into primitive functions.",
    run,
    options=FuseOpsOptions,
    needs=("normal form",),
    see="tvm/src/relax/transform/fuse_ops.cc",
)
