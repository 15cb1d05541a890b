"""The expressions that the Run page watches, as its address holds them."""

from relax_core.engine.components import stepper
from relax_core.engine.components.stepper import Watched
from relax_core.engine.programs.program import Program
from views.pages.run.state import RunState
from views.state.session import state
from views.worker.connection import ask


def watched(program: Program, total: int) -> Watched:
    """Ask what the watched expressions are over the run."""
    own = state(RunState)
    expressions = tuple(dict.fromkeys(part.strip() for part in own.watches.split(";") if part.strip()))
    return stepper.watched(ask, program, expressions, min(max(0, own.time), total))
