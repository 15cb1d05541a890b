"""Graphs of Relay functions: shared nodes once, lets, matches, branches, captures, references; and Relay's colours."""

import re

import pytest

from relax_core.present.code import tokenize
from relax_core.present.drawings.drawing import Drawing, DrawNode
from relax_core.present.drawings.flow import draw_function
from relax_core.present.drawings.graph import function_graph, module_graph
from relax_core.present.drawings.relay_flow import RelayFlow
from tests.present.programs import facts_of, parsed

HEAD = '#[version = "0.0.5"]\n'
TREE = "type Tree[A] {\n  Leaf(A),\n  Node(Tree[A], Tree[A]),\n}\n"


def drawn(text: str, name: str = "main") -> Drawing:
    module = parsed(HEAD + text, "m.relay").modules[0]
    function = {var.name: item for var, item in module.relax_functions}[name]
    return draw_function(name, function, facts_of(module), RelayFlow)


def titled(drawing: Drawing, title: str) -> DrawNode:
    (found,) = [item for item in drawing.nodes if item.title == title]
    return found


def edges(drawing: Drawing) -> set[tuple[str, str, str]]:
    title = {item.key: item.title for item in drawing.nodes}
    return {(title[edge.source], title[edge.target], edge.kind) for edge in drawing.edges}


def test_a_shared_expression_is_one_node() -> None:
    drawing = drawn("def @main(%x: float32) { %0 = tanh(%x); %1 = add(%0, %0); multiply(%1, %0) }")
    assert [item.title for item in drawing.nodes] == ["%x", "tanh", "add", "multiply", "return"]
    twice = next(edge for edge in drawing.edges if edge.target == titled(drawing, "add").key)
    assert twice.count == 2


def test_a_deep_graph_of_shared_expressions_is_drawn_in_linear_time() -> None:
    lines = "\n".join(f"  %{number} = add(%{number - 1}, %{number - 1});" for number in range(1, 3000))
    drawing = drawn(f"def @main(%x: float32) {{\n  %0 = tanh(%x);\n{lines}\n  tanh(%2999)\n}}")
    assert drawing.node_count == 3003


def test_a_let_is_a_node_between_its_value_and_its_uses() -> None:
    drawing = drawn("def @main(%x: float32) { let %y = tanh(%x); add(%y, %y) }")
    assert titled(drawing, "let %y").look == "let"
    assert {("tanh", "let %y", "value"), ("let %y", "add", "value")} <= edges(drawing)


def test_a_match_is_a_hexagon_with_a_box_for_each_clause() -> None:
    text = TREE + "def @main(%t: Tree[int32]) -> int32 { match (%t) { Leaf(%x) => %x, Node(_, _) => 0 } }"
    drawing = drawn(text)
    assert titled(drawing, "match").look == "cases"
    assert [item.label for item in drawing.clusters] == ["Leaf(%x)", "Node(_, _)"]
    assert {("match", "%x", "value"), ("match", "0", "branch"), ("x", "φ", "value")} <= edges(drawing)
    module = parsed(HEAD + text, "m.relay").modules[0]
    assert 'shape="hexagon"' in function_graph("main", facts_of(module)).dot


def test_a_condition_is_a_diamond_with_two_boxes_and_a_projection_is_a_circle() -> None:
    drawing = drawn("def @main(%c: bool, %x: float32) { %0 = (%x, tanh(%x)); if (%c) { %0.0 } else { %0.1 } }")
    assert titled(drawing, "if").look == "if"
    assert titled(drawing, ".1").look == "field"
    assert titled(drawing, "( )").look == "tuple"
    assert [item.label for item in drawing.clusters] == ["then", "else"]


def test_a_function_literal_is_a_box_and_what_it_captures_is_dotted() -> None:
    drawing = drawn("def @main(%x: float32) { let %f = fn (%a: float32) { add(%a, %x) }; %f(%x) }")
    assert [(item.kind, item.label) for item in drawing.clusters] == [("local", "f()")]
    assert {("%x", "add", "capture"), ("%a", "add", "value"), ("let %f", "f()", "reference")} <= edges(drawing)


def test_a_local_function_that_calls_itself_has_an_edge_into_itself() -> None:
    text = (
        "def @main(%n: int32) { let %f = fn (%a: int32) -> int32 { if (%a == 0) { %a } else { %f(%a - 1) } }; %f(%n) }"
    )
    assert [item.title for item in drawn(text).nodes].count("f()") == 2
    assert ("let %f", "f()", "reference") in edges(drawn(text))


def test_references_are_read_and_written_in_order() -> None:
    drawing = drawn("def @main() { let %r = ref(1); let %u = ref_write(%r, 2); ref_read(%r) }")
    assert {("ref", "let %r", "value"), ("let %r", "ref_read", "value")} <= edges(drawing)
    assert ("ref_write", "ref_read", "order") in edges(drawing)


def test_constructors_and_globals_are_nodes() -> None:
    text = TREE + "def @id(%t: Tree[int32]) -> Tree[int32] { %t }\ndef @main() { @id(Leaf(1)) }"
    drawing = drawn(text)
    assert [(item.tag, item.title) for item in drawing.nodes if item.tag] == [("new", "Leaf"), ("fn", "id")]
    references = module_graph(facts_of(parsed(HEAD + text, "m.relay").modules[0])).edges
    assert any(item.kind == "reference" for item in references)


@pytest.mark.parametrize("form", ["let %y{n} = tanh(%y{m});", "%{n} = tanh(%{m});"], ids=["lets", "graph"])
def test_a_large_function_starts_folded_and_opens(form: str) -> None:
    is_let = form.startswith("let")
    first = "let %y0 = tanh(%x);" if is_let else "%0 = tanh(%x);"
    lines = "\n".join("  " + form.format(n=number, m=number - 1) for number in range(1, 1500))
    last = "%y1499" if is_let else "tanh(%1499)"
    module = parsed(f"{HEAD}def @main(%x: float32) {{\n  {first}\n{lines}\n  {last}\n}}", "m.relay").modules[0]
    facts = facts_of(module)
    graph = function_graph("main", facts)
    assert graph.is_folded
    assert graph.node_count > 1000
    assert len(graph.nodes) < 60
    group = next(item.group for item in graph.nodes if item.group)
    assert re.fullmatch(r"main/statements 1 to \d+", group)
    assert len(function_graph("main", facts, (group,)).nodes) > len(graph.nodes)


def test_relay_text_has_its_own_colours() -> None:
    text = (
        '#[version = "0.0.5"]\ndef @f?(%x: Tensor[(2), float32]) { /* a\n  b */ match? (%x) { Cons(_) => "s" 1f } // c'
    )
    lines = tokenize(text, "relay")
    assert "\n".join("".join(token.text for token in line) for line in lines) == text
    kinds = {token.text: token.syntax for line in lines for token in line}
    assert kinds["@f?"] == "synName"
    assert kinds["match?"] == "synKeyword"
    assert kinds["float32"] == kinds["Cons"] == "synType"
    assert kinds["/* a"] == kinds["  b */"] == kinds["// c"] == "synComment"
    assert kinds['"s"'] == "synString"
    assert kinds["1f"] == "synNumber"
    assert kinds['#[version = "0.0.5"]'] == "synDecor"
