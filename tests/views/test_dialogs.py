"""A dialog is shown by every run of its page until it is closed: a component's message in between does not close it."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.views.pages import arrive, opened
from views.shell import guide
from views.state.address import to_address
from views.state.dialogs import ask_for_meaning, open_dialog
from views.state.selection import screen

BROKEN = "errors/ty_matmul.py"
SCRIPT = """import streamlit as st
from views.state.dialogs import *
st.button("mean", key="mean", on_click=ask_for_meaning, args=("FuseOps",), kwargs={"about": "why"})
st.button("page", key="page", on_click=ask_for, args=(PageDialog("layout", "text"),))
if open_dialog():
    st.button("leave", key="leave", on_click=lambda: None) and leave_dialog()
st.text(repr((open_dialog(), page_dialog("layout"), page_dialog("profile"))))
"""


def click(app: AppTest, key: str) -> str:
    return app.button(key=key).click().run().text[0].value


def test_a_dialog_stays_open_until_it_is_left() -> None:
    app = AppTest.from_string(SCRIPT).run()
    assert app.text[0].value == "(None, None, None)"
    meaning = "(Meaning(names=('FuseOps',), about='why'), None, None)"
    assert click(app, "mean") == meaning
    assert app.run().text[0].value == meaning
    assert click(app, "leave") == "(None, None, None)"


def test_a_dialog_takes_the_place_of_the_one_that_is_open() -> None:
    app = AppTest.from_string(SCRIPT).run()
    click(app, "mean")
    asked = "PageDialog(name='layout', text='text')"
    assert click(app, "page") == f"({asked}, {asked}, None)"


def test_a_message_does_not_close_a_paragraph_and_another_page_does() -> None:
    app = opened("passes", screen(sample=BROKEN))
    app.button(key="failure.code.0").click().run()
    assert app.button(key="guide.mended")
    app.run()
    assert app.button(key="guide.mended")
    # A tab that comes from another page, where the dialog was.
    app.session_state["dialog.page"] = "another"
    arrive(app, to_address(screen(sample=BROKEN)))
    assert "guide.mended" not in {str(item.key) for item in app.button}


def test_a_mistake_is_not_made_in_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        assert open_dialog() is not None
        raise ValueError("a mistake")

    monkeypatch.setattr(guide, "explain", fails)
    state: dict[str, object] = {}
    monkeypatch.setattr("views.state.dialogs.st.session_state", state)
    ask_for_meaning("FuseOps", about="why")
    with pytest.raises(ValueError, match="a mistake"):
        guide.show_dialog()
    assert open_dialog() is None
    guide.show_dialog()
