"""What stopped a recorded compiler: one paragraph, the rule that the module before it breaks, and where."""

import streamlit as st

from relax_core.engine.debug.requests import (
    CrashOf,
    Parcel,
)
from relax_core.engine.protocol import (
    Failure,
)
from relax_core.engine.replies import Crash, RecordedView
from relax_core.present.escape import badge, file_name, literal, prose
from views.pages.pipeline.failures import say
from views.shell.guide import offer_paragraph
from views.state.session import select
from views.worker.connection import ask


def show_crash(view: RecordedView, parcel: Parcel) -> str:
    """Say where the compiler stopped and why, as far as the module before it tells; return where in a few words.

    The words are "" if it did not stop.
    """
    if not view.has_crash:
        return ""
    found = ask(CrashOf(parcel))
    if isinstance(found, Failure):
        say(found, "crash")
        return "Why the compiler stopped was not found out"
    with st.container(key="verdict.crash", gap="xsmall"):
        st.markdown(badge(f"✕ {found.title}", "red"))
        st.markdown(prose(found.words))
        if found.rule:
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                offer_paragraph(found.code, "pipeline.crash.code")
                st.caption(prose(found.rule))
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            _offer_links(view, found)
        if found.unscripted:
            st.caption(literal(f"No reproducer: {found.unscripted}"))
    return found.title


def _offer_links(view: RecordedView, found: Crash) -> None:
    """Lead to the line in the module before, and to the pass that brought the mistake; offer the report."""
    if found.before >= 0:
        _link(view, "pipeline.crash.before", found.before, found.line)
    if found.since >= 0 and found.since != found.before:
        _link(view, "pipeline.crash.since", found.since, found.since_line)
    if found.script:
        words = "One file for apache-tvm and numpy alone, which stops there; status 1 while the bug is there"
        st.download_button(
            "Save reproducer",
            found.script,
            f"{file_name(found.title)}.py",
            key="pipeline.crash.reproducer",
            on_click="ignore",
            help=words,
        )
    name = f"{file_name(found.title)}.md"
    words = "The text of a bug report, in Markdown"
    st.download_button("Report", found.report, name, key="pipeline.crash.report", on_click="ignore", help=words)


def _link(view: RecordedView, key: str, position: int, line: int) -> None:
    stage = view.pipeline.stages[position]
    label = literal(f"{f'Line {line} of ' if line else ''}{stage.label} {stage.name}")
    st.button(label, key=key, on_click=_go, args=(position, f"b/{line}" if line else ""))


def _go(position: int, line: str) -> None:
    select(recorded_stage=position, against=-1, recorded_line=line, compared_as="")
