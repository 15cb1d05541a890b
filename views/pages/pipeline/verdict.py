"""What a bisection of a recording found: one paragraph, links to the two texts, and files to give away."""

from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from relax_core.engine.debug.replies import Bisection, Reproduced
from relax_core.engine.debug.requests import (
    BisectRecordedOf,
    Parcel,
    RecordedTextsOf,
    ReproducerOf,
)
from relax_core.engine.protocol import (
    Failure,
)
from relax_core.engine.replies import RecordedTexts, RecordedView
from relax_core.present.escape import badge, bullets, file_name, literal, prose
from views.pages.pipeline.results import culprits
from views.state.session import select
from views.worker.connection import ask

_REFUSED: Final = "pipeline.refused"


def line_of(found: Bisection | Failure | None) -> str:
    """Return the name of the line at which the first difference shows, "" if it is not known."""
    if not isinstance(found, Bisection) or not found.suspects:
        return ""
    line = found.stages[found.suspects[-1]].line
    return f"b/{line}" if line else ""


def show_verdict(view: RecordedView, found: Bisection) -> DeltaGenerator:
    """Say in one paragraph what broke, where, and since when; return the place for what leads further."""
    first, *others = found.conclusion.split("\n")
    words, colour = _summed_up(view, found)
    with st.container(key=f"verdict.{colour}", gap="xsmall"):
        st.markdown(badge(words, colour))
        st.markdown(prose(first))
        stood_in = dict.fromkeys(stage.stand_ins for stage in found.stages if stage.stand_ins)
        if others or stood_in:
            st.markdown(bullets((*others, *stood_in)))
        return st.container(horizontal=True, vertical_alignment="center", gap="xsmall")


def _summed_up(view: RecordedView, found: Bisection) -> tuple[str, str]:
    """Return the verdict in a few words, and the colour of it."""
    match found.verdict:
        case "different":
            return f"✕ {_blame(view, found)}", "red"
        case "same":
            return "✓ All stages agree", "green"
        case _:
            return "? Not all stages could be compared", "orange"


def _blame(view: RecordedView, found: Bisection) -> str:
    places = culprits(view, found)
    names = [view.pipeline.stages[place].name for place in places]
    verb = (
        "changed the result" if len(names) == 1 else "is the first that is seen to differ, and others may be to blame"
    )
    return f"{names[-1]} {verb}"


def offer_links(view: RecordedView, found: Bisection, parcel: Parcel) -> None:
    """Lead to the first difference in the text of the culprit and in that of the last good stage."""
    places = culprits(view, found)
    if places:
        good, culprit = view.forms[found.last_good], places[-1]
        line = line_of(found)
        texts = ask(RecordedTextsOf(parcel, good, culprit)) if line else None
        before = _line_before(texts, line) if isinstance(texts, RecordedTexts) else ""
        for key, position, where in (("pipeline.culprit", culprit, line), ("pipeline.good", good, before)):
            stage, number = view.pipeline.stages[position], where.partition("/")[2]
            label = literal(f"{f'Line {number} of ' if number else ''}{stage.label} {stage.name}")
            st.button(label, key=key, on_click=_go, args=(good, culprit, where))
    text = found.to_text()
    st.download_button("All results", text, "results.txt", key="pipeline.results", on_click="ignore")


def _go(left: int, right: int, line: str) -> None:
    select(against=left, recorded_stage=right, recorded_line=line)


def _line_before(texts: RecordedTexts, line: str) -> str:
    """Return the line of the left text beside a line of the right one, or the nearest one above it; "" if none is."""
    found = ""
    for row in texts.diff.rows:
        if row.before is not None and row.before.number:
            found = row.before.node
        if row.after is not None and row.after.node == line:
            return found
    return ""


def _reproducer(request: ReproducerOf) -> Reproduced | str:
    """Return the reproducer, or why there is none; for that the program runs, so that it is not asked again."""
    name, reason = st.session_state.get(_REFUSED, (0, ""))
    if name == hash(request):
        return reason
    made = ask(request)
    if isinstance(made, Reproduced):
        return made
    if made.kind == "diagnosed":
        st.session_state[_REFUSED] = (hash(request), made.problem.message)
    return made.problem.message


def offer_reproducer(asked: BisectRecordedOf, found: Bisection) -> None:
    """Offer the file that shows the difference with apache-tvm and numpy alone, and the text of a report."""
    if found.first_different < 0:
        return
    made = _reproducer(ReproducerOf(asked, found))
    if isinstance(made, str):
        st.caption(literal(f"No reproducer: {made}"))
        return
    stem = f"reproduce_{file_name(made.pass_name)}"
    words = "One file for apache-tvm and numpy alone; it ends with status 1 while the bug is there"
    st.download_button(
        "Save reproducer",
        made.script,
        f"{stem}.py",
        key="pipeline.reproducer",
        type="primary",
        on_click="ignore",
        help=words,
    )
    report = "The text of a bug report, in Markdown"
    st.download_button("Report", made.report, f"{stem}.md", key="pipeline.report", on_click="ignore", help=report)
