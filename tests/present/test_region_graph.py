"""Graphs of annotated modules: a box per region, ports on its border, annotations that are no nodes."""

import random
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import pytest

from relax_core.engine.protocol import GraphOf, PartitionOf, Program
from relax_core.engine.samples import list_samples, list_tables
from relax_core.engine.session import Session
from relax_core.passes.pipeline import run_pipeline
from relax_core.pattern.partition.tables import read_tables
from relax_core.present.drawings.drawing import fold
from relax_core.present.drawings.flow import draw_function
from relax_core.present.drawings.graph import function_graph, present
from relax_core.present.drawings.relay_flow import RelayFlow
from relax_core.present.models import Graph
from relax_core.present.regions.partition_models import LETS, Lets, PartitionView
from relax_core.present.regions.target_marks import category_of, symbol_of
from tests.golden_text import Golden
from tests.present.programs import facts_of, parsed
from tests.present.rendering import render_graph

TEXTS = {item.path: item.text for item in list_samples()}
TABLES = dict(list_tables())
SEED = "relay/library_call_two.relay"
BRANCHES = "relay/partition_branches.relay"
_NUMBER = re.compile(r"[-+]?[0-9.]+")


def partitioned(sample: str, table: str, step: int, lets: Lets = "values") -> Graph:
    session = Session()
    program = Program(TEXTS[sample], "m.relay", tables=TABLES[table])
    view = session.request(PartitionOf(program, lets=lets))
    assert isinstance(view, PartitionView), view
    known = Program(TEXTS[sample], "m.relay", tables=TABLES[table], pipeline=view.pipeline)
    graph = session.request(GraphOf(known, step, "main"))
    assert isinstance(graph, Graph), graph
    return graph


@pytest.mark.parametrize(
    ("sample", "table", "step", "lets"),
    [
        (SEED, "my_library", 1, "values"),
        (SEED, "my_library", 3, "values"),
        (SEED, "my_library", 4, "values"),
        (SEED, "my_library", 2, "reported"),
        (BRANCHES, "dnnl", 3, "values"),
    ],
    ids=["composites", "regions of lets", "external functions", "begins that never end", "regions of branches"],
)
def test_a_step_of_partitioning_is_drawn_as_expected(
    sample: str, table: str, step: int, lets: Lets, golden: Golden
) -> None:
    graph = partitioned(sample, table, step, lets)
    boxes = re.findall(r"subgraph cluster_.*|class=\"region.*|in-c\d+.*?\"|rank=same.*", graph.dot)
    name = f"{sample.rpartition('/')[2].removesuffix('.relay')}__{step}__{lets}"
    golden.check(f"present/graph/regions/{name}.txt", "\n".join((render_graph(graph), *boxes)))


def groups(svg: str) -> dict[str, ET.Element]:
    return {item.get("id", ""): item for item in ET.fromstring(svg).iter() if item.tag.endswith("}g")}


def shape(group: ET.Element) -> ET.Element:
    return next(item for item in group if item.tag.rpartition("}")[2] in ("rect", "path", "polygon"))


def port_places(svg: str) -> Iterator[tuple[str, str, float, float]]:
    """Yield class, box, x and y of each port."""
    for group in groups(svg).values():
        classes = group.get("class", "").split()
        if "port" in classes:
            x, y, *_ = map(float, _NUMBER.findall(shape(group).get("d", "")))
            box = next(item for item in classes if item.startswith("in-")).removeprefix("in-")
            yield ("begin" if "begin" in classes else "end"), box, x + 5.5, y


@pytest.mark.parametrize("sample", [SEED, BRANCHES, "relay/conv_bn_relu.relay"])
@pytest.mark.parametrize("step", [2, 3])
def test_begins_are_on_the_upper_border_and_ends_on_the_lower(sample: str, step: int) -> None:
    svg = partitioned(sample, "my_library" if sample == SEED else "dnnl", step).svg
    by_id = groups(svg)
    places = list(port_places(svg))
    assert places
    for kind, box, x, y in places:
        border = shape(by_id[box])
        left, top, width, height = (float(border.get(name, "")) for name in ("x", "y", "width", "height"))
        assert left < x < left + width
        assert y == pytest.approx(top if kind == "begin" else top + height, abs=0.02)


