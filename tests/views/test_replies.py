"""What a page asks for again when it runs again, and what is sent to the browser again when a step leaves a window."""

import itertools
import json

import pytest
from streamlit.testing.v1 import AppTest

from relax_core.engine.debug.requests import ProfileOf
from relax_core.engine.protocol import Failure, Open, Operators, Program, Request, RunOf
from relax_core.engine.samples import list_samples
from views.worker.replies import Replies, is_shared

ASK = """
from relax_core.engine.programs.program import Program
from relax_core.engine.protocol import Open
from views.worker.connection import ask, run_again
import streamlit as st

if st.session_state.get("again"):
    run_again()
st.session_state["reply"] = ask(Open(Program(st.session_state.get("text", "a"))))
"""
STEPPER = """
import streamlit as st
from tests.views.harness_run import deep_run
from views.pages.run.stepper.component import stepper

first = st.session_state.get("first", 0)
stepper(deep_run(first), key="deep", at=first)
"""


class Asked(Request[int], frozen=True):
    """A request for a number."""

    number: int


class CountingClient:
    """Answers everything with what it was asked, and counts; `a failure` fails."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.client = self
        self.replies = Replies()
        self.waits = itertools.count()

    def request(self, request: Open, **_: object) -> object:
        self.asked.append(request.program.text)
        match request.program.text:
            case "a failure":
                return Failure("limit", "Failed", "")
            case "a lost worker" if len(self.asked) == 1:
                return Failure("crash", "Worker restarted", "", is_restarted=True)
            case "a mistake":
                raise RuntimeError
            case text:
                return text


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> CountingClient:
    made = CountingClient()
    monkeypatch.setattr("views.worker.connection.holding", lambda: made)
    return made


def asking() -> AppTest:
    return AppTest.from_string(ASK, default_timeout=120)


def test_a_page_that_runs_again_asks_nothing_twice(client: CountingClient) -> None:
    at = asking().run()
    at.run()
    assert client.asked == ["a"]
    assert at.session_state["reply"] == "a"
    at.session_state["text"] = "b"
    at.run()
    assert client.asked == ["a", "b"]
    assert at.session_state["reply"] == "b"


def test_a_failure_is_asked_for_again_and_so_is_everything_on_run_again(client: CountingClient) -> None:
    at = asking()
    at.session_state["text"] = "a failure"
    at.run()
    at.run()
    assert client.asked == ["a failure"] * 2
    at.session_state["text"] = "a"
    at.run()
    at.session_state["again"] = True
    at.run()
    assert client.asked == ["a failure"] * 2 + ["a"] * 2


def test_a_request_whose_worker_was_lost_is_asked_once_more(client: CountingClient) -> None:
    at = asking()
    at.session_state["text"] = "a lost worker"
    at.run()
    assert at.session_state["reply"] == "a lost worker"
    assert client.asked == ["a lost worker"] * 2


def test_a_mistake_between_the_page_and_the_worker_is_an_answer_all_the_same(client: CountingClient) -> None:
    at = asking()
    at.session_state["text"] = "a mistake"
    at.run()
    reply = at.session_state["reply"]
    assert isinstance(reply, Failure)
    assert reply.kind == "internal"
    assert "log" in reply.message
    assert client.asked == ["a mistake"]


def test_only_the_latest_replies_are_kept() -> None:
    replies = Replies()
    requests = [Asked(number) for number in range(20)]
    for number, request in enumerate(requests):
        replies.keep(request, number)
        assert replies.get(requests[0]) is not None
    kept = [number for number, request in enumerate(requests) if replies.get(request) is not None]
    assert kept[0] == 0
    assert kept[1:] == list(range(20 - len(kept) + 1, 20))
    assert len(kept) < 10


def test_a_reply_about_a_sample_is_for_all_sessions_until_one_has_it_computed_again(client: CountingClient) -> None:
    sample = list_samples()[0].text

    def session(text: str, *, is_again: bool = False) -> None:
        client.replies = Replies()
        at = asking()
        at.session_state["text"], at.session_state["again"] = text, is_again
        at.run()
        assert at.session_state["reply"] == text

    for text in (sample, sample, "of a user", "of a user"):
        session(text)
    assert client.asked == [sample, "of a user", "of a user"]
    session(sample, is_again=True)
    assert client.asked == [sample, "of a user", "of a user", sample]


def test_what_is_measured_or_has_tensors_or_sizes_of_a_user_is_of_one_session() -> None:
    sample = list_samples()[0].text
    assert is_shared(RunOf(Program(sample)))
    assert is_shared(Operators())
    assert not is_shared(RunOf(Program(sample, inputs=b"")))
    assert not is_shared(RunOf(Program(sample, sizes=(("n", 1 << 20),))))
    assert not is_shared(ProfileOf(Program(sample)))


def test_another_window_of_a_run_does_not_send_its_program_again() -> None:
    at = AppTest.from_string(STEPPER, default_timeout=120).run()
    window, program = (element.proto.bytes for element in at.get("bidi_component"))
    head, model = map(json.loads, window.split(b"\n", 1))
    given, base = map(json.loads, program.split(b"\n", 1))
    assert given["gives"] == head["base"]
    assert {"source", "instructions", "functions"} <= base.keys()
    assert not base.keys() & model.keys()
    at.session_state["first"] = 1000
    at.run()
    next_window, next_program = (element.proto.bytes for element in at.get("bidi_component"))
    assert next_program == program
    assert next_window != window
