"""The Python side of the components: what is sent again, and what of the user's actions is believed."""

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

SCRIPT = """
import streamlit as st
from relax_core.present.models import Graph
from relax_core.engine.components.graph import Marks
from views.widgets.graph.component import graph

def heard(action):
    st.session_state["heard"] = [*st.session_state.get("heard", []), action]

st.session_state["seen"] = graph(
    Graph("<svg/>"), key="g", marks=Marks(st.session_state.get("wanted", "")), on_action=heard
)
"""


def app() -> AppTest:
    return AppTest.from_string(SCRIPT, default_timeout=120).run()


def payload(at: AppTest) -> tuple[dict[str, Any], dict[str, Any]]:
    data: bytes = at.get("bidi_component")[0].proto.bytes
    head, model = data.split(b"\n", 1)
    return json.loads(head), json.loads(model)


def select(at: AppTest, node: object, seq: int) -> AppTest:
    at.session_state["g"] = {"action": {"kind": "select", "node": node, "side": "both", "seq": seq}}
    return at


def test_a_payload_is_a_head_line_and_the_model() -> None:
    head, model = payload(app())
    assert model["svg"] == "<svg/>"
    assert head["view"]["node"] == ["", 1]


def test_the_users_own_selection_is_not_sent_back() -> None:
    at = app()
    before = at.get("bidi_component")[0].proto.bytes
    select(at, "n5", 1)
    at.session_state["wanted"] = "n5"
    at.run()
    assert at.session_state["seen"].node == "n5"
    assert at.get("bidi_component")[0].proto.bytes == before


def test_a_selection_made_elsewhere_is_sent_once_with_the_next_number() -> None:
    at = app()
    select(at, "n5", 1)
    at.session_state["wanted"] = "n5"
    at.run()
    at.session_state["wanted"] = "n3"
    at.run()
    assert payload(at)[0]["view"]["node"] == ["n3", 2]
    assert at.session_state["seen"] is None
    at.run()
    assert payload(at)[0]["view"]["node"] == ["n3", 2]


def test_the_same_selection_can_be_wanted_again_after_the_user_moved() -> None:
    at = app()
    at.session_state["wanted"] = "n3"
    at.run()
    select(at, "n5", 1)
    at.session_state["wanted"] = "n5"
    at.run()
    at.session_state["wanted"] = "n3"
    at.run()
    assert payload(at)[0]["view"]["node"] == ["n3", 3]


@pytest.mark.parametrize("node", [7, None, ["n1"]], ids=["a number", "null", "a list"])
def test_an_action_of_the_wrong_shape_is_dropped(node: object) -> None:
    at = select(app(), node, 1).run()
    assert at.session_state["seen"] is None
    assert not at.exception


def test_a_component_that_is_there_again_is_sent_what_the_page_wants() -> None:
    at = app()
    select(at, "n5", 1)
    at.session_state["wanted"] = "n5"
    at.run()
    # The page was left: its component reports nothing any more, and starts anew when the page is back.
    at.session_state["g"] = {}
    at.run()
    assert payload(at)[0]["view"]["node"] == ["n5", 2]
