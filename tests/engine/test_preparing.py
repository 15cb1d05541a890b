"""What a worker makes while it waits: the next stage of a large module, in parts, and never in a request's way."""

import threading
from collections.abc import Iterator
from typing import NoReturn

import pytest

from relax_core.engine.process.worker import Waiting
from relax_core.engine.programs import open_program
from relax_core.engine.protocol import CompareGraph, Envelope, PipelineOf, Program, Samples, StageOf
from relax_core.engine.screens import stage_views
from relax_core.engine.session import Session
from tests.engine.asking import ask
from tests.engine.programs import sample

PROGRAM = sample("relax/mlp.py")


def changed(session: Session, program: Program) -> list[int]:
    return [item.index for item in ask(session, PipelineOf(program)).stages if item.is_changed]


@pytest.fixture
def of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage_views, "_CHARACTERS", range(1 << 30))


def refuse(*_args: object) -> NoReturn:
    raise AssertionError("this was made ahead")


@pytest.mark.usefixtures("of_any_size")
def test_the_next_stage_is_shown_with_what_was_made_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    session, other = Session(), Session()
    first, second = changed(session, PROGRAM)[:2]
    ask(session, StageOf(PROGRAM, first))
    ask(session, CompareGraph(PROGRAM, first))
    changed(other, PROGRAM)
    text, graph = ask(other, StageOf(PROGRAM, second)), ask(other, CompareGraph(PROGRAM, second))
    assert len(list(session.preparation(CompareGraph(PROGRAM, first)))) == 7
    monkeypatch.setattr(open_program, "page_of", refuse)
    monkeypatch.setattr(stage_views, "draw_relax", refuse)
    assert ask(session, StageOf(PROGRAM, second)) == text
    assert ask(session, CompareGraph(PROGRAM, second)) == graph


def test_a_short_text_is_not_worth_it() -> None:
    session = Session()
    first = changed(session, PROGRAM)[0]
    assert not list(session.preparation(CompareGraph(PROGRAM, first)))


@pytest.mark.usefixtures("of_any_size")
def test_behind_the_last_stage_and_other_requests_there_is_nothing_to_make() -> None:
    session = Session()
    last = changed(session, PROGRAM)[-1]
    assert not list(session.preparation(CompareGraph(PROGRAM, last)))
    assert not list(session.preparation(StageOf(PROGRAM, 1)))
    assert not list(Session().preparation(CompareGraph(PROGRAM, 1)))


@pytest.mark.usefixtures("of_any_size")
def test_a_mistake_ends_it_and_is_said_to_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session()
    first, second = changed(session, PROGRAM)[:2]
    monkeypatch.setattr(open_program, "page_of", refuse)
    assert len(list(session.preparation(CompareGraph(PROGRAM, first)))) == 1
    assert "made ahead" in session.answer(StageOf(PROGRAM, second)).message  # pyright: ignore


def test_a_request_is_taken_before_the_next_part() -> None:
    waiting, made, request = Waiting(lambda: True), list[int](), Envelope(7, Samples())

    def parts() -> Iterator[None]:
        for number in range(5):
            made.append(number)
            if number in (1, 4):
                waiting.put(request)
            yield

    waiting.prepare(parts())
    assert waiting.take() is request
    assert made == [0, 1]
    # The rest is made once nothing waits again; and nothing at all where something waits already.
    assert waiting.take() is request
    assert made == [0, 1, 2, 3, 4]
    waiting.prepare(parts())
    waiting.put(request)
    assert waiting.take() is request
    assert len(made) == 5


def test_nothing_is_made_without_room_for_it() -> None:
    waiting, request = Waiting(lambda: False), Envelope(7, Samples())
    waiting.prepare(iter(refuse, None))
    threading.Timer(0.5, waiting.put, [request]).start()
    assert waiting.take() is request
