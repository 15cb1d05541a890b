"""The Partition page's view, the region report and the command, on the samples and on the program of the thread."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

import relax_core as rc
from relax_core.cli import main
from relax_core.engine.protocol import Failure, GraphOf, PartitionOf, Program, RegionReportOf, Script
from relax_core.engine.session import Session
from relax_core.present.models import Graph
from relax_core.present.regions.partition_models import PartitionView
from relax_core.present.regions.region_models import RegionReport, compare_reports, read_report

SAMPLES = Path(__file__).parents[2] / "samples"
TWO = (SAMPLES / "relay" / "library_call_two.relay").read_text(encoding="utf-8")
BRANCHES = SAMPLES / "relay" / "partition_branches.relay"
RELAX = (SAMPLES / "relax" / "partition_paths.py").read_text(encoding="utf-8")
DNNL = SAMPLES / "patterns" / "dnnl.json"
PROGRAMS = (
    ("conv_bn_relu", "dnnl"),
    ("library_call_one", "my_library"),
    ("partition_branches", "acl"),
    ("partition_lets", "dnnl"),
)


def table(name: str) -> str:
    return (SAMPLES / "patterns" / f"{name}.json").read_text(encoding="utf-8")


def view(text: str, tables: str, **options: Any) -> PartitionView:
    made = Session().request(PartitionOf(Program(text, "m.relay", tables=tables), **options))
    assert isinstance(made, PartitionView), made
    return made


def report(text: str, tables: str, **options: Any) -> RegionReport:
    made = Session().request(RegionReportOf(Program(text, "m.relay", tables=tables), **options))
    assert isinstance(made, RegionReport), made
    return made


def test_the_two_calls_of_the_thread_become_two_functions() -> None:
    page = view(TWO, table("my_library"))
    assert page.targets == ("match_key",)
    assert [item.summary for item in page.stages] == [
        "2 composites",
        "2 regions · 7 begins · 2 ends",
        "2 regions · 7 begins · 2 ends",
        "2 external functions",
    ]
    assert [item.external for item in page.report.regions] == [
        "tvmgen_default_match_key_main_0",
        "tvmgen_default_match_key_main_4",
    ]
    (pair,) = page.report.pairs
    assert (pair.kind, pair.path) == ("let", ("match_key 0", "let %x", "match_key 4"))
    assert pair.nodes
    assert (page.report.offloaded_count, page.report.operator_count) == (2, 2)
    assert page.problems == ()


def test_lets_five_ways() -> None:
    ways = {item.lets: item for item in view(TWO, table("my_library"), lets="uses").ways}
    found = {name: (item.region_count, item.open_begin_count, item.result) for name, item in ways.items()}
    assert found == {
        "reported": (2, 3, "2 free variables"),
        "values": (2, 0, "2 functions"),
        "definition": (2, 0, "2 functions"),
        "uses": (2, 0, "2 functions"),
        "graph_form": (1, 0, "1 function"),
    }
    assert ways["reported"].free_variables == ("match_key_4_i0", "match_key_8_i0")
    assert [name for name, item in ways.items() if item.is_current] == ["uses"]


def test_a_region_is_named_after_its_function_in_every_way() -> None:
    text = (SAMPLES / "relay" / "partition_lets.relay").read_text(encoding="utf-8")
    rows = view(text, table("dnnl"), lets="reported").report.regions
    assert [(row.name, row.external) for row in rows if row.external] == [("dnnl 7", "tvmgen_default_dnnl_main_7")]


def test_without_lets_all_ways_are_one() -> None:
    page = view(BRANCHES.read_text(encoding="utf-8"), table("acl"))
    assert {(way.tone, way.detail) for way in page.ways} == {("ok", "the program has no let: all ways are one")}


def test_the_reported_way_shows_both_free_variables() -> None:
    page = view(TWO, table("my_library"), lets="reported")
    messages = [item.message for item in page.problems]
    assert messages == ["%match_key_4_i0 is not bound", "%match_key_8_i0 is not bound"]
    assert {mark.name for mark in page.stages[2].regions if mark.is_open}
    assert [item.code for item in page.stages[1].problems] == ["BY002", "BY002"]


def test_without_the_let_the_two_are_one() -> None:
    page = view(TWO, table("my_library"), through_lets=True, names=("x",))
    assert len(page.report.regions) == 1
    assert page.report.pairs == ()


def test_matches_of_a_pattern_name_alternative_and_arguments() -> None:
    (row,) = view(TWO, table("my_library")).patterns
    assert row.match_count == 2
    assert [(item.what, item.alternative, item.arguments) for item in row.places] == [
        ("@library_call_3", "4 of 6", "0, 0, 0"),
        ("@library_call_2", "3 of 6", "%x, %y"),
    ]


def test_a_pattern_without_a_match_says_what_came_nearest() -> None:
    text = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(2, 2), float32]) { nn.relu(tanh(%x)) }'
    tables = json.dumps({"patterns": [["a.b", "is_op('nn.relu')(is_op('exp')(wildcard()))"]], "supported": {"a": []}})
    (row,) = view(text, tables).patterns
    assert row.match_count == 0
    assert [(item.is_match, item.reason) for item in row.places] == [
        (False, "is_op('exp') did not match tanh: is not exp")
    ]


@pytest.mark.parametrize(("name", "given"), PROGRAMS)
def test_every_stage_has_a_graph_and_every_id_is_a_node_of_it(name: str, given: str) -> None:
    text = (SAMPLES / "relay" / f"{name}.relay").read_text(encoding="utf-8")
    program = Program(text, "m.relay", tables=table(given))
    session = Session()
    page = session.request(PartitionOf(program))
    assert isinstance(page, PartitionView), page
    assert len(page.stages) == 4
    assert page.problems == ()
    shown = msgspec.structs.replace(program, pipeline=page.pipeline)
    for stage in page.stages:
        assert isinstance(session.request(GraphOf(shown, stage.stage, "main")), Graph)
        ids = [item for mark in stage.regions for item in (*mark.nodes, *mark.begins, *mark.ends)]
        assert all(item.startswith(f"{stage.stage}/") for item in ids)
    assert len(page.report.regions) == len(rc.parse(_final(session, shown)).definitions) - _count(text)


def _final(session: Session, program: Program) -> str:
    text = session.request(Script(program, passes=True))
    assert not isinstance(text, Failure), text
    return text.text


def _count(text: str) -> int:
    return text.count("\ndef @")


def test_a_broken_table_is_a_failure() -> None:
    for program in (Program(RELAX, "m.py", tables="{"), Program(TWO, "m.relay", tables="{")):
        assert isinstance(Session().request(PartitionOf(program)), Failure)


def test_a_report_counts_bytes_and_names_what_is_left_out() -> None:
    made = report(BRANCHES.read_text(encoding="utf-8"), table("dnnl"))
    first = made.regions[0]
    assert (first.operator_count, first.input_bytes, first.output_bytes) == (3, 1024 + 576 + 16, 1024)
    assert {(item.operator, item.count) for item in made.unsupported} == {
        ("tanh", 1),
        ("exp", 1),
        ("nn.batch_flatten", 1),
    }
    assert made.coverage == pytest.approx(8 / 11)
    assert [item.kind for item in made.pairs] == ["blocking path", "unsupported operator"]


def test_annotated_and_partitioned_modules_are_reported_alike() -> None:
    tables = rc.read_tables(DNNL.read_text(encoding="utf-8"))
    module = rc.parse(BRANCHES.read_text(encoding="utf-8"), "m.relay")
    passes = "MergeComposite, AnnotateTarget, MergeCompilerRegions, PartitionGraph"
    stages = rc.run_pipeline(module, passes, tables=tables)
    merged, cut = (rc.region_report(stages[number].after, tables) for number in (2, 3))
    assert [item.input_bytes for item in merged.regions] == [item.input_bytes for item in cut.regions]
    assert [item.operator_count for item in merged.regions] == [item.operator_count for item in cut.regions]
    assert [item.kind for item in merged.pairs] == [item.kind for item in cut.pairs]
    assert merged.coverage == cut.coverage
    assert merged.unsupported == cut.unsupported


def test_a_report_reads_back_and_is_written_as_tables() -> None:
    made = report(BRANCHES.read_text(encoding="utf-8"), table("dnnl"))
    assert read_report(made.to_json()) == made
    assert made.to_markdown().startswith("**8 of 11 operators offloaded (72.73 %), 3 regions, ")
    assert made.to_markdown().count("\n### ") == 3
    assert made.to_text().splitlines()[2] == "Regions"
    assert "|" not in made.to_text()


def test_two_reports_are_compared() -> None:
    text = BRANCHES.read_text(encoding="utf-8")
    old, new = report(text, table("acl")), report(text, table("dnnl"))
    assert compare_reports(old, old) == ()
    changes = compare_reports(old, new)
    assert {item.what for item in changes} == {"region", "pair"}
    assert (
        compare_reports(new, msgspec.structs.replace(new, offloaded_count=11))[0].text == "~ coverage: 72.73 % -> 100 %"
    )


def command(*arguments: str) -> int:
    return main(["partition", str(BRANCHES), "--table", str(DNNL), "--in-process", *arguments])


def test_the_command_prints_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert command() == 0
    assert "dnnl 0 and dnnl 3" in capsys.readouterr().out
    assert command("--markdown", "--targets", "dnnl") == 0
    assert capsys.readouterr().out.startswith("**8 of 11")
    assert command("--json") == 0
    assert json.loads(capsys.readouterr().out)["coverage"] == pytest.approx(8 / 11, abs=1e-6)


def test_the_command_fails_under_a_coverage(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("--fail-under", "0.9") == 1
    assert "coverage 0.7273 is under 0.9" in capsys.readouterr().err
    assert command("--fail-under", "0.7") == 0
    assert command("--fail-under", "80") == 2
    assert "--fail-under is a share between 0 and 1, not 80" in capsys.readouterr().err


def test_the_command_prints_a_difference(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert command("--json") == 0
    old = tmp_path / "old.json"
    old.write_text(capsys.readouterr().out, encoding="utf-8")
    assert command("--diff", str(old)) == 0
    assert capsys.readouterr().out == "no difference\n"
    assert command("--diff", str(old), "--lets", "reported", "--targets", "other") == 0
    assert "~ coverage: 72.73 % -> 0 %" in capsys.readouterr().out
    assert command("--diff", str(BRANCHES)) == 2


def test_without_a_table_the_command_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["partition", str(BRANCHES), "--in-process"]) == 1
    message = capsys.readouterr().err
    assert "BY001" in message
    assert "give a table of what targets take" in message


def test_what_flows_out_of_a_region_that_ends_at_the_uses_of_a_let_is_its_variable() -> None:
    rows = report(TWO, table("my_library"), lets="uses").regions
    assert [(flow.name, flow.source) for row in rows for flow in row.outputs] == [("0", "%x"), ("0", "%z")]


def passes(lets: str, *more: str) -> str:
    annotate = f"AnnotateTarget(targets=['match_key'], lets={lets!r})"
    return ", ".join(("MergeComposite", annotate, "MergeCompilerRegions", "PartitionGraph", *more))


def with_table(command_name: str, pipeline: str) -> int:
    sample, known = SAMPLES / "relay" / "library_call_two.relay", SAMPLES / "patterns" / "my_library.json"
    return main([command_name, str(sample), "--passes", pipeline, "--table", str(known), "--in-process"])


@pytest.mark.parametrize("lets", ["values", "definition", "uses", "graph_form"])
def test_a_partitioned_program_runs_from_the_command_line(lets: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert with_table("opt", passes(lets)) == 0
    printed = capsys.readouterr().out
    assert printed.count("def @tvmgen_default_match_key_main_") == (1 if lets == "graph_form" else 2)
    assert with_table("run", passes(lets)) == 0
    assert capsys.readouterr().out == "0\n"


def test_the_reported_program_is_refused_when_it_becomes_relax(capsys: pytest.CaptureFixture[str]) -> None:
    assert with_table("opt", passes("reported")) == 1
    written = capsys.readouterr()
    assert "let %x = %match_key_4_i0" in written.out
    assert written.err.count("warning[BY004]") == 2
    assert with_table("run", passes("reported")) == 1
    complained = capsys.readouterr().err
    assert complained.count("error[RY030]") == 2
    assert "%match_key_4_i0" in complained
    assert "%match_key_8_i0" in complained
