"""What the Pipeline page offers to open: samples, uploads, what the server was started on; and what it runs on."""

from pathlib import Path
from typing import Final

import streamlit as st

from relax_core.diagnostics import plural
from relax_core.engine.debug.requests import (
    Parcel,
    TraceOf,
)
from relax_core.engine.protocol import (
    Failure,
)
from relax_core.engine.replies import RecordedView
from relax_core.present.escape import bold, bullets, file_name, literal, prose, visible
from views.shell.controls.choose import choose
from views.shell.failures import show_reason
from views.state.session import select
from views.worker.connection import ask
from views.worker.recordings import (
    OPENED,
    YOURS,
    has_upload,
    keep_upload,
    opened_path,
    sample_recordings,
)

_UPLOAD_MEGABYTES: Final = 48
_WHAT: Final = (
    "The modules that TVM printed after its passes: a folder of numbered dumps as `DumpIR` writes them, a log of "
    "`PrintAfterAll` or `PrintBeforeAll`, a zip of either, several module files in order, or a trace (.rxt)."
)
_HOW: Final = (
    "A trace has nesting, times, constants and inputs, which TVM's texts lose: `python -m relax_core recorder` prints "
    "the recorder, one file beside your build script. Nothing that is opened is run before you ask for it."
)
_GONE: Final = (
    "The address names a recording that this tab does not have: an address does not hold files. Open it once more."
)


def open_recording(chosen: str) -> None:
    """Open a recording from its start."""
    select(recording=chosen, recorded_stage=-1, against=-1, recorded_line="", judged=0, checked=0, sought="")
    select(recorded_stand_ins="", compared_run=0, runs_on=0, pinned=0)


def _known() -> dict[str, str]:
    """Return what can be chosen, with the words for it."""
    samples = {path: sample.title for path, sample in sample_recordings().items()}
    opened = {OPENED: f"{visible(Path(opened_path()).name)} · opened"} if opened_path() else {}
    return opened | ({YOURS: "Uploaded · yours"} if has_upload() else {}) | samples


def choose_recording(chosen: str) -> None:
    """Choose what is open, or upload it."""
    known = _known()
    choose(
        "Recording",
        tuple(known),
        chosen,
        open_recording,
        key="pipeline.recording",
        format_func=known.__getitem__,
        placeholder="Recording",
        width=250,
    )


def show_recording(view: RecordedView, parcel: Parcel) -> None:
    """Say what there is to know of the recording, and offer to open another one, in a menu of the bar."""
    words = [*(problem.message for problem in view.notes), *view.missing]
    with st.popover(literal(f"Recording: {plural(len(words), 'remark')}" if words else "Recording")):
        st.caption(literal(f"Read from {view.source}."))
        if view.facts:
            st.markdown(bullets(f"{key}: {value}" for key, value in view.facts))
        if words:
            st.markdown(bold("Remarks"))
            st.markdown(bullets(words))
        _offer_trace(view, parcel)
        st.markdown(bold("Open another one"))
        _uploaders("pipeline.more")


def _offer_trace(view: RecordedView, parcel: Parcel) -> None:
    """Offer what is open as one file; what is no trace yet is written as one when it is asked for."""
    content = parcel.content
    if view.source != "a trace" or parcel.constants:
        words = "One file with stages, constants and runs, which opens here and on the command line"
        if not st.button("Write a trace", key="pipeline.write", help=words):
            return
        made = ask(TraceOf(parcel))
        if isinstance(made, Failure):
            show_reason(made, "pipeline.write")
            return
        content = made.content
    name = f"{file_name(parcel.name.partition('.')[0])}.rxt"
    st.download_button("Save as trace", content, name, key="pipeline.trace", on_click="ignore")


def offer_recordings(chosen: str) -> None:
    """Say what can be opened, and offer it."""
    with st.container(key="recordings", gap="small"):
        if chosen in (YOURS, OPENED):
            st.info(prose(_GONE))
        st.markdown(bold("Open what TVM's passes made of a model"))
        st.markdown(prose(_WHAT))
        _uploaders("pipeline.upload")
        st.caption(prose(_HOW))
        st.markdown(bold("Or a sample"))
        with st.container(key="recordings.samples"):
            for path, sample in sample_recordings().items():
                with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                    st.button(literal(sample.title), key=f"pipeline.open.{path}", on_click=open_recording, args=(path,))
                    st.markdown(prose(sample.shows))


def _uploaders(key: str) -> None:
    def uploaded(which: str) -> None:
        given = st.session_state[which]
        if given:
            keep_upload(given)
            open_recording(YOURS)

    files, folder = f"{key}.files", f"{key}.folder"
    limit = _UPLOAD_MEGABYTES
    with st.container(horizontal=True, gap="small"):
        st.file_uploader(
            "Files: a log, a zip, a trace, or modules in order",
            accept_multiple_files=True,
            key=files,
            on_change=uploaded,
            args=(files,),
            max_upload_size=limit,
        )
        st.file_uploader(
            "A folder of dumps, or of a trace",
            accept_multiple_files="directory",
            key=folder,
            on_change=uploaded,
            args=(folder,),
            max_upload_size=limit,
        )