def test_an_edge_into_a_port_ends_at_its_middle() -> None:
    svg = partitioned(SEED, "my_library", 3).svg
    middles = {(round(x, 1), round(y, 1)) for _, _, x, y in port_places(svg)}
    ends = [
        tuple(round(float(item), 1) for item in _NUMBER.findall(shape(group).get("d", ""))[-2:])
        for group in groups(svg).values()
        if re.search(r"(^| )to-n\d+", group.get("class", ""))
    ]
    assert len(ends) == 9
    assert set(ends) == middles


def test_a_label_lies_inside_its_box_below_the_ports() -> None:
    svg = partitioned(BRANCHES, "dnnl", 3).svg
    by_id = groups(svg)
    labels = [item for item in by_id.values() if "region-label" in item.get("class", "").split()]
    assert len(labels) == 3
    for label in labels:
        found = re.search(r"in-(c\d+)", label.get("class", ""))
        assert found is not None
        box = shape(by_id[found[1]])
        top = float(box.get("y", ""))
        rows = [float(text.get("y", "")) for text in label if text.tag.endswith("text")]
        assert top + 5.5 < min(rows) < max(rows) < top + float(box.get("height", ""))


def test_a_begin_without_an_end_is_hollow_and_its_box_open_below() -> None:
    svg = partitioned(SEED, "my_library", 2, "reported").svg
    open_groups = [item for item in groups(svg).values() if "open" in item.get("class", "").split()]
    boxes = [item for item in open_groups if "region" in item.get("class", "").split()]
    ports = [item for item in open_groups if "port" in item.get("class", "").split()]
    assert (len(boxes), len(ports)) == (3, 3)
    for box in boxes:
        assert re.fullmatch(r"M[^MZz]*V[^V]*H[^H]*V[^V]*", shape(box).get("d", ""))
        assert shape(box).get("stroke-dasharray")
    for port in ports:
        assert (shape(port).get("fill"), shape(port).get("stroke")) == ("var(--bg)", "var(--error)")
        assert [text.text for text in port if text.tag.endswith("text")] == ["!"]


@pytest.mark.parametrize("lets", LETS)
def test_no_annotation_is_a_node(lets: Lets) -> None:
    for step in (2, 3):
        graph = partitioned(SEED, "my_library", step, lets)
        titles = [item.title for item in graph.nodes]
        assert not [title for title in titles if title.startswith("annotation.")]
        ports = [title for title in titles if title in ("begin", "end")]
        assert graph.node_count == len(titles) - len(ports)


def test_an_operator_for_no_target_is_dashed_and_in_the_legend() -> None:
    graph = partitioned(BRANCHES, "dnnl", 3)
    assert ("catNone", "default") in [(entry.sign, entry.text) for entry in graph.legend]
    (tanh,) = [item.id for item in graph.nodes if item.title == "tanh"]
    assert shape(groups(graph.svg)[tanh]).get("stroke-dasharray")


def test_two_targets_have_two_colours_and_symbols_that_stay() -> None:
    names = tuple("abcdefgh")
    assert [category_of(name, names) for name in "ab"] == ["cat0", "cat1"]
    assert [symbol_of(name, names) for name in "abg"] == ["●", "▲", "●2"]
    assert (category_of("default", names), symbol_of("default", names)) == ("catNone", "◌")


HEAD = '#[version = "0.0.5"]\n'


