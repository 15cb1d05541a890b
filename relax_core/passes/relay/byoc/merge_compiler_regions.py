"""MergeCompilerRegions: regions of one target that follow each other become one, if no path leaves and comes back.

See: tvm/src/relay/transforms/merge_compiler_regions.cc, v0.19
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TypeAlias

from relax_core.analysis.region_graph import RegionGraph, region_graph
from relax_core.analysis.regions import (
    DEFAULT,
    RegionSets,
    Values,
    annotated_target,
    find_sets,
    is_begin,
    is_closed,
    is_end,
    open_values,
)
from relax_core.analysis.relay_effects import Effects, effects_of
from relax_core.analysis.relay_scopes import OPENERS, scopes_of
from relax_core.diagnostics import plural
from relax_core.ir.expr import Call, Expr, Function, Type, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, map_children
from relax_core.ir.relay import Let
from relax_core.ir.values import with_parts, with_values
from relax_core.passes.core import Pass, PassContext, keep_type, keep_types
from relax_core.passes.remarks import UnnumberedRemark
from relax_core.pattern.partition.apart import apart
from relax_core.pattern.partition.tables import Tables

Edge: TypeAlias = tuple[Call, Call]
"""A begin, and the end that it encloses."""


@dataclass(frozen=True, slots=True)
class MergeCompilerRegionsOptions:
    """With `through_lets` lets around regions give way if their values have no effect: those of `names`, or all."""

    through_lets: bool = False
    names: tuple[str, ...] = ()


def run(module: IRModule, options: MergeCompilerRegionsOptions, ctx: PassContext) -> IRModule:
    """Merge the regions of every function, those of targets before those of none."""
    effects = effects_of(module) if options.through_lets else None
    types = ctx.types_of_values(module)

    def change(function: Function) -> Function:
        if is_closed(function):
            return function
        if effects is not None:
            function = _without_lets(function, options.names, effects, types, ctx)
        return _merged(function, types, ctx)

    result = module.map_functions(change)
    ctx.kept_types = types
    ctx.remark_on_reading(lambda: _pairs_apart(result, ctx.tables))
    return result


def _pairs_apart(module: IRModule, tables: Tables) -> Iterator[UnnumberedRemark]:
    """Say of each pair of neighbouring regions that stayed apart why it did."""
    for pair in apart(module, tables):
        words = f"{pair.path[0]} and {pair.path[-1]} are not merged: {pair.message}"
        # A region that never ends may hold no operator.
        nodes = (*pair.user.nodes, *pair.producer.nodes, *pair.because)
        if nodes:
            yield UnnumberedRemark(nodes[0], "missed", words, pair.because)


def _merged(function: Function, types: dict[Node, Type], ctx: PassContext) -> Function:
    order = ctx.values_in(function)
    sets = find_sets(order)
    ends: dict[Node, Call] = {end: end for end in sets.ends}
    pairs = [(begin, end) for begin in sets.begins if (end := ends.get(begin.args[0])) is not None]
    edges = _edges(order, sets, pairs)
    if not edges:
        return ctx.keep_values(order)
    if _has_scopes(order):
        scopes = scopes_of(function).scope_of
        # The end stands where the begin does; the value that it closes may be computed outside.
        edges = [edge for edge in edges if scopes[edge[0]] is scopes[edge[1].args[0]]]
    graph = region_graph(order, sets)
    merged = [edge for edge in edges if annotated_target(edge[0]) != DEFAULT and _try(*edge, graph)]
    ctx.remark_on_reading(partial(_joins, merged))
    default = [edge for edge in edges if annotated_target(edge[0]) == DEFAULT and _try(*edge, graph)]
    if not merged and not default:
        return ctx.keep_values(order)
    if default:
        words = f"{plural(len(default), 'region')} of no target are joined with the next"
        ctx.remark(default[0][0], "applied", words, tuple(end for _, end in default))
    vertex_of, find = graph.vertex_of, graph.find
    return _joined(
        order, dict(pair for pair in pairs if find(vertex_of[pair[0]]) == find(vertex_of[pair[1]])), types, ctx
    )


def _joins(merged: list[Edge]) -> Iterator[UnnumberedRemark]:
    """Say of each begin that goes that two regions of a target become one."""
    for begin, end in merged:
        yield UnnumberedRemark(begin, "applied", f"two regions of {annotated_target(begin)} become one", (end,))


def _has_scopes(order: Values) -> bool:
    """Tell whether a function has conditionals, or functions that are entered; it is itself the last of `order`."""
    openers = [node for node in order if type(node) in OPENERS]
    return any(order[node] for node in openers[:-1])


def _edges(order: Values, sets: RegionSets, pairs: list[Edge]) -> list[Edge]:
    """Return those of `pairs` whose begin takes the value of a region of its own target, in the order of evaluation.

    The end of a variable is that of a let, which no region crosses.
    """
    roots, number_of, target_of = sets.roots(), sets.number_of, sets.target_of
    ended = {roots[number_of[end]] for end in sets.ends}
    edge_of: dict[Node, Edge] = {}
    for begin, end in pairs:
        user = roots[number_of[begin]]
        if target_of[roots[number_of[end]]] == target_of[user] and user in ended and not isinstance(end.args[0], Var):
            edge_of[begin] = (begin, end)
    return [edge_of[part] for part in chain.from_iterable(order.values()) if part in edge_of] if edge_of else []


def _try(begin: Call, end: Call, graph: RegionGraph) -> bool:
    """Merge the region that a begin takes its value from into the begin's own, if nothing stands against it."""
    user, producer = graph.find(graph.vertex_of[begin]), graph.find(graph.vertex_of[end])
    if user == producer or graph.crosses_let(producer, user) or graph.blocking_path(producer, user):
        return False
    graph.merge(producer, user)
    return True


