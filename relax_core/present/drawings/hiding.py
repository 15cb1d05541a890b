"""Weights, constants and shape arithmetic taken out of a drawing, and counted at their users."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

from msgspec.structs import replace

from relax_core.diagnostics import plural
from relax_core.present.drawings.drawing import DrawEdge, Drawing, DrawNode, Unseen, used_clusters

Small: TypeAlias = Literal["weight", "constant", "shape"]
_ORDER: tuple[Small, ...] = ("weight", "constant", "shape")


def without_small(drawing: Drawing, shown: frozenset[str] = frozenset()) -> Drawing:
    """Take out weights, constants and the arithmetic of shapes, but for what a pass changed, faulty and `shown` nodes.

    What comes into a compiler region stays, since a port on its border has no words that could count it.
    Each is counted at the nodes that use it, such as `+2 weights`, and what only hidden nodes use, with these. Linear.
    """
    hidden: dict[str, Small] = {
        item.key: kind
        for item, kind in _small(drawing)
        if item.mark == "unchanged" and not item.fault and item.node not in shown
    }
    counts = _counts(drawing.nodes, drawing.edges, hidden)
    nodes = tuple(
        replace(item, sub=_joined(item.sub, counts[item.key])) if item.key in counts else item
        for item in drawing.nodes
        if item.key not in hidden
    )
    keys = {item.key for item in nodes}
    return replace(
        drawing,
        nodes=nodes,
        edges=tuple(edge for edge in drawing.edges if edge.source in keys and edge.target in keys),
        clusters=used_clusters(drawing.clusters, nodes),
        same_rank=tuple(pair for pair in drawing.same_rank if keys.issuperset(pair)),
        unseen=_unseen(drawing, hidden),
    )


def small_count(drawing: Drawing) -> int:
    """Count what `without_small` may take out; a copy beside a user is none of its own."""
    return sum(item.count for item, _ in _small(drawing))


def _small(drawing: Drawing) -> Iterator[tuple[DrawNode, Small]]:
    ports = {item.key for item in drawing.nodes if item.look in ("begin", "end")}
    inward = {edge.source for edge in drawing.edges if edge.target in ports} if ports else ()
    for item in drawing.nodes:
        if (kind := _kind(item)) and item.key not in inward:
            yield item, kind


def _kind(item: DrawNode) -> Small | None:
    if item.is_weight:
        return "weight"
    if item.look == "constant":
        return "constant"
    return "shape" if item.is_shape else None


def _counts(
    nodes: Iterable[DrawNode], edges: Iterable[DrawEdge], hidden: dict[str, Small]
) -> dict[str, Counter[Small]]:
    """Count at each visible node the hidden ones that it uses, and those behind them."""
    users: dict[str, list[DrawEdge]] = defaultdict(list)
    for edge in edges:
        if edge.source in hidden:
            users[edge.source].append(edge)
    found: dict[str, Counter[Small]] = defaultdict(Counter)
    behind: dict[str, Counter[Small]] = defaultdict(Counter)
    # A node comes behind those that it uses.
    for item in nodes:
        if item.key not in hidden or not users[item.key]:
            continue
        visible = [edge for edge in users[item.key] if edge.target not in hidden]
        if not visible:
            behind[users[item.key][0].target] += behind[item.key] + _times(hidden[item.key], 1)
        for target in dict.fromkeys(edge.target for edge in visible):
            # Of folded weights a user has as many as there are uses.
            used = sum(edge.count for edge in visible if edge.target == target) if item.look == "folded" else 1
            found[target] += behind[item.key] + _times(hidden[item.key], used)
    return found


def _unseen(drawing: Drawing, hidden: dict[str, Small]) -> tuple[Unseen, ...]:
    """Add the hidden nodes to those that are folded: each is at its first visible user, or at that of its user.

    What stands for folded weights, and is hidden, is no node of the program; what was in it goes along.
    """
    users: dict[str, list[str]] = defaultdict(list)
    for edge in drawing.edges:
        if edge.source in hidden:
            users[edge.source].append(edge.target)
    home: dict[str, str] = {}
    for item in reversed(drawing.nodes):
        if item.key in hidden:
            homes = (home.get(key, "") if key in hidden else key for key in users[item.key])
            home[item.key] = next(filter(None, homes), "")
    folded = tuple(replace(item, box=home[item.box]) if item.box in home else item for item in drawing.unseen)
    way_of = {item.key: item.group for item in drawing.nodes if item.look != "folded"}
    own = (item for item in drawing.nodes if item.key in hidden and item.look != "folded")
    return (*folded, *(Unseen(item, home[item.key], way_of.get(home[item.key], ())) for item in own))


def _times(kind: Small, count: int) -> Counter[Small]:
    found = Counter[Small]()
    found[kind] = count
    return found


def _joined(sub: str, counts: Counter[Small]) -> str:
    words = ", ".join(plural(counts[kind], kind) for kind in _ORDER if counts[kind])
    return f"{sub}   +{words}".lstrip()
