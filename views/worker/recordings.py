"""The recorded pipeline that is open: a sample, what the server was started on, or what this tab uploaded."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from relax_core.diagnostics import CompileError
from relax_core.engine.debug.requests import (
    Parcel,
)
from relax_core.engine.pipelines import parcel as parcels
from relax_core.engine.pipelines.recognize import OPEN_VARIABLE, is_pipeline
from relax_core.engine.protocol import (
    Failure,
)
from relax_core.engine.replies import Sample
from relax_core.engine.samples import SAMPLES, list_recordings
from relax_core.present.problems import problems_of

OPENED: Final = "opened"
YOURS: Final = "yours"
_PARCELS: Final = "recordings"
_IS_PROGRAM: Final = "recordings.is_program"
_CONSTANTS: Final = "recordings.constants"
_INPUTS: Final = "recordings.inputs"


def opened_path() -> str:
    """Return the path of the recording that the one who started the server named, "" for none."""
    path = os.environ.get(OPEN_VARIABLE, "")
    return "" if _is_program(path) else path


def opened_program() -> str:
    """Return the path of the program that the one who started the server named, "" for none."""
    path = os.environ.get(OPEN_VARIABLE, "")
    return path if _is_program(path) else ""


def _is_program(path: str) -> bool:
    """Tell what a path holds, which is read once for each tab: a recording may be large."""
    known: dict[str, bool] = st.session_state.setdefault(_IS_PROGRAM, {})
    if path not in known:
        known[path] = Path(path).is_file() and not is_pipeline(path)
    return known[path]


def sample_recordings() -> dict[str, Sample]:
    """Return the recordings among the samples by path."""
    return {sample.path: sample for sample in list_recordings()}


def parcel_for(chosen: str) -> Parcel | Failure | None:
    """Return a recording with the constants that were given for it; `None` if nothing of that name is at hand."""
    found = _read(chosen)
    if not isinstance(found, Parcel):
        return found
    name, archive = st.session_state.get(_CONSTANTS, ("", b""))
    return msgspec.structs.replace(found, constants=archive) if name == chosen else found


def _read(chosen: str) -> Parcel | Failure | None:
    known: dict[str, Parcel | Failure] = st.session_state.setdefault(_PARCELS, {})
    if chosen not in known:
        # Only names of this table are paths: a browser may ask for any.
        if chosen in sample_recordings():
            known[chosen] = _packed_at(str(SAMPLES / chosen))
        elif chosen == OPENED and opened_path():
            known[chosen] = _packed_at(opened_path())
    return known.get(chosen)


def _packed_at(path: str) -> Parcel | Failure:
    try:
        return parcels.parcel_at(path)
    except CompileError as error:
        return _refusal(error)


def keep_upload(files: Sequence[UploadedFile]) -> None:
    """Keep what was uploaded; what cannot be read is kept as the reason for that."""
    known: dict[str, Parcel | Failure] = st.session_state.setdefault(_PARCELS, {})
    try:
        parcels.require_room(f"{len(files)} files", len(files), sum(file.size for file in files))
        known[YOURS] = parcels.parcel_of([(file.name, file.getvalue()) for file in files])
    except CompileError as error:
        known[YOURS] = _refusal(error)


def has_upload() -> bool:
    """Tell whether this tab uploaded a recording."""
    return YOURS in st.session_state.get(_PARCELS, {})


def keep_constants(chosen: str, archive: bytes | None) -> None:
    """Give an archive of constants to a recording, or take it away."""
    st.session_state[_CONSTANTS] = (chosen, archive or b"")


def inputs_for(chosen: str) -> bytes | None:
    """Return the archive of inputs that was uploaded for a recording."""
    name, archive = st.session_state.get(_INPUTS, ("", None))
    return archive if name == chosen else None


def keep_recorded_inputs(chosen: str, archive: bytes | None) -> None:
    """Run a recording on the inputs of an archive, or on its own or made-up ones if it is `None`."""
    st.session_state[_INPUTS] = (chosen, archive)


def _refusal(error: CompileError) -> Failure:
    first = error.diagnostics[0]
    return Failure("diagnosed", "Not opened", first.message, problems_of(error.diagnostics))