def _joined(order: Values, end_of: dict[Node, Call], types: dict[Node, Type], ctx: PassContext) -> Function:
    """Take away the begins in `end_of` with the ends that they enclose; the function is the last of `order`."""
    ends: set[Node] = {*end_of.values()}
    new_of: dict[Node, Node] = {}
    olds: list[Node] = []
    after: Values = {}
    for node, parts in order.items():
        if node in end_of:
            new_of[node] = value = new_of[order[end_of[node]][0]]
            ctx.log.replace(node, value, "inside one region", known=(value,))
        elif node not in ends:
            if not ends.isdisjoint(parts):
                # An end that goes with its begin has another user.
                shared = {end: with_values(end, new_of) for end in ends.intersection(parts) if end not in new_of}
                new_of.update(shared)
                ctx.log.copied([*shared.items()])
            # Most nodes of an annotated function have one part.
            new_parts = (new_of[parts[0]],) if len(parts) == 1 else tuple([new_of[part] for part in parts])
            new_of[node] = new = with_parts(node, parts, new_parts)
            olds.append(node)
            after[new] = new_parts
    keep_types(types, olds, after)
    ctx.log.copied(zip(olds, [*after], strict=True))
    return ctx.keep_values(after if ends.isdisjoint(new_of) else open_values(next(reversed(after))))


def _without_lets(
    function: Function, names: tuple[str, ...], effects: Effects, types: dict[Node, Type], ctx: PassContext
) -> Function:
    """Put the value of a let in the place of its variable, where the value or a use belongs to a region of a target."""
    order = open_values(function)
    taken = {_ended(node.args[0]) for node in order if is_begin(node) and annotated_target(node) != DEFAULT}
    ended = {node.args[0]: node for node in order if is_end(node)}
    used = {part for node, parts in order.items() if not isinstance(node, Let) for part in parts}
    gone: dict[Var, Expr] = {}
    # The last let comes first, so that another name of a variable is seen before what it names.
    for node in order:
        if not isinstance(node, Let) or (names and node.var.name not in names) or node.var not in used:
            continue
        if isinstance(node.value, Var) and node.var in taken:
            taken.add(node.value)
            gone[node.var] = node.value
            continue
        end = node.value if is_end(node.value) else ended.get(node.var)
        if end is None or (annotated_target(end) == DEFAULT and node.var not in taken):
            continue
        if effects.is_pure(node.value):
            gone[node.var] = _inside(node.value)
        else:
            ctx.remark(node, "missed", f"%{node.var.name} stays: its value may have an effect")
    new_of: dict[Node, Node] = {}

    def new(child: Node) -> Node:
        while (behind := _behind(child, gone)) is not None:
            child = behind
        return new_of.get(child, child)

    for node, parts in order.items():
        if isinstance(node, Let) and node.var in gone:
            new_of[node] = new(node.body)
            ctx.log.replace(node, new_of[node], "merge through a let", known=(new_of[node],))
            continue
        new_of[node] = map_children(node, new) if parts else node
        keep_type(types, node, new_of[node])
        ctx.log.rebuilt(node, new_of[node])
    result = new_of[function]
    assert isinstance(result, Function), "a function stays a function"
    return result


def _behind(node: Node, gone: Mapping[Var, Expr]) -> Expr | None:
    """Return what stands for a variable that is gone, or for the end at its use of a region of nothing."""
    var = _ended(node) if isinstance(node, Expr) else None
    value = gone.get(var) if isinstance(var, Var) else None
    if value is None or var is node or not is_end(node):
        return value
    return value.args[0] if is_begin(value) and annotated_target(value) == annotated_target(node) else None


def _ended(value: Expr) -> Expr:
    """Return what an end closes."""
    return value.args[0] if is_end(value) else value


def _inside(value: Expr) -> Expr:
    """Return what stands in a region of nothing, such as that of a let of another variable; else `value` itself."""
    if not is_end(value):
        return value
    begin = value.args[0]
    return begin.args[0] if is_begin(begin) and annotated_target(begin) == annotated_target(value) else value


PASS = Pass(
    name="MergeCompilerRegions",
    summary="Merges neighbouring regions of one target where that makes no cycle.",
    run=run,
    options=MergeCompilerRegionsOptions,
    dialect="relay",
    see="tvm/src/relay/transforms/merge_compiler_regions.cc",
    reads_data=False,
)
