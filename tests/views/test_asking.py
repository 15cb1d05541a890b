"""What was asked to be explained opens once, and in the next run where another one takes the place of this one."""

import pytest
import streamlit as st
from streamlit.runtime.scriptrunner import RerunData, RerunException
from streamlit.testing.v1 import AppTest

from views.state.asking import asked_for


def page() -> None:
    # The script of an AppTest: a run ends as often as it is told to while what was asked for is shown.
    with asked_for() as (names, about):
        st.text(f"{names} {about}")
        if st.session_state.get("ends"):
            st.session_state["ends"] -= 1
            raise RerunException(RerunData())
        if st.session_state.get("fails"):
            raise ValueError("a mistake")


HEAD = "from tests.views.test_asking import page\npage()\n"


@pytest.mark.parametrize("ends", [0, 2])
def test_what_was_asked_for_is_shown_to_the_end_and_once(ends: int) -> None:
    app = AppTest.from_string(HEAD)
    app.session_state["explain.asked"] = (("VM012",), "why")
    app.session_state["ends"] = ends
    app.run()
    assert [item.value for item in app.text] == ["('VM012',) why"]
    app.run()
    assert [item.value for item in app.text] == ["()"]


def test_a_mistake_is_not_made_in_every_run() -> None:
    app = AppTest.from_string(HEAD)
    app.session_state["explain.asked"] = (("VM012",), "")
    app.session_state["fails"] = True
    assert len(app.run().exception) == 1
    app.session_state["fails"] = False
    assert not app.run().exception
    assert [item.value for item in app.text] == ["()"]


def test_what_is_asked_for_is_kept_for_the_run() -> None:
    app = AppTest.from_string(
        "from views.state.asking import ask_for_meaning\nimport streamlit as st\n"
        "st.button('explain', on_click=ask_for_meaning, args=('FuseOps',))\n" + HEAD
    ).run()
    app.button[0].click().run()
    assert [item.value for item in app.text] == ["('FuseOps',)"]
