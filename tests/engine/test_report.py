"""A report of every sample: under 2 MB, the same bytes each time, and what does not work is told."""

import re
from collections.abc import Iterator
from html import escape
from html.parser import HTMLParser

import msgspec
import pytest

from relax_core.engine.protocol import Failure, Program, ReportOf
from relax_core.engine.replies import ReportFile
from relax_core.engine.reporting.again import command_of
from relax_core.engine.samples import list_samples
from relax_core.engine.session import Session
from relax_core.present.report.page import REPORT_BYTES
from tests.engine.asking import ask
from tests.engine.programs import SAMPLES, SMALL
from tests.views.test_hostile_names import ELSEWHERE, broken_program, relax_program, relay_program

PATHS = tuple(item.path for item in list_samples() if "endless_loop" not in item.path)
"""All samples but two that run until their time is over."""
LOADING = {"src", "srcset", "data", "poster", "background", "xlink:href", "formaction", "action", "ping"}
VOID = ("meta", "br", "img")


@pytest.fixture(scope="module")
def session() -> Session:
    return Session()


def program(path: str, **changes: object) -> Program:
    return Program((SAMPLES / path).read_text(encoding="utf-8"), path, **changes)  # pyright: ignore[reportArgumentType]  # fields of a program


class Elements(HTMLParser):
    """Collects the elements of a page, and fails where they are not nested."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def loaded(made: ReportFile) -> Iterator[str]:
    """Yield what a browser would fetch for a page."""
    for tag, attributes in Elements(made.html).found:
        yield from (f"{tag} {name}" for name in attributes if name in LOADING)
        if tag in ("link", "iframe", "object", "embed", "base", "image", "use"):
            yield tag


def test_a_report_of_every_sample_is_under_2_mb(session: Session) -> None:
    """The largest is of twelve maps in Relay, 1.8 MB, of which a graph and a text are left out."""
    sizes = {path: len(ask(session, ReportOf(program(path))).html.encode()) for path in PATHS}
    assert max(sizes.values()) <= REPORT_BYTES < 2_000_000
    assert max(sizes, key=sizes.__getitem__) == "relay/map_twelve_times.relay"


def test_what_is_left_out_is_said(session: Session) -> None:
    made = ask(session, ReportOf(program("relay/map_twelve_times.relay")))
    assert [words.partition(",")[0] for words in made.left_out] == [
        "the graph before and after RelayToRelax", "the text after the last pass",
    ]  # fmt: skip
    assert made.html.count("Left out, for the file would be too large: the graph before and after RelayToRelax") == 1


@pytest.mark.parametrize("path", ["relax/mlp.py", "relay/devices.relay", "tir/matmul.py"])
def test_the_same_program_makes_the_same_bytes(path: str, session: Session) -> None:
    asked = ReportOf(program(path))
    assert ask(session, asked).html == ask(Session(), asked).html
    assert "2026-01-02" in ask(session, msgspec.structs.replace(asked, date="2026-01-02")).html


def test_a_report_tells_of_source_passes_and_run(session: Session) -> None:
    made = ask(session, ReportOf(program("relax/mlp.py", pipeline="LegalizeOps, FuseOps, FuseTIR"), "*my* notes"))
    for words in ("<em>my</em> notes", "✓ well-formed", 'id="stage-1"', "Before · Source", "After · LegalizeOps"):
        assert words in made.html, words
    for words in ("made up from seed 0", "✓ returned", "Values of <code>main</code>", "Nothing was left out"):
        assert words in made.html, words
    command = "python -m relax_core report relax/mlp.py --passes 'LegalizeOps, FuseOps, FuseTIR' --seed 0"
    assert escape(command) in made.html
    assert not made.has_errors


def test_a_part_that_was_not_asked_for_is_not_there(session: Session) -> None:
    made = ask(session, ReportOf(program("relax/mlp.py"), parts=("run",)))
    assert re.findall(r'<section id="(\w+)"', made.html) == ["run", "about"]
    assert "#source-" not in made.html


def test_a_program_that_does_not_run_has_a_report_that_says_why(session: Session) -> None:
    stopped = ask(session, ReportOf(program("seeds/my_ir_module.py")))
    assert stopped.has_errors
    assert "error[JT010]" in stopped.html
    assert "✕ stopped" in stopped.html
    wrong = ask(session, ReportOf(Program("@I.ir_module\nclass M:\n    def f(:\n", "wrong.py")))
    assert wrong.has_errors
    assert wrong.html.count("There is nothing to show, because:") == 2
    unknown = ask(session, ReportOf(Program(SMALL, "m.py", pipeline="NoSuchPass")))
    assert "error[PS001]" in unknown.html or "NoSuchPass" in unknown.html


def test_devices_of_relay_colour_its_graph(session: Session) -> None:
    made = ask(session, ReportOf(program("relay/devices.relay"), parts=("source",)))
    assert "<h3>Devices</h3>" in made.html
    assert '"colour_names":[["cat0",' in made.html


@pytest.mark.parametrize(
    ("text", "name"),
    [(relax_program(), "a`b`<img src=x>.py"), (broken_program(), "b.py"), (relay_program(), "</title>.relay")],
    ids=["relax", "broken", "relay"],
)
def test_hostile_names_stay_text(text: str, name: str, session: Session) -> None:
    made = ask(session, ReportOf(Program(text, name), f"![x]({ELSEWHERE}/x.png)<script>alert(1)</script>"))
    assert list(loaded(made)) == []
    scripts = [attributes for tag, attributes in Elements(made.html).found if tag == "script"]
    assert [item for item in scripts if item["type"] != "application/json"] == [{"type": "module"}]
    assert not any(name.startswith("on") for _, attributes in Elements(made.html).found for name in attributes)


def test_the_command_says_what_the_program_is() -> None:
    asked = Program(
        "", "a b.py", pipeline="FuseOps(max_depth=2)", entry="f", sizes=(("n", 4),), as_in="reported", mode="fast"
    )
    assert command_of(asked) == (
        "python -m relax_core report 'a b.py' --passes 'FuseOps(max_depth=2)' --entry f --seed 0 --sizes n=4 "
        "--as-in reported --mode fast"
    )
    given = Program("", "m.py", inputs=b"PK", tables="{}", finds_uninitialised=True)
    assert command_of(given, inputs="x.npz") == (
        "python -m relax_core report m.py --inputs x.npz --table table.json --find-uninitialised"
    )


def test_a_report_can_be_cancelled() -> None:
    session = Session()
    session.cancel()
    reply = session.request(ReportOf(program("relax/mlp.py")))
    assert isinstance(reply, Failure)
    assert reply.kind == "cancelled"


def test_regions_are_told_where_there_is_a_table(session: Session) -> None:
    table = (SAMPLES / "patterns" / "dnnl.json").read_text(encoding="utf-8")
    passes = "MergeComposite, AnnotateTarget(targets=['dnnl']), MergeCompilerRegions, PartitionGraph"
    asked = program("relay/conv_bn_relu.relay", tables=table, pipeline=passes)
    made = ask(session, ReportOf(asked, parts=("passes",)))
    assert "<h3>Compiler regions</h3><pre>7 of 7 operators offloaded (100 %), 1 region" in made.html
    assert "--table table.json" in made.html
    assert '"sign":"port"' in made.html
