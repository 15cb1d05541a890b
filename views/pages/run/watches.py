"""The expressions that the Run page watches, as its address holds them, and what they are over the run."""

from relax_core.engine.debug.requests import HistoriesOf, TextsOf
from relax_core.engine.programs.program import Program
from relax_core.engine.protocol import Failure
from views.pages.run.state import RunState
from views.pages.run.stepper.component import Watched
from views.state.session import state
from views.worker.connection import ask


def watched(program: Program, total: int) -> Watched:
    """Ask what the watched expressions are over the run; nothing is asked while there are none."""
    own = state(RunState)
    expressions = tuple(dict.fromkeys(part.strip() for part in own.watches.split(";") if part.strip()))
    if not expressions:
        return Watched()
    found = ask(HistoriesOf(program, expressions))
    if isinstance(found, Failure):
        return Watched(expressions, fault=found.message)
    if found.step == 1:
        return Watched(expressions, found)
    # Not every time of a long run was looked at; the one that is shown is.
    time = min(max(0, own.time), total)
    texts = ask(TextsOf(program, expressions, (time,)))
    return (
        Watched(expressions, found) if isinstance(texts, Failure) else Watched(expressions, found, time, texts.rows[0])
    )
