"""A run is stopped by the host, and huge results are refused, at every level of lowering."""

import threading

import numpy as np
import pytest

from relax_core.vm.limits import Limits
from relax_core.vm.machine import Machine
from tests.vm.assemble import assemble
from tests.vm.programs import executable_of, floats, run_sample, sample_text


def test_a_running_kernel_is_cancelled_from_another_thread() -> None:
    machine = Machine(executable_of(sample_text("errors/vm_endless_loop.py")))
    timer = threading.Timer(0.2, machine.cancel)
    timer.start()
    trace = machine.run("main", (np.array([1]),))
    timer.join()
    assert trace.error is not None
    assert trace.error.span is not None
    assert trace.error.code == "VM008"
    assert "B[0]" in trace.error.span.text
    assert trace.outcome == "limit"


def test_a_run_that_is_cancelled_before_it_starts_does_not_start() -> None:
    machine = Machine(executable_of(sample_text("errors/vm_endless_loop.py")))
    machine.cancel()
    trace = machine.run("main", (np.array([1]),))
    assert trace.error is not None
    assert trace.error.code == "VM008"
    assert len(trace) == 0


def test_a_machine_runs_again_after_it_was_cancelled() -> None:
    lines: list[str] = []

    def cancel_once(text: str) -> None:
        lines.append(text)
        if len(lines) == 1:
            machine.cancel()

    listing = (
        "@main(n) 1\n  call relax.run.print(c[0], %0)\n" + "  call vm.builtin.copy(%0) -> %0\n" * 2000 + "  ret %0\n"
    )
    machine = Machine(assemble(listing, ("",)), on_output=cancel_once)
    first, second = machine.run("main", (1,)), machine.run("main", (1,))
    assert first.error is not None
    assert first.error.code == "VM008"
    assert second.error is None


def test_a_run_whose_kernels_nothing_could_stop_does_not_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def start_others(self: threading.Thread) -> None:
        if self.name == "kernel watchdog":
            raise RuntimeError("can't start new thread")
        start(self)

    machine = Machine(executable_of(sample_text("relax/mlp.py")))
    args = tuple(floats(*shape) for shape in ((4, 8), (8, 16), (16,), (16, 3)))
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start_others)
        trace = machine.run("main", args)
    assert (trace.outcome, trace.error and trace.error.code) == ("limit", "VM006")
    assert machine.run("main", args).outcome == "returned"
    assert any(thread.name == "kernel watchdog" for thread in threading.enumerate())


@pytest.mark.parametrize("passes", [None, "Normalize"])
def test_a_huge_tensor_is_refused_before_it_is_made(passes: str | None) -> None:
    error = run_sample("errors/vm_huge_tensor.py", passes=passes).error
    assert error is not None
    assert error.span is not None
    assert (error.code, error.span.text) == ("VM006", 'x = R.zeros((1 << 40,), "float32")')


def test_a_value_at_a_time_is_right_in_a_compiled_program() -> None:
    x = np.ones((2, 3), np.float32)
    trace = run_sample("relax/inplace_update.py", x)
    values = [value for value in trace.registers_at(len(trace) - 1, 0) if isinstance(value, np.ndarray)]
    y = values[-1]
    history = [trace.as_it_was(y, at) for at in range(len(trace) + 1)]
    seen = [str(item if not isinstance(item, np.ndarray) else item[0, 0]) for item in history]
    order = list(dict.fromkeys(seen))
    assert order[0].startswith("Uninitialised")
    assert order[1:] == ["2.0", "3.0", "4.0"]


def test_a_limit_on_events_ends_at_that_number() -> None:
    trace = run_sample("relax/fib.py", np.array(10), limits=Limits(events=100))
    assert len(trace) == 100
    assert trace.error is not None
    assert trace.error.span is not None
