"""A film: the graphs of all stages as one picture, in which what passes leave alone never moves.

The union of the stages is laid out once. A node that passes change where it stands has one place and several looks: the
place is made large enough for each, and the looks are drawn apart and put there.
"""

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from msgspec.structs import replace

from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.present.drawings.compare import is_alike
from relax_core.present.drawings.dot import write_dot
from relax_core.present.drawings.drawing import DrawEdge, Drawing, DrawNode, used_clusters
from relax_core.present.drawings.flow import GraphContext
from relax_core.present.drawings.graph import draw_relax, edges_legend, graph_node, with_faults
from relax_core.present.drawings.svg import GraphTooLargeError, extent_of, layout
from relax_core.present.drawings.tracks import Slot, Tracks, follow
from relax_core.present.models import Film, FilmFrame, FilmItem, FilmStage, Graph, GraphEdge, LegendEntry, Mark

MOST_SLOTS = 400
"""A film has at most so many places for nodes: a layout of more takes long, and too little of it is seen at once."""
_MARKS: tuple[Mark, ...] = ("added", "removed", "changed", "moved")
_SPACE = ' xmlns="http://www.w3.org/2000/svg"'


@dataclass(frozen=True, slots=True, eq=False)
class DrawnStage:
    """A stage of the pipeline with its drawing; `log` leads to the stage before."""

    name: str
    drawing: Drawing
    log: RewriteLog
    words: str = ""
    """Said of the stage in place of what became of its nodes, if the pass failed, for example."""


def draw_stage(facts: GraphContext) -> Drawing:
    """Draw all Relax or Relay functions of a stage."""
    names = tuple(var.name for var, _ in facts.module.relax_functions)
    return with_faults(draw_relax(facts, names), facts, names)


def film(drawn: Sequence[DrawnStage], title: str) -> Film:
    """Draw the stages of a pipeline, the source first, as one film.

    Stages that follow each other with the same drawing, as an object, have one frame.
    """
    first_of: dict[int, int] = {}
    for number, stage in enumerate(drawn):
        if number == 0 or stage.drawing is not drawn[number - 1].drawing:
            first_of[number] = len(first_of)
    tracks = follow([drawn[number].drawing for number in first_of], [drawn[number].log for number in first_of])
    if not tracks.slots:
        return _nothing(title, "No film", "No stage has a Relax function. The texts show what each pass does.")
    if len(tracks.slots) > MOST_SLOTS:
        words = f"The stages together have {len(tracks.slots):,} nodes, and a film shows at most {MOST_SLOTS}."
        return _nothing(title, _TOO_LARGE, f"{words} {_INSTEAD}", len(tracks.slots))
    picture = _Picture(tracks, title)
    try:
        graph = picture.graph()
    except GraphTooLargeError:
        words = "The picture of all stages is too large to be laid out."
        return _nothing(title, _TOO_LARGE, f"{words} {_INSTEAD}", len(tracks.slots))
    frames = tuple(picture.frame(frame, drawn[number].drawing) for number, frame in first_of.items())
    stages = tuple(_stages(drawn, first_of, frames))
    return Film(graph, stages, frames, picture.places)


def _stages(
    drawn: Sequence[DrawnStage], first_of: Mapping[int, int], frames: Sequence[FilmFrame]
) -> Iterator[FilmStage]:
    frame = 0
    for number, stage in enumerate(drawn):
        frame = first_of.get(number, frame)
        before = frames[frame - 1].items if number and number in first_of else frames[frame].items
        is_changed = _seen(before) != _seen(frames[frame].items)
        words = _words(frames[frame].items) or "edges, boxes or types only"
        yield FilmStage(stage.name, frame, is_changed, stage.words or (words if is_changed else ""))


def _seen(items: Iterable[FilmItem]) -> frozenset[str]:
    return frozenset(item.id for item in items if not item.is_gone)


def _words(items: Iterable[FilmItem]) -> str:
    """Count what a pass did to nodes; one that moved has left one place and come to another."""
    nodes = (item for item in items if item.id[0] == "n" and not (item.mark == "moved" and item.is_gone))
    count = Counter(item.mark for item in nodes)
    return ", ".join(f"{count[mark]} {mark}" for mark in _MARKS if count[mark])


