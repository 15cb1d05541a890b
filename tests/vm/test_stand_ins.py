"""Stand-ins for packed functions: what they give, what a run says of them, and what is comparable behind them."""

from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.bytecode.build import build
from relax_core.diagnostics import RunError
from relax_core.engine.pipelines.calls.results import recorded_results, results_in
from relax_core.engine.pipelines.pipeline import Pipeline, Recording
from relax_core.engine.pipelines.recorded_run import Omitted, RecordedCall, RecordedRun, RecordedShape
from relax_core.frontend.parse import parse_text
from relax_core.ir.module import IRModule
from relax_core.vm.external.stand_ins import NotRecorded, RecordedResults, StandIn
from relax_core.vm.machine import Machine
from relax_core.vm.recording.fork import Setting
from tests.narrow import as_tuple

HEAD = """
from tvm.script import ir as I
from tvm.script import relax as R, tir as T

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("n", 4), "float32")):
        n = T.int64()
"""
X = np.arange(8, dtype=np.float32).reshape(2, 4)


def module(*lines: str) -> IRModule:
    return parse_text(HEAD + "".join(f"        {line}\n" for line in lines), "m.py").modules[0]


CALLED = module('y = R.call_packed("my.f", x, sinfo_args=R.Tensor((n, 4), "float32"))', "return R.add(y, x)")
WRITTEN = module(
    'y = R.call_dps_packed("my.f", (x,), out_sinfo=[R.Tensor((n * 2, 4), "float32"), R.Tensor((3,), "int32")])',
    "return y",
)
TWICE = module(
    'y = R.call_packed("my.f", x, sinfo_args=R.Tensor((n, 4), "float32"))',
    'z = R.call_packed("my.f", y, sinfo_args=R.Tensor((n, 4), "float32"))',
    "return z",
)


@pytest.mark.parametrize(
    ("declared", "wanted"),
    [
        ('R.Tensor((n + 1, 2), "float16")', np.zeros((3, 2), np.float16)),
        ('R.Prim("int64")', 0),
        ('R.Prim("bool")', False),
        ("R.Shape([n, 3])", (2, 3)),
        ('R.Tuple(R.Tensor((n,), "int8"), R.Prim("float32"))', (np.zeros(2, np.int8), 0.0)),
        ("R.Tuple()", None),
    ],
)
def test_zeros_are_of_the_declared_type(declared: str, wanted: Any) -> None:
    found = rc.run(
        module(f'y = R.call_packed("my.f", x, sinfo_args={declared})', "return y"), X, stand_ins={"my.f": "zeros"}
    )
    for ours, expected in zip(as_tuple(found.value), as_tuple(wanted), strict=True):
        assert np.asarray(ours).dtype.kind == np.asarray(expected).dtype.kind
        assert np.array_equal(ours, expected)


def test_zeros_are_written_to_outputs() -> None:
    found = rc.run(WRITTEN, X, stand_ins={"my.f": "zeros"})
    assert [item.shape for item in found.value] == [(4, 4), (3,)]
    assert not any(item.any() for item in found.value)
    assert [(call.name, call.how, call.number) for call in found.stand_ins] == [("my.f", "zeros", 0)]
    assert found.to_text().endswith("note: 1 call was a stand-in (my.f: zeros)")


def test_a_function_of_python_stands_in() -> None:
    def twice(x: Any) -> Any:
        return x * 2

    found = rc.run(TWICE, X, stand_ins={"my.f": twice})
    assert np.array_equal(found.value, X * 4)
    assert found.to_text().endswith("2 calls were stand-ins (my.f: a Python function, 2 calls)")


def test_the_latest_run_alone_is_told_of() -> None:
    machine = rc.VirtualMachine(build(CALLED), stand_ins={"my.f": "zeros"})
    for _ in range(2):
        assert np.array_equal(machine["main"](X), X)
        assert len(machine.stand_in_calls) == 1


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (('y = R.call_packed("my.f", x, sinfo_args=R.Object)', "return y"), "there are no zeros of R.Object"),
        (
            ('y = R.call_packed("my.f", x, sinfo_args=R.Tensor(ndim=2, dtype="float32"))', "return y"),
            "no zeros of R.Tensor",
        ),
    ],
)
def test_what_has_no_zeros_is_located(lines: tuple[str, ...], words: str) -> None:
    with pytest.raises(RunError) as raised:
        rc.run(module(*lines), X, stand_ins={"my.f": "zeros"})
    found = raised.value.diagnostics[0]
    assert (found.code, found.span is not None) == ("VM058", True)
    assert words in found.message


