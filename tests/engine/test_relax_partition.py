"""The Partition page, the region report and the command on Relax, with the sample's table and a user's."""

import json
from pathlib import Path

import pytest

import relax_core as rc
from relax_core.cli import main
from relax_core.engine.protocol import GraphOf, PartitionOf, Program
from relax_core.engine.session import Session
from relax_core.present.models import Graph
from relax_core.present.regions.partition_models import PartitionView
from tests.passes.byoc_programs import composites

SAMPLES = Path(__file__).parents[2] / "samples"
FILE = SAMPLES / "relax" / "partition_paths.py"
TEXT = FILE.read_text(encoding="utf-8")
TABLE = SAMPLES / "patterns" / "relax_libraries.json"
LINES = {line.split(" = ")[0].strip(): number for number, line in enumerate(TEXT.splitlines(), 1)}


def page(text: str = TEXT, table: str = "", targets: tuple[str, ...] = ()) -> PartitionView:
    program = Program(text, "m.py", tables=table or TABLE.read_text(encoding="utf-8"))
    made = Session().request(PartitionOf(program, targets))
    assert isinstance(made, PartitionView), made
    return made


def test_three_passes_lead_to_external_functions() -> None:
    view = page()
    assert [(item.name, item.summary) for item in view.stages] == [
        ("FuseOpsByPattern", "4 composites"),
        ("MergeCompositeFunctions", "4 regions"),
        ("RunCodegen", "4 external functions"),
    ]
    assert view.targets == ("cutlass", "gates")
    assert (view.report.offloaded_count, view.report.operator_count) == (8, 9)
    assert [(item.name, item.operators) for item in view.report.regions] == [
        ("cutlass 0", ("cutlass.matmul_bias_relu: matmul add nn.relu",)),
        ("cutlass 1", ("cutlass.add: add",)),
        ("gates 0", ("gates.scaled_sigmoid: sigmoid multiply",)),
        ("cutlass 2", ("cutlass.matmul_relu: matmul nn.relu",)),
    ]
    assert view.problems == ()


def test_what_crosses_is_counted_in_bytes_and_lines_are_those_of_the_text() -> None:
    first, _, gates, last = page().report.regions
    assert (first.input_bytes, first.output_bytes) == (4 * (4 * 8 + 8 * 16 + 16), 4 * 4 * 16)
    assert [(item.name, item.source) for item in last.inputs] == [("scaled", "gates 0"), ("w2", "w2")]
    assert [item.size_bytes for item in gates.constants] == [4]
    assert [(item.operator, item.line) for item in gates.places] == [
        ("sigmoid", LINES["gate"]),
        ("multiply", LINES["scaled"]),
    ]


def test_two_regions_that_stayed_apart_say_why() -> None:
    back, other = page().report.pairs
    assert (back.kind, back.path) == ("blocking path", ("cutlass 0", "sin", "cutlass 1"))
    assert back.message.endswith("a value leaves and comes back")
    assert (other.kind, other.message) == ("another target", "gates 0 goes to gates")
    (left,) = page().report.unsupported
    assert (left.operator, left.reason, [item.line for item in left.places]) == (
        "sin",
        "no target supports it",
        [LINES["wave"]],
    )


def test_with_the_operator_between_the_two_are_one() -> None:
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    table["supported"]["cutlass"].append("sin")
    view = page(table=json.dumps(table))
    assert [item.name for item in view.report.regions] == ["cutlass 0", "gates 0", "cutlass 1"]
    assert view.report.coverage == 1


def test_targets_are_chosen() -> None:
    view = page(targets=("gates",))
    assert [item.target for item in view.report.regions] == ["gates"]


def test_nodes_of_the_report_stand_in_the_graph_of_its_stage() -> None:
    view = page()
    program = Program(TEXT, "m.py", pipeline=view.pipeline, tables=TABLE.read_text(encoding="utf-8"))
    graph = Session().request(GraphOf(program, 2, "main"))
    assert isinstance(graph, Graph)
    drawn = {node.node for node in graph.nodes}
    assert {node for row in view.report.regions for node in row.nodes} <= drawn
    assert {node for pair in view.report.pairs for node in pair.nodes} <= drawn
    source = Session().request(GraphOf(program, 0, "main"))
    assert isinstance(source, Graph)
    places = [place for row in view.patterns for place in row.places]
    assert {place.nodes[0] for place in places} <= {node.node for node in source.nodes}


def test_patterns_show_their_matches_and_what_came_closest() -> None:
    bias, plain, _ = page().patterns
    assert (bias.match_count, bias.places[0].line) == (1, LINES["hidden"])
    assert plain.match_count == 1
    nested = TEXT.replace("            lv2 = R.matmul(scaled, w2)\n", "").replace("(lv2)", "(R.matmul(scaled, w2))")
    (place,) = page(nested).patterns[1].places
    assert (place.is_match, place.line) == (True, LINES["lv2"])
    table = {"patterns": [["t.s", "is_op('sigmoid')(is_op('sin')(wildcard()))"]]}
    (miss,) = page(table=json.dumps(table)).patterns[0].places
    assert (miss.is_match, miss.reason) == (False, "is_op('sin') did not match relax.add: is not sin")
    assert miss.line == LINES["gate"]


def test_the_command_reports_and_fails_under_a_share(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["partition", str(FILE), "--table", str(TABLE), "--in-process"]
    assert main([*given, "--fail-under", "0.8"]) == 0
    assert "8 of 9 operators offloaded (88.89 %)" in capsys.readouterr().out
    assert main([*given, "--json", "--fail-under", "0.95"]) == 1
    made = json.loads(capsys.readouterr().out)
    assert [item["external"] for item in made["regions"]][2] == "fused_relax_sigmoid_relax_multiply1_gates"
    assert main([*given, "--targets", "gates"]) == 0
    assert "2 of 9 operators offloaded" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("passes", "names"),
    [
        ("FuseOpsByPattern", ""),
        ("FuseOpsByPattern(annotate_codegen=True)", "fused_relax_add_cutlass"),
        ("FuseOpsByPattern, MergeCompositeFunctions, RunCodegen", "fused_relax_add1_cutlass"),
    ],
)
def test_a_module_behind_each_pass_is_reported(passes: str, names: str) -> None:
    tables = rc.read_tables(TABLE.read_text(encoding="utf-8"))
    module = rc.run_pipeline(rc.parse(TEXT), passes, tables=tables)[-1].after
    report = rc.region_report(module, tables)
    assert (report.offloaded_count, report.operator_count) == (8, 9)
    assert report.regions[1].external == names
    assert rc.region_report(rc.parse(rc.script(module)), tables).regions[1].operators == ("cutlass.add: add",)


def test_a_pattern_partitions_relax_by_the_api() -> None:
    module = rc.parse(TEXT)
    product = rc.is_op("relax.matmul")(rc.wildcard(), rc.wildcard())
    made = rc.partition(rc.is_op("nn.relu")(product), module, {"Composite": "mine.product"})
    assert composites(made) == {"fused_relax_matmul_relax_nn_relu": "mine.product"}
    assert rc.check(made) == ()
    assert rc.partition(product, module, check=lambda _: False) is module
