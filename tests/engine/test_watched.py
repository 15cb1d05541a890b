"""Expressions over a whole run, held against their value at each time."""

import pytest

from relax_core.engine.debug.requests import HistoriesOf, TextsOf
from relax_core.engine.protocol import Failure, RunOf
from relax_core.engine.session import Session
from relax_core.present.running.moment_models import Histories
from relax_core.present.running.watching import history
from tests.engine.programs import sample

EXPRESSIONS = ("x", "i", "x[0, 0] + 1", "depth", "nowhere", "1 +", "time")


def watched(session: Session, name: str) -> tuple[Histories, tuple[tuple[str, ...], ...]]:
    program = sample(f"relax/{name}.py")
    run = session.request(RunOf(program))
    assert not isinstance(run, Failure)
    found = session.request(HistoriesOf(program, EXPRESSIONS))
    assert not isinstance(found, Failure), found.message
    texts = session.request(TextsOf(program, EXPRESSIONS, tuple(range(run.total))))
    assert not isinstance(texts, Failure)
    return found, texts.rows


@pytest.mark.parametrize("name", ["loop", "inplace_update", "mlp"])
def test_a_history_is_what_stands_at_each_time(session: Session, name: str) -> None:
    found, texts = watched(session, name)
    assert found.step == 1
    for column, row in enumerate(found.rows):
        for time, at_time in enumerate(texts):
            last = [reading for reading in row.readings if reading.time <= time][-1]
            shown = f"<{last.text}>" if last.is_fault else last.text
            assert shown == at_time[column]
        assert all(
            a.text != b.text or a.number != b.number for a, b in zip(row.readings, row.readings[1:], strict=False)
        )
    assert found.rows[-1].readings[3].number == 3.0


def test_a_long_run_is_looked_at_at_equal_distances(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "READINGS", 5)
    found, _ = watched(session, "mlp")
    assert found.step == 6
    assert [reading.time for reading in found.rows[-1].readings] == [0, 6, 12, 18, 24, 29]


def test_a_fault_is_told_in_place_of_a_value(session: Session) -> None:
    found, _ = watched(session, "mlp")
    for row in found.rows[4:6]:
        assert row.readings
        assert all(reading.is_fault and reading.number is None for reading in row.readings)
