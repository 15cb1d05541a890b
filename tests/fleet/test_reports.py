"""What is said of a run: as text, JSON, Markdown, JUnit XML, and a page whose cells lead to module and stage."""

import re
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit
from xml.etree import ElementTree

import msgspec

from relax_core.engine.protocol import Program
from relax_core.fleet.campaign import Cell, Matrix
from relax_core.fleet.jobs import Job, Result
from relax_core.fleet.reporting.junit import to_junit
from relax_core.fleet.reporting.markdown import to_markdown
from relax_core.fleet.reporting.page import address, to_html
from relax_core.fleet.reporting.text import to_json, to_text
from tests.fleet.fleets import VERSION, cell
from views.state.address import read_address

HOSTILE = '<script>alert("`|x|`")</script>\x1b[2J.py'
WORDS = "TY012: `matmul` expects <b>3</b> | got 4"
CELLS = (
    replace(cell("a.py", "x"), result=Result("passed", seconds=0.25)),
    replace(cell("a.py", "x", "run"), result=Result("passed"), earlier=Result("failed", "VM001: no")),
    replace(cell(HOSTILE, "y"), result=Result("failed", WORDS, "TY012", 7)),
    replace(cell(HOSTILE, "y", "run"), result=Result("limit", "wall clock: 60 s")),
    replace(cell("z.py", "z"), result=Result("not compared", "two | sides")),
    cell("z.py", "z", "run"),
)
MATRIX = Matrix(CELLS, VERSION, "2 processes", 2.0, kept_count=1, done_count=4, problem="no scheduler answers")


def test_the_text_has_a_row_for_each_module_that_did_not_pass() -> None:
    lines = to_text(MATRIX).splitlines()
    assert lines[-4:] == [
        "check  1 passed, 1 failed, 1 not compared",
        "run    1 passed, 1 limit, 1 not done",
        "1 result other than in the earlier run",
        "4 jobs in 2.0 s, 2 a second, 2 processes; 1 result kept from before",
    ]
    assert lines[1].split("  ")[-1] == "passed (was failed)"
    assert any(line.endswith("check  failed at line 7: " + WORDS) for line in lines)
    assert "\x1b" not in to_text(MATRIX)
    passing = replace(MATRIX, cells=CELLS[:1])
    assert "a.py" not in to_text(passing)
    assert "a.py  check  passed" in to_text(passing, shows_all=True)


def test_json_has_an_object_for_each_cell() -> None:
    found = [msgspec.json.decode(line) for line in to_json(MATRIX)]
    assert [(one["command"], one["outcome"]) for one in found[:2]] == [("check", "passed"), ("run", "passed")]
    assert found[1]["change"] == "was failed"
    assert (found[2]["name"], found[2]["result"]["line"]) == (HOSTILE, 7)
    assert found[-1]["outcome"] == "not done"


def test_junit_counts_what_its_readers_count() -> None:
    root = ElementTree.fromstring(to_junit(MATRIX))
    suites = {suite.get("name"): suite for suite in root}
    counted = [[suite.get(name) for name in ("tests", "failures", "errors", "skipped")] for suite in suites.values()]
    assert counted == [["3", "1", "0", "1"], ["3", "0", "2", "0"]]
    failure = suites["check"].find("testcase/failure")
    assert failure is not None
    assert (failure.get("type"), failure.get("message")) == ("TY012", f"failed at line 7: {WORDS}")
    assert next(case.get("time") for case in suites["check"]) == "0.250"


def test_no_name_ends_a_cell_of_markdown() -> None:
    text = to_markdown(MATRIX)
    assert "## 3 modules: 2 passed, 1 failed, 1 not compared, 1 limit, 1 not done" in text
    assert "**Not all was done:** no scheduler answers" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in rows} == {4}
    assert "<b>" not in re.sub(r"`[^`]*`", "", text)


def test_the_page_shows_names_as_text_and_leads_to_the_files() -> None:
    page = to_html(MATRIX, "out/matrix.html")
    assert "<script>" not in page
    assert "default-src 'none'" in page
    assert page.count('<tr class="other">') == 3  # a.py did not pass before
    assert '<a href="../zoo/a.py">a.py</a>' in page
    assert '<td class="lost"><a href="../zoo/' in page


def test_a_cell_leads_to_its_module_and_stage_in_the_app() -> None:
    text = "# a module\n" * 200
    program = Program(text, pipeline="LegalizeOps, FuseOps", seed=3, rules="R.add(x, 0.0) -> x\n")
    found = Cell("a.py", "a.py", "bisect", Job("bisect", program), Result("failed", "stage 2", stage=2))
    there = urlsplit(address("http://127.0.0.1:8501/", found))
    assert (there.netloc, there.path) == ("127.0.0.1:8501", "/passes")
    selection = read_address(dict(parse_qsl(there.query)))
    assert selection.complaints == ()
    values = selection.selection.values()
    assert [values[name] for name in ("text", "pipeline", "stage", "seed", "rule_text")] == [
        text,
        "LegalizeOps, FuseOps",
        2,
        3,
        "R.add(x, 0.0) -> x\n",
    ]
    assert address("http://127.0.0.1:8501", replace(found, job=None)) == ""
