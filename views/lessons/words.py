"""The words of the glossary that a text uses; what each means is told when it is pointed at."""

from typing import Final

import streamlit as st

from relax_core.engine.documents.glossary import terms_in
from relax_core.present.escape import literal, prose

_MOST_WORDS: Final = 6


def show_words(text: str, key: str = "words") -> None:
    """Show the words of the glossary that a text uses; what each means is told when it is pointed at."""
    found = terms_in(text)[:_MOST_WORDS]
    if found:
        with st.container(horizontal=True, gap="small", key=key):
            for word, term in found:
                st.caption(literal(word), help=prose(term.meaning), width="content")
