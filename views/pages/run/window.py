"""The part of a run that the browser has, which follows its steps: for the Run page and what is embedded elsewhere."""

import streamlit as st

from relax_core.engine.programs.program import Program
from relax_core.engine.protocol import Failure, HitsOf, RunOf, StopOf
from relax_core.present.running.run_models import PointHits, Run
from views.pages.run.points import read, written
from views.pages.run.state import RunState
from views.pages.run.stepper.component import StepperAction
from views.state.session import select, state
from views.worker.connection import ask

# Which way the user continued, to a breakpoint that is not in the window that the browser has.
_CONTINUES = "run.continues"
# Which window the browser has: a number for the program, the event it was asked with, its first time and its last.
_WINDOW = "run.window"
# What the conditions of breakpoints came to: a number for the question, and the answer.
_HITS = "run.hits"


def follow(action: StepperAction) -> None:
    """Go where the user stepped to, or to what the browser does not have of the run."""
    time = action.to if action.kind == "need" else action.at
    select(time=time, view=action.by, breakpoints=written(action.breakpoints))
    if action.kind == "need" and action.command in ("continue", "continue_back"):
        st.session_state[_CONTINUES] = action.command


def continue_as_asked(program: Program) -> None:
    """Go to the breakpoint that the user continued to, if it lies outside of the window."""
    command = st.session_state.pop(_CONTINUES, "")
    if not command:
        return
    current = state(RunState)
    points = read(current.breakpoints)
    stop = ask(StopOf(program, max(0, current.time), points, is_back=command == "continue_back"))
    if not isinstance(stop, Failure):
        select(time=stop.time)


def window(program: Program) -> Run | Failure:
    """Ask for the window of the run that is shown; it stays while the time is in it, so that a step sends nothing."""
    time = max(0, state(RunState).time)
    name, event, first, last = st.session_state.get(_WINDOW, (0, 0, 0, -1))
    if name != hash(program) or not first <= time <= last:
        event = time
    run = ask(RunOf(program, event))
    if isinstance(run, Run):
        st.session_state[_WINDOW] = (hash(program), event, run.first_event, run.first_event + len(run.events))
    return run


def shown_event(program: Program) -> int | None:
    """Return the event with which the window of a program was asked for, if it is the one that was shown last."""
    name, event, *_ = st.session_state.get(_WINDOW, (0, 0, 0, -1))
    return event if name == hash(program) else None


def hits(run: Run, program: Program) -> tuple[PointHits, ...]:
    """Ask where the breakpoints with a condition stop within the window; a step does not ask again."""
    conditional = tuple(point for point in read(state(RunState).breakpoints) if point.condition)
    if not conditional:
        return ()
    request = HitsOf(program, conditional, run.first_event, run.first_event + len(run.events))
    known, points = st.session_state.get(_HITS, (0, ()))
    if known == hash(request):
        return points
    reply = ask(request)
    if isinstance(reply, Failure):
        return ()
    st.session_state[_HITS] = (hash(request), reply.points)
    return reply.points
