"""The choice of what lines and nodes are coloured by."""

from types import MappingProxyType
from typing import Final, cast

import streamlit as st

from relax_core.engine.debug.requests import LineHeatOf, Quantity
from relax_core.engine.protocol import Failure, Program
from relax_core.present.escape import literal
from relax_core.present.models import LineHeat
from views.shell.failures import show_reason
from views.state.session import select, state
from views.state.shared import FocusState
from views.worker.connection import ask

_KEY: Final = "heat.quantity"
_NAMES: Final = MappingProxyType(
    {"": "none", "time": "time", "bytes": "bytes", "operations": "FLOP", "values": "values"}
)
_QUANTITIES: Final = ("", "time", "bytes", "operations", "values")
_CAPTIONS: Final = (
    "no colours",
    "measured in runs of the program",
    "read and written, counted from the text",
    "operations on values, counted from the text",
    "the largest magnitude that the run binds, NaN and infinities",
)


def heat_form(program: Program, fixed: str = "") -> LineHeat | None:
    """Choose a quantity, and return what the lines take of it; `fixed` says why no time can be measured, if so."""
    chosen = state(FocusState).quantity
    # The legend says what is chosen; a label that did would make the bar of the Run page two rows at 768 pixels.
    with st.popover("Heat"):
        st.session_state[_KEY] = chosen
        st.radio(
            "Colour lines and nodes by",
            _QUANTITIES,
            format_func=_name,
            captions=_CAPTIONS,
            key=_KEY,
            on_change=_choose,
        )
        if not chosen:
            return None
        if chosen == "time" and fixed:
            st.caption(literal(fixed))
            return None
        reply = ask(LineHeatOf(program, cast("Quantity", chosen)))
        if isinstance(reply, Failure):
            show_reason(reply, "heat.failure")
            return None
    return reply


def _name(quantity: str) -> str:
    return _NAMES[quantity]


def _choose() -> None:
    select(quantity=st.session_state[_KEY])
