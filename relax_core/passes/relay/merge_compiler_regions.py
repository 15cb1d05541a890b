"""MergeCompilerRegions: regions of one target that follow each other become one, if no path leaves and comes back.

See: tvm/src/relay/transforms/merge_compiler_regions.cc, v0.19
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from relax_core.analysis.region_graph import RegionGraph, region_graph
from relax_core.analysis.regions import (
    DEFAULT,
    RegionSets,
    annotated_target,
    find_sets,
    is_begin,
    is_closed,
    is_end,
    open_values,
)
from relax_core.analysis.relay_effects import Effects, effects_of
from relax_core.analysis.relay_scopes import OPENERS, scopes_of
from relax_core.ir.expr import Call, Expr, Function, Var
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, map_children
from relax_core.ir.relay import Let
from relax_core.ir.types import Type
from relax_core.ir.values import rebuilt, value_parts, with_values
from relax_core.passes.core import Pass, PassContext, keep_type, keep_types
from relax_core.passes.remarks import Said
from relax_core.pattern.apart import apart
from relax_core.pattern.tables import Tables


@dataclass(frozen=True, slots=True)
class MergeCompilerRegionsOptions:
    """With `through_lets` lets around regions give way if their values have no effect: those of `names`, or all."""

    through_lets: bool = False
    names: tuple[str, ...] = ()


def run(module: IRModule, options: MergeCompilerRegionsOptions, ctx: PassContext) -> IRModule:
    """Merge the regions of every function, those of targets before those of none."""
    effects = effects_of(module) if options.through_lets else None
    types = ctx.types_of_values(module)
    changed: list[Definition] = []
    for item in module.definitions:
        if isinstance(item.function, Function) and not is_closed(item.function):
            function = item.function
            if effects is not None:
                function = _without_lets(function, options.names, effects, types, ctx)
            after = _merged(function, types, ctx)
            if after is not item.function:
                changed.append(replace(item, function=after))
    ctx.kept_types = types
    result = module.with_definitions(*changed) if changed else module
    ctx.remark_on_reading(lambda: _pairs_apart(result, ctx.tables))
    return result


def _pairs_apart(module: IRModule, tables: Tables) -> Iterator[Said]:
    """Say of each pair of neighbouring regions that stayed apart why it did."""
    for pair in apart(module, tables):
        words = f"{pair.path[0]} and {pair.path[-1]} are not merged: {pair.message}"
        # A region that never ends may hold no operator.
        nodes = (*pair.user.nodes, *pair.producer.nodes, *pair.because)
        if nodes:
            yield Said(nodes[0], "missed", words, pair.because)


def _merged(function: Function, types: dict[Node, Type], ctx: PassContext) -> Function:
    order = ctx.values_in(function)
    sets = find_sets(order)
    edges = _edges(order, sets)
    if not edges:
        return ctx.keep_values(order)
    if any(isinstance(node, OPENERS) and _opens_scope(node) for node in order[:-1]):
        scopes = scopes_of(function).scope_of
        # The end stands where the begin does; the value that it closes may be computed outside.
        edges = [edge for edge in edges if scopes[edge[0]] is scopes[edge[1].args[0]]]
    graph = region_graph(order, sets)
    merged = [edge for edge in edges if annotated_target(edge[0]) != DEFAULT and _try(*edge, graph)]
    for begin, end in merged:
        ctx.remark(begin, "applied", f"two regions of {annotated_target(begin)} become one", (end,))
    default = [edge for edge in edges if annotated_target(edge[0]) == DEFAULT and _try(*edge, graph)]
    if not merged and not default:
        return ctx.keep_values(order)
    gone = {node for node in sets.begins if _is_inside(node, graph)}
    return _joined(order, gone, types, ctx)


def _opens_scope(node: Node) -> bool:
    return not (isinstance(node, Function) and is_closed(node))


def _edges(order: Sequence[Node], sets: RegionSets) -> list[tuple[Call, Call]]:
    """Return the begins that take the value of a region of their own target, each with that region's end.

    They come in the order of evaluation. The end of a variable is that of a let, which no region crosses.
    """
    roots, number_of, target_of = sets.roots(), sets.number_of, sets.target_of
    ended = {roots[number_of[end]] for end in sets.ends}
    end_of: dict[Node, tuple[Call, Call]] = {}
    for begin in sets.begins:
        end = begin.args[0]
        if is_end(end) and not isinstance(end.args[0], Var):
            user = roots[number_of[begin]]
            if user in ended and target_of[roots[number_of[end]]] == target_of[user]:
                end_of[begin] = (begin, end)
    return [end_of[part] for node in order for part in value_parts(node) if part in end_of] if end_of else []


def _try(begin: Call, end: Call, graph: RegionGraph) -> bool:
    """Merge the region that a begin takes its value from into the begin's own, if nothing stands against it."""
    user, producer = graph.find(graph.vertex_of[begin]), graph.find(graph.vertex_of[end])
    if user == producer or graph.crosses_let(producer, user) or graph.blocking_path(producer, user):
        return False
    graph.merge(producer, user)
    return True


def _is_inside(begin: Call, graph: RegionGraph) -> bool:
    """Tell whether a begin takes the value of an end that its own region has come to hold."""
    end = begin.args[0]
    return is_end(end) and graph.find(graph.vertex_of[begin]) == graph.find(graph.vertex_of[end])


def _joined(order: tuple[Node, ...], gone: set[Call], types: dict[Node, Type], ctx: PassContext) -> Function:
    """Take away the begins in `gone` with the ends that they enclose; the function is the last of `order`."""
    ends: set[Node] = {begin.args[0] for begin in gone}
    new_of: dict[Node, Node] = {}
    copied: list[tuple[Node, Node]] = []
    after: list[Node] = []

    for node in order:
        if node in gone:
            (end,) = value_parts(node)
            new_of[node] = value = new_of[value_parts(end)[0]]
            ctx.log.replace(node, value, "inside one region", known=(value,))
        elif node not in ends:
            new = node
            if node.CHILDREN and not (isinstance(node, Function) and is_closed(node)):
                try:
                    new = rebuilt(node, new_of)
                except KeyError:
                    # An end that goes with its begin has another user.
                    shared = {end: with_values(end, new_of) for end in ends.intersection(value_parts(node))}
                    new_of.update(shared)
                    copied += shared.items()
                    new = rebuilt(node, new_of)
                if new is not node:
                    copied.append((node, new))
            new_of[node] = new
            after.append(new)
    keep_types(types, copied)
    ctx.log.copied(copied)
    return ctx.keep_values(after if ends.isdisjoint(new_of) else open_values(after[-1]))


def _without_lets(
    function: Function, names: tuple[str, ...], effects: Effects, types: dict[Node, Type], ctx: PassContext
) -> Function:
    """Put the value of a let in the place of its variable, where the value or a use belongs to a region of a target."""
    nodes = open_values(function)
    taken = {node.args[0] for node in nodes if is_begin(node) and annotated_target(node) != DEFAULT}
    used = {part for node in nodes if not isinstance(node, Let) for part in value_parts(node)}
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
        return new_of[gone[child]] if isinstance(child, Var) and child in gone else new_of.get(child, child)

    for node in nodes:
        if isinstance(node, Let) and node.var in gone:
            new_of[node] = new(node.body)
            ctx.log.replace(node, new_of[node], "merge through a let", known=(new_of[node],))
            continue
        is_whole = isinstance(node, Function) and is_closed(node)
        new_of[node] = node if is_whole else map_children(node, new)
        keep_type(types, node, new_of[node])
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
