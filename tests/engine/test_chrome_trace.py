"""A timed run as a file of the Chrome trace format, against the fields that the format documents."""

import json
from pathlib import Path
from typing import Any

import pytest

from relax_core.cli.command_line import main
from relax_core.engine.debug.requests import ChromeTraceOf
from relax_core.engine.protocol import Failure, RunOf
from relax_core.engine.session import Session
from relax_core.present.running.timing import chrome_trace
from tests.engine.programs import sample

PHASES = {"X", "M"}


def written(session: Session, name: str) -> dict[str, Any]:
    found = session.request(ChromeTraceOf(sample(f"relax/{name}.py")))
    assert not isinstance(found, Failure), found.message
    return json.loads(found.content)


def spans_of(trace: dict[str, Any]) -> list[dict[str, Any]]:
    return [event for event in trace["traceEvents"] if event["ph"] == "X"]


@pytest.mark.parametrize("name", ["loop", "mlp", "inplace_update", "closure_captures"])
def test_the_file_has_the_fields_of_the_format(session: Session, name: str) -> None:
    trace = written(session, name)
    assert trace["displayTimeUnit"] in ("ms", "ns")
    for event in trace["traceEvents"]:
        assert event["ph"] in PHASES
        assert isinstance(event["name"], str)
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name")
            assert isinstance(event["args"]["name"], str)
            continue
        assert isinstance(event["cat"], str)
        assert event["ts"] >= 0
        assert event["dur"] >= 0


@pytest.mark.parametrize("name", ["loop", "mlp", "closure_captures"])
def test_spans_of_a_thread_nest_and_are_in_order(session: Session, name: str) -> None:
    spans = spans_of(written(session, name))
    assert spans[0]["cat"] == "function"
    opened: list[float] = []
    last = 0.0
    for span in spans:
        begin, end = span["ts"], span["ts"] + span["dur"]
        assert begin >= last
        last = begin
        while opened and opened[-1] <= begin + 1e-6:
            opened.pop()
        assert not opened or end <= opened[-1] + 1e-6
        opened.append(end)


def test_every_call_of_the_run_is_a_span(session: Session) -> None:
    program = sample("relax/loop.py")
    run = session.request(RunOf(program))
    assert not isinstance(run, Failure)
    trace = written(session, "loop")
    assert trace["otherData"]["events"] == run.total
    assert trace["otherData"]["spans_left_out"] == 0
    names = [span["name"] for span in spans_of(trace) if span["cat"] == "function"]
    assert names.count("main") == 1
    assert names.count("main_loop") == sum(item.label == "main_loop" for item in run.flame)
    assert any(span["cat"] == "kernel" and span["args"]["line"] > 0 for span in spans_of(trace))


def test_a_long_run_keeps_the_longest_spans(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chrome_trace, "SPANS", 7)
    trace = written(session, "loop")
    assert len(spans_of(trace)) == trace["otherData"]["spans"] == 7
    assert trace["otherData"]["spans_left_out"] > 0
    assert spans_of(trace)[0]["name"] == "main"


def test_the_command_writes_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "run.json"
    assert main(["run", "samples/relax/mlp.py", "--chrome-trace", str(file)]) == 0
    assert json.loads(file.read_bytes())["traceEvents"]
    assert main(["run", "samples/relax/mlp.py", "--chrome-trace", str(file), "--memory"]) == 2
    assert "--memory and --chrome-trace do not go together" in capsys.readouterr().err
