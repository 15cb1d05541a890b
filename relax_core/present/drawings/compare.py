"""Merge the graphs of a module before and after a pass, so that what is unchanged stays in place."""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from relax_core.ir.node import Node
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.present.drawings.drawing import DrawCluster, DrawEdge, Drawing, DrawNode
from relax_core.present.models import Mark


def union(before: Drawing, after: Drawing, log: RewriteLog, title: str) -> Drawing:
    """Merge two drawings: a node after the pass is paired with the one that it stems from.

    A pair is drawn once, as it is after the pass, unless it moved to another function: then it is drawn on both sides.
    Keys of nodes before the pass get a prefix, so that the two cannot clash.
    """
    partner = pairs_of(before, after, log)
    by_key = {item.key: item for item in before.nodes}
    nodes: list[DrawNode] = []
    key_of: dict[str, str] = {}
    moved: set[str] = set()
    for item in after.nodes:
        old = by_key.get(partner.get(item.key, ""))
        nodes.append(_joined_node(item, old))
        if old is not None and old.function == item.function:
            key_of[old.key] = item.key
        elif old is not None:
            moved.add(old.key)
    target_of = {partner[item.key]: item for item in after.nodes if item.key in partner}
    removed_clusters = _missing(before.clusters, after.clusters)
    for item in before.nodes:
        if item.key in key_of:
            continue
        key_of[item.key] = f"before:{item.key}"
        mark: Mark = "moved" if item.key in moved else "removed"
        sub = f"→ {target_of[item.key].function}" if mark == "moved" else item.sub
        nodes.append(
            replace(item, key=key_of[item.key], mark=mark, side="before", sub=sub, before_node=item.node, node="")
        )
    clusters = _joined_clusters(before.clusters, after.clusters, removed_clusters)
    edges = _joined_edges(before.edges, after.edges, key_of)
    return Drawing(title, tuple(nodes), edges, clusters, after.same_rank, is_compare=True)


def pairs_of(before: Drawing, after: Drawing, log: RewriteLog) -> Mapping[str, str]:
    """Return for each key after the pass its key before: the same node, or else the nearest origin.

    Each is used once.
    """
    key_of: dict[Node, str] = {}
    for item in before.nodes:
        for node in item.ir:
            key_of.setdefault(node, item.key)
    pairs: dict[str, str] = {}
    taken: set[str] = set()
    look_of = {item.key: item.look for item in before.nodes}

    def pair(item: DrawNode, nodes: Iterable[Node]) -> None:
        for node in nodes:
            key = key_of.get(node)
            is_like = key is not None and (look_of[key] in _ENDS) == (item.look in _ENDS)
            if key is not None and is_like and key not in taken and item.key not in pairs:
                pairs[item.key] = key
                taken.add(key)

    for item in after.nodes:
        pair(item, item.ir)
    for item in after.nodes:
        if item.key not in pairs:
            pair(item, (origin for node in item.ir for origin in log.ancestry(node)))
    names = {
        (item.function, item.look, item.title, item.sub): item.key for item in before.nodes if item.key not in taken
    }
    for item in after.nodes:
        key = names.get((item.function, item.look, item.title, item.sub))
        if key is not None and item.key not in pairs and key not in taken:
            pairs[item.key] = key
            taken.add(key)
    return pairs


_ENDS = frozenset(("param", "return"))


def _joined_node(item: DrawNode, old: DrawNode | None) -> DrawNode:
    if old is None:
        return replace(item, mark="added", side="after")
    if old.function != item.function:
        where = f"was in {old.function}" + (f", line {old.line}" if old.line else "")
        return replace(item, mark="moved", side="after", before_node=old.node, sub=where)
    return replace(item, mark="unchanged" if is_alike(old, item) else "changed", before_node=old.node)


def is_alike(old: DrawNode, item: DrawNode) -> bool:
    """Tell whether a pass left a node as it was, `old` and `item` being the two sides of it."""
    is_same = (old.title, old.tag, old.look) == (item.title, item.tag, item.look)
    # A type that inference finds later does not make a node changed; its own text does.
    return is_same and (old.sub == item.sub or item.look in _ENDS)


def _missing(some: tuple[DrawCluster, ...], others: tuple[DrawCluster, ...]) -> frozenset[str]:
    return frozenset(item.key for item in some) - frozenset(item.key for item in others)


def _joined_clusters(
    before: tuple[DrawCluster, ...], after: tuple[DrawCluster, ...], removed: frozenset[str]
) -> tuple[DrawCluster, ...]:
    added = _missing(after, before)
    joined = [replace(item, mark="added", side="after") if item.key in added else item for item in after]
    for item in before:
        if item.key in removed:
            joined.append(replace(item, mark="removed", side="before"))
    return tuple(joined)


def _joined_edges(
    before: tuple[DrawEdge, ...], after: tuple[DrawEdge, ...], key_of: Mapping[str, str]
) -> tuple[DrawEdge, ...]:
    edges: dict[tuple[str, str, str, str], DrawEdge] = {}
    for edge in before:
        edges[(key_of[edge.source], key_of[edge.target], edge.kind, edge.label)] = edge
    removed = dict.fromkeys(edges)
    for edge in after:
        key = (edge.source, edge.target, edge.kind, edge.label)
        removed.pop(key, None)
        edges[key] = edge if key in edges else replace(edge, mark="added", side="after")
    for key in removed:
        source, target = key[:2]
        edges[key] = replace(edges[key], source=source, target=target, mark="removed", side="before")
    return tuple(edges.values())