def annotated(target: str, count: int) -> str:
    lines = [
        f'  %{3 * k} = annotation.compiler_begin({f"%{3 * k - 1}" if k else "%x"}, compiler="{target}");\n'
        f"  %{3 * k + 1} = nn.relu(%{3 * k});\n"
        f'  %{3 * k + 2} = annotation.compiler_end(%{3 * k + 1}, compiler="{target}");'
        for k in range(count)
    ]
    body = "\n".join(lines)
    return f"{HEAD}def @main(%x: Tensor[(4,), float32]) {{\n{body}\n  tanh(%{3 * count - 1})\n}}"


def test_a_large_annotated_module_is_folded() -> None:
    module = parsed(annotated("dnnl", 500), "m.relay").modules[0]
    function = module.relax_functions[0][1]
    drawing = draw_function("main", function, facts_of(module), RelayFlow)
    assert drawing.node_count == 503
    assert sum(item.kind == "region" for item in drawing.clusters) == 500
    folded = fold(drawing)
    assert len(folded.nodes) < 40
    assert not [item for item in folded.clusters if item.kind == "region"]
    wanted = drawing.nodes[250].node
    assert wanted not in {item.node for item in folded.nodes}
    opened = fold(drawing, shown=frozenset((wanted,)))
    assert wanted in {item.node for item in opened.nodes}
    assert len(folded.nodes) < len(opened.nodes) < drawing.node_count


def test_a_hostile_target_stays_text() -> None:
    module = parsed(annotated('<script>&"x', 2).replace('&"', "&'"), "m.relay").modules[0]
    function = module.relax_functions[0][1]
    drawing = draw_function("main", function, facts_of(module), RelayFlow)
    assert {item.label for item in drawing.clusters} == {"<script>&'x"}
    assert "<script" not in present(drawing).svg


TWO_TARGETS = (
    '{"patterns": [["a.both", "is_op(\'nn.relu\')(is_op(\'tanh\')(wildcard()))"]], '
    '"supported": {"a": ["add", "nn.relu"], "b": ["multiply", "exp"]}}'
)


def made_up(seed: int) -> str:
    """Make up a program of operators that share values, some of them bound by lets; all that is unused is returned."""
    choice = random.Random(seed)
    names, lines = ["%x", "%y"], list[str]()
    for number in range(choice.randint(3, 20)):
        operator = choice.choice(("add", "multiply", "nn.relu", "exp", "tanh"))
        given = [choice.choice(names[-6:]) for _ in range(2 if operator in ("add", "multiply") else 1)]
        name = f"%v{number}" if choice.random() < 0.2 else f"%{number}"
        lines.append(f"  {'let ' if 'v' in name else ''}{name} = {operator}({', '.join(given)});")
        names.append(name)
    used = {word for line in lines for word in re.findall(r"%\w+", line.partition("=")[2])}
    unused = [name for name in names[2:] if name not in used]
    head = "def @main(%x: Tensor[(4, 4), float32], %y: Tensor[(4, 4), float32]) {\n"
    return HEAD + head + "\n".join(lines) + f"\n  ({', '.join(unused)},)\n}}\n"


@pytest.mark.parametrize("lets", LETS)
def test_every_port_of_a_made_up_program_is_on_its_border(lets: Lets) -> None:
    tables = read_tables(TWO_TARGETS)
    text = f"MergeComposite, AnnotateTarget(lets={lets!r}), MergeCompilerRegions"
    for seed in range(4):
        module = parsed(made_up(seed), "m.relay").modules[0]
        for stage in run_pipeline(module, text, tables=tables):
            graph = function_graph("main", facts_of(stage.after))
            by_id = groups(graph.svg)
            drawn = [item for key, item in by_id.items() if re.fullmatch(r"e\d+", key)]
            assert len(drawn) == len(graph.edges)
            for kind, box, _, y in port_places(graph.svg):
                border = shape(by_id[box])
                top, height = (float(border.get(name, "nan")) for name in ("y", "height"))
                is_open = "open" in by_id[box].get("class", "").split()
                assert is_open or y == pytest.approx(top if kind == "begin" else top + height, abs=0.02)
