"""The film of a pipeline: what a pass leaves alone stays in its place, and each stage shows what it has."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from itertools import pairwise

import pytest
from msgspec.structs import replace

from relax_core.engine.protocol import Failure, FilmOf, GraphOf
from relax_core.engine.session import Session
from relax_core.ir.expr import Var
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.passes.pipeline import run_pipeline
from relax_core.present.drawings.drawing import DrawCluster, DrawEdge, Drawing, DrawNode
from relax_core.present.drawings.film import MOST_SLOTS, DrawnStage, draw_stage, film
from relax_core.present.drawings.svg import Extent, extent_of
from relax_core.present.drawings.tracks import Tracks, follow
from relax_core.present.models import Film
from tests.engine.programs import SAMPLES, program
from tests.present.programs import facts_of, sample

PATHS = (
    "relax/mlp.py",
    "relax/even_odd.py",
    "relax/closure_captures.py",
    "relax/partition_paths.py",
    "relay/conditional.relay",
    "relay/lstm_list.relay",
)


def drawn_of(path: str) -> tuple[DrawnStage, ...]:
    """Run the default pipeline on a sample, and draw each stage."""
    module = sample(path).modules[0]
    drawn = [DrawnStage("Source", draw_stage(facts_of(module)), RewriteLog())]
    logs: list[RewriteLog] = []
    for number, stage in enumerate(run_pipeline(module), 1):
        logs.append(stage.log)
        drawing = draw_stage(facts_of(stage.after, number, RewriteLog.merged(logs)))
        drawn.append(DrawnStage(stage.pass_name, drawing, stage.log))
    return tuple(drawn)


def film_of(path: str) -> Film:
    """Ask for the film of a sample."""
    reply = Session().request(FilmOf(program((SAMPLES / path).read_text(encoding="utf-8"))))
    assert not isinstance(reply, Failure), reply.message
    return reply


def extents(made: Film) -> dict[str, Extent]:
    """Return where each node of the picture is, moved as its group is."""
    root = ET.fromstring(made.graph.svg.replace(' xmlns="http://www.w3.org/2000/svg"', "", 1))
    found: dict[str, Extent] = {}
    for group in root.iter("g"):
        if "node" in group.get("class", "").split():
            x, y = map(float, group.get("transform", "translate(0 0)").removeprefix("translate(").strip(")").split())
            box = extent_of(group)
            found[group.get("id", "")] = Extent(box.left + x, box.top + y, box.right + x, box.bottom + y)
    return found


@pytest.mark.parametrize("path", PATHS)
def test_a_node_that_a_pass_left_alone_keeps_its_place_and_nothing_else_is_put_there(path: str) -> None:
    drawn = drawn_of(path)
    tracks = follow([item.drawing for item in drawn], [item.log for item in drawn])
    kept = 0
    for number, stage in enumerate(drawn):
        of = tracks.slot_of[number]
        assert len({slot.number for slot in of.values()}) == len(stage.drawing.nodes)
        if number:
            before = {node: item for item in drawn[number - 1].drawing.nodes for node in item.ir[:1]}
            for item in stage.drawing.nodes:
                old = before.get(item.ir[0])
                if old is not None and (old.function, old.look) == (item.function, item.look):
                    is_at_home = boxes_around(tracks, number, item) == boxes_around(tracks, number - 1, old)
                    assert not is_at_home or tracks.slot_of[number - 1][old.key] is of[item.key]
                    kept += is_at_home
    assert kept > len(drawn)


def boxes_around(tracks: Tracks, number: int, item: DrawNode) -> list[str]:
    """Return the boxes that a node is seen in at a stage, from the innermost one."""
    return [box for box in tracks.chain(tracks.slot_of[number][item.key].home) if box in tracks.boxes[number]]


@pytest.mark.parametrize("path", PATHS)
def test_every_stage_shows_each_node_in_the_boxes_that_the_program_has_there(path: str) -> None:
    drawn = drawn_of(path)
    tracks = follow([item.drawing for item in drawn], [item.log for item in drawn])
    for number, stage in enumerate(drawn):
        parents = {item.key: item.parent for item in stage.drawing.clusters}
        kinds = {item.key: (item.kind, item.label) for item in stage.drawing.clusters}
        assert len(tracks.boxes[number]) == len(kinds)
        for item in stage.drawing.nodes:
            seen = [tracks.boxes[number][box] for box in boxes_around(tracks, number, item)]
            wanted: list[tuple[str, str]] = []
            box = item.cluster
            while box:
                wanted.append(kinds[box])
                box = parents[box]
            assert [(box.kind, box.label) for box in seen] == wanted


@pytest.mark.parametrize("path", PATHS)
def test_the_looks_of_a_place_cover_each_other_and_every_item_is_in_the_picture(path: str) -> None:
    made = film_of(path)
    boxes = extents(made)
    place_of = dict(zip((node.id for node in made.graph.nodes), made.places, strict=True))
    assert set(boxes) == set(place_of)
    home: dict[int, Extent] = {}
    for id_, place in place_of.items():
        first = home.setdefault(place, boxes[id_])
        for side in ("left", "top", "right", "bottom"):
            assert getattr(boxes[id_], side) == pytest.approx(getattr(first, side), abs=0.6), id_
    assert len(home) < len(place_of), "a pass changed a node where it stands"
    ids = {group.get("id") for group in ET.fromstring(made.graph.svg).iter() if group.get("id")}
    for frame in made.frames:
        assert {item.id for item in frame.items} <= ids
        shown = [place_of[item.id] for item in frame.items if item.id in place_of]
        assert len(shown) == len(set(shown)), "of a place one look is shown, or its shadow"


def test_each_frame_has_the_nodes_and_edges_of_the_graph_of_its_stage() -> None:
    made, session = film_of("relax/mlp.py"), Session()
    that = program((SAMPLES / "relax/mlp.py").read_text(encoding="utf-8"))
    for number, stage in enumerate(made.stages):
        graph = session.request(GraphOf(that, number, "main"))
        assert not isinstance(graph, Failure)
        items = [item for item in made.frames[stage.frame].items if not item.is_gone]
        titles = {node.id: (node.title, node.subtitle) for node in made.graph.nodes}
        assert sorted(titles[item.id] for item in items if item.id in titles) == sorted(
            (node.title, node.subtitle) for node in graph.nodes
        )
        assert sum(item.id.startswith("e") for item in items) == len(graph.edges)


def test_a_stage_says_what_its_pass_did() -> None:
    words = {stage.name: stage.words for stage in film_of("seeds/print_closure2.py").stages}
    assert words["LambdaLift"] == "2 added, 1 moved"
    assert words["Normalize"] == ""
    assert words["VMShapeLower"] == "6 added"


def two(first: Drawing, second: Drawing) -> tuple[DrawnStage, ...]:
    """Return the source and a stage."""
    return DrawnStage("Source", first, RewriteLog()), DrawnStage("Pass", second, RewriteLog())


def drawing(*nodes: DrawNode, clusters: tuple[DrawCluster, ...] = ()) -> Drawing:
    """Return a drawing with an edge from each node to the next one."""
    edges = (DrawEdge(a.key, b.key) for a, b in pairwise(nodes))
    return Drawing("m", nodes, tuple(edges), clusters)


def node(name: str, cluster: str = "") -> DrawNode:
    """Return a node that is the same in every drawing that it is in."""
    return DrawNode(f"main:{name}", "op", name, cluster=cluster, ir=(VARIABLES[name],), function="main")


VARIABLES = {name: Var(name, None) for name in "abc"}
OUTER = DrawCluster("fn:main", "function", "@main")
BLOCK = DrawCluster("df", "dataflow", "dataflow", "fn:main")


def marks(made: Film, frame: int) -> Iterator[tuple[str, str, bool]]:
    """Yield title, mark and whether it is gone of what a frame has nodes of."""
    titles = {node.id: node.title for node in made.graph.nodes}
    return ((titles[item.id], item.mark, item.is_gone) for item in made.frames[frame].items if item.id in titles)


def test_a_block_that_goes_leaves_its_nodes_where_they_are() -> None:
    before = drawing(node("a", "df"), node("b", "df"), clusters=(OUTER, BLOCK))
    after = drawing(node("a", "fn:main"), node("b", "fn:main"), clusters=(OUTER,))
    made = film(two(before, after), "m")
    assert list(marks(made, 1)) == [("a", "unchanged", False), ("b", "unchanged", False)]
    assert made.stages[1].words == "edges, boxes or types only"
    assert len(made.graph.nodes) == 2


def test_a_node_that_leaves_a_block_that_stays_has_moved() -> None:
    before = drawing(node("a", "df"), node("b", "df"), clusters=(OUTER, BLOCK))
    after = drawing(node("a", "df"), node("b", "fn:main"), clusters=(OUTER, BLOCK))
    made = film(two(before, after), "m")
    assert list(marks(made, 1)) == [("a", "unchanged", False), ("b", "moved", False), ("b", "moved", True)]
    assert made.stages[1].words == "1 moved"


def test_a_block_keeps_its_place_whatever_its_number_is() -> None:
    before = drawing(node("a", "df"), node("b", "df"), clusters=(OUTER, BLOCK))
    other = (replace(BLOCK, key="df"), replace(BLOCK, key="df2"))
    after = drawing(node("c", "df"), node("a", "df2"), node("b", "df2"), clusters=(OUTER, *other))
    made = film(two(before, after), "m")
    assert [mark for _, mark, _ in marks(made, 1)] == ["added", "unchanged", "unchanged"]
    boxes = [item for item in made.frames[1].items if item.id.startswith("c")]
    assert sorted(item.mark for item in boxes) == ["added", "unchanged", "unchanged"]


def test_what_is_removed_leaves_a_shadow_for_one_stage() -> None:
    first, second = drawing(node("a"), node("b")), drawing(node("a"))
    drawn = (*two(first, second), DrawnStage("Later", drawing(node("a"), node("c")), RewriteLog()))
    made = film(drawn, "m")
    assert list(marks(made, 1)) == [("a", "unchanged", False), ("b", "removed", True)]
    assert list(marks(made, 2)) == [("a", "unchanged", False), ("c", "added", False)]


def test_a_stage_with_the_same_drawing_has_the_same_frame() -> None:
    same = drawing(node("a"))
    made = film(two(same, same), "m")
    assert [(stage.frame, stage.is_changed) for stage in made.stages] == [(0, False), (0, False)]


def test_what_is_too_large_or_empty_says_so() -> None:
    large = Drawing("m", tuple(DrawNode(str(n), "op", "x", function="main") for n in range(MOST_SLOTS + 1)), ())
    made = film((DrawnStage("Source", large, RewriteLog()),), "m")
    assert (made.graph.svg, made.graph.empty_title) == ("", "Too large for a film")
    assert made.graph.empty_text.startswith(f"The stages together have {MOST_SLOTS + 1} nodes")
    none = film((DrawnStage("Source", Drawing("m", (), ()), RewriteLog()),), "m")
    assert (none.graph.node_count, none.graph.empty_title) == (0, "No film")
