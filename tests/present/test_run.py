"""Recorded runs: goldens, the equality of deltas and states, and jump tables against the debugger."""

from typing import Any

import numpy as np
import pytest

from relax_core.present.running import run as run_module
from relax_core.present.running.run import jumps, present_run, window_start
from relax_core.present.running.run_models import Pop, Push, Run, Write
from relax_core.present.running.tensor import number, short_text, tensor_model
from relax_core.vm.debugger import By
from relax_core.vm.objects.values import UNWRITTEN
from relax_core.vm.recording.trace import Trace
from tests.golden_text import Golden
from tests.present.programs import SAMPLES, parsed, recording_of, sample, trace_of
from tests.present.rendering import render_run

RUNNABLE = (
    "relax/closure_captures.py",
    "relax/even_odd.py",
    "relax/inplace_update.py",
    "relax/callback.py",
    "seeds/print_closure2.py",
)
COUNTDOWN = """
from tvm.script import ir as I
from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(n: R.Tensor((), "int32")) -> R.Tensor((), "int32"):
        cls = Module
        stop = R.less_equal(n, R.const(0, "int32"))
        if stop:
            result = n
        else:
            result = cls.main(R.subtract(n, R.const(1, "int32")))
        return result
"""


@pytest.mark.parametrize("path", RUNNABLE)
def test_a_run_is_presented_as_expected(path: str, golden: Golden) -> None:
    program = sample(path)
    run = present_run(recording_of(program, trace_of(program)))
    golden.check(f"present/run/{path.removesuffix('.py')}.txt", render_run(run))


def _states(run: Run) -> list[list[list[int]]]:
    """Play the deltas: for each time the registers of each frame."""
    stack = [list(frame.registers) for frame in run.frames]
    states = [[list(registers) for registers in stack]]
    for event in run.events:
        for change in event.changes:
            match change:
                case Push(function=function):
                    stack.append([-1] * len(run.functions[function].registers))
                case Pop():
                    stack.pop()
                case Write(depth=depth, register=register, value=value):
                    stack[depth][register] = value
        states.append([list(registers) for registers in stack])
    return states


@pytest.mark.parametrize("path", RUNNABLE)
def test_deltas_lead_to_what_the_trace_says_at_every_time(path: str) -> None:
    program = sample(path)
    trace = trace_of(program)
    run = present_run(recording_of(program, trace))
    for at, state in enumerate(_states(run)):
        frames = trace.frames_at(at)
        assert len(state) == len(frames), f"depth of the stack at {at}"
        for registers, frame in zip(state, frames, strict=True):
            if at == 0:
                continue
            for place, value in zip(registers, trace.registers_at(at, frame.frame), strict=True):
                assert (place == -1) == (value is UNWRITTEN), f"time {at}"
                if isinstance(value, np.ndarray):
                    assert run.values[place].short == short_text(value), f"time {at}"


def test_an_output_that_is_not_written_yet_reads_uninitialised() -> None:
    program = sample("relax/mlp.py")
    run = present_run(recording_of(program, trace_of(program)))
    assert any(value.kind == "unwritten" and value.short == "uninitialised" for value in run.values)


def _command(trace: Trace, name: str, at: int, by: By) -> int:
    """Look at every stop: the definition of the commands, in quadratic time."""

    def depth(time: int) -> int:
        frame = trace.frame_at(time)
        return 0 if frame is None else trace.frames[frame].depth

    deepest = {"over": depth(at), "back_over": depth(at), "out": depth(at) - 1}.get(name, len(trace))
    stops = [
        time
        for time in range(len(trace))
        if (by == "instruction" or trace.lines.starts_binding[trace.pcs[time]]) and depth(time) <= deepest
    ]
    if name.startswith("back"):
        found = max((time for time in stops if time < at), default=0)
    else:
        found = min((time for time in stops if time > at), default=len(trace))
    return -1 if found == at else found


