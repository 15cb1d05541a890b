"""A graph before it is laid out: nodes, edges and clusters as plain values, and folding of large ones."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import Literal

import msgspec
from msgspec.structs import force_setattr, replace

from relax_core.diagnostics import plural
from relax_core.ir.node import Node
from relax_core.present.models import Mark, Side

Look = Literal[
    "op", "call", "tir", "packed", "dps", "param", "return", "constant", "global", "closure", "tuple", "field", "if",
    "merge", "match", "cases", "let", "statement", "folded", "composite", "begin", "end", "region",
]  # fmt: skip
EdgeKind = Literal["value", "field", "order", "capture", "reference", "branch"]
ClusterKind = Literal["function", "local", "dataflow", "branch", "loop", "region", "group"]


class DrawNode(msgspec.Struct, frozen=True, eq=False):
    """A node: `title` names the value, `sub` what it is bound to and its type. `key` is unique in the drawing."""

    key: str
    look: Look
    title: str
    sub: str = ""
    tag: str = ""
    cluster: str = ""
    group: tuple[str, ...] = ()
    """The groups that it may be folded into if the graph is large, the outermost first; empty: never folded."""
    ir: tuple[Node, ...] = ()
    """The IR nodes that it stands for, the most characteristic first."""
    node: str = ""
    before_node: str = ""
    line: int = 0
    function: str = ""
    mark: Mark = "unchanged"
    side: Side = "both"
    count: int = 1
    """How many nodes a folded group stands for; 0 for ports and labels, which are not nodes of the program."""
    category: str = ""
    """The target or device, `cat0`, ..., or `catNone`, which colours border and tag."""
    is_open: bool = False
    """A begin whose region never ends."""
    fault: str = ""
    """The error that the program has here, with its code."""
    is_weight: bool = False
    """A parameter that holds a weight: it is folded with what uses it."""
    is_shape: bool = False
    """It computes a shape, or moves one to or from memory."""
    least: tuple[float, float] = (0.0, 0.0)
    """The least width and height that it is drawn with, in points."""


class DrawEdge(msgspec.Struct, frozen=True):
    """An edge between two keys; `count` uses of one value are one edge."""

    source: str
    target: str
    kind: EdgeKind = "value"
    label: str = ""
    count: int = 1
    mark: Mark = "unchanged"
    side: Side = "both"
    to_cluster: str = ""
    """The edge ends at the border of this cluster."""


class DrawCluster(msgspec.Struct, frozen=True):
    """A box around nodes and other clusters; `parent` is the key of the one around it."""

    key: str
    kind: ClusterKind
    label: str
    parent: str = ""
    mark: Mark = "unchanged"
    side: Side = "both"
    category: str = ""
    """Of a compiler region: its target's."""
    is_open: bool = False
    """A compiler region that begins and never ends."""


class Unseen(msgspec.Struct, frozen=True, eq=False):
    """A node that another one stands for: the box that it is folded into, or a node at which it is counted."""

    node: DrawNode
    box: str
    """The key of the node that stands for it; empty for none."""
    way: tuple[str, ...] = ()
    """The groups that it is in, the outermost first: with these open it is drawn."""


class Drawing(msgspec.Struct, frozen=True):
    """A graph before layout. `same_rank` are pairs of keys to be placed on one rank."""

    title: str
    nodes: tuple[DrawNode, ...]
    edges: tuple[DrawEdge, ...]
    clusters: tuple[DrawCluster, ...] = ()
    same_rank: tuple[tuple[str, str], ...] = ()
    is_compare: bool = False
    node_count: int = -1
    opened: tuple[str, ...] = ()
    """The groups that are shown open because they were asked for."""
    unseen: tuple[Unseen, ...] = ()
    beside: str = ""
    """How many errors of the program are at none of the nodes, and where."""

    def __post_init__(self) -> None:
        if self.node_count < 0:
            force_setattr(self, "node_count", sum(item.count for item in self.nodes))


VISIBLE_LIMIT = 1000
"""A graph of more nodes starts folded."""
LAYERED_LIMIT = 300
"""So does one of more nodes than this in which layers repeat."""
MOST_WEIGHTS = 12
"""More weights that no one group uses alone are folded into one of their own."""
MOST_USES = 8
"""In a graph of more than `SPREAD_FROM` nodes a value with more users than this is drawn once per user."""
SPREAD_FROM = 100


