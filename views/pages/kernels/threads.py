"""A launch of threads on a simulated GPU: the verdict, what was found, and what each access costs."""

import re
from typing import Final

import streamlit as st

from relax_core.diagnostics import plural
from relax_core.engine.debug.requests import SimulateOf
from relax_core.engine.protocol import Failure, Program
from relax_core.engine.replies import AccessRow, Simulation
from relax_core.present.escape import literal, prose, sentence
from relax_core.present.models import Problem
from views.pages.kernels.state import KernelsState
from views.shell.controls.sheet import filled, sheet
from views.shell.failures import show_failure, show_problems
from views.shell.guide import offer_paragraph
from views.shell.navigation import ask_for_page
from views.state.session import select, state
from views.worker.connection import ask

_LAUNCHES: Final = re.compile(r"\b(?:launch_thread|thread_binding|env_thread)\b")
_WORDS: Final = "Run the launch with all its threads on a simulated GPU, and look for races and the like"
_LONGEST: Final = 2_000
_FORMATS: Final = (("Bank conflict", "%d-way"), ("Sectors for a warp", "localized"), ("Bytes used", "percent"))


def launches_threads(program: Program) -> bool:
    """Tell whether a text launches threads, or has loops that are bound to them."""
    return _LAUNCHES.search(program.text) is not None


def choose_threads() -> None:
    """Offer to simulate the launch in place of what the compiler makes for this machine."""
    st.session_state["kernels.threads"] = bool(state(KernelsState).threads)

    def changed() -> None:
        select(threads=int(st.session_state["kernels.threads"]))

    st.toggle("Threads", key="kernels.threads", help=_WORDS, on_change=changed)


def show_threads(program: Program, why: str = "") -> None:
    """Simulate the entry of the program, and show what came of it; `why` says that there is nothing else to show."""
    found = ask(SimulateOf(program))
    if isinstance(found, Failure):
        show_failure(found)
        return
    with st.container(key="kernels.simulated", gap="small"):
        if why:
            st.caption(prose(why))
        _show_verdict(found)
        _offer_run(found)
        notes = tuple(item for item in found.problems if item.severity == "note")
        show_problems(tuple(item for item in found.problems if item not in notes))
        if found.accesses:
            rows = [_row(item) for item in found.accesses]
            columns = {name: st.column_config.NumberColumn(format=how) for name, how in _FORMATS}
            sheet(filled(rows), key="kernels.accesses", name="accesses", columns=columns)
            st.caption(
                "Counted in the first block of each launch: best are one word of a bank at once, and few sectors."
            )
        if notes:
            with st.expander(literal(f"{plural(len(notes), 'remark')} on what costs time")):
                _show_remarks(notes, program.text.split("\n"))
        for item in found.written:
            note = f", {item.undefined:,} elements undefined" if item.undefined else ""
            with st.expander(literal(f"{item.name}{note}")):
                shortened = item.text if len(item.text) <= _LONGEST else f"{item.text[:_LONGEST]} ..."
                st.code(shortened, language=None)


def _show_verdict(found: Simulation) -> None:
    launched = f"`{found.entry}` launched {', '.join(found.launches)}" if found.launches else f"`{found.entry}` ran"
    say = st.success if found.is_clean else st.error
    say(sentence("Clean" if found.is_clean else "Not clean", found.verdict.partition(": ")[2] or found.verdict))
    st.caption(prose(launched))


def _show_remarks(notes: tuple[Problem, ...], lines: list[str]) -> None:
    """List remarks, and offer what the code of each kind says."""
    rows = [
        {
            "Line": note.line or None,
            "Text": lines[note.line - 1].strip() if 0 < note.line <= len(lines) else "",
            "Code": note.code,
            "Remark": note.message,
            "Hint": note.hint,
        }
        for note in notes
    ]
    sheet(filled(rows), key="kernels.remarks", name="remarks", prose=("Remark", "Hint"))
    with st.container(horizontal=True, gap="xsmall"):
        for code in dict.fromkeys(note.code for note in notes):
            offer_paragraph(code, f"kernels.remarks.{code}")


def _offer_run(found: Simulation) -> None:
    """Say what bounds the launch, and lead into its threads."""
    if found.roofline is not None:
        bound = found.roofline
        counts = (
            f"{bound.operations:,} operations, {bound.moved_bytes:,} B of global and {bound.shared_bytes:,} B of shared"
        )
        st.caption(prose(f"{counts} memory: at least {bound.least_time}, bound by {bound.bound} ({bound.machine})."))
    words = "Step through its threads, with the access report and another machine, on the Run page"
    st.button("Step through its threads", key="kernels.step", help=words, on_click=_step_through)


def _step_through() -> None:
    select(time=0, inside=0, clock=0, block=0, thread=0, line=0)
    ask_for_page("run")


def _row(row: AccessRow) -> dict[str, object]:
    is_global = row.kind == "global"
    return {
        "Line": row.line or None,
        "Access": row.text,
        "Memory": f"{row.way}, {row.kind}",
        "Bank conflict": None if is_global else row.conflict,
        "Sectors for a warp": round(row.sectors, 2) if is_global else None,
        "Bytes used": round(row.used, 4) if is_global else None,
    }
