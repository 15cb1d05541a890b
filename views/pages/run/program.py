"""The program that the Run page runs: what is open, with the values that the user changed while it ran.

The address holds the changes as `DIGEST;7.0:y = 0.5;9.1!:x[0] = nan`: the program that they belong to, then for each
its time, the depth of its frame, `!` if it is in place, and its text. A file stays in the session:
`7.0#DIGEST:y = file()`.
"""

import re
from hashlib import sha256
from typing import Final
from urllib.parse import unquote

import msgspec
import streamlit as st

from relax_core.engine.programs.program import ChangeAt, Program
from views.pages.run.state import RunState
from views.state.session import state
from views.worker.program import given_program

_FILES: Final = "run.files"
_ONE: Final = re.compile(
    r"(?P<time>\d{1,12})\.(?P<depth>\d{1,6})(?P<place>!?)(?:#(?P<file>\w+))?:(?P<text>.*)", re.DOTALL
)


def run_program() -> Program:
    """Return the program that is shown, with its changes."""
    return msgspec.structs.replace(given_program(), changes=changes_made())


def changes_made() -> tuple[ChangeAt, ...]:
    """Return the changes of the run that is shown."""
    return () if state(RunState).unchanged else changes_kept()


def changes_kept() -> tuple[ChangeAt, ...]:
    """Read the changes of an address; those of another program are dropped, as are those behind a file that is gone."""
    known, *parts = state(RunState).changes.split(";")
    # Without changes, as nearly always, the digest of a long text is not made, which every run of the script would.
    if not parts or known != digest(given_program()):
        return ()
    found: list[ChangeAt] = []
    for part in parts:
        change = read_change(part)
        if change is None:
            break
        found.append(change)
    return tuple(found)


def read_change(part: str) -> ChangeAt | None:
    """Read one change; `None` if it cannot be read, or its file is gone."""
    fields = _ONE.fullmatch(part)
    if fields is None:
        return None
    content = b"" if fields["file"] is None else _files().get(fields["file"])
    if content is None:
        return None
    text = unquote(fields["text"])
    return ChangeAt(int(fields["time"]), text, int(fields["depth"]), bool(fields["place"]), content)


def written(changes: tuple[ChangeAt, ...]) -> str:
    """Write changes for the address, the empty text if there are none; their files are kept in the session."""
    return ";".join((digest(given_program()), *map(written_change, changes))) if changes else ""


def written_change(change: ChangeAt) -> str:
    """Write one change; its file is kept in the session."""
    file = ""
    if change.content:
        name = sha256(change.content).hexdigest()[:8]
        st.session_state[_FILES] = {**_files(), name: change.content}
        file = f"#{name}"
    text = change.text.replace("%", "%25").replace(";", "%3B")
    return f"{change.time}.{change.depth}{'!' if change.is_in_place else ''}{file}:{text}"


def _files() -> dict[str, bytes]:
    return st.session_state.get(_FILES, {})


def digest(program: Program) -> str:
    """Return what changes of a program are known by."""
    return sha256(repr(program).encode("utf-8", "replace")).hexdigest()[:6]
