"""What the run that was shown last tells those who look at the text of its program."""

import streamlit as st

from relax_core.engine.protocol import RunOf
from relax_core.present.running.run_models import LastValue, Run
from relax_core.present.running.watching.last_values import last_values
from views.pages.run.program import run_program
from views.pages.run.recorded import recorded_run
from views.pages.run.window import shown_event
from views.worker.connection import ask, known_reply

_VALUES = "run.last_values"


def values_of_last_run() -> tuple[LastValue, ...]:
    """Return what variables of the program that is open held last when it ran; nothing is run for it."""
    recorded = recorded_run()
    program = run_program() if recorded is None else recorded.program
    event = shown_event(program)
    run = known_reply(RunOf(program, event)) if event is not None else None
    if run is None:
        return ()
    known, values = st.session_state.get(_VALUES, ("", ()))
    if known != run.revision:
        st.session_state[_VALUES] = run.revision, (values := last_values(_end_of(run, RunOf(program, run.total))))
    return values


def _end_of(run: Run, last: RunOf) -> Run:
    """Return the window at the end of a run, which is another one only of a long run."""
    if run.first_event + len(run.events) == run.total:
        return run
    reply = ask(last)
    return reply if isinstance(reply, Run) else run
