"""A run that is longer than a window: breakpoints are found over the whole of it."""

from dataclasses import replace

import pytest

from relax_core.engine.debug.requests import FrameOf
from relax_core.engine.protocol import Failure, Program, RunOf, StopOf, ValueOf
from relax_core.engine.session import RUN_LIMITS, Session
from relax_core.present.running.run import WINDOW
from relax_core.present.running.run_models import Breakpoint, Run, Write
from tests.engine.programs import sample

FIB = sample("relax/fib.py")
LONG = Program(
    FIB.text.replace("r = cls.fib(n)", 'fourteen = R.const(14, "int64")\n        r = cls.fib(fourteen)'), FIB.name
)


def line_with(words: str) -> int:
    return next(number for number, line in enumerate(LONG.text.split("\n"), 1) if words in line)


def run_at(session: Session, event: int) -> Run:
    reply = session.request(RunOf(LONG, event))
    assert isinstance(reply, Run), reply
    return reply


def stop(session: Session, time: int, *points: Breakpoint, is_back: bool = False) -> int:
    reply = session.request(StopOf(LONG, time, points, is_back))
    assert not isinstance(reply, Failure), reply.message
    return reply.time


def test_a_run_stops_at_a_breakpoint_behind_the_window(session: Session) -> None:
    total = run_at(session, 0).total
    assert total > 2 * WINDOW
    # The first call's second half runs after its first half, which is most of the run.
    point = Breakpoint(line=line_with("return r"))
    hits = [stop(session, total, point, is_back=True)]
    assert WINDOW < hits[0] < total
    window = run_at(session, hits[0])
    event = window.events[hits[0] - window.first_event]
    assert (event.line, event.is_start) == (point.line, True)
    assert stop(session, hits[0] - 1, point) == hits[0]
    assert stop(session, hits[0], point) == total


def test_the_stops_there_are_the_stops_back(session: Session) -> None:
    point = Breakpoint(line=line_with("b = cls.fib(two)"))
    there = [0]
    for _ in range(20):
        there.append(stop(session, there[-1], point))
    assert there == sorted(set(there))
    back = [there[-1]]
    for _ in range(20):
        back.append(stop(session, back[-1], point, is_back=True))
    assert back[:20] == list(reversed(there))[:20]
    assert back[-1] == 0


def test_without_a_breakpoint_that_is_on_a_run_goes_to_its_ends(session: Session) -> None:
    total = run_at(session, 0).total
    off = Breakpoint(line=line_with("return r"), is_on=False)
    assert stop(session, 7000, off) == total
    assert stop(session, 7000, off, is_back=True) == 0
    assert stop(session, total + 5) == total
    assert stop(session, 0, Breakpoint(pc=10**6)) == total


def test_an_instruction_is_a_breakpoint_too(session: Session) -> None:
    window = run_at(session, 6000)
    event = window.events[6000 - window.first_event]
    assert stop(session, 5999, Breakpoint(pc=event.pc)) == 6000


@pytest.fixture
def small_session() -> Session:
    """A session whose runs keep a few tensors only."""
    return Session(replace(RUN_LIMITS, retained_bytes=500))


def test_a_run_that_keeps_few_values_looks_like_one_that_keeps_all(session: Session, small_session: Session) -> None:
    total = run_at(session, 0).total
    for event in (0, total // 2, total - 1, total):
        few, all_ = run_at(small_session, event), run_at(session, event)
        assert few.first_event <= event < few.first_event + len(few.events) or event == total
        assert not any(value.short == "not kept" for value in few.values)
        shared = range(max(few.first_event, all_.first_event), few.first_event + len(few.events))
        assert len(shared) > 1
        assert _texts(few, shared) == _texts(all_, shared)
        asked = FrameOf(LONG, event, 0)
        assert small_session.request(asked) == session.request(asked)


def _texts(run: Run, times: range) -> list[list[tuple[int, int, str]]]:
    """Return what the events at these times write."""
    events = run.events[times.start - run.first_event : times.stop - run.first_event]
    writes = [[item for item in event.changes if isinstance(item, Write)] for event in events]
    return [[(item.depth, item.register, run.values[item.value].short) for item in some] for some in writes]


def test_what_makes_a_value_again_is_cancelled(small_session: Session) -> None:
    total = run_at(small_session, 0).total
    asked = ValueOf(LONG, total // 2, 0, 0)
    small_session.cancel()
    cancelled = small_session.request(asked)
    assert isinstance(cancelled, Failure)
    assert cancelled.kind == "cancelled"
    small_session.reset_cancel()
    assert not isinstance(small_session.request(asked), Failure)
