"""The passes and codes that a text of a lesson names, each with the paragraph that explains it."""

from typing import Final

import streamlit as st

from relax_core.engine.documents.paragraphs import paragraph_of
from relax_core.lessons.explaining import names_in
from relax_core.present.escape import literal
from views.shell.explaining import ask_for_explanation
from views.shell.guide import ask_for_paragraph

_MOST: Final = 6


def offer_names(text: str, key: str) -> None:
    """Offer to explain what a text names; `key` tells the texts of a step apart."""
    found = names_in(text)[:_MOST]
    if not found:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"lesson.names.{key}"):
        st.caption("Explain", width="content")
        for name in found:
            # A click that comes along with a component's message is heard all the same before the script runs.
            st.button(literal(name), key=f"lesson.name.{key}.{name}", type="tertiary", on_click=_explain, args=(name,))


def _explain(name: str) -> None:
    if paragraph_of(name) is None:
        ask_for_explanation(name)
    else:
        ask_for_paragraph(name)
