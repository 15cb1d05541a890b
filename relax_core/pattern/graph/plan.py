"""In which order the patterns of a graph are looked for, and what each has to do with those before it."""

from collections.abc import Iterable
from dataclasses import dataclass

from relax_core.pattern.language.edges import Edge, PatternGraph
from relax_core.pattern.language.nodes import Pattern, subpatterns


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One pattern to look for: `edges` join it to patterns before it, `shapes` to those that must have its shape.

    `depends` are the places of all steps before it that decide whether a variable fits, but for the rule that no two
    patterns match one variable.
    """

    pattern: Pattern
    edges: tuple[Edge, ...]
    shapes: tuple[Pattern, ...]
    depends: frozenset[int]


def plan(graph: PatternGraph) -> tuple[Step, ...]:
    """Return the steps: first a pattern that uses none of the others, then, depth first, what uses it."""
    order = _order(graph.edges)
    place = {item: number for number, item in enumerate(order)}
    around: dict[Pattern, list[Edge]] = {item: [] for item in order}
    for edge in graph.edges:
        for item in dict.fromkeys((_pattern(edge.producer), _pattern(edge.consumer))):
            around[item].append(edge)
    parts = [frozenset(subpatterns(item)) for item in order]
    steps: list[Step] = []
    for number, item in enumerate(order):
        edges = tuple(edge for edge in around[item] if max(_places(edge, place)) == number)
        shapes = _same_shape(graph, item, place, number)
        joined = {other for edge in edges for other in _places(edge, place)}
        sharing = (other for other in range(number) if not parts[other].isdisjoint(parts[number]))
        depends = frozenset((*joined, *sharing, *(place[other] for other in shapes))) - {number}
        steps.append(Step(item, edges, shapes, depends))
    return tuple(steps)


def _pattern(item: object) -> Pattern:
    assert isinstance(item, Pattern), "edges lead from patterns to patterns"
    return item


def _places(edge: Edge, place: dict[Pattern, int]) -> tuple[int, int]:
    return place[_pattern(edge.producer)], place[_pattern(edge.consumer)]


def _same_shape(graph: PatternGraph, item: Pattern, place: dict[Pattern, int], number: int) -> tuple[Pattern, ...]:
    found: dict[Pattern, None] = {}
    for constraint in graph.same_shapes:
        members = [other for other in map(_pattern, constraint.patterns) if other in place]
        if item in members:
            found.update(dict.fromkeys(other for other in members if place[other] < number))
    return tuple(found)


def _order(edges: Iterable[Edge]) -> list[Pattern]:
    users: dict[Pattern, dict[Pattern, None]] = {}
    used: set[Pattern] = set()
    for edge in edges:
        producer, consumer = _pattern(edge.producer), _pattern(edge.consumer)
        users.setdefault(producer, {})[consumer] = None
        used.add(consumer)
    found: dict[Pattern, None] = {}
    # What is left behind those that use nothing stands in a cycle.
    for root in (*(item for item in users if item not in used), *users):
        stack = [root]
        while stack:
            item = stack.pop()
            if item not in found:
                found[item] = None
                stack += reversed(users.get(item, {}))
    return list(found)
