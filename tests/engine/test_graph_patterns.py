"""Patterns of several bindings in a table: where they fit, on the page and on the command line, and why not."""

import json
from pathlib import Path

import pytest

import relax_core as rc
from relax_core.cli import main
from relax_core.engine.protocol import Failure, PartitionOf, PatternsOf, Program
from relax_core.engine.session import Session
from relax_core.pattern.partition.tables import read_tables
from relax_core.present.regions.partition_models import PartitionView, PatternList, PatternRow

TEXT = """
from tvm.script import ir as I, relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), v: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            p = R.matmul(x, v)
            q = R.matmul(x, w)
            r = R.nn.relu(R.add(p, q))
            R.output(r)
        return r
"""
PRODUCTS = (
    'x = wildcard()\nfirst = is_op("relax.matmul")(x, wildcard())\nsecond = is_op("relax.matmul")(x, wildcard())\n'
)
SUM = 'is_op("relax.add")(wildcard(), wildcard(), add_constraint=False)'
MATCHED = f"{PRODUCTS}first ^ {SUM}"
MISSED = f"{PRODUCTS}second.used_by({SUM}, 0)\nfirst.used_by({SUM.replace('add', 'exp', 1)}, 0)"
SINGLE = 'is_op("relax.nn.relu")(is_op("relax.add")(wildcard(), wildcard()))'


def table(*patterns: tuple[str, str]) -> str:
    return json.dumps({"patterns": patterns})


def rows(text: str, tables: str, name: str = "m.py") -> tuple[PatternRow, ...]:
    reply = Session().request(PatternsOf(Program(text, name, tables=tables)))
    assert isinstance(reply, PatternList), reply
    return reply.patterns


def test_a_pattern_of_several_bindings_says_where_it_fits_and_which_variable_each_pattern_matches() -> None:
    single, graph = rows(TEXT, table(("my.two", MATCHED), ("my.relu", SINGLE)))
    assert (single.name, single.match_count) == ("my.relu", 1)
    assert (graph.name, graph.text, graph.match_count) == ("my.two", MATCHED, 2)
    first, second = graph.places
    assert (first.what, first.arguments, first.line) == ("add", "x = x, first = p, second = q", 11)
    assert (second.what, second.arguments, second.line) == ("add", "x = x, first = q, second = p", 11)
    assert len(first.nodes) == 6, "the bindings, and the inputs x, v and w"


def test_a_pattern_of_several_bindings_that_fits_nowhere_says_what_came_closest() -> None:
    (graph,) = rows(TEXT, table(("my.two", MISSED)))
    assert graph.match_count == 0
    (place,) = graph.places
    assert not place.is_match
    assert place.reason.startswith(
        "`is_op('exp')(wildcard(), wildcard())` does not fit lv: its part `is_op('exp')` met add"
    )
    assert place.reason.endswith("found before: x = x, first = p")
    assert place.line == 11


def test_many_matches_are_counted_up_to_a_limit() -> None:
    lines = "\n".join(f"            u{number} = R.exp(x)" for number in range(40))
    names = ", ".join(f"u{number}" for number in range(40))
    head = TEXT.split("            p =")[0]
    text = f"{head}{lines}\n            R.output({names})\n        return ({names})\n"
    call = 'is_op("relax.exp")(wildcard(), add_constraint=False)'
    (graph,) = rows(text, table(("my.fork", f"x = wildcard()\na = {call}\nb = {call}\nx.fork_to(a, b)")))
    assert graph.match_count == 1000
    assert graph.places[-1].reason == "further matches are not counted"


def test_relay_has_no_bindings_to_look_in() -> None:
    relay = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(4), float32]) { exp(%x) }\n'
    (graph,) = rows(relay, table(("my.two", MATCHED)), "m.relay")
    assert [item.reason for item in graph.places] == ["a pattern of several bindings is looked for in Relax"]


def test_the_page_shows_it_beside_the_others_and_the_passes_leave_it() -> None:
    tables = table(("my.two", MATCHED), ("my.relu", SINGLE))
    view = Session().request(PartitionOf(Program(TEXT, "m.py", tables=tables)))
    assert isinstance(view, PartitionView), view
    assert {item.name: item.match_count for item in view.patterns} == {"my.two": 2, "my.relu": 1}
    assert view.stages[0].summary == "1 composite"
    # A target of which there are only such patterns is known, and takes nothing.
    alone = Session().request(PartitionOf(Program(TEXT, "m.py", tables=table(("your.two", MATCHED))), ("your",)))
    assert isinstance(alone, PartitionView), alone
    assert alone.stages[0].summary == "0 composites"
    (stage,) = rc.run_pipeline(rc.parse(TEXT), "FuseOpsByPattern", tables=read_tables(tables))
    said = [item.message for item in stage.remarks if item.kind == "note"]
    assert said[-1:] == ["my.two is a pattern of several bindings, and makes no composites"]


def test_a_text_that_says_no_edge_right_is_told_at_its_place() -> None:
    reply = Session().request(PatternsOf(Program(TEXT, "m.py", tables=table(("my.two", "a = wildcard() ^ b")))))
    assert isinstance(reply, Failure)
    assert [item.code for item in reply.problems] == ["PT002"]
    assert "my.two:1:18" in reply.rendered
    unjoined = f"{PRODUCTS}wildcard().same_shape_as(x)"
    reply = Session().request(PatternsOf(Program(TEXT, "m.py", tables=table(("my.two", unjoined)))))
    assert isinstance(reply, Failure)
    assert [item.code for item in reply.problems] == ["PT011"]


def test_a_table_with_such_a_pattern_is_written_and_read() -> None:
    tables = read_tables(table(("my.two", MATCHED), ("my.relu", SINGLE)))
    assert tables.targets == ("my",)
    assert [name for name, _ in tables.graphs] == ["my.two"]
    again = read_tables(tables.to_json())
    assert again.to_json() == tables.to_json()
    assert again.graphs[0][1].text == MATCHED


def test_the_command_line_says_where_patterns_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, graph, single, tables = (tmp_path / name for name in ("m.py", "two.txt", "one.txt", "t.json"))
    program.write_text(TEXT)
    graph.write_text(MATCHED)
    single.write_text(SINGLE.replace("relu", "silu"))
    tables.write_text(table(("my.two", MISSED), ("my.relu", SINGLE)))

    def said(*arguments: str) -> tuple[int, str, str]:
        status = main(["match", str(program), *arguments, "--in-process"])
        found = capsys.readouterr()
        return status, found.out, found.err

    assert said("--pattern", str(graph)) == (
        0,
        "two: 2 matches\n  line 11: add(x = x, first = p, second = q)\n  line 11: add(x = x, first = q, second = p)\n",
        "",
    )
    status, out, _ = said("--pattern", str(single))
    assert (status, out.splitlines()[0]) == (0, "one: 0 matches")
    status, out, _ = said("--table", str(tables))
    assert [line for line in out.splitlines() if not line.startswith("  ")] == [
        "my.relu: 1 match",
        "",
        "my.two: 0 matches",
    ]
    status, out, _ = said("--pattern", str(graph), "--json")
    assert json.loads(out)["patterns"][0]["match_count"] == 2
    graph.write_text("x = wildcard() ^ y")
    status, _, err = said("--pattern", str(graph))
    assert (status, "PT002" in err) == (1, True)
    assert said()[0] == 2
