"""Tensors of a run, asked for by an expression, a frame and a time."""

import io
from pathlib import Path

import msgspec
import numpy as np
import pytest

from relax_core.engine.debug.requests import StackOf, TensorFileOf, TensorOf
from relax_core.engine.moments import other_values, tensors
from relax_core.engine.programs.program import Against, ChangeAt
from relax_core.engine.protocol import Failure, Program, RunOf
from relax_core.engine.scheduling.beside_tvm import VARIABLE, Installed, installed_tvm, returned_by_tvm
from relax_core.engine.session import Session
from relax_core.present.kernel_models import ForTvm
from relax_core.present.running.moment_models import TensorDifference
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
        view = session.request(TensorOf(program, 9, 0, "%2", against=Against("time", other_time), measure="absolute"))
        assert not isinstance(view, Failure), view.message
        assert view.cells == (apart,) * 6
        assert view.difference is not None
        assert view.difference.words == "6 of 6 elements differ"
    before = session.request(TensorOf(program, 9, 0, "%2", against=Against("time", 0), measure="absolute"))
    assert not isinstance(before, Failure)
    assert before.difference is not None
    assert before.difference.words == "Not comparable: VM032: `%2` is not yet written here."


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


MLP = sample("relax/mlp.py")
FUSED = msgspec.structs.replace(MLP, pipeline="LegalizeOps, AnnotateTIROpPattern, FuseOps, FuseTIR")
NUMPY = Against("numpy", name="NumPy")


def compared(session: Session, program: Program, expression: str, against: Against, time: int = -1) -> TensorDifference:
    """Compare a tensor before the last step of a run, or at a time."""
    run = session.request(RunOf(program))
    assert not isinstance(run, Failure), run.message
    at = run.total - 1 if time < 0 else time
    view = session.request(TensorOf(program, at, 0, expression, against=against, measure="ulp"))
    assert not isinstance(view, Failure), view.message
    assert view.difference is not None
    return view.difference


@pytest.mark.parametrize(
    ("program", "names"),
    [
        (MLP, ("lv", "lv1", "lv2", "lv3", "gv")),
        # The run keeps no `lv` and `lv1`: they are computed for `lv2`.
        (FUSED, ("lv2", "lv3", "gv")),
        (sample("relay/conv_bn_relu.relay"), ("x", "x3", "x7")),
    ],
    ids=["kernel by kernel", "fused", "Relay"],
)
def test_a_binding_is_close_to_its_definition_in_numpy(
    session: Session, program: Program, names: tuple[str, ...]
) -> None:
    for name in names:
        found = compared(session, program, name, NUMPY)
        assert found.name == "NumPy"
        assert found.words.endswith("elements differ")
        # Sums of at most 72 products are in another order.
        assert float(dict(found.rows).get("Largest in ULP", "0").replace(",", "")) <= 16


def test_a_wrong_value_is_far_from_its_definition(session: Session) -> None:
    run = session.request(RunOf(MLP))
    assert not isinstance(run, Failure)
    changed = msgspec.structs.replace(MLP, changes=(ChangeAt(run.total - 1, "lv3[1, 2] = 99"),))
    found = compared(session, changed, "lv3", NUMPY)
    assert found.largest == (1, 2)


@pytest.mark.parametrize(
    ("name", "expression", "why"),
    [
        ("relax/mlp.py", "x", "it is an argument of the function"),
        ("relax/mlp.py", "lv3 + 1", "`lv3 + 1` is no register and no variable"),
        ("relax/loop.py", "result", "it is what a function returns"),
        ("tir/matmul.py", "y", "`relax.call_tir` has no definition in NumPy"),
    ],
)
def test_what_has_no_definition_says_why(session: Session, name: str, expression: str, why: str) -> None:
    assert compared(session, sample(name), expression, NUMPY).words.startswith(f"Not comparable: {why}")


def test_a_fork_is_compared_where_it_has_come_as_far(session: Session) -> None:
    changed = msgspec.structs.replace(MLP, changes=(ChangeAt(13, "lv = zeros()"),))
    found = compared(session, changed, "lv1", Against("run", program=MLP, name="the run without changes"))
    assert (found.name, found.words) == ("the run without changes", "64 of 64 elements differ")
    same = compared(session, changed, "w1", Against("run", program=MLP))
    assert same.words == "0 of 128 elements differ"
    other = compared(session, MLP, "lv1", Against("run", program=sample("relax/loop.py")))
    assert other.words == "Not comparable: the other run is of another program."


def test_a_run_that_goes_another_way_is_not_compared(session: Session) -> None:
    loop = sample("relax/loop.py")
    run = session.request(RunOf(loop))
    assert not isinstance(run, Failure)
    once = msgspec.structs.replace(loop, changes=(ChangeAt(0, "n = 1"),))
    found = compared(session, loop, "x", Against("run", program=once), run.total - 60)
    assert found.words == "Not comparable: the other run does not come there."


def call_of(session: Session, program: Program, expression: str) -> ForTvm | str:
    run = session.request(RunOf(program))
    assert not isinstance(run, Failure)
    reply = session.request(TensorFileOf(program, run.total - 1, 0, expression, "0.27"))
    if isinstance(reply, Failure):
        return reply.problems[0].message
    assert reply.for_tvm is not None
    return reply.for_tvm


def test_what_no_kernel_computed_is_not_handed_to_tvm(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    assert call_of(session, MLP, "x") == "it is an argument of the function, which nothing in it computed"
    plain = msgspec.structs.replace(MLP, pipeline="")
    assert call_of(session, plain, "lv3") == "`relax.matmul` computed it, which is no kernel"
    monkeypatch.setattr(other_values, "LARGEST_BYTES", 100)
    assert "at most 100 B are handed to apache-tvm" in str(call_of(session, MLP, "lv3"))


@pytest.mark.tvm
@pytest.mark.parametrize("program", [MLP, FUSED], ids=["kernel by kernel", "fused"])
def test_apache_tvm_computes_the_same_kernel(
    session: Session, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE)
    tvm = installed_tvm()
    assert tvm is not None
    call = call_of(session, program, "lv3")
    assert isinstance(call, ForTvm)
    array = returned_by_tvm(call, tvm)
    assert not array.problem
    found = compared(session, program, "lv3", Against("array", content=array.content, name="apache-tvm"))
    # LLVM may contract a product and a sum.
    assert float(dict(found.rows).get("Largest in ULP", "0")) <= 16


def test_a_tvm_that_says_nothing_is_told(session: Session, tmp_path: Path) -> None:
    call = call_of(session, MLP, "lv3")
    assert isinstance(call, ForTvm)
    silent = tmp_path / "python"
    silent.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    silent.chmod(0o755)
    assert returned_by_tvm(call, Installed(str(silent), "0.27.0")).problem == (
        "apache-tvm cannot be used: it ended with status 3"
    )
    nowhere = returned_by_tvm(call, Installed(str(tmp_path / "none"), "0.27.0")).problem
    assert nowhere.startswith("apache-tvm cannot be started")
    missing = compared(session, MLP, "lv3", Against("array", name="apache-tvm", problem="it is not installed"))
    assert missing.words == "Not comparable: it is not installed."
