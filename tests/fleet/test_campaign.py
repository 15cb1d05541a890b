"""A run over many modules: what is kept, what is done again, and what is left when it ends too early."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from relax_core.engine.limits import Limits
from relax_core.fleet.campaign import INTERRUPTED, Campaign, Cell, Matrix
from relax_core.fleet.jobs import FleetError, Outcome, Result
from relax_core.fleet.store import Store
from tests.fleet.fleets import VERSION, ScriptedFleet, cell

FOUR = tuple(cell(f"{name}.py", f"text {name}") for name in "abcd")


def run(path: Path, fleet: ScriptedFleet, cells: Sequence[Cell] = FOUR, *, tries_again: bool = False) -> Matrix:
    with Store(str(path)) as store:
        return Campaign(fleet, VERSION, store, tries_again).carry_out(cells)


def test_modules_with_the_same_text_are_one_job() -> None:
    fleet = ScriptedFleet()
    matrix = Campaign(fleet, VERSION).carry_out((cell("a.py", "x"), cell("b.py", "x"), cell("b.py", "x", "run")))
    assert fleet.asked == ["x", "x"]
    assert [item.state for item in matrix.cells] == ["passed"] * 3
    # The end of a name may decide how a text is read.
    assert cell("a.py", "x").job != cell("a.relay", "x").job


@pytest.mark.parametrize("loss", [FleetError("no scheduler answers"), KeyboardInterrupt()], ids=["loss", "Ctrl-C"])
def test_a_run_that_ends_early_goes_on_from_what_was_done(loss: BaseException, tmp_path: Path) -> None:
    first = ScriptedFleet(loss=loss, loss_after=2)
    matrix = run(tmp_path / "s", first)
    assert matrix.problem == ("no scheduler answers" if isinstance(loss, FleetError) else INTERRUPTED)
    assert [item.state for item in matrix.cells] == ["passed", "passed", "not done", "not done"]
    assert matrix.exit_status() == 3
    second = ScriptedFleet()
    again = run(tmp_path / "s", second)
    assert first.asked + second.asked == [f"text {name}" for name in "abcd"]
    assert (again.kept_count, again.done_count, again.problem, again.exit_status()) == (2, 2, "", 0)


def test_what_a_result_depends_on_is_in_its_key(tmp_path: Path) -> None:
    first = FOUR[0]
    assert first.job is not None
    others = (
        msgspec.structs.replace(first.job, command="run"),
        msgspec.structs.replace(first.job, limits=Limits(wall_seconds=1.0)),
        msgspec.structs.replace(first.job, program=msgspec.structs.replace(first.job.program, seed=1)),
        msgspec.structs.replace(first.job, before=first.job.program),
    )
    keys = {first.job.key(VERSION), first.job.key("another one"), *(job.key(VERSION) for job in others)}
    assert len(keys) == 6
    renamed = msgspec.structs.replace(first.job, program=msgspec.structs.replace(first.job.program, name="z.py"))
    assert renamed.key(VERSION) == first.job.key(VERSION)


def test_what_has_no_verdict_is_done_again_if_that_is_asked(tmp_path: Path) -> None:
    outcomes: tuple[Outcome, ...] = ("crashed", "limit", "failed", "not compared")
    results = {f"text {name}": Result(outcome) for name, outcome in zip("abcd", outcomes, strict=True)}
    assert run(tmp_path / "s", ScriptedFleet(results)).exit_status() == 1
    kept, again = ScriptedFleet(results), ScriptedFleet()
    run(tmp_path / "s", kept)
    matrix = run(tmp_path / "s", again, tries_again=True)
    assert (kept.asked, again.asked) == ([], ["text a", "text b"])
    assert [item.state for item in matrix.cells] == ["passed", "passed", "failed", "not compared"]
    assert [item.state for item in run(tmp_path / "s", ScriptedFleet()).cells] == [item.state for item in matrix.cells]


@pytest.mark.parametrize(
    ("outcomes", "status"),
    [
        (("passed", "passed"), 0),
        (("passed", "not compared"), 4),
        (("not compared", "limit"), 3),
        (("crashed", "passed"), 3),
        (("crashed", "failed"), 1),
    ],
    ids=lambda value: str(value),
)
def test_the_status_is_that_of_the_gravest_outcome(outcomes: tuple[Outcome, ...], status: int) -> None:
    results = {f"text {name}": Result(outcome) for name, outcome in zip("ab", outcomes, strict=True)}
    assert Campaign(ScriptedFleet(results), VERSION).carry_out(FOUR[:2]).exit_status() == status


def test_a_run_is_compared_with_the_latest_one(tmp_path: Path) -> None:
    before = {"text a": Result("failed", "one"), "text b": Result("passed", digest="1"), "text c": Result("failed")}
    run(tmp_path / "s", ScriptedFleet(before))
    written = (tmp_path / "s").read_bytes()
    with Store(str(tmp_path / "s"), is_earlier=True) as store:
        earlier = store.latest()
    assert [path.name for path in tmp_path.iterdir()] == ["s"]
    assert (tmp_path / "s").read_bytes() == written
    cells = tuple(replace(item, earlier=earlier.get((item.name, item.command))) for item in FOUR)
    now = {"text a": Result("failed", "two"), "text b": Result("passed", digest="2"), "text d": Result("limit")}
    matrix = Campaign(ScriptedFleet(now), VERSION).carry_out(cells)
    assert [item.change for item in matrix.cells] == [
        "was one",
        "another result than before",
        "was failed",
        "was passed",
    ]
    assert (matrix.exit_status(), matrix.exit_status("worse")) == (1, 3)


def test_a_file_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no results, but a text that is long enough to be no header of SQLite" * 9)
    with pytest.raises(FleetError, match=r"text cannot be used as a file of results: file is not a database"):
        Store(str(tmp_path / "text"))
    with pytest.raises(FleetError, match="no such file"):
        Store(str(tmp_path / "none"), is_earlier=True)


def test_an_earlier_file_is_read_while_a_run_writes_it(tmp_path: Path) -> None:
    with Store(str(tmp_path / "s #1")) as writing:
        Campaign(ScriptedFleet(), VERSION, writing).carry_out(FOUR)
        with Store(str(tmp_path / "s #1"), is_earlier=True) as reading:
            assert {name for name, _ in reading.latest()} == {"a.py", "b.py", "c.py", "d.py"}
