"""A report of what is open as one file, in the menu of sharing of the pages of a program: source, passes, run."""

from typing import Final

import streamlit as st

from relax_core.engine.programs.program import Program
from relax_core.engine.protocol import Failure, ReportOf
from relax_core.engine.replies import REPORT_PARTS, ReportPart
from relax_core.present.escape import bold, bullets, file_name, literal
from views.lessons.steps import waiting_questions
from views.shell.failures import show_reason
from views.worker.connection import ask

_WORDS: Final = "Text, problems, passes with diffs and graphs, run and notes as one HTML file that opens anywhere."
_NOTES: Final = "What you have to say of it, in Markdown; it stands first in the report"
_PAGES: Final = ("source", "passes", "run")
_KILOBYTE: Final = 1000


def offer_report(noun: str, program: Program) -> None:
    """Offer to write a report with notes, and once it is written to save it; `noun` is the page's."""
    st.markdown(bold("Report"))
    # It tells of all pages, so that it would answer what a lesson asks on any of them.
    if any(waiting_questions(page) for page in _PAGES):
        st.caption("A question of the lesson is open: a report would answer it.")
        return
    st.caption(_WORDS)
    notes = st.text_area("Notes", key=f"{noun}.report.notes", height=80, help=_NOTES)
    with st.container(horizontal=True, gap="small"):
        wanted = {part: _is_wanted(noun, part) for part in REPORT_PARTS}
    parts: tuple[ReportPart, ...] = tuple(part for part in REPORT_PARTS if wanted[part])
    if st.button("Write report", key=f"{noun}.report", disabled=not parts):
        _offer_file(noun, ReportOf(program, notes, parts))


def _is_wanted(noun: str, part: ReportPart) -> bool:
    return st.checkbox(literal(part.capitalize()), value=True, key=f"{noun}.report.{part}")


def _offer_file(noun: str, asked: ReportOf) -> None:
    made = ask(asked)
    if isinstance(made, Failure):
        show_reason(made, f"{noun}.report")
        return
    content = made.html.encode()
    name = f"{file_name(asked.program.name.rpartition('.')[0] or asked.program.name)}.report.html"
    label = literal(f"Download report, {len(content) / _KILOBYTE:,.0f} kB")
    st.download_button(label, content, name, mime="text/html", key=f"{noun}.report.save", on_click="ignore")
    if made.left_out:
        st.caption("Left out, for the file would be too large:")
        st.markdown(bullets(made.left_out))
