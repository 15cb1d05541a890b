"""What a debugger asks of one time of a run, held against the window of the run that the Run page shows."""

from collections import defaultdict

import pytest

from relax_core.engine.debug.requests import FrameOf, PartsOf, StackOf, StopPlace, StopTimesOf
from relax_core.engine.protocol import Failure, Program, RunOf
from relax_core.engine.session import Session
from relax_core.present.running.run_models import Pop, Push, Run, Write
from tests.engine.programs import sample

SAMPLES = ("loop", "inplace_update", "callback", "closure_captures", "storage_reused", "symbolic_shapes", "mlp")


def run_of(session: Session, program: Program) -> Run:
    run = session.request(RunOf(program))
    assert not isinstance(run, Failure), run.message
    return run


def writes_in(run: Run) -> dict[tuple[str, int], set[int]]:
    """Return the times behind the writes to each register of each function, as the Run page shows them."""
    found: dict[tuple[str, int], set[int]] = defaultdict(set)
    stack = [frame.function for frame in run.frames]
    for time, event in enumerate(run.events, 1):
        is_entry = False
        for change in event.changes:
            match change:
                case Push():
                    stack.append(change.function)
                    is_entry = True
                case Pop():
                    stack.pop()
                case Write() if not (is_entry and change.depth == len(stack) - 1):
                    if run.values[change.value].kind != "unwritten":
                        found[run.functions[stack[change.depth]].name, change.register].add(time)
                case _:
                    pass
    return found


@pytest.mark.parametrize("name", SAMPLES)
def test_a_write_is_stopped_behind_wherever_the_run_shows_one(session: Session, name: str) -> None:
    program = sample(f"relax/{name}.py")
    run = run_of(session, program)
    shown = writes_in(run)
    places = tuple(
        StopPlace(function=function.name, register=register)
        for function in run.functions
        for register in range(len(function.registers))
    )
    reply = session.request(StopTimesOf(program, places))
    assert not isinstance(reply, Failure), reply.message
    found = {
        (place.function, place.register): set(point.times)
        for place, point in zip(places, reply.points, strict=True)
        if point.times
    }
    assert found == shown


@pytest.mark.parametrize("name", SAMPLES)
def test_every_register_evaluates_to_what_its_frame_shows(session: Session, name: str) -> None:
    program = sample(f"relax/{name}.py")
    run = run_of(session, program)
    for time in range(0, run.total, 7):
        stack = session.request(StackOf(program, time))
        assert not isinstance(stack, Failure)
        assert (stack.count, stack.frames[0].pc) == (len(stack.frames), run.events[time].pc)
        for frame in stack.frames:
            view = session.request(FrameOf(program, time, frame.depth))
            assert not isinstance(view, Failure)
            for held in view.registers:
                parts = session.request(PartsOf(program, time, frame.depth, held.expression, limit=3))
                if isinstance(parts, Failure):
                    assert (held.text, parts.problems[0].code) == ("uninitialised", "VM032"), held
                    continue
                assert (parts.value.type, parts.value.text) == (held.type, held.text)
                assert len(parts.parts) == min(3, held.part_count)


def test_a_function_or_a_register_that_is_not_there_is_named(session: Session) -> None:
    program = sample("relax/loop.py")
    places = (StopPlace(function="none"), StopPlace(function="main", register=99), StopPlace(function="main"))
    reply = session.request(StopTimesOf(program, places))
    assert not isinstance(reply, Failure)
    problems = [point.problem.message if point.problem is not None else "" for point in reply.points]
    assert problems == [
        "no function `none` is run by instructions",
        "`main` has 4 registers, and no `%99`",
        "",
    ]
    assert reply.points[2].times == (0,)
