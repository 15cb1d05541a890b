"""A module with errors is drawn, with the errors at its nodes."""

import re

import pytest

from relax_core.engine.protocol import GraphOf, Inspect, Open
from relax_core.engine.session import Session
from relax_core.present.models import Graph, GraphNode, Inspector
from tests.engine.asking import ask
from tests.engine.programs import HEADER, SAMPLES, program, sample

ERRORS = sorted(path.relative_to(SAMPLES).as_posix() for path in (SAMPLES / "errors").iterdir())
_MORE = re.compile(r"\(and (\d+) more error")
_ELSEWHERE = re.compile(r"(\d+) errors? elsewhere")


def drawn(session: Session, path: str, function: str = "main") -> Graph:
    return ask(session, GraphOf(sample(path), 0, function))


def faults_of(graph: Graph) -> dict[str, str]:
    return {node.title: node.fault for node in graph.nodes if node.fault}


def error_count(graph: Graph) -> int:
    """Count the errors that a picture tells: at its nodes, and beside it."""
    told = sum(1 + sum(map(int, _MORE.findall(node.fault))) for node in graph.nodes if node.fault)
    return told + sum(int(number) for entry in graph.legend for number in _ELSEWHERE.findall(entry.text))


@pytest.mark.parametrize("path", ERRORS)
def test_every_error_is_told_once_in_the_picture_of_every_function(session: Session, path: str) -> None:
    view = ask(session, Open(sample(path)))
    for function in view.functions:
        graph = drawn(session, path, function)
        assert graph.svg
        assert error_count(graph) == view.status.error_count, function
        assert sum("✕" in label for label in graph.dot.split("\n")) == sum(bool(node.fault) for node in graph.nodes)
        assert graph.svg.count("faulty") == sum(bool(node.fault) for node in graph.nodes)


def test_an_ill_typed_call_is_marked_and_nothing_else(session: Session) -> None:
    graph = drawn(session, "errors/ty_matmul.py")
    assert set(faults_of(graph)) == {"matmul"}
    assert faults_of(graph)["matmul"].startswith("TY012: matmul expects equal inner sizes, got 3 and 4")
    assert ("error", "1 faulty node") in [(entry.sign, entry.text) for entry in graph.legend]
    (faulty,) = (node for node in graph.nodes if node.fault)
    assert isinstance(ask(session, Inspect(sample("errors/ty_matmul.py"), faulty.node)), Inspector)


def test_statements_that_cannot_be_read_are_nodes_with_their_text(session: Session) -> None:
    graph = drawn(session, "errors/rs_operator.py")
    unread = [(node.title, node.line, node.node) for node in graph.nodes if node.fault]
    assert unread == [("R.permute_dim", 8, ""), ("R.nn.rellu", 9, "")]
    assert [node.title for node in graph.nodes if not node.fault] == ["x", "no value", "return"]


def test_errors_of_another_function_are_counted_beside_the_picture(session: Session) -> None:
    graph = drawn(session, "errors/ty_prim.py", "fill")
    assert not faults_of(graph)
    assert ("error", "1 error elsewhere, line 17") in [(entry.sign, entry.text) for entry in graph.legend]


def test_a_faulty_node_is_shown_in_a_large_graph_that_is_folded(session: Session) -> None:
    lines = [f"        v{number} = R.add({f'v{number - 1}' if number else 'x'}, x)" for number in range(1500)]
    lines[900] = "        v900 = R.matmul(v899, w)"
    text = "\n".join((
        HEADER + "    @R.function",
        '    def main(x: R.Tensor((2, 3), "float32"), w: R.Tensor((2, 3), "float32")):',
        *lines,
        "        return v1499",
    ))  # fmt: skip
    graph = ask(session, GraphOf(program(text), 0, "main"))
    assert graph.is_folded
    assert [node.title for node in graph.nodes if node.fault] == ["matmul"]


def test_a_module_without_errors_has_no_faults(session: Session) -> None:
    def is_plain(node: GraphNode) -> bool:
        return not node.fault

    graph = drawn(session, "seeds/print_closure2.py")
    assert all(map(is_plain, graph.nodes))
    assert "error" not in [entry.sign for entry in graph.legend]


def test_a_text_without_a_module_says_why(session: Session) -> None:
    reply = session.request(GraphOf(program("%x +"), 0, "main"))
    assert not isinstance(reply, Graph)
    assert reply.kind == "diagnosed"


def test_of_nested_calls_the_one_with_the_error_is_marked(session: Session) -> None:
    text = f"""{HEADER}    @R.function
    def main(x: R.Tensor((2, 3), "float32"), w: R.Tensor((2, 3), "float32")):
        y = R.exp(R.matmul(x, w))
        return y
"""
    assert set(faults_of(ask(session, GraphOf(program(text), 0, "main")))) == {"matmul"}
