"""Graphs of functions and of changes: goldens, hostile names, folding, and the allow-list of SVG."""

import xml.etree.ElementTree as ET

import pytest

from relax_core.ir.expr import (
    BindingBlock,
    Call,
    DataflowVar,
    ExternFunc,
    Function,
    GlobalVar,
    Op,
    SeqExpr,
    TensorType,
    Var,
    VarBinding,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.present.drawings.graph import compare_graph, function_graph, module_graph
from relax_core.present.drawings.svg import clean
from relax_core.present.theme import LIGHT
from tests.golden_text import Golden
from tests.present.programs import SEEDS, facts_of, sample, stage_of
from tests.present.rendering import render_graph

HOSTILE = (
    "<script>alert(1)</script>",
    'a" onload="alert(1)',
    "</TD></TR></TABLE>>",
    "back\\slash\\N",
    "line\nbreak",
    "\u202egnol\u202c",
    "nul\0tab\t",
    "&amp;&lt;",
    "\ud800",
    "",
    " ",
    "]]>",
    "名前が長い" * 20,
)


@pytest.mark.parametrize("path", SEEDS)
def test_the_graphs_of_a_seed_are_as_expected(path: str, golden: Golden) -> None:
    module = sample(path).modules[0]
    facts = facts_of(module)
    texts = [render_graph(function_graph(name, facts)) for name in module.names]
    golden.check(f"present/graph/{path.removesuffix('.py')}.txt", "\n\n".join(texts))


def test_the_dot_of_a_seed_is_as_expected(golden: Golden) -> None:
    facts = facts_of(sample("seeds/my_ir_module.py").modules[0])
    golden.check("present/graph/relax_func.dot", function_graph("relax_func", facts).dot)


@pytest.mark.parametrize("names", ["tvm", "2022"])
def test_lambda_lift_is_shown_in_one_union_graph(names: str, golden: Golden) -> None:
    module = sample("seeds/print_closure2.py").modules[0]
    number, stage = stage_of(module, "LambdaLift", f"Normalize, LambdaLift(names='{names}')")
    facts = (facts_of(stage.before, number - 1), facts_of(stage.after, number, stage.log))
    graph = compare_graph(*facts, stage.log)
    golden.check(f"present/graph/lambda_lift_{names}.txt", render_graph(graph))
    for group in ET.fromstring(graph.svg).iter("{http://www.w3.org/2000/svg}g"):
        words = group.get("class", "").split()
        if "node" in words or "edge" in words:
            assert len({"before", "after", "both"}.intersection(words)) == 1


def test_a_pass_that_changes_nothing_has_no_graph() -> None:
    module = sample("seeds/print_closure.py").modules[0]
    facts = facts_of(module)
    _, stage = stage_of(module, "Normalize", "Normalize")
    graph = compare_graph(facts, facts, stage.log)
    assert graph.svg == ""
    assert graph.empty_title == "No change"


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_a_hostile_name_is_text_and_nothing_else(name: str) -> None:
    var, result = Var(name, TensorType((), "float32")), Var(name)
    call = Call(ExternFunc(name), (var,))
    operator = Call(Op(name), (result,))
    other = DataflowVar(name)
    bindings = (VarBinding(result, call), VarBinding(other, operator))
    function = Function((var,), SeqExpr((BindingBlock(bindings),), other))
    module = IRModule((Definition(GlobalVar(name), function),))
    facts = facts_of(module)
    for graph in (function_graph(name, facts), module_graph(facts)):
        root = ET.fromstring(graph.svg)
        tags = {item.tag.rpartition("}")[2] for item in root.iter()}
        assert tags <= {"svg", "g", "path", "polygon", "polyline", "ellipse", "rect", "text"}
        assert not any(key.startswith("on") or "href" in key for item in root.iter() for key in item.attrib)
        assert len([item for item in root.iter() if "node" in item.get("class", "").split()]) == len(graph.nodes)
        assert not any(ch in "".join(root.itertext()) for ch in "\u202e\u202c\0")


def test_only_what_the_list_allows_survives_cleaning() -> None:
    drawn = b"""<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" onload="alert(1)">
      <style>@import url(//x)</style><script>alert(1)</script><foreignObject><b/></foreignObject>
      <image xlink:href="http://x/y.png"/><use href="data:image/svg+xml,x"/><animate onbegin="alert(1)"/>
      <g id="n1" class="node" style="background:url(//x)" onclick="alert(1)"><a xlink:href="javascript:alert(1)"><text
      fill="url(#x)" id="evil">words</text></a><path d="M0,0 url(x)" fill="#0b66b5"/></g></svg>"""
    assert clean(drawn) == (
        '<svg xmlns="http://www.w3.org/2000/svg"><g id="n1" class="node"><g><text fill="var(--text)">words</text></g>'
        '<path fill="var(--cat0)" /></g></svg>'
    )


def test_colours_are_variables_of_known_tokens() -> None:
    facts = facts_of(sample("seeds/my_ir_module.py").modules[0])
    for item in ET.fromstring(function_graph("relax_func", facts).svg).iter():
        for key in ("fill", "stroke"):
            value = item.get(key, "none")
            assert value == "none" or value.removeprefix("var(--").removesuffix(")") in LIGHT


def _chain(length: int) -> IRModule:
    value = start = Var("x", TensorType((), "float32"))
    bindings: list[VarBinding] = []
    for number in range(length):
        var = Var(f"v{number}")
        bindings.append(VarBinding(var, Call(Op("relax.exp"), (value,))))
        value = var
    return IRModule(
        (Definition(GlobalVar("main"), Function((start,), SeqExpr((BindingBlock(tuple(bindings)),), value))),)
    )


def test_a_large_graph_starts_folded_and_opens_by_group() -> None:
    facts = facts_of(_chain(1200))
    graph = function_graph("main", facts)
    assert graph.is_folded
    assert graph.node_count == 1202
    assert len(graph.nodes) == 14
    group = graph.nodes[1].group
    assert graph.nodes[1].title == "bindings 1 to 100"
    opened = function_graph("main", facts, (group,))
    assert len(opened.nodes) == 113
    assert opened.node_count == 1202


def test_an_unknown_function_is_said_to_be_missing() -> None:
    graph = function_graph("nothing", facts_of(_chain(1)))
    assert graph.svg == ""
    assert "`nothing`" in graph.empty_text
