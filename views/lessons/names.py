"""The passes and codes that a text of a lesson names, each with the paragraph that explains it."""

from typing import Final

import streamlit as st

from relax_core.lessons.explaining import names_in
from relax_core.present.escape import literal
from views.state.dialogs import ask_for_meaning

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
            st.button(
                literal(name), key=f"lesson.name.{key}.{name}", type="tertiary", on_click=ask_for_meaning, args=(name,)
            )
