"""The forms in the bar of the Run page: arithmetic, the values of bindings, and where the time goes."""

from typing import Final

import msgspec
import streamlit as st

from relax_core.engine.debug.replies import Parting, ValuesCompared
from relax_core.engine.debug.requests import ChromeTraceOf, CompareArchiveOf, CompareValuesOf, DumpOf, ProfileOf
from relax_core.engine.programs.program import Program
from relax_core.engine.protocol import Execute, Failure
from relax_core.jit.options import DEFAULT_OPTIONS, MODES
from relax_core.present.escape import bold, file_name, literal, prose
from relax_core.present.nodes.origin_models import spans
from relax_core.present.running.run_models import Run
from views.pages.run.program import given_program
from views.shell.controls.sheet import filled, sheet
from views.shell.failures import show_reason
from views.state.dialogs import PageDialog, ask_for, close_dialog, page_dialog
from views.state.session import select, state
from views.state.shared import ProgramState
from views.worker.connection import ask, waiting_in
from views.worker.program import as_in_of, mode_of

_POISON: Final = "NaN in every float dtype, -1 or the largest integer: what is read too early shows in the results"

_PROFILE: Final = "run.profile"
FORK_DIALOG: Final = "run.fork"
_ASKED_FORKS: Final = "run.fork.asked"
_FORK: Final = "Skip the call at the time that is shown, or put another function in its place, and run on"
_REPORTED: Final = "LambdaLift, PlanDevices, AnnotateTarget and the code generator have the bugs that were reported"


def options_form() -> None:
    """Choose how kernels round, and what is made of memory that nothing has written."""
    before = state(ProgramState)
    mode, found, poisoned = mode_of(before), bool(before.unwritten), bool(before.poisoned)
    is_reported = as_in_of(before) == "reported"
    switches = (("finds unwritten", found), ("poisons memory", poisoned), ("as reported", is_reported))
    words = [*([mode] if mode != DEFAULT_OPTIONS.mode else []), *(word for word, is_on in switches if is_on)]
    name = f"Options: {', '.join(words)}" if words else "Options"
    # Under another key it is closed: the dialog that it leads to opens below it.
    with st.popover(literal(name), key=f"run.options.{st.session_state.get(_ASKED_FORKS, 0)}"):
        chosen = st.segmented_control("How kernels round", MODES, default=mode, key="run.mode") or mode
        finds = st.toggle("Stop at an element that nothing wrote", value=found, key="run.unwritten")
        poisons = st.toggle("Fill new tensors in a storage with 0xFF", value=poisoned, key="run.poisoned", help=_POISON)
        reported = st.toggle("Bugs as reported", value=is_reported, key="run.as_in", help=_REPORTED)
        st.button("Skip or replace a call", key=FORK_DIALOG, help=_FORK, on_click=_ask_for_fork)
    if (chosen, finds, poisons, reported) != (mode, found, poisoned, is_reported):
        as_in = "reported" if reported else "fixed"
        select(mode=chosen, unwritten=int(finds), poisoned=int(poisons), as_in=as_in, time=-1)
        st.rerun()


def _ask_for_fork() -> None:
    st.session_state[_ASKED_FORKS] = st.session_state.get(_ASKED_FORKS, 0) + 1
    ask_for(PageDialog(FORK_DIALOG))


def values_form(run: Run, program: Program, *, is_recorded: bool) -> None:
    """Offer the values of all bindings as a file, and their comparison with others."""
    name = run.title.rsplit(".", 1)[0]
    st.markdown(bold("Values"))
    st.caption("The value of every binding as it was when it was bound: `FUNCTION.VARIABLE`, `#2` for the second.")
    if st.button("Collect the values", key="run.collect"):
        reply = ask(DumpOf(program))
        if isinstance(reply, Failure):
            show_reason(reply, "run.collect")
        else:
            label = literal(f"Download {reply.count:,} values")
            st.download_button(
                label, reply.archive, file_name=f"{file_name(name)}.npz", key="run.dump", on_click="ignore"
            )
    _offer_comparison(program, is_recorded=is_recorded)


def buffers_form(program: Program) -> None:
    """Show what a prim func wrote beside what was there before, of a module that has no other functions."""
    with st.popover("Buffers"):
        found = ask(Execute(program))
        if isinstance(found, Failure):
            show_reason(found, "run.buffers")
        elif found.written:
            rows = [{"buffer": item.name, "before": item.before, "after": item.after} for item in found.written]
            sheet(rows, key="run.buffers.table", name="buffers")
        else:
            st.caption("The run wrote no buffer, or did not reach its end.")