_TOO_LARGE = "Too large for a film"
_INSTEAD = "The graph of a single pass shows what that pass changed."


def _nothing(title: str, head: str, words: str, node_count: int = 0) -> Film:
    return Film(Graph("", title=title, node_count=node_count, empty_title=head, empty_text=words))


@dataclass(frozen=True, slots=True, eq=False)
class _Look:
    """How a node is drawn, and its id in the picture."""

    id: str
    item: DrawNode


def _drawn(item: DrawNode) -> tuple[str | bool, ...]:
    """Return what is seen of a node: where this is the same, it has the same look."""
    return item.look, item.title, item.sub, item.tag, item.category, item.is_open, item.fault


class _Picture:
    """The union of all stages as it is laid out, with the ids of everything in it."""

    def __init__(self, tracks: Tracks, title: str) -> None:
        self._tracks = tracks
        self._title = title
        self._looks: dict[int, dict[tuple[str | bool, ...], _Look]] = {}
        """Of each slot, by what is seen."""
        count = len(tracks.slots)
        for slot in tracks.slots:
            looks = self._looks[slot.number] = {}
            for item in slot.nodes.values():
                if _drawn(item) not in looks:
                    # The first look of a slot has the id that the layout gives the slot.
                    number, count = (count, count + 1) if looks else (slot.number, count)
                    looks[_drawn(item)] = _Look(f"n{number}", item)
        edges = dict.fromkeys(self._edge(edge) for edges in tracks.edges for edge in edges)
        self._edges = {edge: f"e{number}" for number, edge in enumerate(edges)}
        boxes = {name: replace(box, parent=tracks.parent_of[name]) for of in tracks.boxes for name, box in of.items()}
        self._slots = tuple(self._place(slot, (0.0, 0.0)) for slot in tracks.slots)
        self._boxes = used_clusters(boxes.values(), self._slots)
        self._box_ids = {box.key: f"c{number}" for number, box in enumerate(self._boxes)}

    def _edge(self, edge: DrawEdge) -> DrawEdge:
        """Let an edge end at the border of a box only where its target lies in that box."""
        home = self._tracks.slots[int(edge.target)].home
        return edge if edge.to_cluster in self._tracks.chain(home) else replace(edge, to_cluster="")

    def _place(self, slot: Slot, size: tuple[float, float]) -> DrawNode:
        first = next(iter(slot.nodes.values()))
        return replace(first, key=str(slot.number), cluster=slot.home, least=size)

    @property
    def places(self) -> tuple[int, ...]:
        """Return the number of the slot of each node of the graph."""
        return tuple(number for number, looks in self._looks.items() for _ in looks)

    def graph(self) -> Graph:
        """Lay out the picture.

        Raises:
            GraphTooLargeError: it does not go through a pipe.
        """
        sizes = self._sizes()
        slots = tuple(replace(item, least=sizes.get(int(item.key), item.least)) for item in self._slots)
        dot = write_dot(Drawing(self._title, slots, tuple(self._edges), self._boxes))
        looks = (look for of in self._looks.values() for look in of.values())
        return Graph(
            self._with_looks(layout(dot), sizes),
            tuple(graph_node(look.item, look.id) for look in looks),
            tuple(GraphEdge(f"n{edge.source}", f"n{edge.target}", edge.kind) for edge in self._edges),
            (*(LegendEntry(mark, mark) for mark in _MARKS), *edges_legend(self._edges)),
            self._title,
            len(slots),
            dot=dot,
        )

    def _several(self) -> Iterator[tuple[int, _Look]]:
        for number, looks in self._looks.items():
            if len(looks) > 1:
                yield from ((number, look) for look in looks.values())

    def _sizes(self) -> Mapping[int, tuple[float, float]]:
        """Return the size of each slot with several looks: that of the largest one, each way."""
        several = tuple(self._several())
        sizes: dict[int, tuple[float, float]] = {}
        for (number, _), group in zip(several, _apart(look.item for _, look in several), strict=True):
            box = extent_of(group)
            width, height = sizes.get(number, (0.0, 0.0))
            sizes[number] = max(width, box.right - box.left), max(height, box.bottom - box.top)
        return sizes

    def _with_looks(self, svg: str, sizes: Mapping[int, tuple[float, float]]) -> str:
        """Put the looks of each slot that has several in the place of the one that was laid out."""
        root, groups = _parsed(svg)
        several = tuple(self._several())
        drawn = _apart(replace(look.item, least=sizes[number]) for number, look in several)
        for (number, look), group in zip(several, drawn, strict=True):
            canvas, place = groups[f"n{number}"]
            if place in canvas:
                canvas.remove(place)
            old, new = extent_of(place), extent_of(group)
            right = (old.left + old.right - new.left - new.right) / 2
            down = (old.top + old.bottom - new.top - new.bottom) / 2
            group.set("transform", f"translate({right:.2f} {down:.2f})")
            group.set("id", look.id)
            canvas.append(group)
        return ET.tostring(root, encoding="unicode").replace("<svg", f"<svg{_SPACE}", 1)

    def frame(self, number: int, drawing: Drawing) -> FilmFrame:
        """Return what is shown of a drawing, with the marks of what its pass did."""
        of = self._tracks.slot_of
        marks: dict[str, Mark] = {item.key: self._mark(number, item) for item in drawing.nodes}
        nodes = [
            FilmItem(self._look(of[number][item.key], item).id, item.node, marks[item.key]) for item in drawing.nodes
        ]
        gone = self._gone(number) if number else ()
        return FilmFrame((*nodes, *gone, *self._lines(number)))

    def _mark(self, number: int, item: DrawNode) -> Mark:
        if number == 0:
            return "unchanged"
        old = self._tracks.slot_of[number][item.key].nodes.get(number - 1)
        if old is None:
            return "moved" if item.key in self._tracks.came_from[number] else "added"
        return "unchanged" if is_alike(old, item) else "changed"

    def _gone(self, number: int) -> Iterator[FilmItem]:
        """Yield what was there before the pass, and has no successor in its place."""
        of, came_from = self._tracks.slot_of, self._tracks.came_from
        here = {slot.number for slot in of[number].values()}
        left = {slot.number for slot in came_from[number].values()}
        for slot in of[number - 1].values():
            if slot.number not in here:
                look = self._look(slot, slot.nodes[number - 1])
                mark: Literal["moved", "removed"] = "moved" if slot.number in left else "removed"
                yield FilmItem(look.id, mark=mark, is_gone=True)

    def _lines(self, number: int) -> Iterator[FilmItem]:
        """Yield the edges and boxes of a drawing."""
        edges, boxes = self._tracks.edges, self._tracks.boxes
        before = frozenset(map(self._edge, edges[number - 1])) if number else frozenset(self._edges)
        for edge in dict.fromkeys(map(self._edge, edges[number])):
            yield FilmItem(self._edges[edge], mark=_came(was_there=edge in before))
        for name in boxes[number]:
            if name in self._box_ids:
                yield FilmItem(self._box_ids[name], mark=_came(was_there=number == 0 or name in boxes[number - 1]))

    def _look(self, slot: Slot, item: DrawNode) -> _Look:
        return self._looks[slot.number][_drawn(item)]


def _came(*, was_there: bool) -> Mark:
    return "unchanged" if was_there else "added"


def _apart(items: Iterable[DrawNode]) -> Iterator[ET.Element]:
    """Draw nodes that have nothing to do with each other."""
    alone = tuple(replace(item, key=str(number), cluster="") for number, item in enumerate(items))
    if alone:
        _, groups = _parsed(layout(write_dot(Drawing("", alone, ()))))
        yield from (groups[f"n{number}"][1] for number in range(len(alone)))


def _parsed(svg: str) -> tuple[ET.Element, Mapping[str, tuple[ET.Element, ET.Element]]]:
    """Return the root of a laid out picture, and by its id each group with the one that it is in."""
    root = ET.fromstring(svg.replace(_SPACE, "", 1))
    return root, {group.get("id", ""): (outer, group) for outer in root.iter("g") for group in outer.findall("g")}
