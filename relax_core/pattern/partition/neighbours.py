"""Find neighbouring regions of one target: some path between them has nothing else of that target."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from relax_core.pattern.partition.offload import Unit

NEAREST_LIMIT = 8
"""How many equally near regions are kept for one unit."""


@dataclass(frozen=True, slots=True)
class _Nearest:
    """The nearest regions of a target behind a unit, and how many units are in between."""

    distance: int
    regions: tuple[Unit, ...]


_Found = Mapping[Unit, Mapping[str, _Nearest]]
_Links = Mapping[Unit, tuple[Unit, ...]]


def neighbours(units: tuple[Unit, ...]) -> Mapping[Unit, tuple[Unit, ...]]:
    """Return for each unit the neighbours that it uses values of, both in the order of evaluation.

    A unit is a neighbour of the units of its target whose values it uses. On every other path into it or out of it its
    neighbour is the nearest unit of its target. Complexity: edges times targets.
    """
    inputs: dict[Unit, tuple[Unit, ...]] = {unit: tuple(unit.lets_to) for unit in units}
    users: dict[Unit, list[Unit]] = {unit: [] for unit in units}
    for unit, producers in inputs.items():
        for producer in producers:
            users[producer].append(unit)
    outputs = {unit: tuple(items) for unit, items in users.items()}
    order = _inputs_first(units, inputs)
    before, behind = _nearest(order, inputs), _nearest(order[::-1], outputs)
    found: dict[Unit, set[Unit]] = {unit: set() for unit in units}
    for unit in units:
        if unit.target is not None:
            found[unit].update(_reached(unit, inputs, before))
            for user in _reached(unit, outputs, behind):
                found[user].add(unit)
    return {
        user: tuple(sorted(producers - {user}, key=lambda item: item.order))
        for user, producers in found.items()
        if producers - {user}
    }


def _reached(unit: Unit, links: _Links, found: _Found) -> Iterator[Unit]:
    """Yield those of the target of `unit` that are linked to it, and the nearest on each other way."""
    target = unit.target or ""
    for item in links[unit]:
        if item.target == target:
            yield item
        elif target in found[item]:
            yield from found[item][target].regions


def _nearest(order: Iterable[Unit], links: _Links) -> _Found:
    """Find the nearest units of each target behind every unit; `order` has what a unit is linked to before it."""
    found: dict[Unit, dict[str, _Nearest]] = {}
    for unit in order:
        nearest = found[unit] = {}
        for item in links[unit]:
            if item.target is not None:
                _add(nearest, item.target, _Nearest(0, (item,)))
            for target, known in found.get(item, {}).items():
                if target != item.target:
                    _add(nearest, target, _Nearest(known.distance + 1, known.regions))
    return found


def _add(nearest: dict[str, _Nearest], target: str, more: _Nearest) -> None:
    known = nearest.get(target)
    if known is None or more.distance < known.distance:
        nearest[target] = more
    elif more.distance == known.distance:
        regions = tuple(dict.fromkeys((*known.regions, *more.regions)))
        nearest[target] = _Nearest(known.distance, regions[:NEAREST_LIMIT])


def _inputs_first(units: tuple[Unit, ...], inputs: _Links) -> tuple[Unit, ...]:
    """Return the units in topological order; regions that were written in a cycle, in some order."""
    done: dict[Unit, None] = {}
    entered: set[Unit] = set()
    stack = [(unit, False) for unit in reversed(units)]
    while stack:
        unit, is_ready = stack.pop()
        if is_ready:
            done[unit] = None
        elif unit not in entered:
            entered.add(unit)
            stack.append((unit, True))
            stack.extend((item, False) for item in inputs[unit] if item not in entered)
    return tuple(done)
