"""Runs with changed values, and the memory of a run, as requests and on the command line."""

import io
import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import relax_core
from relax_core.cli.command_line import main
from relax_core.engine.debug.replies import Dumped, Stopped, ValuesCompared
from relax_core.engine.debug.requests import CompareValuesOf, DumpOf, MemoryOf, StopsOf
from relax_core.engine.programs.program import ChangeAt
from relax_core.engine.protocol import Execute, Failure, Program, RunOf, ValueOf
from relax_core.engine.replies import Executed, TensorPage
from relax_core.engine.session import Session
from relax_core.present.running.memory_models import MemoryView
from relax_core.present.running.run_models import Breakpoint, Run, Write
from relax_core.vm.machine import Machine
from tests.engine.programs import HEADER, program, sample
from tests.narrow import is_tuple

CHAIN = program(
    HEADER
    + """    @R.function
    def main(x: R.Tensor((2, 2), "float32")) -> R.Tensor((2, 2), "float32"):
        y = R.add(x, x)
        z = R.multiply(y, R.const(2.0, "float32"))
        w = R.add(z, R.const(1.0, "float32"))
        return w
"""
)
Z_LINE = next(number for number, line in enumerate(CHAIN.text.split("\n"), 1) if "z = " in line)
REUSED = sample("relax/storage_reused.py")


@pytest.fixture(scope="module")
def session() -> Session:
    return Session()


def changed(*changes: ChangeAt) -> Program:
    return msgspec.structs.replace(CHAIN, changes=changes)


def time_of(session: Session, line: int) -> int:
    found = session.request(StopsOf(CHAIN, (Breakpoint(line),)))
    assert isinstance(found, Stopped), found
    return found.stops[0].time


def npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def test_all_requests_about_a_run_are_about_the_changed_one(session: Session) -> None:
    at = time_of(session, Z_LINE)
    other = changed(ChangeAt(at, "y = 3"))
    first, second = session.request(RunOf(CHAIN)), session.request(RunOf(other))
    assert isinstance(first, Run)
    assert isinstance(second, Run)
    assert first.total == second.total
    assert first.revision != second.revision
    assert first.events[: at - 1] == second.events[: at - 1]
    register = next(number for number, item in enumerate(first.functions[0].registers) if item.variable == "y")
    shown = [change.value for change in second.events[at - 1].changes if isinstance(change, Write)]
    assert [second.values[value].short for value in shown][-1] == "[[3.00 3.00] …]", (
        "the step that leads there shows it"
    )
    pages = [session.request(ValueOf(item, at, 0, register)) for item in (CHAIN, other)]
    assert [page.tensor.cells[0] for page in pages if isinstance(page, TensorPage)][1] == "3.00"
    ran = session.request(Execute(other))
    assert isinstance(ran, Executed)
    assert ran.result.replace("\n", "") == "[[7. 7.] [7. 7.]]"
    dumped = session.request(DumpOf(other))
    assert isinstance(dumped, Dumped)
    with np.load(io.BytesIO(dumped.archive)) as values:
        assert (values["main.z"] == 6).all()


def test_the_runs_are_compared(session: Session) -> None:
    other = changed(ChangeAt(time_of(session, Z_LINE), "y[0, 0] = nan"))
    found = session.request(CompareValuesOf(CHAIN, -1, other, -1))
    assert isinstance(found, ValuesCompared)
    assert (found.left, found.right) == ("The run", "the changed run")
    verdicts = {row.name: row.verdict for row in found.rows}
    assert verdicts == {"main.y": "same", "main.z": "different", "main.w": "different"}
    assert found.first_different is not None
    assert "1 of 4 elements differ" in found.first_different.words


def test_a_run_with_more_changes_goes_on_from_the_one_before_it(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = time_of(session, Z_LINE)
    resumed: list[int] = []
    original = Machine.resume

    def counted(self: Machine, *args: Any) -> Any:
        resumed.append(args[1])
        return original(self, *args)

    monkeypatch.setattr(Machine, "resume", counted)
    first, same, later = ChangeAt(at, "y = 1"), ChangeAt(at, "y[0] = 5"), ChangeAt(at + 4, "z = 2")
    expected = {(first,): [at], (first, later): [at + 4], (first, same): [at], (): []}
    for changes, times in expected.items():
        resumed.clear()
        assert not isinstance(session.request(RunOf(changed(*changes))), Failure)
        assert resumed == times, changes


FAILURES = [
    ((ChangeAt(0, "q = 1"),), "VM051"),
    ((ChangeAt(0, "x = = 1"),), "VM030"),
    ((ChangeAt(10_000, "x = 1"),), "VM050"),
    ((ChangeAt(3, "x = 1"), ChangeAt(0, "x = 2")), "EN005"),
    ((ChangeAt(0, "x = file()", content=b"no array"),), "EN004"),
    ((ChangeAt(0, "x = file()"),), "VM051"),
    ((ChangeAt(0, "x = file()", content=npy(np.zeros((3, 3), np.float32))),), "VM051"),
]


@pytest.mark.parametrize(("changes", "code"), FAILURES, ids=lambda item: str(item)[:40])
def test_a_change_that_does_not_fit_is_a_failure(session: Session, changes: tuple[ChangeAt, ...], code: str) -> None:
    found = session.request(RunOf(changed(*changes)))
    assert isinstance(found, Failure)
    assert found.kind == "diagnosed"
    assert found.problems[0].code == code


def test_an_archive_of_several_arrays_is_no_value(session: Session) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, a=np.zeros(2))
    found = session.request(RunOf(changed(ChangeAt(0, "x = file()", content=buffer.getvalue()))))
    assert isinstance(found, Failure)
    assert found.problems[0].code == "EN004"


