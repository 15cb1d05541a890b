"""The tensor that the Run page shows: what is seen of which value, and what it is compared with.

The address holds it as `DEPTH;AXES;FIXED;TOP,LEFT;TIME;MEASURE;SEARCH;EXPRESSION`, an expression being last for what it
may hold.
"""

from typing import Final, cast, get_args
from urllib.parse import quote, unquote

import streamlit as st

from relax_core.engine.components.stepper import TensorAsked, TensorShown, tensor_shown
from relax_core.engine.debug.requests import TensorFileOf
from relax_core.engine.programs.program import Program
from relax_core.engine.protocol import Failure
from relax_core.present.escape import bold, file_name, literal
from relax_core.present.running.moment_models import Measure
from views.pages.run.state import RunState
from views.shell.failures import show_reason
from views.state.session import state
from views.worker.connection import ask

_FIELDS: Final = 8


def written(asked: TensorAsked) -> str:
    """Write for the address what is seen of a tensor."""
    fields = (
        str(asked.depth),
        _joined(asked.axes),
        _joined(asked.fixed),
        _joined((asked.top, asked.left)),
        str(asked.other_time),
        asked.measure,
        quote(asked.search, safe=""),
        asked.expression,
    )
    return ";".join(fields)


def read(text: str) -> TensorAsked | None:
    """Read what is seen of a tensor; None if the address names none."""
    fields = text.split(";", _FIELDS - 1)
    if len(fields) < _FIELDS or not fields[-1].strip() or fields[5] not in get_args(Measure):
        return None
    depth, axes, fixed, place, other, measure, search, expression = fields
    try:
        top, left = _split(place)
        where = int(depth), _split(axes), _split(fixed), top, left, int(other)
    except ValueError:
        return None
    return TensorAsked(expression, *where, cast("Measure", measure), unquote(search))


def shown_tensor(program: Program) -> TensorShown | None:
    """Ask for the tensor while its tab is open; a step that leaves the frame leaves nothing to show."""
    own = state(RunState)
    asked = read(own.tensor)
    if own.tab != "tensor" or asked is None:
        return None
    return tensor_shown(ask, program, asked, max(0, own.time))


def tensor_form(program: Program) -> None:
    """Offer the whole tensor that is shown as a file, written when it is asked for."""
    own = state(RunState)
    asked = read(own.tensor)
    if own.tab != "tensor" or asked is None:
        return
    st.markdown(bold("Tensor"))
    if st.button(literal(f"Write {asked.expression} as .npy"), key="run.tensor.write"):
        reply = ask(TensorFileOf(program, max(0, own.time), asked.depth, asked.expression))
        if isinstance(reply, Failure):
            show_reason(reply, "run.tensor")
        else:
            name = f"{file_name(asked.expression)}.npy"
            st.download_button("Download .npy", reply.content, name, key="run.tensor.save", on_click="ignore")


def _joined(numbers: tuple[int, ...]) -> str:
    return ",".join(map(str, numbers))


def _split(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(",")) if text else ()
