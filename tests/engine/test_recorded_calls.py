"""The calls of a recorded run beside what the machine and NumPy compute: the first that differs, and by how much."""

import math
import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.cli import main
from relax_core.engine.debug.replies import CallsCompared
from relax_core.engine.pipelines.calls.closeness import carried, closeness_of, side, ulp_distance
from relax_core.engine.pipelines.calls.order import aligned
from relax_core.engine.pipelines.pipeline import Pipeline, RecordedStage, Recording
from relax_core.engine.pipelines.recorded_run import Omitted, RecordedCall, RecordedRun
from tests.narrow import is_array

SOURCE = """
from tvm.script import ir as I
from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4), "float32"), w: R.Tensor((4, 3), "float32")):
        a = R.matmul(x, w)
        b = R.exp(a)
        c = R.nn.relu(b)
        return c
"""
X = np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)
W = np.linspace(-1, 2, 12, dtype=np.float32).reshape(4, 3)
A = X @ W
B = np.exp(A)


def stages() -> tuple[RecordedStage, ...]:
    """Return the text and what LegalizeOps makes of it, as another compiler would print it."""
    legal = rc.run_pipeline(rc.parse(SOURCE, name="m.py"), "LegalizeOps")[-1].after
    return RecordedStage(0, "(input)", SOURCE), RecordedStage(1, "LegalizeOps", rc.script(legal))


LEGAL = stages()


def recording(*results: Any, result: Any = None) -> Pipeline:
    """Return a recording whose kernels gave these results; the arguments are those of the run."""
    inputs = ((X, W), (results[0],), (results[1],))
    calls = (
        RecordedCall(0, "vm.builtin.alloc_storage", (), Omitted("Storage")),
        *(
            RecordedCall(at + 1, name, (*args, np.zeros_like(value) if is_array(value) else None), value)
            for at, (name, args, value) in enumerate(zip(("matmul", "tir_exp", "relu"), inputs, results, strict=True))
        ),
    )
    run = RecordedRun("main", (X, W), results[-1] if result is None else result, calls)
    return Pipeline(Recording("t.rxt", "trace", LEGAL, runs=(run,)))


def test_every_call_is_compared_with_the_machine_and_with_numpy() -> None:
    found = rc.compare_calls(recording(A, B, B))
    assert (found.verdict, found.status, found.first_different, found.left_out) == ("same", 0, -1, 1)
    assert [(row.name, row.variable, row.line) for row in found.rows[:3]] == [
        ("matmul", "a", 9),
        ("tir_exp", "b", 10),
        ("relu", "c", 11),
    ]
    assert {row.machine.verdict for row in found.rows} == {row.numpy.verdict for row in found.rows} == {"same"}
    assert found.rows[-1].number == -1
    assert found.stage_name == "LegalizeOps"
    assert found.conclusion.startswith("`main`: 4 values compared and the same")


def test_each_call_is_a_run_of_its_own_which_nothing_watches_afterwards() -> None:
    rc.compare_calls(recording(A, B * 1.5, B * 1.5))
    for thread in threading.enumerate():
        if thread.name == "kernel watchdog":
            thread.join(60)
            assert not thread.is_alive()


def test_an_early_difference_does_not_spoil_those_behind_it() -> None:
    wrong = B.copy()
    wrong[1, 2] *= np.float32(1.01)
    fed = rc.compare_calls(recording(A, wrong, wrong))
    assert [row.machine.verdict for row in fed.rows] == ["same", "different", "same", "different"]
    row = fed.rows[fed.first_different]
    assert (row.name, row.machine.element, row.machine.ulp > 1000) == ("tir_exp", "[1, 2]", True)
    assert float(row.machine.recorded_element) == pytest.approx(float(wrong[1, 2]))
    assert fed.conclusion.startswith(
        "`main`: the first call whose result in TVM differs is 2 tir_exp (b): against this machine"
    )
    whole = rc.compare_calls(recording(A, wrong, wrong), from_inputs=True)
    assert [row.machine.verdict for row in whole.rows] == ["same", "different", "different", "different"]


def test_what_was_not_recorded_is_not_comparable() -> None:
    kept = Omitted("beyond the budget", (2, 3), "float32")
    found = rc.compare_calls(recording(A, kept, kept))
    assert [row.verdict for row in found.rows] == ["same", *["not comparable"] * 3]
    assert found.rows[1].type == "(2, 3) float32"
    assert found.rows[1].machine.words == "the recording does not hold its result: beyond the budget"
    assert found.status == 4


