"""Weights, constants and shape arithmetic are counted at their users, in place of being drawn."""

import pytest
from msgspec.structs import replace

from relax_core.engine.protocol import CompareGraph, GraphOf, PipelineOf, Program
from relax_core.engine.session import Session
from relax_core.present.drawings.drawing import DrawEdge, Drawing, DrawNode
from relax_core.present.drawings.graph import function_graph
from relax_core.present.drawings.hiding import small_count, without_small
from relax_core.present.models import Graph
from tests.engine.asking import ask
from tests.present.layered import layered
from tests.present.programs import facts_of, parsed

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 4), "float32"), b: R.Tensor((4,), "float32")):
        R.func_attr({"num_input": 1})
        s = R.shape_of(x)
        y = R.reshape(x, s)
        z = R.matmul(y, w)
        a = R.add(z, b)
        c = R.add(a, R.const(1.0, "float32"))
        return c
"""


def bare(text: str, *opened: str, shown: frozenset[str] = frozenset()) -> Graph:
    return function_graph("main", facts_of(parsed(text).modules[0]), opened, shown, is_bare=True)


def subtitles(graph: Graph) -> dict[str, str]:
    return {node.title: node.subtitle.partition("+")[2] for node in graph.nodes}


def test_what_is_small_is_counted_where_it_is_used() -> None:
    graph = bare(PROGRAM)
    assert [node.title for node in graph.nodes] == ["x", "reshape", "matmul", "add", "add", "return c"]
    counted = [node.subtitle.rpartition("+")[2] for node in graph.nodes if "+" in node.subtitle]
    assert counted == ["1 shape", "1 weight", "1 weight", "1 constant"]
    assert (graph.small_count, graph.is_bare) == (4, True)


def test_without_the_switch_all_is_drawn_and_counted() -> None:
    graph = function_graph("main", facts_of(parsed(PROGRAM).modules[0]))
    assert len(graph.nodes) == 10
    assert (graph.small_count, graph.is_bare) == (4, False)


def test_a_node_to_be_shown_is_drawn() -> None:
    weight = next(
        node for node in function_graph("main", facts_of(parsed(PROGRAM).modules[0])).nodes if node.title == "w"
    )
    assert "w" in [node.title for node in bare(PROGRAM, shown=frozenset((weight.node,))).nodes]


def drawing(*edges: tuple[str, str]) -> Drawing:
    names = dict.fromkeys(name for edge in edges for name in edge)
    nodes = tuple(DrawNode(name, "op", name, is_shape=name.islower()) for name in sorted(names, key=str.lower))
    return Drawing("", nodes, tuple(DrawEdge(a, b) for a, b in edges))


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        pytest.param((("a", "B"), ("a", "C")), {"B": "+1 shape", "C": "+1 shape"}, id="one with two users"),
        pytest.param((("a", "b"), ("b", "C")), {"C": "+2 shapes"}, id="a chain"),
        pytest.param((("a", "b"), ("a", "C"), ("b", "C")), {"C": "+2 shapes"}, id="used within and outside"),
        pytest.param((("A", "b"), ("b", "C")), {"A": "", "C": "+1 shape"}, id="between two"),
        pytest.param((("A", "b"),), {"A": ""}, id="no user"),
    ],
)
def test_the_counts_of(edges: tuple[tuple[str, str], ...], expected: dict[str, str]) -> None:
    found = without_small(drawing(*edges))
    assert {item.key: item.sub for item in found.nodes} == expected
    assert all({edge.source, edge.target} <= expected.keys() for edge in found.edges)


def test_what_a_pass_changed_and_what_is_faulty_stays() -> None:
    whole = drawing(("a", "C"), ("b", "C"))
    marked = replace(
        whole, nodes=(replace(whole.nodes[0], mark="added"), replace(whole.nodes[1], fault="TY001"), whole.nodes[2])
    )
    assert without_small(marked).nodes == marked.nodes
    assert small_count(marked) == 2


def test_weights_that_are_folded_together_are_counted_by_use() -> None:
    whole = Drawing(
        "",
        (DrawNode("w", "folded", "weights", is_weight=True, count=20), DrawNode("B", "op", "B")),
        (DrawEdge("w", "B", count=3),),
    )
    assert [(item.key, item.sub) for item in without_small(whole).nodes] == [("B", "+3 weights")]


def test_an_open_layer_has_no_weights_and_a_folded_one_says_how_many_it_has() -> None:
    everything = "main/block 0.0/layers × 40"
    graph = bare(layered(40), everything, f"{everything}/layers_3")
    assert not any(node.title.startswith("layers_3_") for node in graph.nodes)
    assert subtitles(graph)["permute_dims"] == "1 weight"
    assert any(node.subtitle.endswith("2 weights") for node in graph.nodes if node.group)


def test_the_requests_hide_and_compare() -> None:
    session, that = Session(), Program(name="m.py", text=PROGRAM)
    assert ask(session, GraphOf(that, function="main", is_bare=True)) == bare(PROGRAM)
    ask(session, PipelineOf(that))
    compared = ask(session, CompareGraph(that, 4, is_bare=True))
    assert not any(node.title == "w" for node in compared.nodes)
    assert any("+1 weight" in node.subtitle for node in compared.nodes)


def test_what_is_not_drawn_is_told_with_what_stands_for_it_and_the_way_to_it() -> None:
    everything = "main/block 0.0/layers × 40"
    graph = bare(layered(40), everything)
    title_of = {node.id: node.title for node in graph.nodes}
    told = {item.title: item for item in graph.unseen if item.name == item.title}
    assert title_of[told["layers_3_proj"].box] == "layers_3"
    assert graph.ways[told["layers_3_proj"].way] == (everything, f"{everything}/layers_3")
    assert title_of[told["embedding"].box] == "add"
    drawn = {node.node for node in graph.nodes if not node.group}
    assert len(drawn) + len(graph.unseen) == graph.node_count
    assert drawn.isdisjoint(item.node for item in graph.unseen)
    shown = bare(layered(40), shown=frozenset((told["embedding"].node, told["layers_3_proj"].node)))
    assert {"embedding", "layers_3_proj"} <= {node.title for node in shown.nodes}


def test_hidden_weights_are_at_their_first_user_and_chains_of_shapes_at_the_user_of_the_last() -> None:
    whole = drawing(("a", "b"), ("b", "C"), ("a", "D"), ("e", "E"))
    found = {item.node.key: item.box for item in without_small(whole).unseen}
    assert found == {"a": "C", "b": "C", "e": "E"}


def test_what_comes_into_a_region_is_no_small_node() -> None:
    nodes = (DrawNode("c", "constant", "1"), DrawNode("port", "begin", "begin", count=0), DrawNode("B", "op", "B"))
    whole = Drawing("", nodes, (DrawEdge("c", "port"), DrawEdge("port", "B")))
    assert without_small(whole).nodes == nodes
    assert small_count(whole) == 0
