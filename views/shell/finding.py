"""Where the palette of a page leads, and going there."""

from typing import Final

import streamlit as st

from relax_core.engine.documents.guides import guides
from relax_core.engine.samples import list_samples
from relax_core.lessons.library import lesson_named, list_lessons
from views import PAGES
from views.lessons.steps import ask_for_step, first_open
from views.shell.navigation import ask_for_page
from views.shell.palette.component import PaletteAction, PaletteTarget, PaletteTargets, palette
from views.state.dialogs import ask_for_guide
from views.state.session import open_sample

_KNOWN: Final = "palette.targets"


def show_palette() -> None:
    """Show the buttons of the palette, in a bar."""
    palette(_targets(), key="palette", on_action=_on_palette)


def _on_palette(action: PaletteAction) -> None:
    match action.kind:
        case "page":
            ask_for_page(action.name)
        case "lesson":
            file = lesson_named(action.name)
            if file is not None:
                ask_for_step(file, first_open(file))
        case "sample":
            if any(sample.path == action.name for sample in list_samples()):
                open_sample(action.name)
        case "document":
            if any(guide.path == action.name for guide in guides()):
                ask_for_guide(action.name)


def _targets() -> PaletteTargets:
    """Return the same object while the same files are there, which then is not sent again."""
    samples, lessons = list_samples(), list_lessons()
    known = st.session_state.get(_KNOWN)
    if known is not None and known[0] is samples and known[1] is lessons:
        return known[2]
    targets = PaletteTargets(
        (
            *(PaletteTarget("page", noun, noun.capitalize()) for noun in PAGES),
            *(
                PaletteTarget("lesson", file.name, f"{file.lesson.order}. {file.lesson.title}")
                for file in lessons
                if file.lesson is not None
            ),
            *(PaletteTarget("document", guide.path, guide.title) for guide in guides()),
            *(PaletteTarget("sample", sample.path, sample.title) for sample in samples),
        )
    )
    st.session_state[_KNOWN] = samples, lessons, targets
    return targets
