"""The calls of a recorded run of TVM beside what is computed here and by NumPy, the first that differs marked."""

from collections.abc import Iterator
from typing import Final

import streamlit as st

from relax_core.engine.debug.replies import CallRow, CallsCompared, CallSide, row_title
from relax_core.engine.debug.requests import (
    Parcel,
    RecordedCallsOf,
)
from relax_core.engine.protocol import (
    Failure,
)
from relax_core.engine.replies import RecordedView
from relax_core.present.escape import badge, bullets, literal, prose
from views.pages.pipeline.failures import say
from views.pages.pipeline.state import PipelineState
from views.shell.controls.choose import choose
from views.shell.controls.sheet import numbers, sheet
from views.state.session import select, state
from views.worker.connection import ask

_SIGN: Final = {"same": "✓", "different": "✕", "stops alike": "!", "not comparable": "?"}
_ROWS_SHOWN: Final = 5_000
_FED: Final = "Each call has the arguments that were recorded, so that an early difference does not spoil later ones."


def show_calls(view: RecordedView, parcel: Parcel) -> None:
    """Show each call of a recorded run."""
    own = state(PipelineState)
    number = own.compared_run if own.compared_run < len(view.runs) else 0
    found = ask(RecordedCallsOf(parcel, number, is_fed=not own.runs_on))
    if isinstance(found, Failure):
        say(found, "calls")
        return
    with st.container(key="pipeline.calls", gap="xsmall"):
        _say_conclusion(found)
        _offer_more(view, found, number)
        rows = list(_rows(found))
        sheet(rows, key="pipeline.calls.table", name="calls", columns=numbers("ULP here", "ULP by NumPy"))
        if len(found.rows) > len(rows):
            st.caption(literal(f"The first {len(rows):,} of {len(found.rows):,} calls are listed; the file has all."))


def _say_conclusion(found: CallsCompared) -> None:
    """Say what it comes to, and of the first difference each side's element."""
    first, *others = found.conclusion.split("\n")
    words, colour = _summed_up(found)
    at = found.first_different
    st.markdown(badge(words, colour))
    st.markdown(prose(first))
    remarks = [*others, *(note.removeprefix("note: ") for note in found.notes)]
    elements = [*_elements(found.rows[at])] if at >= 0 else []
    if elements or remarks:
        st.markdown(bullets((*elements, *remarks)))


def _summed_up(found: CallsCompared) -> tuple[str, str]:
    match found.verdict:
        case "different":
            return f"✕ {row_title(found.rows[found.first_different])} is the first that differs", "red"
        case "same":
            return "✓ All calls agree", "green"
        case _:
            return "? Not all calls could be compared", "orange"


def _elements(row: CallRow) -> Iterator[str]:
    for who, side in (("this machine", row.machine), ("NumPy", row.numpy)):
        if side.verdict == "different" and side.recorded_element:
            yield f"{row_title(row)}{side.element}: {side.recorded_element} in TVM, {side.computed_element} by {who}"
    if row.tolerance:
        yield f"The tolerance is {row.tolerance}"


def _offer_more(view: RecordedView, found: CallsCompared, number: int) -> None:
    """Offer another run, the other way to compare, the line of the first difference, and all as a file."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="pipeline.calls.bar"):
        if len(view.runs) > 1:
            _choose_run(view, number)
        st.session_state["pipeline.calls.on"] = bool(state(PipelineState).runs_on)
        st.toggle("Run on from the inputs", key="pipeline.calls.on", help=_FED, on_change=_run_on)
        row = found.rows[found.first_different] if found.first_different >= 0 else None
        if row is not None and row.line and view.forms:
            stage = view.pipeline.stages[view.forms[0]]
            label = literal(f"Line {row.line} of {stage.label} {stage.name}")
            st.button(label, key="pipeline.calls.line", on_click=_go, args=(view.forms[0], row.line))
        st.download_button("All calls", found.to_text(), "calls.txt", key="pipeline.calls.file", on_click="ignore")


def _choose_run(view: RecordedView, number: int) -> None:
    names = tuple(f"Run {at + 1}: {entry}" for at, entry in enumerate(view.runs))
    choose(
        "Run",
        range(len(names)),
        number,
        lambda at: select(compared_run=at),
        key="pipeline.calls.run",
        format_func=names.__getitem__,
        width=200,
    )


def _run_on() -> None:
    select(runs_on=int(st.session_state["pipeline.calls.on"]))


def _go(position: int, line: int) -> None:
    select(compared_as="", recorded_stage=position, against=-1, recorded_line=f"b/{line}")


def _rows(found: CallsCompared) -> Iterator[dict[str, object]]:
    for at, row in enumerate(found.rows[:_ROWS_SHOWN]):
        mark = "first " if at == found.first_different else ""
        yield {
            "Verdict": f"{_SIGN[row.verdict]} {mark}{row.verdict}",
            "Call": "the result" if row.number < 0 else f"{row.number} {row.name}",
            "Variable": f"{row.variable}, line {row.line}" if row.line else row.variable,
            "Type": row.type,
            "ULP here": _ulp(row.machine),
            "ULP by NumPy": _ulp(row.numpy),
            "In TVM": row.value,
            "Here": row.machine.value,
            "By NumPy": row.numpy.value,
            "Tolerance": row.tolerance,
            "Against this machine": _said(row.machine),
            "Against NumPy": _said(row.numpy),
        }


def _ulp(side: CallSide) -> float | None:
    return side.ulp if side.ulp >= 0 else None


def _said(side: CallSide) -> str:
    return ": ".join(filter(None, (side.verdict, side.words)))