@pytest.mark.parametrize("by", ["binding", "instruction"])
@pytest.mark.parametrize("path", [*RUNNABLE, "relax/fib.py"])
def test_jump_tables_agree_with_the_debugger(path: str, by: By) -> None:
    trace = trace_of(sample(path))
    last = min(len(trace), 400)
    for first, end in ((0, last), (last // 3, last // 2), (last, last)):
        table = jumps(trace, first, end, by)
        for name in ("into", "over", "out", "back", "back_over"):
            expected = tuple(_command(trace, name, at, by) for at in range(first, end + 1))
            assert getattr(table, name) == expected, f"{name} from {first}"


def test_windows_overlap_and_hold_their_event() -> None:
    for total in (10, 5_000, 5_001, 12_345, 100_000):
        for event in (0, 1, total // 2, total - 1, total):
            start = window_start(total, event)
            assert 0 <= start <= event <= min(total, start + run_module.WINDOW)


def test_a_window_of_a_long_run_begins_with_the_stack_of_its_time() -> None:
    program = parsed(COUNTDOWN)
    recording = recording_of(program, trace_of_countdown(1500))
    trace = recording.trace
    run = present_run(recording, len(trace) - 10)
    assert run.first_event > 0
    assert len(run.frames) == len(trace.frames_at(run.first_event))
    assert len(_states(run)[-1]) == 0
    assert run.executed_pcs


def trace_of_countdown(count: int) -> Trace:
    from relax_core.bytecode.build import build
    from relax_core.vm.machine import Machine

    return Machine(build(parsed(COUNTDOWN).modules[0])).run("main", (np.array(count, np.int32),))


def test_a_failed_run_ends_where_it_failed() -> None:
    path = "errors/vm_assertion.py"
    text = (SAMPLES / path).read_text(encoding="utf-8")
    program = parsed(text, path)
    trace = trace_of(program)
    run = present_run(recording_of(program, trace))
    assert run.outcome == "error"
    assert run.problem is not None
    assert run.problem.line > 0
    assert run.total == len(run.events)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.5, "0.50"), (1234.5, "1234.5"), (1e-7, "1.0e-07"), (float("nan"), "nan"), (-3, "-3"), (True, "True")],
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.array(1.5, np.float32), "1.50"),
        (np.array([], np.float32), "[]"),
        (np.array([1, 2], np.int32), "[1 2]"),
        (np.ones((2, 3), np.float32), "[[1.00 1.00 1.00] …]"),
        (np.ones((1, 2, 1), np.bool_), "[[[True] …]"),
        (np.zeros(1000, np.float64), "[0.00 0.00 0.00 0.00 0.00 0.00 0.00… …]"),
    ],
)
def test_tensors_are_short(array: "np.ndarray[Any, Any]", text: str) -> None:
    assert short_text(array) == text
    assert len(text) <= 40


def test_a_large_tensor_is_cut_and_says_so() -> None:
    array = np.arange(2 * 20 * 30, dtype=np.float32).reshape(2, 20, 30)
    array[0, 0, 0] = np.nan
    model = tensor_model(array)
    assert (model.row_count, model.column_count) == (12, 12)
    assert len(model.cells) == len(model.heat) == 144
    assert model.heat[0] == -1
    assert model.nan_count == 1
    assert model.cut == "first 12 × 12 of (2, 20, 30), at [0, :, :]"


def test_a_run_says_which_registers_have_a_symbolic_dimension() -> None:
    program = sample("relax/symbolic_shapes.py")
    run = present_run(recording_of(program, trace_of(program)))
    main = run.functions[0]
    values = [run.values[place] for place in _states(run)[-2][0]]
    shown = {
        item.name: [
            (main.registers[register].variable, axis, values[register].sizes[axis]) for register, axis in item.places
        ]
        for item in main.dimensions
    }
    assert shown == {
        "n": [("x", 0, 2), ("alloc", 0, 2), ("product", 0, 2)],
        "m": [("x", 1, 3), ("w", 0, 3)],
        "k": [("w", 1, 4), ("alloc", 1, 4), ("product", 1, 4)],
    }
