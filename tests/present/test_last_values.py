"""What variables held last in a run, held against the run itself."""

from typing import Any

import msgspec
import pytest

from relax_core.engine.debug.requests import FrameOf, StackOf
from relax_core.engine.protocol import Failure, Open, RunOf
from relax_core.engine.session import Session
from relax_core.present.running.run_models import LastValue, Run
from relax_core.present.running.watching.last_values import last_values
from tests.engine.programs import sample


@pytest.fixture(scope="module")
def session() -> Session:
    return Session()


def ran(session: Session, name: str, event: int = 0) -> Run:
    run = session.request(RunOf(sample(name), event))
    assert not isinstance(run, Failure), run.message
    return run


def by_place(values: tuple[LastValue, ...]) -> dict[tuple[str, int], LastValue]:
    return {(value.variable, value.line): value for value in values}


@pytest.mark.parametrize("name", ["relax/mlp.py", "relax/inplace_update.py", "relay/constants.relay"])
def test_a_variable_has_what_its_frame_holds_at_the_end(session: Session, name: str) -> None:
    run = ran(session, name)
    found = {value.variable: value for value in last_values(run)}
    last = run.total - 1
    stack = session.request(StackOf(sample(name), last))
    assert not isinstance(stack, Failure)
    frame = session.request(FrameOf(sample(name), last, stack.frames[0].depth))
    assert not isinstance(frame, Failure)
    held = [item for item in frame.registers if item.variable and item.is_indexed]
    assert held
    for item in held:
        value = found[item.variable]
        assert item.text == f"{value.type} {value.short}"
        assert 0 <= value.time <= last


def test_a_variable_stands_where_the_text_defines_it(session: Session) -> None:
    source = session.request(Open(sample("relax/mlp.py")))
    assert not isinstance(source, Failure)
    defined = {(fact.name, fact.line) for fact in source.code.names if fact.kind == "variable"}
    found = by_place(last_values(ran(session, "relax/mlp.py")))
    # The parameters stand in four lines of the signature.
    assert defined <= set(found)
    assert len({line for name, line in defined if name in ("x", "w1", "b1", "w2")}) == 4


def test_of_a_loop_the_last_time_is_told(session: Session) -> None:
    run = ran(session, "relax/loop.py")
    (value,) = (item for item in last_values(run) if item.variable == "following")
    assert (value.function, value.short) == ("main_loop", "8")


def test_what_a_part_of_a_run_does_not_show_has_no_time(session: Session) -> None:
    whole = ran(session, "relax/mlp.py")
    (frame,) = (msgspec.structs.replace(item, registers=(0,)) for item in whole.frames)
    changes: dict[str, Any] = {"first_event": 5000, "events": (), "frames": (frame,)}
    (value,) = last_values(msgspec.structs.replace(whole, **changes))
    assert (value.variable, value.time) == ("x", -1)