@pytest.fixture
def chain(tmp_path: Path) -> str:
    path = tmp_path / "chain.py"
    path.write_text(CHAIN.text, encoding="utf-8")
    return str(path)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main([*arguments, "--in-process"])
    captured = capsys.readouterr()
    return status, captured.out.replace("\n", " ").strip(), captured.err


SET = [
    (("--set", f"{Z_LINE}: y = 3"), "[[7. 7.]  [7. 7.]]"),
    (("--set", f"{Z_LINE}: y = 3", "--set", f"{Z_LINE + 1}: z[0] = 0"), "[[1. 1.]  [7. 7.]]"),
    (("--set", "time 0: x = ones()"), "[[5. 5.]  [5. 5.]]"),
    (("--set", "@0: x = 2", "--in-place"), "[[9. 9.]  [9. 9.]]"),
]


@pytest.mark.parametrize(("options", "expected"), SET, ids=lambda item: " ".join(item) if is_tuple(item) else "")
def test_the_command_line_runs_on_with_values(
    chain: str, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], expected: str
) -> None:
    status, out, err = said(capsys, "run", chain, *options)
    assert (status, out) == (0, expected), err


def test_the_command_line_takes_a_file_and_compares(
    chain: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "y.npy", np.full((2, 2), 4, np.float32))
    change = f"{Z_LINE}: y = {tmp_path / 'y.npy'}"
    assert said(capsys, "run", chain, "--set", change)[1] == "[[9. 9.]  [9. 9.]]"
    status, out, _ = said(capsys, "compare", chain, "--set", change)
    assert status == 1
    assert "The run against the changed run: different; 2 of 3 values differ; result: different: out: " in out


WRONG = [
    (("--set", "y = 3"), 2, "--set takes a place and a change"),
    (("--set", "1: y = 3"), 2, "does not come by line 1"),
    (("--set", f"{Z_LINE}#2: y = 3"), 2, f"comes by line {Z_LINE} 1 time"),
    (("--set", f"{Z_LINE}: y = missing.npy"), 2, "missing.npy"),
    (("--set", f"{Z_LINE}: q = 3"), 1, "VM051"),
    (("--set", "end: y = 3"), 1, "VM050"),
    (("--set", f"{Z_LINE}: y = 3", "--profile"), 2, "do not go together"),
    (("--json", "--profile"), 2, "--json prints a result, or what --memory or --simulate finds"),
    (("--memory", "--profile"), 2, "do not go together"),
]


@pytest.mark.parametrize(("options", "status", "words"), WRONG, ids=lambda item: str(item)[:40])
def test_wrong_settings_are_said(
    chain: str, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], status: int, words: str
) -> None:
    found, _, err = said(capsys, "run", chain, *options)
    assert found == status
    assert words in err


def test_the_memory_of_a_run_is_told(session: Session, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    view = session.request(MemoryOf(REUSED))
    assert isinstance(view, MemoryView)
    assert [fault.message.split(" is read")[0] for fault in view.faults] == ["`main.a`"]
    assert [box.label for row in view.rows for box in row.boxes if box.is_faulty] == ["main.a"]
    path = tmp_path / "reused.py"
    path.write_text(REUSED.text, encoding="utf-8")
    status, out, _ = said(capsys, "run", str(path), "--memory")
    assert status == 1
    assert out.startswith("At most 48 B, at time 6 of 16; 3 storages, 4 tensors, 1 argument.")
    assert "! `main.a` is read at time" in out
    status, out, _ = said(capsys, "run", str(path), "--memory", "--json")
    assert json.loads(out)["peak_bytes"] == 48


def test_the_memory_is_told_in_this_process() -> None:
    report = relax_core.memory_report(relax_core.parse(REUSED.text, name="reused.py"), np.ones(4, np.float32))
    assert len(report.faults) == 1
    assert report.to_text().endswith("the storage was taken again too early.")


def test_the_memory_of_a_changed_run_is_its_own(session: Session) -> None:
    at = time_of(session, Z_LINE)
    first, second = session.request(MemoryOf(CHAIN)), session.request(MemoryOf(changed(ChangeAt(at, "y = 0"))))
    assert isinstance(first, MemoryView)
    assert isinstance(second, MemoryView)
    assert len(second.rows) == len(first.rows) + 1
    assert second.peak_bytes == first.peak_bytes + 16
