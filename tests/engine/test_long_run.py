"""A run that is longer than a window: breakpoints are found over the whole of it."""

from relax_core.engine.protocol import Failure, Program, RunOf, StopOf
from relax_core.engine.session import Session
from relax_core.present.running.run import WINDOW
from relax_core.present.running.run_models import Breakpoint, Run
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
