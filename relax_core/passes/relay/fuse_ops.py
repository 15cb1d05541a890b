"""FuseOps: operators that are computed together become one primitive function.

See: tvm/src/relay/transforms/fuse_ops.cc, v0.19
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from relax_core.analysis.fusion_graph import FusionGraph, fusion_graph
from relax_core.analysis.fusion_groups import FusionGroup, FusionGroups, fusion_groups, separate, words
from relax_core.analysis.regions import is_closed, open_postorder
from relax_core.ir.attrs import attrs_of
from relax_core.ir.expr import Call, Expr, Function, Op, Tuple, TupleGetItem, Type, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, map_children
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.fusing import FusionOptions, explain_end
from relax_core.passes.relay.infer_type import is_open
from relax_core.passes.relay.rebuild import change_functions

_STOP = "annotation.stop_fusion"
_OUTSIDE = ("annotation", "memory", "vm", "on_device", "device_copy", "debug")
"""Operators, or families of them, that compute nothing: they stand between functions."""
_RESHAPES = ("reshape", "contrib_reverse_reshape", "expand_dims", "squeeze", "dyn.reshape")


@dataclass(frozen=True, slots=True)
class RelayFuseOpsOptions(FusionOptions):
    """At level 0 each operator becomes a function of its own; `max_depth` limits the values in a function."""


def run(module: IRModule, options: RelayFuseOpsOptions, ctx: PassContext) -> IRModule:
    """Put the operators of each function into primitive functions, several in one where fusion allows it."""
    types = ctx.types(module)

    def change(function: Function) -> Function:
        graph = fusion_graph(function, types)
        groups = fusion_groups(graph, options.max_depth) if options.fuse_opt_level else separate(graph)
        fusion = _RelayFusion(graph, groups, types, ctx)
        after = fusion.function(function)
        fusion.explain()
        return after

    return change_functions(module, change, ctx)


@dataclass(slots=True, eq=False)
class _Interface:
    """What a group takes from outside: the values, and the parameters that stand for them in the function.

    `members` are the expressions that the function computes.
    """

    param_of: dict[Node, Var] = field(default_factory=dict[Node, Var])
    args: list[Expr] = field(default_factory=list[Expr])
    members: list[Node] = field(default_factory=list[Node])


@dataclass(slots=True)
class _RelayFusion:
    """`inside[e]` is what a member of the group of `e` sees of it, `outside[e]` what all others see."""

    graph: FusionGraph
    groups: FusionGroups
    types: Mapping[Node, Type]
    ctx: PassContext
    inside: dict[Node, Node] = field(default_factory=dict[Node, Node])
    outside: dict[Node, Node] = field(default_factory=dict[Node, Node])
    interface_of: dict[FusionGroup, _Interface] = field(default_factory=dict[FusionGroup, _Interface])

    def function(self, function: Function) -> Function:
        for node in open_postorder(function):
            is_kept = node is not function and isinstance(node, Function) and is_closed(node)
            self.inside[node] = self.outside[node] = node if is_kept else self.changed(node)
            self.ctx.log.rebuilt(node, self.inside[node])
            if self.is_made(node):
                made = self.made(node)
                if isinstance(made, Call) and isinstance(made.op, Function):
                    members = self.interface(node).members
                    self.ctx.derive(made.op, *members)
                    self.ctx.derive(made, *members)
                self.ctx.log.replace(node, made, "fuse", known=self.interface(node).args)
                self.outside[node] = made
        result = self.outside[function]
        assert isinstance(result, Function), "a function stays a function"
        return result

    def group(self, node: Node) -> FusionGroup:
        return self.groups.groups[self.graph.of[node].index].find()

    def interface(self, node: Node) -> _Interface:
        return self.interface_of.setdefault(self.group(node), _Interface())

    def is_made(self, node: Node) -> bool:
        """Tell whether a primitive function gives this value."""
        match node:
            case Call(op=Op(name=name)):
                return self.group(node).root is node and (name == _STOP or not _is_outside(name))
            case TupleGetItem(tuple_value=inner):
                return self.group(node).root is node and self.group(inner) is self.group(node)
            case _:
                return False

    def changed(self, node: Node) -> Node:
        """Return `node` as its own group sees it."""
        match node:
            case Call(op=Op(name=name)) if name == _STOP or not _is_outside(name):
                is_member = True
            case Tuple():
                is_member = self.group(node).root is not node
            case TupleGetItem(tuple_value=inner):
                is_member = self.group(node).root is not node or self.group(inner) is self.group(node)
            case _:
                is_member = False
        if not is_member:
            return map_children(node, self.outside.__getitem__)
        group = self.group(node)
        self.interface(node).members.append(node)
        return map_children(node, lambda child: child if isinstance(child, Op) else self.operand(child, group))

    def operand(self, child: Node, group: FusionGroup) -> Node:
        """Return an operand of a member of `group`: inside as it is, else a parameter."""
        if self.group(child) is group:
            return self.inside[child]
        interface = self.interface_of.setdefault(group, _Interface())
        given = self.outside[child]
        if given not in interface.param_of:
            assert isinstance(given, Expr), "operands are expressions"
            type_ = self.types.get(child)
            annotation = None if type_ is None or is_open(type_) else type_
            param = Var(f"p{len(interface.args)}", annotation)
            interface.param_of[given] = self.ctx.derive(param, child)
            interface.args.append(given)
        return interface.param_of[given]

    def made(self, node: Node) -> Expr:
        """Return the call of the function that computes the group of `node`, its root."""
        interface, body = self.interface(node), self.inside[node]
        assert isinstance(body, Expr), "a value is an expression"
        if isinstance(node, Call) and isinstance(node.op, Op) and node.op.name == _STOP:
            return interface.args[0]
        type_ = self.types.get(node)
        ret = None if type_ is None or is_open(type_) else type_
        members = [part for part in open_postorder(body) if isinstance(part, Call)]
        attrs = {"Primitive": 1 if members else 0}
        if members and all(
            _is_reshape(part) for part in open_postorder(body) if isinstance(part, (Call, Tuple, TupleGetItem))
        ):
            attrs["relay.reshape_only"] = 1
        function = Function(tuple(interface.param_of.values()), body, ret, attrs_of(attrs), span=node.span)
        return Call(function, tuple(interface.args), span=node.span)

    def explain(self) -> None:
        """Say of each function of several operators which, and of each operator at its end why not more."""
        members: dict[FusionGroup, list[Node]] = {}
        for node in self.graph.nodes:
            if isinstance(node.expr, Call) and isinstance(node.expr.op, Op):
                members.setdefault(self.group(node.expr), []).append(node.expr)
        for group, calls in members.items():
            if len(calls) > 1:
                names = ", ".join(words(call) for call in calls)
                self.ctx.remark(
                    group.root, "applied", f"{len(calls)} operators become one function: {names}", tuple(calls)
                )
            elif self.is_made(group.root):
                self.ctx.remark(group.root, "applied", f"{words(group.root)} becomes a function of its own")
            missed = self.groups.missed.get(group.root)
            if self.graph.of[group.root].uses:
                explain_end(self.ctx, group.root, words(group.root), missed)


def _is_outside(name: str) -> bool:
    return name in _OUTSIDE or name.partition(".")[0] in _OUTSIDE


def _is_reshape(node: Node) -> bool:
    return isinstance(node, Call) and isinstance(node.op, Op) and node.op.name in _RESHAPES


PASS = Pass(
    "FuseOps",
    "Puts operators that are computed together into primitive functions.",
    run,
    options=RelayFuseOpsOptions,
    dialect="relay",
    see="tvm/src/relay/transforms/fuse_ops.cc",
    reads_data=False,
)
