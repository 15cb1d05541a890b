"""Breakpoints with conditions, as the Run page asks for them."""

import pytest

from relax_core.engine.components.stepper import R, logged
from relax_core.engine.protocol import Failure, HitsOf, LogsOf, Program, RunOf, StopOf
from relax_core.engine.request import Request
from relax_core.engine.session import Session
from relax_core.present.running.moment_models import Logs
from relax_core.present.running.run_models import Breakpoint, PointHits, Run, Write
from relax_core.present.running.watching import messages
from tests.engine.programs import sample

LOOP = sample("relax/loop.py")
LINE = next(number for number, line in enumerate(LOOP.text.split("\n"), 1) if "following =" in line)


def program() -> Program:
    return Program(LOOP.text, LOOP.name)


def hits(session: Session, condition: str, first: int = 0, last: int = 10**6) -> PointHits:
    reply = session.request(HitsOf(program(), (Breakpoint(line=LINE, condition=condition),), first, last))
    assert not isinstance(reply, Failure), reply.message
    (found,) = reply.points
    assert found.point.condition == condition
    return found


def stop(session: Session, time: int, *points: Breakpoint, is_back: bool = False) -> int:
    reply = session.request(StopOf(program(), time, points, is_back))
    assert not isinstance(reply, Failure), reply.message
    return reply.time


def logs(session: Session, *points: Breakpoint) -> Logs:
    reply = session.request(LogsOf(program(), points))
    assert not isinstance(reply, Failure), reply.message
    return reply


def test_the_hits_of_a_condition_are_counted_over_the_run_and_listed_for_the_window(session: Session) -> None:
    whole = hits(session, "i >= 2")
    assert whole.stops == len(whole.times) == whole.met - 2
    assert whole.first == whole.times[0]
    part = hits(session, "i >= 2", whole.times[1], whole.times[3])
    assert (part.times, part.stops, part.first) == (whole.times[1:3], whole.stops, whole.first)


def test_continuing_stops_where_the_condition_holds(session: Session) -> None:
    times = hits(session, "i == 1 or i == 4").times
    point = Breakpoint(line=LINE, condition="i == 1 or i == 4")
    assert [stop(session, 0, point), stop(session, times[0], point)] == list(times)
    assert stop(session, times[1], point, is_back=True) == times[0]


def test_a_condition_that_cannot_be_read_never_stops_and_says_where_it_is_wrong(session: Session) -> None:
    run = session.request(RunOf(program()))
    assert isinstance(run, Run)
    for condition, code, column in (("i >", "VM030", 4), ("i > limit", "VM031", 5)):
        found = hits(session, condition)
        assert found.problem is not None
        assert (found.problem.code, found.problem.column) == (code, column)
        assert found.problem.explanation
        assert stop(session, 0, Breakpoint(line=LINE, condition=condition)) == run.total


def test_a_condition_without_value_is_counted(session: Session) -> None:
    found = hits(session, "following > 1")
    assert found.problem is not None
    assert (found.problem.code, found.problem_count, found.stops) == ("VM032", found.met, 0)


def test_an_error_stops_the_view_at_the_instruction_that_failed(session: Session) -> None:
    text = sample("errors/jt_out_of_range.py").text
    run = session.request(RunOf(Program(text)))
    assert isinstance(run, Run)
    line = next(item for item in run.instructions if item.pc == run.stop_pc)
    assert "out_of_range" in line.text
    assert run.stop_line == line.line


def test_a_run_stops_behind_the_instruction_that_wrote_the_first_nan(session: Session) -> None:
    text = LOOP.text.replace("more = R.add(total, x)", "more = R.log(R.subtract(total, x))")
    point = Breakpoint(condition="isnan(written) or isinf(written)")
    reply = session.request(StopOf(Program(text), 0, (point,)))
    assert not isinstance(reply, Failure), reply.message
    run = session.request(RunOf(Program(text)))
    assert isinstance(run, Run)
    written = [change for change in run.events[reply.time - 1].changes if isinstance(change, Write)]
    assert any("inf" in run.values[change.value].short.lower() for change in written)


def test_a_logpoint_writes_its_message_at_every_hit_and_does_not_stop(session: Session) -> None:
    point = Breakpoint(line=LINE, condition="i >= 1", message="{i} of {n}, hit {hits}: {x.sum() == sum(x)}")
    run = session.request(RunOf(program()))
    assert isinstance(run, Run)
    times = hits(session, point.condition).times
    found = logs(session, point, Breakpoint(line=LINE), Breakpoint(line=LINE, message="off", is_on=False))
    assert [message.time for message in found.messages] == list(times)
    assert found.count == len(times)
    assert {message.line for message in found.messages} == {LINE}
    texts = [f"{number} of {len(times) + 1}, hit {number + 1}: True" for number in range(1, len(times) + 1)]
    assert [message.text for message in found.messages] == texts
    assert not any(message.is_fault for message in found.messages)
    assert stop(session, 0, point) == run.total


def test_messages_of_several_logpoints_stand_in_the_order_of_time(session: Session) -> None:
    after = Breakpoint(line=LINE + 1, message="{following}")
    found = logs(
        session, after, Breakpoint(line=LINE, message="{following}"), Breakpoint(line=LINE, message="{foo(i)}")
    )
    assert [message.text for message in found.messages[:3]] == [
        "<`following` is not yet written here>",
        "<there is no function `foo`>",
        "1",
    ]
    assert [message.is_fault for message in found.messages[:3]] == [True, True, False]
    assert [message.time for message in found.messages] == sorted(message.time for message in found.messages)


def test_why_there_are_no_messages_is_told_where_they_would_stand() -> None:
    def fail(message: Request[R], /) -> R | Failure:
        assert isinstance(message, LogsOf)
        return Failure("limit", "Too slow", "The run took longer than 30 s.")

    assert logged(fail, program(), (Breakpoint(line=LINE, message="{i}"),)) == Logs(
        fault="The run took longer than 30 s."
    )
    assert logged(fail, program(), (Breakpoint(line=LINE),)) is None


def test_of_many_messages_the_first_are_written(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "MESSAGES", 2)
    found = logs(session, Breakpoint(line=LINE, message="{i}"))
    assert [message.text for message in found.messages] == ["0", "1"]
    assert found.count > 2