def recording(*results: Any) -> Pipeline:
    calls = [RecordedCall(at, "my.f", (), result) for at, result in enumerate(results)]
    run = RecordedRun("main", (), None, (*calls, RecordedCall(9, "other", (), (1, RecordedShape((2,))))))
    return Pipeline(Recording("r.rxt", "trace", (), runs=(run,)))


def test_recorded_results_come_in_their_order() -> None:
    stand_ins = rc.recorded_results(recording(X + 1, X + 2), "my.f")
    found = rc.run(TWICE, X, stand_ins=stand_ins)
    assert np.array_equal(found.value, X + 2)
    # The machine hands out copies, so that a program cannot change what was recorded.
    assert np.array_equal(rc.run(TWICE, X, stand_ins=stand_ins).value, X + 2)


def test_recorded_results_go_through_a_message() -> None:
    read = results_in(recorded_results(recording(X, Omitted("beyond the budget")), ["my.f", "other"]))
    first, second = read["my.f"].results
    assert np.array_equal(first, X)
    assert second == NotRecorded("beyond the budget")
    assert read["other"].results == ((1, (2,)),)


@pytest.mark.parametrize(
    ("results", "words"),
    [
        ((X,), "the recorded run calls it 1 time, this is call 2"),
        ((X, NotRecorded("beyond the budget")), "the recording does not hold that of call 2: beyond the budget"),
    ],
)
def test_a_result_that_was_not_recorded_is_located(results: tuple[Any, ...], words: str) -> None:
    with pytest.raises(RunError) as raised:
        rc.run(TWICE, X, stand_ins={"my.f": RecordedResults(results)})
    assert (raised.value.diagnostics[0].code, words in raised.value.diagnostics[0].message) == ("VM058", True)


def test_a_recorded_result_is_written_to_the_output() -> None:
    one = module('y = R.call_dps_packed("my.f", (x,), out_sinfo=R.Tensor((n, 4), "float32"))', "return R.add(y, x)")
    assert np.array_equal(rc.run(one, X, stand_ins={"my.f": RecordedResults((X + 1,))}).value, X + X + 1)
    with pytest.raises(RunError, match="does not go into"):
        rc.run(one, X, stand_ins={"my.f": RecordedResults((X[:1],))})
    with pytest.raises(RunError, match="holds 1 value for 2 outputs"):
        rc.run(WRITTEN, X, stand_ins={"my.f": RecordedResults((X,))})


def test_a_run_that_goes_on_counts_the_calls_before() -> None:
    executable = build(TWICE)
    machine = Machine(executable, stand_ins={"my.f": RecordedResults((X + 1, X + 2))})
    trace = machine.run("main", (X,))
    at = trace.stand_ins[1].event
    again = machine.resume(trace, at, (Setting(0, 0, X, is_in_place=True),))
    assert again.error is None
    assert np.array_equal(np.asarray(again.result), X + 2)
    assert [call.number for call in again.stand_ins] == [0, 1]


def test_behind_a_stand_in_nothing_is_comparable() -> None:
    found = rc.bisect_passes(CALLED, None, X, stand_ins={"my.f": "zeros"})
    assert (found.verdict, found.status, found.first_different) == ("not comparable", 4, -1)
    assert "1 call was a stand-in (my.f: zeros); with them: same: 1 result compared" in found.conclusion


def test_behind_the_same_recorded_results_runs_are_comparable() -> None:
    found = rc.bisect_passes(CALLED, None, X, stand_ins={"my.f": RecordedResults((X + 1,))})
    assert (found.verdict, found.status) == ("same", 0)
    assert found.stages[1].stand_ins == "1 call was a stand-in (my.f: recorded)"


def test_a_difference_behind_recorded_results_is_one() -> None:
    wrong = module('y = R.call_packed("my.f", x, sinfo_args=R.Tensor((n, 4), "float32"))', "return R.subtract(y, x)")
    cases: tuple[tuple[StandIn, str], ...] = (
        ("zeros", "not comparable"),
        (RecordedResults((X + 1,)), "different"),
    )
    for stand_in, verdict in cases:
        found = rc.bisect_modules({"one": CALLED, "other": wrong}, X, stand_ins={"my.f": stand_in})
        assert found.stages[1].verdict == verdict


def test_a_trace_without_a_run_has_no_results() -> None:
    with pytest.raises(rc.CompileError, match="holds no recorded run") as raised:
        rc.recorded_results(Pipeline(Recording("r.rxt", "trace", ())), "my.f")
    assert raised.value.diagnostics[0].code == "PL014"
