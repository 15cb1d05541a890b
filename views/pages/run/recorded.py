"""Runs as files on the Run page: the one that is shown is saved, and another one is opened and shown as it was."""

from functools import partial
from typing import Final

import streamlit as st

from relax_core.diagnostics import CompileError, plural
from relax_core.engine.debug.requests import (
    Parcel,
)
from relax_core.engine.pipelines import parcel as parcels
from relax_core.engine.programs.program import Program
from relax_core.engine.protocol import (
    Failure,
    OpenedRunOf,
    SavedRunOf,
)
from relax_core.engine.replies import OpenedRun
from relax_core.present.drawings.still import run_svg
from relax_core.present.escape import bold, bullets, file_name, literal, prose
from relax_core.present.problems import problems_of
from relax_core.present.running.run_models import Run
from views.pages.run.program import run_program
from views.pages.run.state import RunState
from views.shell.failures import show_reason
from views.shell.frame import chip
from views.shell.guide import offer_paragraph
from views.state.session import open_text, select, state
from views.state.shared import ProgramState
from views.worker.connection import ask
from views.worker.recordings import OPENED, opened_path, parcel_for

FIXED: Final = "This run comes from a file and is shown as it was recorded: nothing is run."
"""Why what would run is off."""
_KEPT: Final = "run.recorded"
_ASKED: Final = "run.recorded.asked"
_REFUSED: Final = "run.recorded.refused"
_LOOKED: Final = "run.recorded.looked"
_UPLOAD: Final = "run.recorded.upload"
_MEGABYTES: Final = 12
_GONE: Final = (
    "The address names a recorded run that this tab does not have: an address does not hold files. "
    "This is a run of the program here."
)
_WHAT: Final = "Every step, register, tensor and printed line, to be looked at later or elsewhere without running it."


def recorded_run() -> OpenedRun | None:
    """Return the recorded run that is shown: the opened one, as long as its program is what is open."""
    return kept_run() if state(RunState).from_file else None


def kept_run() -> OpenedRun | None:
    """Return the recorded run that was opened, shown or not, as long as its program is what is open."""
    chosen, found = st.session_state.get(_KEPT, (None, None))
    return found if found is not None and chosen == state(ProgramState) else None


def open_asked() -> None:
    """Open the file that was uploaded, or the one that the app was started on, once; the page is run again."""
    # An address that names a program, as one that was shared does, has the say.
    names_nothing = state(ProgramState) == ProgramState()
    if opened_path() and names_nothing and not st.session_state.get(_LOOKED):
        st.session_state[_LOOKED] = True
        started = parcel_for(OPENED)
        if isinstance(started, Parcel):
            _open(started, is_asked=False)
    asked: Parcel | Failure | None = st.session_state.pop(_ASKED, None)
    if isinstance(asked, Parcel):
        _open(asked, is_asked=True)
    elif asked is not None:
        st.session_state[_REFUSED] = asked


def _open(parcel: Parcel, *, is_asked: bool) -> None:
    found = ask(OpenedRunOf(parcel.name, parcel.content))
    if isinstance(found, Failure):
        # What the app was started on may be a recorded pipeline, which another page shows.
        if is_asked:
            st.session_state[_REFUSED] = found
        return
    _show_program(found.program, parcel.name)
    st.session_state[_KEPT] = (state(ProgramState), found)
    st.session_state.pop(_REFUSED, None)
    st.rerun()


def _show_program(program: Program, name: str) -> None:
    """Make the program of a run the one that is open, on all pages."""
    open_text(program.text, sample=file_name(program.name or name))
    sizes = ",".join(f"{key}={size}" for key, size in program.sizes)
    select(module=program.module, pipeline=program.pipeline or "", entry=program.entry, seed=program.seed, dims=sizes)
    switches = {"unwritten": int(program.finds_uninitialised), "poisoned": int(program.poisons_memory)}
    switches["signed"] = int(program.is_signed)
    select(mode=program.mode, as_in=program.as_in, **switches, from_file=1, time=0)


def _uploaded() -> None:
    given = st.session_state[_UPLOAD]
    if given is None:
        return
    try:
        st.session_state[_ASKED] = parcels.parcel_of([(given.name, given.getvalue())])
    except CompileError as error:
        first = error.diagnostics[0]
        st.session_state[_ASKED] = Failure("diagnosed", "Not opened", first.message, problems_of(error.diagnostics))


def _leave() -> None:
    select(from_file=0, time=-1)


def recorded_form() -> None:
    """Say that a recorded run is shown, and lead out of it."""
    chip("recorded run", "blue")
    words = f"{FIXED} This runs the program on the same inputs."
    st.button("Run the program here", key="run.recorded.leave", on_click=_leave, help=words)


def _facts(found: OpenedRun) -> list[str]:
    program = found.program
    seed = "from a file" if program.inputs is not None else f"made up from seed {program.seed}"
    facts = [
        f"{plural(found.event_count, 'event')} of `{found.entry}` in {program.name}",
        f"Inputs: {seed}",
        f"Kernels: {program.mode}",
    ]
    facts += [f"Passes: {program.pipeline or 'none'}"] if program.pipeline is not None else []
    return [*facts, found.stand_ins] if found.stand_ins else facts


def files_form(run: Run | Failure, found: OpenedRun | None) -> None:
    """Offer the run as a file, and to open another one; say what is known of the one that is open."""
    st.markdown(bold("The run"))
    if found is not None:
        st.markdown(bullets(_facts(found)))
    elif isinstance(run, Run):
        st.caption(_WHAT)
        if st.button("Write this run", key="run.save"):
            _offer_file(run)
    if isinstance(run, Run):
        file = f"{file_name(run.title.rpartition('/')[2].partition('.')[0] or 'run')}.svg"
        words = "The calls over time, and the lines that ran, as SVG"
        st.download_button("Picture", partial(run_svg, run), file, key="run.picture", on_click="ignore", help=words)
    st.file_uploader(
        "Open a recorded run as .rxt", type=["rxt"], key=_UPLOAD, on_change=_uploaded, max_upload_size=_MEGABYTES
    )


def _offer_file(run: Run) -> None:
    made = ask(SavedRunOf(run_program()))
    if isinstance(made, Failure):
        show_reason(made, "run.save")
        return
    name = f"{file_name(run.title.rpartition('/')[2].partition('.')[0] or 'run')}.rxt"
    label = literal(f"Download {plural(run.total, 'event')}")
    st.download_button(label, made.content, name, key="run.save.file", on_click="ignore")
    if len(made.content) > parcels.PARCEL_LIMIT_BYTES:
        st.caption(literal(f"The app opens at most {_MEGABYTES} MB; the command line opens more with --in-process."))


def say_refusal(refused: Failure) -> None:
    """Say why a file was not opened, with the code and what to do."""
    words = [refused.message]
    if refused.problems:
        first = refused.problems[0]
        words = [first.message, f"Hint: {first.hint}" if first.hint else ""]
    st.warning(prose(". ".join(filter(None, words))))
    if refused.problems:
        offer_paragraph(refused.problems[0].code, "run.recorded.code")


def show_refusal() -> None:
    """Say why a file was not opened, or that the run of the address is not here; until the next one."""
    refused: Failure | None = st.session_state.get(_REFUSED)
    if refused is not None:
        say_refusal(refused)
    elif state(RunState).from_file and recorded_run() is None:
        has_left = st.session_state.get(_KEPT, (None, None))[1] is not None
        st.info(prose("The program was changed, so that this is a run of it here." if has_left else _GONE))