def test_a_recording_without_a_run_is_refused(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    empty = Pipeline(Recording("t.rxt", "trace", LEGAL))
    with pytest.raises(rc.CompileError, match="holds no recorded run of TVM"):
        rc.compare_calls(empty)
    rc.write_trace(empty, tmp_path / "t.rxt")
    assert main(["compare", str(tmp_path / "t.rxt"), "--in-process"]) == 4
    assert "PL014" in capsys.readouterr().err


def test_a_file_of_a_run_of_this_machine_is_refused_as_that(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.py").write_text(LEGAL[0].text or "")
    own = str(tmp_path / "own.rxt")
    assert main(["run", str(tmp_path / "m.py"), "--in-process", "--trace", own]) == 0
    assert main(["compare", own, "--in-process"]) == 4
    said = capsys.readouterr().err
    assert "own.rxt holds a run of `main` on this machine, and none of TVM to compare with" in said


@pytest.mark.parametrize(
    "option",
    [("--inputs", "x.npz"), ("--stand-in", "my.f=zeros"), ("--seed", "3"), ("--passes", ""), ("--mode", "fast")],
    ids=lambda item: item[0],
)
def test_what_has_no_effect_on_recorded_calls_is_refused(
    tmp_path: Any, capsys: pytest.CaptureFixture[str], option: tuple[str, str]
) -> None:
    rc.write_trace(recording(A, B, B), tmp_path / "t.rxt")
    assert main(["compare", str(tmp_path / "t.rxt"), "--in-process", *option]) == 2
    said = capsys.readouterr().err
    assert "t.rxt: each call of the recorded run is compared on its own arguments, so that" in said
    assert f"{option[0]} does not apply" in said


def test_a_run_is_chosen_by_its_entry(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    rc.write_trace(recording(A, B, B), tmp_path / "t.rxt")
    assert main(["compare", str(tmp_path / "t.rxt"), "--in-process", "--entry", "other"]) == 2
    assert "holds no run of other; it holds runs of: main" in capsys.readouterr().err


def test_the_command_line_compares_a_trace(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    rc.write_trace(recording(A, B, np.zeros_like(B)), tmp_path / "t.rxt")
    assert main(["compare", str(tmp_path / "t.rxt"), "--in-process"]) == 1
    assert "the first call whose result in TVM differs is 3 relu (c)" in capsys.readouterr().out.splitlines()[-1]
    assert main(["compare", str(tmp_path / "t.rxt"), "--in-process", "--json", "--from-inputs"]) == 1
    assert '"first_different":2' in capsys.readouterr().out


def test_a_run_that_ended_early_says_so() -> None:
    pipeline = recording(A, B, B)
    run = replace(pipeline.runs[0], error="ValueError: no", result=None)
    found: CallsCompared = rc.compare_calls(Pipeline(replace(pipeline.recording, runs=(run,))))
    assert found.notes == ("note: the recorded run ended with ValueError: no",)
    assert (found.rows[-1].verdict, found.verdict) == ("not comparable", "not comparable")


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        (1.0, 1.0, 0),
        (0.0, -0.0, 0),
        (1.0, np.nextafter(np.float32(1), np.float32(2)), 1),
        (np.finfo(np.float32).tiny, -np.finfo(np.float32).tiny, 2 * (1 << 23)),
        (math.nan, math.nan, 0),
        (math.nan, 1.0, math.inf),
    ],
)
def test_distances_are_in_units_in_the_last_place(one: float, other: float, distance: float) -> None:
    assert ulp_distance(np.array([one], np.float32), np.array([other], np.float32)) == distance
    assert ulp_distance(np.array([1]), np.array([1])) == -1


def test_tolerances_follow_the_kernel_and_the_dtype() -> None:
    kernels = {var.name: function for var, function in rc.parse(LEGAL[1].text or "", name="m.py").prim_funcs}
    tolerances = {name: closeness_of(kernels[name], "float32", (4,)) for name in ("matmul", "tir_exp", "relu")}
    assert tolerances["matmul"].relative == pytest.approx(2e-5)
    assert (tolerances["tir_exp"].relative, tolerances["relu"].relative) == (1e-5, 0.0)
    assert closeness_of(kernels["matmul"], "int32", ()).relative == carried("int64", 8.0).relative == 0.0
    assert carried("float16", 2.0).relative == pytest.approx(0.2)


def test_fields_and_shapes_are_compared() -> None:
    exact = closeness_of(None, "", ())
    assert side((1, (2, 3)), (1, (2, 3)), exact).verdict == "same"
    assert side((1, 2), (1, 2, 3), exact).words == "it has 3 fields, was 2"
    assert side((1, 2), (1, 3), exact).verdict == "different"


def test_calls_are_aligned_by_name() -> None:
    assert aligned(["a", "b", "c"], ["a", "b", "c"]) == {0: 0, 1: 1, 2: 2}
    assert aligned(["a", "c"], ["a", "b", "c"]) == {0: 0, 1: 2}


def with_unknown_function() -> Pipeline:
    """Return the recording of a program that calls a packed function which is not here."""
    call = 'R.call_pure_packed("my.f", a, sinfo_args=(R.Tensor((2, 3), "float32"),))'
    text = SOURCE.replace("R.exp(a)", call)
    legal = rc.script(rc.run_pipeline(rc.parse(text, name="m.py"), "LegalizeOps")[-1].after)
    given = 2 * A - 1
    relu = np.maximum(given, 0)
    calls = (
        RecordedCall(0, "matmul", (X, W, np.zeros_like(A)), A),
        RecordedCall(1, "my.f", (A,), given),
        RecordedCall(2, "relu", (given, np.zeros_like(A)), relu),
    )
    texts = (RecordedStage(0, "(input)", text), RecordedStage(1, "LegalizeOps", legal))
    run = RecordedRun("main", (X, W), relu, calls)
    return Pipeline(Recording("t.rxt", "trace", texts, runs=(run,)))


@pytest.mark.parametrize("from_inputs", [False, True])
def test_what_a_function_that_is_not_here_gave_stands_in_for_it(*, from_inputs: bool) -> None:
    found = rc.compare_calls(with_unknown_function(), from_inputs=from_inputs)
    assert [(row.machine.verdict, row.numpy.verdict) for row in found.rows] == [
        ("same", "same"),
        ("not comparable", "not comparable"),
        ("same", "same"),
        ("same", "same"),
    ]
    assert found.notes == ("note: 1 call was a stand-in (my.f: recorded)",)
    assert found.status == 4
    assert "stands in for it" in found.conclusion
