"""Layers that repeat are one box, opened level by level; weights are folded with what uses them."""

from relax_core.engine.protocol import CompareGraph, GraphOf, PipelineOf, Program
from relax_core.engine.session import Session
from relax_core.present.drawings.graph import function_graph
from relax_core.present.models import Graph
from tests.counting import lines_of
from tests.engine.asking import ask
from tests.present.layered import LAYER_LENGTH, attending, layered
from tests.present.programs import facts_of, parsed

ALL = "main/block 0.0/layers × 40"


def graph_of(text: str, *opened: str, shown: frozenset[str] = frozenset()) -> Graph:
    return function_graph("main", facts_of(parsed(text).modules[0]), opened, shown)


def titles(graph: Graph) -> list[str]:
    return [node.title for node in graph.nodes]


def test_layers_are_one_box_between_what_stands_before_and_behind() -> None:
    graph = graph_of(layered(40))
    assert titles(graph) == ["x", "embedding", "layers × 40", "head", "exp", "add", "multiply", "return gv"]
    (box,) = (node for node in graph.nodes if node.group)
    assert (box.group, box.subtitle) == (ALL, f"{40 * LAYER_LENGTH} nodes, 80 weights")
    assert graph.node_count == 40 * (LAYER_LENGTH + 2) + 7
    assert graph.opened == ()


def test_a_box_is_opened_level_by_level() -> None:
    layers = graph_of(layered(40), ALL)
    boxes = [node for node in layers.nodes if node.group]
    assert [node.title for node in boxes] == [f"layers_{number}" for number in range(40)]
    assert {node.subtitle for node in boxes} == {f"{LAYER_LENGTH} nodes, 2 weights"}
    assert layers.opened == ((ALL, "layers × 40"),)
    one = graph_of(layered(40), ALL, boxes[3].group)
    assert [node.title for node in one.nodes if node.group] == [f"layers_{n}" for n in range(40) if n != 3]
    assert titles(one).count("nn.relu") == 1
    assert {"layers_3_norm", "layers_3_proj"} < set(titles(one))
    assert [title for _, title in one.opened] == ["layers × 40", "layers_3"]


def test_a_value_that_every_layer_reads_stands_beside_each_box_too() -> None:
    graph = graph_of(layered(40), ALL, f"{ALL}/layers_3")
    masks = [node.id for node in graph.nodes if node.title == "exp"]
    assert len(masks) == 1 + 39
    assert len({node.node for node in graph.nodes if node.title == "exp"}) == 1
    assert all(sum(edge.source == mask for edge in graph.edges) == 1 for mask in masks)
    assert graph.node_count == graph_of(layered(40)).node_count


def test_a_layer_alone_is_not_open_while_the_box_around_it_is_closed() -> None:
    assert titles(graph_of(layered(40), f"{ALL}/layers_3")) == titles(graph_of(layered(40)))


def test_a_node_to_be_shown_opens_the_way_to_it() -> None:
    open_ = graph_of(layered(40), ALL, f"{ALL}/layers_7")
    node = next(node.node for node in open_.nodes if node.title == "tanh")
    graph = graph_of(layered(40), shown=frozenset((node,)))
    assert titles(graph) == titles(open_)
    # What was not asked for by its name cannot be closed by it.
    assert graph.opened == ()


def test_a_layer_that_differs_stands_apart() -> None:
    graph = graph_of(layered(60, others=(30,)))
    assert [node.title for node in graph.nodes if node.group] == ["layers × 30", "layers × 29"]
    assert "nn.silu" in titles(graph)


def test_layers_stay_one_box_whatever_passes_make_of_them() -> None:
    session, that = Session(), Program(name="model.py", text=layered(40))
    changed = [stage for stage in ask(session, PipelineOf(that)).stages if stage.is_changed]
    assert len(changed) > 5
    for stage in changed:
        graph = ask(session, GraphOf(that, stage.index, "main"))
        assert sum(node.title == "layers × 40" for node in graph.nodes) == 1, stage.name
        assert len(graph.nodes) < 60, stage.name


def test_a_graph_that_compares_says_how_much_of_a_box_changed_and_opens_it() -> None:
    session, that = Session(), Program(name="model.py", text=layered(40), pipeline="LegalizeOps")
    ask(session, PipelineOf(that))
    (box,) = (node for node in ask(session, CompareGraph(that, 1)).nodes if node.group)
    assert (box.title, box.mark) == ("layers × 40", "changed")
    assert f"{40 * LAYER_LENGTH:,} changed" in box.subtitle
    opened = ask(session, CompareGraph(that, 1, opened=(box.group, f"{box.group}/layers_0")))
    # A copy of a value beside each box that reads it is no further node that changed.
    assert [entry.text for entry in opened.legend if entry.sign == "changed"] == [f"changed {39 + LAYER_LENGTH + 3}"]


def test_a_graph_is_drawn_in_linear_time() -> None:
    def cost(count: int) -> int:
        facts = facts_of(parsed(layered(count)).modules[0])
        return lines_of(lambda: function_graph("main", facts))

    assert cost(240) / cost(60) < 5


def test_an_open_layer_has_boxes_of_its_modules_and_frames_around_what_is_open() -> None:
    everything = "main/block 0.0/layers × 20"
    layer = f"{everything}/layers_3"
    closed = graph_of(attending(20), everything, layer)
    modules = {node.title: node.subtitle for node in closed.nodes if node.group.startswith(f"{layer}/")}
    assert modules == {"attn": "11 nodes, 4 weights", "mlp": "3 nodes, 2 weights"}
    open_ = graph_of(attending(20), everything, layer, f"{layer}/attn", f"{layer}/attn/q")
    assert [title for _, title in open_.opened] == ["layers × 20", "layers_3", "attn", "q"]
    assert "nn.softmax" in titles(open_)
    assert open_.svg.count('class="cluster group"') == 4
    assert "mlp" in titles(open_)


def test_a_layer_whose_weights_tell_of_no_module_is_opened_at_once() -> None:
    graph = graph_of(layered(40), ALL, f"{ALL}/layers_3")
    assert not any(node.group.startswith(f"{ALL}/layers_3/") for node in graph.nodes)