def fold(
    drawing: Drawing, opened: tuple[str, ...] = (), limit: int = VISIBLE_LIMIT, shown: frozenset[str] = frozenset()
) -> Drawing:
    """Replace each group that is not in `opened` by one node, if there are more than `limit` nodes.

    A group that holds a node of `shown` (ids) counts as open.
    """
    if len(drawing.nodes) <= min(limit, SPREAD_FROM):
        return drawing
    if any(len(item.group) > 1 for item in drawing.nodes):
        limit = min(limit, LAYERED_LIMIT)
    if len(drawing.nodes) <= limit:
        nodes, edges = _beside_users(list(drawing.nodes), drawing.edges)
        return replace(drawing, nodes=tuple(nodes), edges=edges)
    group_of = _groups_with_weights(drawing)
    open_ = {*opened, *(name for item in drawing.nodes if item.node in shown for name in group_of[item.key])}
    sizes = Counter(name for names in group_of.values() for name in names)
    closed = {
        key: next((name for name in names if sizes[name] > 1 and name not in open_), "")
        for key, names in group_of.items()
    }
    members: dict[str, list[DrawNode]] = defaultdict(list)
    for item in drawing.nodes:
        members[closed[item.key]].append(item)
    around = {item.key: item.parent for item in drawing.clusters if item.kind == "region"}
    key_of: dict[str, str] = {}
    nodes: list[DrawNode] = []
    unseen: list[Unseen] = []
    way_of = {names: tuple(name for name in names if sizes[name] > 1) for names in set(group_of.values())}
    for item in drawing.nodes:
        name = closed[item.key]
        if not name:
            key_of[item.key] = item.key
            nodes.append(item)
            continue
        key = f"group:{name}"
        unseen.append(Unseen(item, key, way_of[group_of[item.key]]))
        if key not in key_of:
            nodes.append(_folded_node(key, name, members[name], around))
        key_of[key] = key_of[item.key] = key
    edges = _joined(drawing.edges, key_of)
    clusters = used_clusters(drawing.clusters, nodes)
    kept = {item.key for item in clusters}
    edges = tuple(replace(e, to_cluster="") if e.to_cluster not in kept else e for e in edges)
    nodes, edges = _beside_users(nodes, edges)
    visible = {item.key for item in nodes}
    pairs = tuple(pair for pair in drawing.same_rank if visible.issuperset(pair))
    known = tuple(name for name in dict.fromkeys(opened) if name in sizes)
    drawn = replace(drawing, nodes=tuple(nodes), edges=edges, clusters=clusters, same_rank=pairs, opened=known)
    return _framed(replace(drawn, unseen=_at_copies(unseen, nodes)), way_of, group_of)


def _framed(
    drawing: Drawing, way_of: Mapping[tuple[str, ...], tuple[str, ...]], group_of: Mapping[str, tuple[str, ...]]
) -> Drawing:
    """Draw a box around what is in each open group, but for what stands in another box of the program."""
    if any(item.kind == "region" for item in drawing.clusters):
        # What regions are made of stands in their boxes.
        return drawing
    frames: dict[str, DrawCluster] = {}
    nodes: list[DrawNode] = []
    within = {item.box: item.way for item in drawing.unseen}
    for item in drawing.nodes:
        way = way_of[group_of[item.key]] if item.key in group_of else within.get(item.key, ())
        if item.look == "folded":
            way = way[: way.index(item.group[0])] if item.group[0] in way else ()
        home = item.cluster
        for name in () if item.is_weight or not item.count else way:
            frame = frames.setdefault(name, DrawCluster(f"open:{name}", "group", group_words(name), home))
            if frame.parent != home:
                break
            home = frame.key
        nodes.append(replace(item, cluster=home) if home != item.cluster else item)
    cluster_of = {item.key: item.cluster for item in nodes}
    pairs = tuple((a, b) for a, b in drawing.same_rank if cluster_of[a] == cluster_of[b])
    return replace(drawing, nodes=tuple(nodes), clusters=(*drawing.clusters, *frames.values()), same_rank=pairs)


def _at_copies(unseen: list[Unseen], nodes: list[DrawNode]) -> tuple[Unseen, ...]:
    """Put what is in a box that stands beside each of its users into the first copy."""
    box_of = {item.key.rpartition("#")[0]: item.key for item in reversed(nodes) if not item.count}
    box_of |= {item.key: item.key for item in nodes}
    return tuple(replace(item, box=box_of[item.box]) for item in unseen)


