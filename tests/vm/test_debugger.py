"""Debugger commands are pure functions on a trace and a time."""

from collections.abc import Callable
from functools import cache
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relax_core.vm import debugger
from relax_core.vm.debugger import By, LineBreakpoint, PcBreakpoint
from relax_core.vm.machine import Machine
from relax_core.vm.recording.trace import Trace
from tests.vm.assemble import assemble

LISTING = """
@main(x) 4
  call f(%0) -> %1
  call custom_apply(f[f], %1) -> %2
  call vm.builtin.copy(%2) -> %3
  ret %3
@f(x) 4
  call g(%0) -> %1
  call g(%1) -> %2
  ret %2
@g(x) 2
  call vm.builtin.copy(%0) -> %1
  ret %1
"""
COMMANDS = (
    debugger.step_in,
    debugger.step_over,
    debugger.step_out,
    debugger.step_back,
    debugger.back_over,
    debugger.back_out,
)
Command: TypeAlias = Callable[[Trace, int, By], int]
BY: tuple[By, ...] = ("instruction", "binding")


@cache
def trace() -> Trace:
    found = Machine(assemble(LISTING)).run("main", (1,))
    assert found.error is None
    return found


times = st.integers(0, 10_000).map(lambda number: number % (len(trace()) + 1))


@given(times, st.sampled_from(COMMANDS), st.sampled_from(BY))
def test_a_command_stays_in_the_run_and_moves_in_its_direction(
    at: int, command: "Callable[[Trace, int, By], int]", by: By
) -> None:
    after = command(trace(), at, by)
    assert 0 <= after <= len(trace())
    assert after >= at if "back" not in command.__name__ else after <= at
    assert after != at or at in (0, len(trace()))


@given(times)
def test_step_back_undoes_step_in(at: int) -> None:
    if at < len(trace()):
        assert debugger.step_back(trace(), debugger.step_in(trace(), at)) == at


@given(times)
def test_back_over_undoes_step_over(at: int) -> None:
    if at < len(trace()) and trace().depths[at] == depth_after(debugger.step_over(trace(), at)):
        assert debugger.back_over(trace(), debugger.step_over(trace(), at)) == at


@given(times, st.sets(st.integers(0, len(trace().executable.instructions) - 1)))
def test_running_stops_at_the_nearest_breakpoint(at: int, pcs: set[int]) -> None:
    breakpoints = [PcBreakpoint(pc) for pc in pcs]
    end = len(trace())
    hits = [time for time in range(end) if int(trace().pcs[time]) in pcs]
    assert debugger.run_to(trace(), at, breakpoints) == min((hit for hit in hits if hit > at), default=end)
    assert debugger.run_back_to(trace(), at, breakpoints) == max((hit for hit in hits if hit < at), default=0)


def depth_after(at: int) -> int:
    frame = trace().frame_at(at)
    return trace().frames[frame].depth if frame is not None else -1


def test_stepping_over_a_call_stays_in_the_function() -> None:
    after = debugger.step_over(trace(), 0)
    assert trace().pc_at(after) == 1
    assert [frame.depth for frame in trace().frames_at(after)] == [0]


def test_stepping_out_returns_to_the_caller() -> None:
    inside = debugger.step_in(trace(), debugger.step_in(trace(), 0))
    assert len(trace().frames_at(inside)) == 3
    assert len(trace().frames_at(debugger.step_out(trace(), inside))) == 2
    assert debugger.back_out(trace(), inside) == 1


def test_a_line_breakpoint_hits_each_time_its_line_starts() -> None:
    line = trace().executable.span_of(7)
    assert line is not None
    stops: list[int] = []
    at = 0
    while (at := debugger.run_to(trace(), at, [LineBreakpoint(line.line)])) < len(trace()):
        stops.append(at)
    assert len(stops) == 4
    assert all(trace().pc_at(stop) == 7 for stop in stops)


@pytest.mark.parametrize("by", BY)
def test_stepping_in_visits_every_function(by: By) -> None:
    depths: set[int] = set()
    at = 0
    while at < len(trace()):
        depths.add(int(trace().depths[at]))
        at = debugger.step_in(trace(), at, by)
    assert depths == {0, 1, 2}
