"""Runs that go on without a call, or with another function in the place of one, and where two of them part."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec
import numpy as np
import pytest

from relax_core.cli.command_line import main
from relax_core.engine.debug.replies import ValuesCompared
from relax_core.engine.debug.requests import CompareValuesOf
from relax_core.engine.programs.program import ChangeAt
from relax_core.engine.protocol import CallAtOf, Execute, Failure, Program, RunOf
from relax_core.engine.replies import Executed
from relax_core.engine.session import Session
from relax_core.present.running.run_models import CallAt, Run
from tests.engine.programs import HEADER, program

TEXT = (
    HEADER
    + """    @T.prim_func
    def double(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("b"):
                vi = T.axis.spatial(4, i)
                y[vi] = x[vi] * T.float32(2)
    @T.prim_func
    def triple(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("b"):
                vi = T.axis.spatial(4, i)
                y[vi] = x[vi] * T.float32(3)
    @R.function
    def half(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        y = R.multiply(x, R.const(0.5, "float32"))
        return y
    @R.function
    def tenth(z: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
        y = R.multiply(z, R.const(0.1, "float32"))
        return y
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        a = cls.half(x)
        b = R.call_tir(cls.double, (a,), out_sinfo=R.Tensor((4,), "float32"))
        k = R.call_pure_packed("custom_add", a, b, sinfo_args=R.Tensor((4,), "float32"))
        c = R.add(k, b)
        return c
"""
)
ONES = msgspec.structs.replace(program(TEXT), seed=3)


@pytest.fixture(scope="module")
def session() -> Session:
    return Session()


@pytest.fixture(scope="module")
def calls(session: Session) -> Mapping[str, int]:
    """Return when the run calls each function for the first time."""
    run = session.request(RunOf(ONES))
    assert isinstance(run, Run), run
    found: dict[str, int] = {}
    for time in range(run.total):
        call = session.request(CallAtOf(ONES, time))
        assert isinstance(call, CallAt), call
        found.setdefault(call.name, call.time)
    return MappingProxyType(found)


def forked(*changes: ChangeAt) -> Program:
    return msgspec.structs.replace(ONES, changes=changes)


def ran(session: Session, *changes: ChangeAt) -> Executed:
    found = session.request(Execute(forked(*changes)))
    assert isinstance(found, Executed), found
    assert not found.rendered
    return found


def array_of(found: Executed) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
    return np.array(found.result.strip("[]").split(), np.float32)


SKIPPED = [
    ("half", "skip", 0.0, "zeros, which nothing computed"),
    ("half", "skip: ones()", 5.0, "`ones()`, as it was given"),
    ("half", "skip: x * 0 + 2", 10.0, "`x * 0 + 2`, as it was given"),
    ("custom_add", "skip: a * 0", None, "as it was given"),
    ("add", "skip: 7", 7.0, "`7`, as it was given"),
]


@pytest.mark.parametrize(("name", "text", "value", "words"), SKIPPED, ids=str)
def test_a_call_is_skipped_and_the_run_says_where_its_result_comes_from(
    session: Session, calls: Mapping[str, int], name: str, text: str, value: float | None, words: str
) -> None:
    found = ran(session, ChangeAt(calls[name], text))
    assert len(found.interventions) == 1
    assert found.interventions[0].startswith(f"`{name}` was not called at time {calls[name]}: ")
    assert words in found.interventions[0]
    if value is not None:
        np.testing.assert_array_equal(array_of(found), np.full(4, value, np.float32))


def test_a_skipped_kernel_leaves_zeros_in_its_output_and_the_run_before_stays(
    session: Session, calls: Mapping[str, int]
) -> None:
    plain = ran(session)
    skipped = ran(session, ChangeAt(calls["double"], "skip"))
    # c = (a + b) + b with b = 2a, and with b = 0.
    np.testing.assert_allclose(array_of(plain), array_of(skipped) * 5, rtol=1e-6)
    assert ran(session) == plain


REPLACED = [
    ("replace double by triple", 7 / 5, "`double` was replaced by `triple` from time 0 on: 1 call"),
    ("replace half by tenth", 1 / 5, "`half` was replaced by `tenth` from time 0 on: 1 call"),
    ("replace half by numpy", 1.0, "`half` was replaced by its definition in NumPy from time 0 on: 1 call"),
    ("replace add by numpy", 1.0, "`add` was replaced by its definition in NumPy from time 0 on: 1 call"),
]


@pytest.mark.parametrize(("text", "factor", "words"), REPLACED, ids=str)
def test_a_function_is_replaced_from_a_time_on(session: Session, text: str, factor: float, words: str) -> None:
    found = ran(session, ChangeAt(0, text))
    assert found.interventions == (words,)
    np.testing.assert_allclose(array_of(found), array_of(ran(session)) * np.float32(factor), rtol=1e-6)


def test_forks_of_forks_keep_what_was_done_before(session: Session, calls: Mapping[str, int]) -> None:
    found = ran(session, ChangeAt(0, "replace double by triple"), ChangeAt(calls["half"], "skip: ones()"))
    np.testing.assert_array_equal(array_of(found), np.full(4, 7, np.float32))
    assert len(found.interventions) == 2


WRONG = [
    ("replace dubble by triple", "there is no function `dubble` in what runs", 9),
    ("replace double by gone", "there is no function `gone` in what runs", 19),
    ("replace double by add", "`double` and `add` have other signatures", 19),
    ("replace half by main", "`half` and `main` have other signatures", 17),
    ("replace half by triple", "`half` returns its result, `triple` writes its result", 17),
    ("replace half by half", "`half` would be replaced by itself", 17),
    ("replace double by numpy", "`double` has no definition in NumPy: it is a prim func of the text", 19),
    ("replace custom_add by numpy", "`custom_add` has no definition in NumPy: it is a packed function", 23),
    ("replace custom_add by double", "a call of `custom_add` wants its result, `double` returns none", 23),
    ("replace custom_add by half", "a call of `custom_add` gives 2 arguments, `half` takes 1", 23),
    ("replace vm.builtin.copy by half", "`vm.builtin.copy` belongs to the machine", 9),
]


@pytest.mark.parametrize(("text", "words", "column"), WRONG, ids=lambda item: str(item)[:60])
def test_a_change_that_does_not_fit_is_located(session: Session, text: str, words: str, column: int) -> None:
    found = session.request(RunOf(forked(ChangeAt(0, text))))
    assert isinstance(found, Failure)
    (problem,) = found.problems
    assert (problem.code, problem.column) == ("VM051", column), problem
    assert problem.message.startswith(words)


def test_what_is_no_call_and_what_fits_no_result_is_not_skipped(session: Session, calls: Mapping[str, int]) -> None:
    at = calls["half"]
    for changes, words in (
        ((ChangeAt(at, "skip"), ChangeAt(at, "skip: ones()")), "a call is skipped twice"),
        ((ChangeAt(at, "skip: (1, 2)"),), "`skip` holds float32 numbers"),
        ((ChangeAt(at, "skip", 5),), "a call is skipped in the frame that runs"),
        ((ChangeAt(0, "skip: 1"),), "`vm.builtin.check_tensor_info` gives nothing"),
    ):
        found = session.request(RunOf(forked(*changes)))
        assert isinstance(found, Failure)
        assert words in found.problems[0].message


def test_the_call_at_a_time_says_what_would_be_its_result_and_what_can_take_its_place(
    session: Session, calls: Mapping[str, int]
) -> None:
    # The storage of its output is allocated before the call.
    call = session.request(CallAtOf(ONES, calls["double"] - 2))
    assert call == CallAt(calls["double"], "double", "zeros (4,) float32", substitutes=("triple",))
    half = session.request(CallAtOf(ONES, calls["half"]))
    assert half == CallAt(calls["half"], "half", "zeros (4,) float32", substitutes=("numpy", "tenth"))


def compared(session: Session, one: Program, other: Program) -> ValuesCompared:
    found = session.request(CompareValuesOf(one, -1, other, -1))
    assert isinstance(found, ValuesCompared), found
    return found


def test_two_forks_part_where_a_register_differs_first(session: Session, calls: Mapping[str, int]) -> None:
    at = calls["double"]
    zeros, ones = forked(ChangeAt(at, "skip")), forked(ChangeAt(at, "skip: ones()"))
    parting = compared(session, zeros, ones).parting
    assert parting is not None
    assert parting.time == at + 1
    assert [row.words for row in parting.registers] == ["4 of 4 elements differ, by at most 1 at [0]: 1, was 0"]
    assert parting.registers[0].name.startswith("main %")
    assert compared(session, zeros, forked(ChangeAt(at, "skip: 0"))).parting is None


def test_two_forks_part_where_they_go_other_ways(session: Session, calls: Mapping[str, int]) -> None:
    parting = compared(session, ONES, forked(ChangeAt(0, "replace half by tenth"))).parting
    assert parting is not None
    assert parting.time == calls["half"] + 1
    assert parting.now.startswith("`half` ")
    assert parting.other.startswith("`tenth` ")
    set_at = compared(session, ONES, forked(ChangeAt(calls["half"], "x = zeros()"))).parting
    assert set_at is not None
    assert set_at.time == calls["half"], "a value that is set differs at once"
    in_place = compared(session, ONES, forked(ChangeAt(calls["double"], "a[1] = 9", is_in_place=True))).parting
    assert in_place is not None
    assert in_place.time == calls["double"], "so does one that is changed in place"


def test_the_command_line_skips_and_replaces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "calls.py"
    path.write_text(TEXT, encoding="utf-8")
    line = next(number for number, item in enumerate(TEXT.split("\n"), 1) if "cls.double" in item)

    def said(*options: str) -> tuple[int, str, str]:
        status = main([*options, "--in-process"])
        captured = capsys.readouterr()
        return status, captured.out.strip(), captured.err

    status, out, err = said("run", str(path), "--skip", f"{line - 1}: ones()", "--replace", "double by triple")
    assert (status, out) == (0, "[7. 7. 7. 7.]")
    assert "note: `double` was replaced by `triple` from time 0 on: 1 call" in err
    saved = str(tmp_path / "run.rxt")
    assert said("run", str(path), "--replace", "double by triple", "--trace", saved)[0] == 0
    status, out, err = said("run", saved)
    assert status == 0
    assert "note: `replace double by triple` was done at time 0, when it was recorded" in err
    status, out, err = said("run", str(path), "--skip", str(line))
    assert status == 0
    assert "`double` was not called" in err
    status, out, err = said("compare", str(path), "--replace", f"{line}: double by triple")
    assert status == 1
    assert "They part at time " in out
    status, _, err = said("run", str(path), "--skip", "nowhere")
    assert status == 2
    assert "takes a place" in err
