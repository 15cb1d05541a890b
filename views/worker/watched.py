"""The program that the app was started on, followed on disk: `relaxscope open --watch FILE`.

A tab in which that program stands as it was read takes each new text of the file and keeps what is selected, the stage
and the time. Where the text was edited in the page, or another program is open, the file is offered and not taken.
"""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from relax_core.engine.files import UnreadableFileError, read_file
from relax_core.engine.limits import REQUEST_BYTES
from relax_core.engine.pipelines.recognize import WATCH_VARIABLE
from relax_core.present.escape import prose
from views.state.session import select, state
from views.state.shared import ProgramState
from views.worker.program import text_of
from views.worker.recordings import opened_program

LOOK_SECONDS: Final = 1.0
_SEEN: Final = "watched"


@dataclass(frozen=True, slots=True)
class _Seen:
    """What this tab last took or offered of the file: its time of change and size, `None` if it was gone, and text."""

    stamp: tuple[int, int] | None
    taken: str
    """The text that the page has of the file."""
    offered: str = ""
    """A newer text that was not taken; empty if there is none."""


def watched_path() -> str:
    """Return the path of the program that is followed, "" for none."""
    return opened_program() if os.environ.get(WATCH_VARIABLE) else ""


def follow_file() -> None:
    """Look at the file every second, in the place of this call; nothing where the app follows none."""
    path = watched_path()
    if path:
        st.fragment(_follow, run_every=LOOK_SECONDS)(path)


def _follow(path: str) -> None:
    seen, stamp = st.session_state.get(_SEEN), _stamp(path)
    if not isinstance(seen, _Seen):
        seen = st.session_state[_SEEN] = _Seen(stamp, _read(path))
    elif stamp != seen.stamp and stamp is not None:
        _note(seen, stamp, _read(path))
        st.rerun()
    name = Path(path).name
    if stamp is None:
        with _row():
            st.markdown(prose(f"`{name}` is gone from the disk; what was read of it stays open."), width="content")
    elif seen.offered and seen.offered != text_of(state(ProgramState)):
        with _row():
            st.markdown(prose(f"`{name}` changed on disk, and so did the text here."), width="content")
            st.button("Open the file", key="watched.open", on_click=_take, args=(seen.offered, name))


def _note(seen: _Seen, stamp: tuple[int, int], text: str) -> None:
    """Take a new text of the file, or offer it."""
    if not text:
        st.session_state[_SEEN] = replace(seen, stamp=stamp)
    elif text_of(state(ProgramState)) == seen.taken:
        select(text=text)
        st.session_state[_SEEN] = _Seen(stamp, text)
    else:
        st.session_state[_SEEN] = _Seen(stamp, seen.taken, text)


def _take(text: str, name: str) -> None:
    seen = st.session_state[_SEEN]
    select(sample=name, text=text)
    st.session_state[_SEEN] = _Seen(seen.stamp, text)


def _row() -> DeltaGenerator:
    return st.container(horizontal=True, vertical_alignment="center", gap="small", key="watched")


def _stamp(path: str) -> tuple[int, int] | None:
    """Return what changes with the file, `None` if it is not there."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _read(path: str) -> str:
    """Return the text of the file, "" if it cannot be read: it may be written at this moment."""
    try:
        return read_file(path, REQUEST_BYTES).decode("utf-8", errors="replace")
    except UnreadableFileError:
        return ""
