"""MergeCompilerRegions: regions of one target that follow each other become one, if no path leaves and comes back.

See: tvm/src/relay/transforms/merge_compiler_regions.cc, v0.19
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from relax_core.analysis.region_graph import RegionGraph, region_graph
from relax_core.analysis.regions import (
    DEFAULT,
    Regions,
    annotated_target,
    find_regions,
    is_begin,
    is_closed,
    is_end,
    open_postorder,
)
from relax_core.analysis.relay_effects import Effects, effects_of
from relax_core.analysis.relay_scopes import Scopes, scopes_of
from relax_core.ir.expr import Call, Expr, Function, Var
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, children, map_children
from relax_core.ir.relay import Let
from relax_core.passes.core import Pass, PassContext
from relax_core.pattern.apart import apart


@dataclass(frozen=True, slots=True)
class MergeCompilerRegionsOptions:
    """With `through_lets` lets around regions give way if their values have no effect: those of `names`, or all."""

    through_lets: bool = False
    names: tuple[str, ...] = ()


def run(module: IRModule, options: MergeCompilerRegionsOptions, ctx: PassContext) -> IRModule:
    """Merge the regions of every function, those of targets before those of none."""
    effects = effects_of(module)
    changed: list[Definition] = []
    for item in module.definitions:
        if isinstance(item.function, Function) and not is_closed(item.function):
            function = item.function
            if options.through_lets:
                function = _without_lets(function, options.names, effects, ctx)
            after = _merged(function, ctx)
            if after is not item.function:
                changed.append(replace(item, function=after))
    result = module.with_definitions(*changed) if changed else module
    for pair in apart(result, ctx.tables):
        words = f"{pair.path[0]} and {pair.path[-1]} are not merged: {pair.message}"
        # A region that never ends may hold no operator.
        nodes = (*pair.user.nodes, *pair.producer.nodes, *pair.because)
        if nodes:
            ctx.remark(nodes[0], "missed", words, pair.because)
    return result


def _merged(function: Function, ctx: PassContext) -> Function:
    order = tuple(open_postorder(function))
    regions = find_regions(function, order)
    graph = region_graph(function, regions, order)
    scopes = scopes_of(function)
    edges = tuple(_edges(order, regions))
    for is_default in (False, True):
        for begin, end in edges:
            if (regions.of[begin].target == DEFAULT) == is_default:
                _try(begin, end, regions, graph, scopes, ctx)
    return _joined(function, order, graph, ctx)


def _edges(order: tuple[Node, ...], regions: Regions) -> Iterator[tuple[Call, Call]]:
    """Yield the begins that take the value of a region of their own target, each with that region's end.

    They come in the order of evaluation. The end of a variable is that of a let, which no region crosses.
    """
    for node in order:
        for begin in children(node):
            if not is_begin(begin) or regions.of[begin].is_open:
                continue
            end = begin.args[0]
            if is_end(end) and not isinstance(end.args[0], Var) and regions.of[end].target == regions.of[begin].target:
                yield begin, end


def _try(begin: Call, end: Call, regions: Regions, graph: RegionGraph, scopes: Scopes, ctx: PassContext) -> None:
    """Merge the region that a begin takes its value from into the begin's own."""
    user, producer = graph.find(graph.vertex_of[begin]), graph.find(graph.vertex_of[end])
    # The end stands where the begin does; the value that it closes may be computed outside.
    if user == producer or scopes.scope_of.get(begin) is not scopes.scope_of.get(end.args[0]):
        return
    if not graph.crosses_let(producer, user) and not graph.blocking_path(producer, user):
        graph.merge(producer, user)
        if regions.of[begin].target != DEFAULT:
            ctx.remark(begin, "applied", f"two regions of {regions.of[begin].target} become one", (end,))


def _joined(function: Function, order: tuple[Node, ...], graph: RegionGraph, ctx: PassContext) -> Function:
    """Take away each begin of an end that its own region has come to hold."""
    new_of: dict[Node, Node] = {}
    for node in order:
        inner = node.args[0] if is_begin(node) else None
        if is_begin(node) and is_end(inner) and graph.find(graph.vertex_of[node]) == graph.find(graph.vertex_of[inner]):
            new_of[node] = new_of[inner.args[0]]
            ctx.log.replace(node, new_of[node], "inside one region", known=(new_of[node],))
            continue
        is_whole = isinstance(node, Function) and is_closed(node)
        new_of[node] = node if is_whole else map_children(node, new_of.__getitem__)
        if new_of[node] is not node:
            ctx.log.rebuilt(node, new_of[node])
    result = new_of[function]
    assert isinstance(result, Function), "a function stays a function"
    return result


def _without_lets(function: Function, names: tuple[str, ...], effects: Effects, ctx: PassContext) -> Function:
    """Put the value of a let in the place of its variable, where the value or a use belongs to a region of a target."""
    nodes = tuple(open_postorder(function))
    taken = {node.args[0] for node in nodes if is_begin(node) and annotated_target(node) != DEFAULT}
    used = {part for node in nodes if not isinstance(node, Let) for part in children(node)}
    gone: dict[Var, Expr] = {}
    for node in nodes:
        if isinstance(node, Let) and is_end(node.value) and (not names or node.var.name in names):
            if node.var not in used:
                continue
            if annotated_target(node.value) == DEFAULT and node.var not in taken:
                continue
            if effects.is_pure(node.value):
                gone[node.var] = node.value
            else:
                ctx.remark(node, "missed", f"%{node.var.name} stays: its value may have an effect")
    new_of: dict[Node, Node] = {}

    def new(child: Node) -> Node:
        return new_of[gone[child]] if isinstance(child, Var) and child in gone else new_of[child]

    for node in nodes:
        if isinstance(node, Let) and node.var in gone:
            new_of[node] = new(node.body)
            ctx.log.replace(node, new_of[node], "merge through a let", known=(new_of[node],))
            continue
        is_whole = isinstance(node, Function) and is_closed(node)
        new_of[node] = node if is_whole else map_children(node, new)
        ctx.log.rebuilt(node, new_of[node])
    result = new_of[function]
    assert isinstance(result, Function), "a function stays a function"
    return result


PASS = Pass(
    name="MergeCompilerRegions",
    summary="Merges neighbouring regions of one target where that makes no cycle.",
    run=run,
    options=MergeCompilerRegionsOptions,
    dialect="relay",
    see="tvm/src/relay/transforms/merge_compiler_regions.cc",
)
