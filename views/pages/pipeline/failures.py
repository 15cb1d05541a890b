"""Why a recording, or a part of it, is not there."""

from typing import Final

import streamlit as st

from relax_core.engine.protocol import Failure
from relax_core.present.escape import prose, sentence
from views.shell.guide import offer_paragraph
from views.worker.connection import run_again

_PROBLEMS_SHOWN: Final = 5


def say(failure: Failure, part: str) -> None:
    """Say why a part of a page, of which there is one of that name, is not there."""
    with st.container(key="failure", gap="small"):
        if not failure.problems:
            st.error(sentence(failure.title, failure.message))
        for number, problem in enumerate(failure.problems[:_PROBLEMS_SHOWN]):
            st.error(sentence(failure.title, problem.message))
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                offer_paragraph(problem.code, f"pipeline.code.{part}.{number}")
                if problem.hint:
                    st.markdown(prose(f"Hint: {problem.hint}"))
        if failure.kind != "diagnosed":
            st.button("Run again", key=f"pipeline.again.{part}", on_click=run_again)
