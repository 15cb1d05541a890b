"""The frame of every page: style, context bar, status line, keys, sharing."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from relax_core.engine.protocol import Failure, SourceView
from relax_core.engine.replies import Sample
from relax_core.present.escape import badge, bullets, literal, prose, visible
from relax_core.present.models import Status
from views.classroom.strip import arrive, show_strip
from views.lessons import panel
from views.lessons.steps import open_asked_step, open_lesson_file
from views.shell.controls.choose import choose
from views.shell.finding import show_palette
from views.shell.guide import offer_help, show_dialog
from views.shell.sharing import show_sharing
from views.state.session import (
    bring_back_edits,
    complaints,
    dismiss_complaints,
    dropped_edits,
    is_left_out,
    open_sample,
    open_text,
    screen_of_page,
    state,
)
from views.state.shared import ProgramState
from views.worker.connection import client, waiting_in
from views.worker.program import samples
from views.worker.watched import follow_file, watched_path

_SHELL = Path(__file__).parent / "shell.css"

_BESIDE_NO_LESSON = ("learn", "classroom")


@contextmanager
def page(*, takes_lesson: bool = True) -> Generator[None]:
    """Put the page into one column without gaps, under the product's style, a lesson that is open at its left."""
    st.html(_SHELL)
    with screen_of_page(), st.container(gap=None), waiting_in(st.container(gap=None)):
        open_asked_step()
        arrive(is_lesson_page=takes_lesson)
        _show_complaints()
        follow_file()
        file = open_lesson_file() if takes_lesson else None
        if file is None:
            yield
        else:
            left, right = st.columns([420, 860], gap=None)
            with left:
                panel.show_panel(file)
            with right, st.container(gap=None):
                yield
        show_dialog()


def _show_complaints() -> None:
    """Show what was wrong with the address, above the status line, until it is dismissed."""
    said = complaints()
    # It keeps its place even when empty, for Streamlit would rebuild what is below if it moved.
    place = st.empty()
    if said:
        with place.container(horizontal=True, vertical_alignment="center", gap="small", key="complaints"):
            st.markdown(bullets(said) if len(said) > 1 else prose("".join(said)), width="content")
            st.button("✕", key="complaints.hide", type="tertiary", help="Dismiss", on_click=dismiss_complaints)


@contextmanager
def bar(noun: str) -> Generator[DeltaGenerator]:
    """The context bar of a page: the sample first, then what the page adds, then sharing, its guide and keys.

    Gives the place for the files that a page offers, below the address in the menu of sharing.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="ctx"):
        _sample_picker()
        added = group()
        st.space("stretch")
        apart = st.container(width="content")
        if noun in _BESIDE_NO_LESSON or open_lesson_file() is None:
            show_strip(noun)
        menu = st.popover("Share", help="The address of this screen, and files")
        address, files = menu.container(), menu.container()
        show_palette()
        offer_help(noun)
    with added:
        yield files
    # What the page adds may have changed the selection.
    with address:
        show_sharing(noun)
    if is_left_out():
        with apart:
            chip("not in the address", "orange")


def note(text: str) -> None:
    """Show a few words in a bar that a narrow window leaves out."""
    if text:
        st.caption(literal(text), width="content")


def chip(text: str, color: str) -> None:
    """Show a small label in a bar, which stays in a window of any width."""
    if text:
        st.markdown(badge(text, color), width="content")


def group() -> DeltaGenerator:
    """Return a place in a bar for controls that are made later than what stands beside them."""
    return st.container(horizontal=True, vertical_alignment="center", gap="xsmall", width="content")


def status_line(source: SourceView | Status | Failure | None, detail: str = "", subject: str = "") -> None:
    """The line at the bottom: the module at the left, the worker and the versions at the right.

    Without a source nothing was checked. A page that shows more than what was checked names that: the `subject`.
    """
    match source:
        case SourceView():
            status = source.status
        case Status():
            status = source
        case Failure() | None:
            status = None
    worker = client().status()
    left = _counts(status, subject) if status else []
    followed = watched_path()
    right = [
        f"follows {Path(followed).name}" if followed else "",
        worker.worker,
        worker.sandbox,
        status.module_hash[:8] if status else "",
        worker.versions,
    ]
    with st.bottom.container(horizontal=True, gap="medium", key="status"):
        for text in (*left, detail or (status.detail if status else "")):
            if text:
                st.caption(literal(text), width="content")
        st.space("stretch")
        for text in right:
            if text:
                st.caption(literal(text), width="content")


def _counts(status: Status, subject: str) -> list[str]:
    def count(number: int, noun: str) -> str:
        return f"{number} {noun}{'' if number == 1 else 's'}"

    verdict = "well-formed" if status.is_well_formed else count(status.error_count, "error")
    said = f"{subject}: {verdict}" if subject else verdict.capitalize()
    texts = [f"{'✓' if status.is_well_formed else '✕'} {said}"]
    if status.warning_count:
        texts.append(f"▲ {count(status.warning_count, 'warning')}")
    return texts


def _sample_picker() -> None:
    current = state(ProgramState)
    known = samples()
    choose(
        "Sample",
        tuple(known),
        current.sample,
        open_sample,
        key="bar.sample",
        format_func=lambda path: _label(known[path]),
        placeholder=visible(f"{current.sample.rpartition('/')[2]} · yours") if current.text else "Sample",
        width=300,
    )
    if current.text and current.sample in known:
        st.button("Revert", key="bar.revert", help="Drop the edits", on_click=open_sample, args=(current.sample,))
    dropped = dropped_edits()
    if dropped is not None and not current.text:
        name = visible(dropped.of(ProgramState).sample.rpartition("/")[2])
        words = literal(f"Bring the edits of {name} back")
        st.button("Undo", key="bar.undo", help=words, on_click=bring_back_edits)


def _label(sample: Sample) -> str:
    """Name a sample in the picker: no two alike, for the browser answers with the label."""
    is_relay_elsewhere = sample.path.endswith(".relay") and sample.area != "relay"
    return f"{sample.title} · {sample.area}{', Relay' if is_relay_elsewhere else ''}"


def upload() -> None:
    """Offer to open a file of the user's."""

    def opened() -> None:
        given = st.session_state["bar.upload"]
        if given is not None:
            open_text(given.getvalue().decode("utf-8", errors="replace"), sample=given.name)

    with st.popover("Upload"):
        st.file_uploader(
            "A module as text", type=["py", "txt", "relax", "tir", "relay"], key="bar.upload", on_change=opened
        )
