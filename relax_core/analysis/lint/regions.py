"""Lint of compiler regions: annotations and functions of targets that no backend could be handed as they stand."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from relax_core.analysis.call_graph import call_graph
from relax_core.analysis.region_graph import region_graph
from relax_core.analysis.regions import (
    Region,
    RegionSets,
    Values,
    annotated_target,
    find_sets,
    is_closed,
    open_values,
)
from relax_core.analysis.relay_scopes import scopes_of
from relax_core.diagnostics import Diagnostic, in_order, plural
from relax_core.ir.attrs import attr
from relax_core.ir.dialect import dialect_of
from relax_core.ir.expr import Call, Constant, Expr, Function, GlobalVar, Op, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children
from relax_core.ir.relay import Constructor, Let
from relax_core.source import Span

V = TypeVar("V")

COMPOSITE = "Composite"
_TARGET_ATTRS = ("Compiler", "Codegen")
_NAMES = (GlobalVar, Constructor, Constant, Op)


def region_problems(module: IRModule) -> tuple[Diagnostic, ...]:
    """Return what is wrong with the regions of a module, as warnings in the order of the text.

    In Relay: regions that need their own results (BY003), begins that nothing ends (BY004), regions over several scopes
    (BY005), values that enter without a begin (BY006), and annotations of different targets in one region (BY007). In
    Relax a function of a target that leads back to itself (BY003). In both, composites of no target (BY008).

    Complexity: linear in the size of the module, and for each region that needs its own result once more.
    """
    found: list[Diagnostic] = []
    is_relay = dialect_of(module) == "relay"
    if is_relay:
        for item in module:
            if isinstance(item.function, Function) and not is_closed(item.function):
                found += _Regions(item.function).problems()
    else:
        found += _calls_back(module)
    found += _without_target(module, is_relay=is_relay)
    return in_order(replace(item, severity="warning") for item in found)


@dataclass(eq=False)
class _Regions:
    """The regions of one Relay function."""

    function: Function

    @cached_property
    def order(self) -> Values:
        """The nodes of the function, inputs first."""
        return open_values(self.function)

    @cached_property
    def sets(self) -> RegionSets:
        """The regions as sets; annotations of no target are looked through, as PartitionGraph does."""
        return find_sets(self.order, skips_default=True)

    def problems(self) -> Iterator[Diagnostic]:
        """Yield what is wrong with each region."""
        if not self.sets.begins and not self.sets.ends:
            return
        regions = self.sets.regions().all
        scope_of = scopes_of(self.function).scope_of
        for region in regions:
            yield from _of_two_targets(region)
            yield from self._entered_bare(region)
            if region.is_open:
                yield from _never_ended(region)
            elif len({scope_of[node] for node in region.nodes if node in scope_of}) > 1:
                yield _over_scopes(region)
        yield from self._circular(regions)

    def _entered_bare(self, region: Region) -> Iterator[Diagnostic]:
        """Warn once for each value that a region takes without a begin: its end or a begin is missing."""
        own = {*region.nodes}
        bound: dict[Expr, Expr] = {node.var: node.value for node in self.order if type(node) is Let}
        ended = [(item, item.args[0]) for item in region.ends if bound.get(item.args[0], item.args[0]) not in own]
        used = [(node, part) for node in region.operators for part in self.order[node] if part not in self.sets.inside]
        told: set[Node] = set()
        for user, part in (*ended, *used):
            value = self.sets.behind.get(part, part)
            if value in told or value in own or not isinstance(value, Expr) or _is_held(bound.get(value, value)):
                continue
            told.add(value)
            message = f"{_shown(value)} enters the region {_name(region)} without a begin"
            place = user.span or _place(region)
            yield Diagnostic("BY006", message, place, f"enclose it by compiler_begin of {region.target}")

    def _circular(self, regions: tuple[Region, ...]) -> Iterator[Diagnostic]:
        """Warn of regions that take what is computed from their own results, once for each cycle."""
        graph = region_graph(self.order, self.sets)
        region_of = {graph.find(self.sets.root(self.sets.number_of[item.nodes[0]])): item for item in regions}
        node_of: dict[int, Node] = {}
        for node, number in graph.vertex_of.items():
            node_of.setdefault(graph.find(number), node)
        told: set[int] = set()
        for vertex, region in region_of.items():
            way = () if vertex in told else _way_back(vertex, graph.inputs)
            if way:
                told.update(way)
                # From the result of the region on: each vertex is reached from those that take values from it.
                yield _circle(region, [region_of.get(item) or node_of[item] for item in way[-2::-1]])


def _circle(region: Region, way: list[Region | Node]) -> Diagnostic:
    """Say that a region needs its own result, through other regions or through what is in none."""
    others = [item for item in way if isinstance(item, Region)]
    if others:
        names = " and ".join((_name(region), *map(_name, others)))
        message = f"the regions {names} need results of each other: neither can be called before the other"
        hint = "end one of them before the value that the other takes, and begin it again behind"
    else:
        message = f"the region {_name(region)} takes a value that is computed from its own result: it is not convex"
        hint = "end the region before that value, and begin another one behind it"
    words = "the value comes back through this"
    spans = [_place(item) if isinstance(item, Region) else item.span for item in way]
    related = tuple((words, span) for span in spans if span is not None)
    return Diagnostic("BY003", message, _place(region), hint, related=related)


def _is_held(value: Expr) -> bool:
    """Tell whether the function of a region holds a value itself: a literal, a name, a composite."""
    return isinstance(value, _NAMES) or (isinstance(value, Function) and is_closed(value))


def _never_ended(region: Region) -> Iterator[Diagnostic]:
    for begin in region.begins:
        message = f"the region {_name(region)} begins here and never ends"
        yield Diagnostic("BY004", message, begin.span, "end the region where its value is used")


def _over_scopes(region: Region) -> Diagnostic:
    message = f"the region {_name(region)} lies in several branches or functions"
    return Diagnostic("BY005", message, _place(region), "begin and end each region in one branch or function")


def _of_two_targets(region: Region) -> Iterator[Diagnostic]:
    for item in (*region.begins, *region.ends):
        target = annotated_target(item)
        if target != region.target:
            message = f"the region {_name(region)} has an annotation of {target}"
            yield Diagnostic("BY007", message, item.span, "one region is of one target: end it and begin another one")
            return


def _calls_back(module: IRModule) -> Iterator[Diagnostic]:
    """Warn of functions of targets that lead back to themselves, each with the way."""
    used_by = {var.name: tuple(item.name for item in used) for var, used in call_graph(module).items()}
    for var, function in module.relax_functions:
        target = _target_of(function)
        way = _way_back(var.name, lambda name: used_by.get(name, ())) if target else ()
        if way:
            names = ", ".join(f"@{name}" for name in way[:-1] or way)
            message = f"@{var.name} of {target} calls {names}, which leads back to it: no backend can be handed that"
            yield Diagnostic(
                "BY003", message, _head(function.span), "leave the call outside of the function of the target"
            )


def _way_back(start: V, next_of: Callable[[V], Iterable[V]]) -> tuple[V, ...]:
    """Return what stands on a shortest way from `start` back to it, which comes last; empty if there is none."""
    came_from: dict[V, V] = {}
    waiting = deque((start,))
    while waiting:
        current = waiting.popleft()
        for item in next_of(current):
            if item not in came_from:
                came_from[item] = current
                waiting.append(item)
            if item == start:
                way = [start]
                while (current := came_from[way[-1]]) != start:
                    way.append(current)
                return tuple(way[::-1])
    return ()


def _without_target(module: IRModule, *, is_relay: bool) -> Iterator[Diagnostic]:
    """Warn of composites that no target takes, once for each of their names."""
    places: dict[str, list[Function]] = {}
    for item in module:
        if isinstance(item.function, Function):
            offloaded = _called_in_regions(item.function) if is_relay else frozenset[Node]()
            for composite in _outside(item.function, offloaded):
                places.setdefault(str(attr(composite.attrs, COMPOSITE)), []).append(composite)
    for name, functions in places.items():
        count = f" ({plural(len(functions), 'place')})" if len(functions) > 1 else ""
        message = f"the composite {name} belongs to no target{count}: no backend is handed it"
        pass_name = "AnnotateTarget" if is_relay else "MergeCompositeFunctions"
        place = next((item.span for item in functions if item.span), None)
        yield Diagnostic("BY008", message, _head(place), f"{pass_name} puts composites into regions of their targets")


def _called_in_regions(function: Function) -> frozenset[Node]:
    """Return the function literals that regions call."""
    order = open_values(function)
    bound: dict[Node, Expr] = {node.var: node.value for node in order if type(node) is Let}
    inside = find_sets(order, skips_default=True).number_of
    return frozenset(bound.get(node.op, node.op) for node in inside if isinstance(node, Call))


def _outside(function: Function, offloaded: frozenset[Node]) -> Iterator[Function]:
    """Yield the composites at or below a function that are neither offloaded nor in a function of a target."""
    stack: list[Node] = [function]
    seen: set[Node] = set()
    while stack:
        node = stack.pop()
        if node in seen or node in offloaded or (isinstance(node, Function) and _target_of(node)):
            continue
        seen.add(node)
        if isinstance(node, Function) and attr(node.attrs, COMPOSITE):
            yield node
        stack += children(node)[::-1]


def _target_of(function: Function) -> str:
    return next((str(value) for key, value in function.attrs if key in _TARGET_ATTRS), "")


def _name(region: Region) -> str:
    return f"{region.target} {region.number}"


def _shown(value: Expr) -> str:
    return f"%{value.name}" if isinstance(value, Var) else "a value"


def _head(span: Span | None) -> Span | None:
    """Return the first line of a function's place: it is the function that is meant, not each of its lines."""
    end = -1 if span is None else span.source.text.find("\n", span.start, span.end)
    return span if span is None or end < 0 else Span(span.source, span.start, end)


def _place(region: Region) -> Span | None:
    nodes: Iterable[Expr] = (*region.operators, *region.ends, *region.begins)
    return next((node.span for node in nodes if node.span is not None), None)
