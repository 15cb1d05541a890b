"""The archive of inputs that the user gave for what is open: no address holds it, a link does."""

from typing import Final

import streamlit as st

# The sample that it was given for, and the archive.
_INPUTS: Final = "inputs"


def inputs_for(sample: str) -> bytes | None:
    """Return the archive that was given for a sample, None if there is none."""
    of, archive = st.session_state.get(_INPUTS, ("", None))
    return archive if of == sample else None


def keep_inputs_for(sample: str, archive: bytes | None) -> None:
    """Run a sample on the inputs of an archive, on made-up ones if it is None."""
    st.session_state[_INPUTS] = (sample, archive)