def _beside_users(nodes: list[DrawNode], edges: tuple[DrawEdge, ...]) -> tuple[list[DrawNode], tuple[DrawEdge, ...]]:
    """Duplicate sources with many users, such as weights, beside each user.

    Dozens of edges across a large graph cannot be followed, and their layout takes minutes. Of a value that is made in
    the graph, such as a mask that every layer reads, a copy stands beside each folded user; it stays where it is.
    """
    uses = Counter(edge.source for edge in edges)
    made = {edge.target for edge in edges}
    shared = {item.key: item for item in nodes if uses[item.key] > MOST_USES}
    folded = {item.key for item in nodes if item.look == "folded"}
    copies: list[DrawNode] = []
    moved: list[DrawEdge] = []
    for number, edge in enumerate(edges):
        item = shared.get(edge.source)
        if item is None or (item.key in made and (edge.target not in folded or item.key in folded)):
            moved.append(edge)
        else:
            copies.append(replace(item, key=f"{item.key}#{number}", count=0))
            moved.append(replace(edge, source=copies[-1].key))
    return [*(item for item in nodes if item.key not in shared or item.key in made), *copies], tuple(moved)


def _groups_with_weights(drawing: Drawing) -> dict[str, tuple[str, ...]]:
    """Return the groups of each node; a weight is in those that all its users are in, or else among many others."""
    group_of = {item.key: item.group for item in drawing.nodes}
    weights = {item.key for item in drawing.nodes if item.is_weight}
    found: dict[str, tuple[str, ...]] = {}
    for edge in drawing.edges:
        if edge.source in weights:
            names = group_of[edge.target]
            found[edge.source] = common_path(found[edge.source], names) if edge.source in found else names
    shared = [item for item in drawing.nodes if item.is_weight and not found.get(item.key)]
    if len(shared) > MOST_WEIGHTS:
        found |= {item.key: (f"{item.function}/weights",) for item in shared}
    return group_of | found


def common_path(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...]:
    """Return the groups, from the outermost on, that two nodes are in."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False))
    return tuple(name for name, _ in same)


def group_words(name: str) -> str:
    """Return what a group is called in a picture: its name without those around it."""
    return name.rpartition("/")[2]


def _folded_node(key: str, name: str, members: list[DrawNode], around: Mapping[str, str]) -> DrawNode:
    """Return the node that stands for the members of a group."""
    first = next((item for item in members if item.group), members[0])
    weights = sum(item.is_weight for item in members)
    changed = sum(item.mark != "unchanged" for item in members)
    faults = sum(bool(item.fault) for item in members)
    inner = len(members) - weights
    words = [plural(inner, "node") if inner else "", plural(weights, "weight") if weights else ""]
    words.append(f"{changed:,} changed" if changed else "")
    return DrawNode(
        key,
        "folded",
        group_words(name),
        ", ".join(filter(None, words)),
        cluster=around.get(first.cluster, first.cluster),
        group=(name,),
        node=first.node,
        line=first.line,
        function=first.function,
        count=len(members),
        mark="changed" if changed else "unchanged",
        fault=f"{plural(faults, 'faulty node')} inside" if faults else "",
        is_weight=not inner,
    )


def _joined(edges: tuple[DrawEdge, ...], key_of: dict[str, str]) -> tuple[DrawEdge, ...]:
    """Move edges to the nodes that are shown; those inside a group vanish, parallel ones become one."""
    first: dict[tuple[str, str, str, str], DrawEdge] = {}
    counts: dict[tuple[str, str, str, str], int] = {}
    for edge in edges:
        source, target = key_of[edge.source], key_of[edge.target]
        if source == target:
            continue
        is_moved = (source, target) != (edge.source, edge.target)
        key = (source, target, edge.kind, "" if is_moved else edge.label)
        first.setdefault(key, edge)
        counts[key] = counts.get(key, 0) + edge.count
    return tuple(
        replace(edge, source=key[0], target=key[1], label=key[3], count=counts[key]) for key, edge in first.items()
    )


def used_clusters(clusters: Iterable[DrawCluster], nodes: Iterable[DrawNode]) -> tuple[DrawCluster, ...]:
    """Return the boxes that hold a node, or a box that does."""
    by_key = {item.key: item for item in clusters}
    used: set[str] = set()
    for item in nodes:
        key = item.cluster
        while key and key not in used:
            used.add(key)
            key = by_key[key].parent
    return tuple(item for item in by_key.values() if item.key in used)
