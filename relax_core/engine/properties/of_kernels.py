"""Properties of a run inside a kernel, the first one that the run calls: its statements, and values before them."""

from relax_core.engine.debug.requests import InsideOf, KernelCall
from relax_core.engine.inside import stepping
from relax_core.engine.inside.walk import kernel_calls
from relax_core.engine.properties.asked import Asked, refuse
from relax_core.present.running.inside_models import InsideView

_UNKNOWN = "-"


def _look(asked: Asked, clock: int = 0, moves: tuple[str, ...] = (), watches: tuple[str, ...] = ()) -> InsideView:
    return stepping.inside(InsideOf(KernelCall(asked.message.program), clock, moves, watches=watches), asked.context)


def _before(asked: Asked, number: str, watches: tuple[str, ...] = ()) -> InsideView:
    """Look at a statement by its number."""
    if not number.isdecimal():
        refuse(f"statements have numbers from 0, and `{number}` is none")
    found = _look(asked, int(number), watches=watches)
    if found.clock != int(number):
        refuse(f"the kernel has {found.total} statements")
    return found


def call_time(asked: Asked, name: str) -> str:
    """Return the time at which the run is about to call a kernel first."""
    executable = asked.opened.compilation.executable(asked.context.report, asked.context.is_cancelled)
    found = next((time for time, called in kernel_calls(asked.trace, executable) if called == name), None)
    if found is None:
        refuse(f"the run calls no kernel `{name}`")
    return str(found)


def statement_count(asked: Asked) -> str:
    """Return how many statements the kernel runs."""
    return str(_look(asked, moves=("end",)).clock)


def statement_of(asked: Asked, moves: str) -> str:
    """Return the number of the statement that moves from the start lead to, `; ` between them."""
    found = _look(asked, moves=tuple(moves.split("; ")))
    if not found.is_found:
        refuse(f"`{moves}` leads to no statement")
    return str(found.clock)


def phase(asked: Asked, number: str) -> str:
    """Return `init` or `update`."""
    return _before(asked, number).phase or refuse("the statement is in no reduction")


def value_before(asked: Asked, expression: str, number: str) -> str:
    """Return the value of an expression, as in conditions, before a statement runs."""
    ((_, found),) = _before(asked, number, (expression,)).watched
    return found if found != _UNKNOWN else refuse(f"`{expression}` says nothing at statement {number}")


def shown_statement(asked: Asked) -> str:
    """Return the number of the statement on the screen, `none` if no kernel is gone into."""
    return str(asked.message.clock) if asked.message.clock >= 0 else "none"
