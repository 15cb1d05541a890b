"""Runs that are read by parts: the same events, values and stops as when the whole log is decoded."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import pytest

from relax_core.bytecode.executable import Executable
from relax_core.vm.debugger import WriteBreakpoint, run_back_to, run_to
from relax_core.vm.machine import Machine
from relax_core.vm.objects.values import Value
from relax_core.vm.recording.trace import Trace
from relax_core.vm.tiers import unread
from tests.vm.programs import FIB, MODULE, executable_of
from tests.vm.tiers import is_same

TENSORS = """
    @T.prim_func(private=True)
    def twice(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = A[i] * T.float32(2)

    @R.function
    def more(n: T.int64, x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y = R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor((4,), "float32"))
        z = R.call_tir(cls.twice, (y,), out_sinfo=R.Tensor((4,), "float32"))
        last = R.prim_value(n < 2)
        if last:
            r = z
        else:
            r = cls.more(R.prim_value(n - 1), z)
        return r

    @R.function
    def main(n: T.int64, x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        r = cls.more(n, x)
        return r
"""
PROGRAMS: Mapping[str, tuple[str, Callable[[], tuple[Value, ...]]]] = MappingProxyType(
    {
        "scalars": (FIB, lambda: (7,)),
        "tensors": (TENSORS, lambda: (6, np.arange(4, dtype="float32"))),
    }
)


@pytest.fixture(params=sorted(PROGRAMS))
def program(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[Executable, tuple[Value, ...]]:
    monkeypatch.setattr(unread, "LEAST_EVENTS", 1)
    text, given = PROGRAMS[request.param]
    return executable_of(MODULE + text, "program.py", None), given()


def traces(program: tuple[Executable, tuple[Value, ...]]) -> tuple[Trace, Trace]:
    """Return a run that is decoded as a whole, and the same one read by parts."""
    executable, given = program
    whole, parts = (Machine(executable).run("main", given) for _ in range(2))
    assert whole.recorder.values
    assert parts.is_read_by_parts
    return whole, parts


def test_events_frames_and_values_are_the_same(program: tuple[Executable, tuple[Value, ...]]) -> None:
    whole, parts = traces(program)
    assert (parts.pcs.tolist(), parts.frame_ids.tolist()) == (whole.pcs.tolist(), whole.frame_ids.tolist())
    assert [repr(frame) for frame in parts.frames] == [repr(frame) for frame in whole.frames]
    assert parts.depths.tolist() == whole.depths.tolist()
    for time in range(len(whole) + 1):
        assert parts.frames_at(time) == whole.frames_at(time)
        for state in whole.frames_at(time):
            assert is_same(parts.registers_at(time, state.frame), whole.registers_at(time, state.frame)), time
    assert parts.is_read_by_parts


def test_parts_that_were_forgotten_are_read_again(
    program: tuple[Executable, tuple[Value, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unread, "_KEPT_EVENTS", 10)
    whole, parts = traces(program)
    for event in (*range(len(whole)), *range(len(whole))[::-1]):
        one, other = (trace.as_it_was(trace.written_value(event), event + 1) for trace in (whole, parts))
        assert is_same(one, other)


def test_what_wrote_a_register_is_found_without_reading_all(program: tuple[Executable, tuple[Value, ...]]) -> None:
    whole, parts = traces(program)
    functions = [number for number, entry in enumerate(whole.executable.functions) if entry.kind == "vm"]
    for number in functions:
        for register in range(whole.executable.functions[number].register_count):
            point = WriteBreakpoint(number, register)
            for time in range(0, len(whole) + 1, 7):
                assert run_back_to(parts, time, [point]) == run_back_to(whole, time, [point])
                assert run_to(parts, time, [point]) == run_to(whole, time, [point])
    assert parts.is_read_by_parts


def test_whoever_wants_the_whole_log_gets_it(program: tuple[Executable, tuple[Value, ...]]) -> None:
    whole, parts = traces(program)
    assert len(parts) == len(whole)
    assert parts.memory_changes().keys() == whole.memory_changes().keys()
    assert not parts.is_read_by_parts
    assert [repr(frame) for frame in parts.frames] == [repr(frame) for frame in whole.frames]


def test_a_run_that_fails_is_decoded_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unread, "LEAST_EVENTS", 1)
    executable = executable_of(MODULE + FIB, "program.py", None)
    trace = Machine(executable).run("main", ("text",))
    assert trace.error is not None
    assert not trace.is_read_by_parts
