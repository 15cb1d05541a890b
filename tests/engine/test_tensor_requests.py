"""Tensors of a run, asked for by an expression, a frame and a time."""

import io

import numpy as np
import pytest

from relax_core.engine.debug.requests import StackOf, TensorFileOf, TensorOf
from relax_core.engine.moments import tensors
from relax_core.engine.protocol import Failure, Program, RunOf
from relax_core.engine.session import Session
from tests.engine.programs import sample


@pytest.mark.parametrize("name", ["mlp", "inplace_update", "storage_reused"])
def test_the_viewer_and_its_file_show_what_the_run_shows(session: Session, name: str) -> None:
    program = sample(f"relax/{name}.py")
    run = session.request(RunOf(program))
    assert not isinstance(run, Failure), run.message
    seen = 0
    for time in range(run.total):
        stack = session.request(StackOf(program, time))
        assert not isinstance(stack, Failure)
        for frame in stack.frames:
            view = session.request(TensorOf(program, time, frame.depth, "%0"))
            if isinstance(view, Failure):
                continue
            file = session.request(TensorFileOf(program, time, frame.depth, "%0"))
            assert not isinstance(file, Failure), file.message
            array = np.load(io.BytesIO(file.content))
            part = array.reshape(-1, array.shape[-1])[: view.rows, : view.columns]
            assert eval(view.numpy, {"np": np}).tolist() == part.tolist()
            seen += 1
    assert seen


def test_a_tensor_is_compared_with_itself_before_it_was_overwritten(session: Session) -> None:
    program = sample("relax/inplace_update.py")
    for other_time, apart in ((5, "2.00"), (7, "1.00")):
        view = session.request(TensorOf(program, 9, 0, "%2", other_time=other_time, measure="absolute"))
        assert not isinstance(view, Failure), view.message
        assert view.cells == (apart,) * 6
        assert view.difference is not None
        assert view.difference.words == "6 of 6 elements differ"
    before = session.request(TensorOf(program, 9, 0, "%2", other_time=0, measure="absolute"))
    assert not isinstance(before, Failure)
    assert before.difference is not None
    assert before.difference.words == "Not comparable: it was no tensor then."


def test_what_is_no_tensor_or_no_expression_is_refused(session: Session) -> None:
    program = sample("relax/mlp.py")
    for expression, code in (("1 + 1", "EN034"), ("%0 +", "VM030"), ("nowhere", "VM03")):
        reply = session.request(TensorOf(program, 1, 0, expression))
        assert isinstance(reply, Failure)
        assert reply.problems[0].code.startswith(code), reply
    assert isinstance(session.request(TensorOf(program, 1, 9, "%0")), Failure)


def test_a_file_has_a_bound(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    program: Program = sample("relax/mlp.py")
    monkeypatch.setattr(tensors, "LARGEST_FILE_BYTES", 1)
    reply = session.request(TensorFileOf(program, 1, 0, "%0"))
    assert isinstance(reply, Failure)
    assert reply.problems[0].code == "EN035"