def profile_button(why_not: str = "") -> None:
    """Offer to measure where the time goes, unless there is a reason why not."""
    words = why_not or "Measure which lines take how long"
    dialog = PageDialog(_PROFILE)
    st.button("Profile", key=_PROFILE, help=prose(words), disabled=bool(why_not), on_click=ask_for, args=(dialog,))
    if page_dialog(_PROFILE):
        _show_profile()


def _offer_comparison(program: Program, *, is_recorded: bool) -> None:
    """Compare the values of this run with those of a file, or of kernels that round in another way."""
    given = st.file_uploader(
        "Compare with values in .npz, named as above or by the variable alone", type=["npz"], key="run.values"
    )
    if given is not None:
        show_comparison(ask(CompareArchiveOf(program, given.getvalue())), "run.values.compared")
    if is_recorded:
        return
    others = [mode for mode in MODES if mode != program.mode]
    other = st.segmented_control("Compare with kernels that round otherwise", others, key="run.against")
    if other is not None:
        show_comparison(
            ask(CompareValuesOf(program, -1, msgspec.structs.replace(program, mode=other), -1)), "run.modes.compared"
        )


def show_comparison(found: ValuesCompared | Failure, key: str) -> None:
    """Show which bindings of two runs differ, and how far; `key` tells the comparisons of a page apart."""
    if isinstance(found, Failure):
        show_reason(found, key)
        return
    for note in found.notes:
        st.code(note, language=None)
    st.text(found.conclusion)
    if found.parting is not None:
        _show_parting(found.parting, key)
    apart = [row for row in found.rows if row.verdict != "same" or row.largest]
    if apart:
        rows = [{"binding": row.name, "line": row.line, "": row.verdict, "difference": row.words} for row in apart]
        sheet(rows, key=f"{key}.table", name="differences")


def _go(time: int) -> None:
    select(time=time)


def _show_parting(parting: Parting, key: str) -> None:
    """Show where two forks part, and lead there."""
    first, *_ = parting.to_text().split("\n")
    st.markdown(prose(first))
    st.button(literal(f"Step to time {parting.time}"), key=f"{key}.parting", on_click=_go, args=(parting.time,))
    rows = [{"register": row.name, "difference": row.words} for row in parting.registers]
    if rows:
        sheet(rows, key=f"{key}.registers", name="registers")


@st.dialog("Profile", width="large", on_dismiss=close_dialog)
def _show_profile() -> None:
    with waiting_in(st.container()):
        found = ask(ProfileOf(given_program()))
    if isinstance(found, Failure):
        show_reason(found, "run.profile")
        return
    if found.rendered:
        st.code(found.rendered, language=None)
    runs = f"median of {found.rounds} run{'' if found.rounds == 1 else 's'}"
    words = f"{found.seconds * 1e6:,.1f} µs in all, {runs}, instruction by instruction in the machine that steps."
    st.caption(literal(words))
    rows = [
        {"line": item.line, "with": spans(item.others), "share": item.share, "µs": item.seconds * 1e6}
        | {"runs": item.calls, "text": item.text, "mostly": item.what}
        for item in found.lines
    ]
    columns = {
        "share": st.column_config.ProgressColumn(format="percent", min_value=0, max_value=1),
        "µs": st.column_config.NumberColumn(format="%.1f"),
    }
    sheet(filled(rows), key="run.profile.table", name="profile", columns=columns)
    text = found.to_text()
    with st.container(horizontal=True, gap="small"):
        st.download_button("Download as text", text, file_name="profile.txt", key="run.profile.save", on_click="ignore")
        _offer_timeline()


def _offer_timeline() -> None:
    """Time one run call by call, when it is asked for, and offer it as a file."""
    words = "When each call of one run began and ended, in the Chrome trace format: ui.perfetto.dev opens it"
    if not st.button("Write a timeline for Perfetto", key="run.timeline", help=words):
        return
    found = ask(ChromeTraceOf(given_program()))
    if isinstance(found, Failure):
        show_reason(found, "run.timeline")
        return
    key = "run.timeline.save"
    st.download_button("Download the timeline", found.content, file_name="run.json", key=key, on_click="ignore")
