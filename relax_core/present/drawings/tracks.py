"""What is one and the same in the drawings of many stages: nodes by their origins, boxes by what is in them.

A node keeps its *slot*, a place of the common layout, while passes leave it alone or change it where it stands.
A layout can put a slot into one nest of boxes only. At a stage that lacks some of these boxes, the slot lies in those
that are there; where this is not the nest that the program has there, the node has moved and is given another slot.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from msgspec.structs import replace

from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.present.drawings.compare import pairs_of
from relax_core.present.drawings.drawing import DrawCluster, DrawEdge, Drawing, DrawNode, Look

_SHAPE_OF_LOOK: Mapping[Look, str] = MappingProxyType({
    "param": "end", "return": "end", "merge": "pill", "field": "circle", "if": "diamond", "cases": "hexagon",
    "begin": "port", "end": "port", "region": "label",
})  # fmt: skip
"""The shapes that a node keeps for as long as it has its slot; all others are boxes."""


@dataclass(slots=True, eq=False)
class Slot:
    """A place of the layout: the box that it lies in, and the node that stands there in each drawing."""

    number: int
    home: str
    nodes: dict[int, DrawNode] = field(default_factory=dict[int, DrawNode])


@dataclass(frozen=True, slots=True, eq=False)
class Tracks:
    """The union of several drawings.

    `slot_of[k][key]` is the slot of a node of drawing `k`; `boxes[k]` are its boxes by the name that they have in all
    drawings; `came_from[k][key]` the slot of the node that it stems from in the drawing before, if that is another one.
    """

    slots: tuple[Slot, ...]
    slot_of: tuple[Mapping[str, Slot], ...]
    boxes: tuple[Mapping[str, DrawCluster], ...]
    came_from: tuple[Mapping[str, Slot], ...]
    parent_of: Mapping[str, str]
    edges: tuple[tuple[DrawEdge, ...], ...]
    """Of each drawing, between numbers of slots."""

    def chain(self, box: str) -> Iterator[str]:
        """Yield a box and those around it, from the innermost one."""
        return _chain(box, self.parent_of)


def follow(drawings: Sequence[Drawing], logs: Sequence[RewriteLog]) -> Tracks:
    """Follow nodes and boxes through `drawings`; `logs[k]` leads from drawing `k` to the one before it.

    Complexity: linear in the nodes of all drawings, and in the boxes of each times the depth of their nesting.
    """
    tracks, stems = _numbered(drawings, logs)
    boxes = _Boxes()
    names = [boxes.name(drawing, of) for drawing, of in zip(drawings, tracks, strict=True)]
    seen: defaultdict[int, dict[int, DrawNode]] = defaultdict(dict)
    for number, (drawing, of) in enumerate(zip(drawings, tracks, strict=True)):
        for item in drawing.nodes:
            seen[of[item.key]][number] = replace(item, cluster=names[number].get(item.cluster, ""))
    visible = [frozenset(of.values()) for of in names]
    slots: list[Slot] = []
    slot_of: list[dict[str, Slot]] = [{} for _ in drawings]
    for nodes in seen.values():
        for slot in _slots(nodes, visible, boxes.parent_of, len(slots)):
            slots.append(slot)
            for number, item in slot.nodes.items():
                slot_of[number][item.key] = slot
    came_from = [
        {
            key: slot_of[number - 1][old]
            for key, old in of.items()
            if slot_of[number - 1][old] is not slot_of[number][key]
        }
        for number, of in enumerate(stems)
    ]
    return Tracks(
        tuple(slots),
        tuple(slot_of),
        tuple(_named(drawing, of) for drawing, of in zip(drawings, names, strict=True)),
        tuple(came_from),
        boxes.parent_of,
        tuple(_edges(*each) for each in zip(drawings, slot_of, names, strict=True)),
    )


def _numbered(
    drawings: Sequence[Drawing], logs: Sequence[RewriteLog]
) -> tuple[list[dict[str, int]], list[Mapping[str, str]]]:
    """Number what is followed: a node goes on with the number of the one that it stems from, in its function."""
    count = 0
    tracks: list[dict[str, int]] = []
    stems: list[Mapping[str, str]] = []
    for number, drawing in enumerate(drawings):
        before = drawings[number - 1] if number else None
        stem: Mapping[str, str] = pairs_of(before, drawing, logs[number]) if before is not None else {}
        by_key = {item.key: item for item in before.nodes} if before is not None else {}
        track: dict[str, int] = {}
        for item in drawing.nodes:
            old = by_key.get(stem.get(item.key, ""))
            if old is not None and old.function == item.function and _shape(old) == _shape(item):
                track[item.key] = tracks[-1][old.key]
            else:
                track[item.key], count = count, count + 1
        tracks.append(track)
        stems.append(stem)
    return tracks, stems


def _shape(item: DrawNode) -> str:
    return _SHAPE_OF_LOOK.get(item.look, "box")


class _Boxes:
    """Gives boxes names that they keep from drawing to drawing."""

    def __init__(self) -> None:
        self.parent_of: dict[str, str] = {}
        self._kind_of: dict[str, str] = {}
        self._around: dict[int, tuple[str, ...]] = {}
        """Of each node that is followed, the names of the boxes around it in the drawing before."""

    def name(self, drawing: Drawing, track: Mapping[str, int]) -> dict[str, str]:
        """Return the name of each box of the next drawing: of the one that held most of the nodes in it."""
        parents = {item.key: item.parent for item in drawing.clusters}
        votes: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for item in drawing.nodes:
            for box in _chain(item.cluster, parents):
                votes[box].update(self._around.get(track[item.key], ()))
        named = self._found(drawing, votes)
        self._settle(drawing, named)
        self._around = {
            track[item.key]: tuple(named[box] for box in _chain(item.cluster, parents)) for item in drawing.nodes
        }
        return named

    def _found(self, drawing: Drawing, votes: Mapping[str, Counter[str]]) -> dict[str, str]:
        named: dict[str, str] = {}
        taken: set[str] = set()
        for item in drawing.clusters:
            if item.kind == "function":
                known = [item.key] if item.key in self._kind_of else []
            else:
                known = [name for name, _ in votes.get(item.key, Counter[str]()).most_common()]
            same = [name for name in known if self._kind_of[name] == item.kind and name not in taken]
            if same:
                named[item.key] = same[0]
                taken.add(same[0])
        return named

    def _settle(self, drawing: Drawing, named: dict[str, str]) -> None:
        """Take from boxes names that stand for a box in another nest, and give names to those without."""
        is_settled = False
        while not is_settled:
            visible = frozenset(named.values())
            wrong = [
                item.key
                for item in drawing.clusters
                if item.key in named
                and _home(self.parent_of[named[item.key]], visible, self.parent_of)
                != named.get(item.parent, item.parent)
            ]
            for key in wrong:
                del named[key]
            is_settled = not wrong
        for item in drawing.clusters:
            if item.key not in named:
                name = item.key if item.key not in self._kind_of else f"{item.key}:{len(self._kind_of)}"
                named[item.key] = name
                self._kind_of[name] = item.kind
                self.parent_of[name] = named[item.parent] if item.parent else ""


def _chain(box: str, parent_of: Mapping[str, str]) -> Iterator[str]:
    while box:
        yield box
        box = parent_of[box]


def _home(box: str, visible: frozenset[str], parent_of: Mapping[str, str]) -> str:
    """Return the box that something in `box` is seen in where only some boxes are there."""
    return next((item for item in _chain(box, parent_of) if item in visible), "")


def _slots(
    nodes: Mapping[int, DrawNode], visible: Sequence[frozenset[str]], parent_of: Mapping[str, str], first: int
) -> Iterator[Slot]:
    """Yield the slots of what is followed: as few as can be, each in a box that is right wherever it is used."""
    rest = dict(nodes)
    while rest:
        homes = dict.fromkeys(item.cluster for item in rest.values())
        fits = {
            home: [number for number, item in rest.items() if _home(home, visible[number], parent_of) == item.cluster]
            for home in homes
        }
        home = max(homes, key=lambda home: (len(fits[home]), sum(1 for _ in _chain(home, parent_of))))
        yield Slot(first, home, {number: rest.pop(number) for number in fits[home]})
        first += 1


def _named(drawing: Drawing, names: Mapping[str, str]) -> dict[str, DrawCluster]:
    return {
        names[item.key]: replace(item, key=names[item.key], parent=names.get(item.parent, ""))
        for item in drawing.clusters
    }


def _edges(drawing: Drawing, slot_of: Mapping[str, Slot], names: Mapping[str, str]) -> tuple[DrawEdge, ...]:
    return tuple(
        replace(
            edge,
            source=str(slot_of[edge.source].number),
            target=str(slot_of[edge.target].number),
            to_cluster=names.get(edge.to_cluster, ""),
        )
        for edge in drawing.edges
    )
