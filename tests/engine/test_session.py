"""The session in this process: every request on the samples, and failures as data."""

import io
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from relax_core.engine.protocol import (
    Asm,
    Ast,
    Check,
    CompareGraph,
    Execute,
    Failure,
    GraphOf,
    Inspect,
    Open,
    Opt,
    PipelineOf,
    Program,
    Request,
    RestoreLayout,
    RunOf,
    Samples,
    Script,
    StageOf,
    ValueOf,
)
from relax_core.engine.screens import text_views
from relax_core.engine.session import Session
from tests.engine.asking import ask
from tests.engine.programs import (
    ENDLESS,
    FOUR_ERRORS,
    HUGE,
    RECURSIVE,
    SAMPLES,
    SMALL,
    WRONG_IN_LESSONS,
    program,
    sample,
)
from tests.golden_text import Golden
from tests.present.rendering import render_diff, render_inspector

PATHS = tuple(sorted(path.relative_to(SAMPLES).as_posix() for path in SAMPLES.rglob("*.py")))
SOUND = tuple(path for path in PATHS if not path.startswith(("errors/", *WRONG_IN_LESSONS)))


def fail(session: Session, message: "Request[Any]") -> Failure:
    reply = session.request(message)
    assert isinstance(reply, Failure)
    return reply


@pytest.mark.parametrize("path", PATHS)
def test_every_sample_opens(session: Session, path: str) -> None:
    view = ask(session, Open(sample(path)))
    assert view.modules
    assert view.code.lines


@pytest.mark.parametrize("path", WRONG_IN_LESSONS)
def test_what_a_lesson_asks_about_is_wrong(session: Session, path: str) -> None:
    assert ask(session, Open(sample(path))).status.error_count


@pytest.mark.parametrize("path", SOUND)
def test_every_view_of_a_sound_sample_is_made(session: Session, path: str) -> None:
    that = sample(path)
    view = ask(session, Open(that))
    assert view.status.is_well_formed
    stages = ask(session, PipelineOf(that)).stages
    assert not any(stage.problems for stage in stages)
    for stage in stages:
        diff = ask(session, StageOf(that, stage.index)).diff
        assert diff.rows
        assert bool(diff.after_title) == (stage.index > 0)
        if stage.is_changed:
            ask(session, CompareGraph(that, stage.index))
    for stage in (0, len(stages) - 1):
        for function in ("", *view.functions):
            graph = ask(session, GraphOf(that, stage, function))
            for node in graph.nodes:
                assert node.node or node.before_node
                assert ask(session, Inspect(that, node.node)).sections
    assert ask(session, Ast(that)).text
    assert ask(session, Asm(that)).code.text
    for entry in view.entries:
        run = ask(session, RunOf(Program(that.text, that.name, entry=entry)))
        assert run.events or run.problem is not None


@pytest.mark.parametrize("path", ["seeds/my_ir_module.py", "seeds/print_closure2.py", "relax/closure_captures.py"])
def test_the_inspector_is_as_expected(session: Session, path: str, golden: Golden) -> None:
    that = sample(path)
    view = ask(session, Open(that))
    graphs = (ask(session, GraphOf(that, 0, function)) for function in view.functions)
    nodes = dict.fromkeys(node.node for graph in graphs for node in graph.nodes)
    texts = [f"{node}\n{render_inspector(ask(session, Inspect(that, node)))}" for node in nodes]
    golden.check(f"present/inspector/{path.removesuffix('.py')}.txt", "\n\n".join(texts))


@pytest.mark.parametrize(
    ("path", "stage"),
    [("seeds/print_closure2.py", 1), ("seeds/my_ir_module.py", 3), ("relax/closure_captures.py", 1)],
)
def test_the_diff_of_a_stage_is_as_expected(session: Session, path: str, stage: int, golden: Golden) -> None:
    that = sample(path, pipeline="LambdaLift(names='2022'), ToNonDataflow, CallTIRRewrite")
    view = ask(session, StageOf(that, stage))
    notes = [view.detail.summary, *(f"{item.before} => {item.after} ({item.rule})" for item in view.detail.rewrites)]
    golden.check(f"present/diff/{path.removesuffix('.py')}.txt", "\n".join((*notes, render_diff(view.diff))))


def test_an_answer_does_not_depend_on_what_was_asked_before() -> None:
    that = sample("relax/closure_captures.py")
    fresh, used = Session(), Session()
    ask(used, RunOf(that))
    ask(used, RunOf(program(SMALL)))
    for message in (Open(that), GraphOf(that, 2, "main"), StageOf(that, 2), Inspect(that, "2/main/5")):
        assert ask(fresh, message) == ask(used, message)


def test_four_errors_of_one_text_are_told_with_their_places(session: Session) -> None:
    found = ask(session, Check(program(FOUR_ERRORS)))
    errors = [problem for problem in found.problems if problem.severity == "error"]
    assert [problem.line for problem in errors] == [7, 8, 9, 10]
    view = ask(session, Open(program(FOUR_ERRORS)))
    assert not view.status.is_well_formed
    assert view.status.error_count == 4
    assert fail(session, RunOf(program(FOUR_ERRORS))).kind == "diagnosed"


@pytest.mark.parametrize(
    ("text", "code"), [(HUGE, "VM006"), (RECURSIVE, "VM003")], ids=["huge tensor", "unbounded recursion"]
)
def test_a_limit_of_the_machine_is_a_located_diagnostic(session: Session, text: str, code: str) -> None:
    run = ask(session, RunOf(program(text)))
    assert run.outcome == "limit"
    assert run.problem is not None
    assert (run.problem.code, run.problem.line > 0) == (code, True)


@pytest.mark.parametrize(
    "message",
    [
        Open(program("")),
        Open(program("x = 1")),
        Open(program("\0")),
        Open(program("(" * 5000)),
        Open(program("class A:\n    pass\n" * 50)),
    ],
    ids=lambda message: repr(message.program.text[:12]),
)
def test_a_text_without_a_module_opens_with_problems(session: Session, message: Open) -> None:
    view = ask(session, message)
    assert not view.status.is_well_formed
    assert view.code.problems


@pytest.mark.parametrize(
    "message",
    [
        GraphOf(program(SMALL), 99, "main"),
        GraphOf(program(SMALL), -1, "main"),
        StageOf(program(SMALL), 99),
        Inspect(program(SMALL), "0/main/9999"),
        Inspect(program(SMALL), "0/other/1"),
        Inspect(program(SMALL), "what"),
        RunOf(program(SMALL, entry="other")),
        RunOf(program(SMALL, module="Other")),
        RunOf(program(SMALL, pipeline="Nothing")),
        RunOf(program(SMALL, pipeline="((")),
        Asm(program(SMALL), "llvm", "other"),
        ValueOf(program(SMALL), 1, 9, 0),
        ValueOf(program(SMALL), 1, 0, 99),
        Script(program(SMALL), "relay"),
        Execute(program(SMALL, inputs=b"no archive")),
    ],
    ids=repr,
)
def test_what_does_not_exist_is_a_diagnosed_failure(session: Session, message: "Request[Any]") -> None:
    failure = fail(session, message)
    assert failure.kind == "diagnosed"
    assert failure.problems
    assert failure.rendered


@pytest.mark.parametrize("path", SOUND)
def test_a_sample_is_the_same_when_it_was_printed_and_read(session: Session, path: str) -> None:
    found = ask(session, Script(sample(path), reads_back=True)).read_back
    assert found is not None
    assert (found.is_equal, found.words) == (True, "printed and read back: equal")


def test_what_is_lost_on_the_way_through_the_text_is_named(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    def found(printed: str) -> str:
        def print_module(_module: object, *, spelling: str) -> SimpleNamespace:
            assert spelling == "2026"
            return SimpleNamespace(text=printed)

        monkeypatch.setattr(text_views, "print_module", print_module)
        reply = ask(session, Script(program(SMALL), reads_back=True))
        assert reply.read_back is not None
        assert not reply.read_back.is_equal
        return reply.read_back.words

    assert found(SMALL.replace("R.add", "R.multiply")).startswith("printed and read back: not equal at @main.")
    assert found(SMALL.replace("return", "return (")).startswith("printed, it does not read: PA001: syntax error")
    assert found("") == "printed, it does not read: PA015: the text holds no module"
    assert ask(session, Script(program(SMALL))).read_back is None
    assert ask(session, Script(program(SMALL), "ast", reads_back=True)).read_back is None


def test_made_up_inputs_follow_seed_and_sizes(session: Session) -> None:
    that = sample("seeds/my_ir_module.py", sizes=(("m", 4), ("n", 3), ("k", 3)))
    run = ask(session, RunOf(that))
    assert run.outcome == "returned"
    assert "(4, 3) f32" in {value.type for value in run.values}
    assert ask(session, RunOf(that)) == run
    other = ask(session, RunOf(sample("seeds/my_ir_module.py", sizes=that.sizes, seed=1)))
    assert other.values != run.values


def test_arguments_and_results_are_archives(session: Session) -> None:
    buffer = io.BytesIO()
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.savez(buffer, in_0=x)
    ran = ask(session, Execute(program(SMALL, inputs=buffer.getvalue())))
    with np.load(io.BytesIO(ran.archive), allow_pickle=False) as loaded:
        np.testing.assert_array_equal(loaded["out"], x + x)


def test_an_archive_that_does_not_fit_is_diagnosed(session: Session) -> None:
    right = np.zeros((2, 3), np.float32)
    writers: tuple[Callable[[io.BytesIO], None], ...] = (
        lambda buffer: np.savez(buffer),
        lambda buffer: np.savez(buffer, in_0=right, in_1=right),
        lambda buffer: np.savez(buffer, in_0=np.array([object()])),
    )
    for write in writers:
        buffer = io.BytesIO()
        write(buffer)
        assert fail(session, Execute(program(SMALL, inputs=buffer.getvalue()))).problems[0].code == "EN004"


def test_a_page_of_a_tensor_is_read_at_a_time(session: Session) -> None:
    that = program(SMALL)
    total = ask(session, RunOf(that)).total
    page = ask(session, ValueOf(that, total - 1, 0, 0))
    assert (page.shape, page.dtype) == ((2, 3), "float32")
    assert page.tensor.cells


def test_cancel_stops_a_loop_that_never_ends() -> None:
    session = Session()
    reply = session.request(RunOf(program(ENDLESS)), lambda progress: _cancel_when_running(session, progress.text))
    assert isinstance(reply, Failure)
    assert reply.kind == "cancelled"


def _cancel_when_running(session: Session, text: str) -> None:
    if text.startswith("Running `main`"):
        session.cancel()


def test_progress_names_the_pass_that_runs(session: Session) -> None:
    said: list[tuple[str, int, int]] = []
    message = PipelineOf(program(SMALL, pipeline="Normalize, LambdaLift"))
    session.request(message, lambda item: said.append((item.text, item.done, item.total)))
    assert said == [("Running Normalize", 0, 2), ("Running LambdaLift", 1, 2)]


def test_partial_pipelines_run(session: Session) -> None:
    full = ask(session, Execute(program(SMALL)))
    for pipeline in ("", "LambdaLift", "LegalizeOps"):
        assert ask(session, Execute(program(SMALL, pipeline=pipeline))).result == full.result


def test_the_reported_failure_is_a_diagnostic_at_the_binding(session: Session) -> None:
    that = sample("seeds/print_closure.py", as_in="reported")
    failure = fail(session, RunOf(that))
    assert failure.problems[0].code == "BC001"
    assert failure.problems[0].line > 0
    assert ask(session, RunOf(sample("seeds/print_closure.py"))).outcome == "returned"


def test_stages_are_listed_with_their_texts(session: Session) -> None:
    stages = ask(session, Opt(program(SMALL, pipeline="LegalizeOps"))).stages
    assert [stage.name for stage in stages] == ["Source", "LegalizeOps"]
    assert stages[1].is_changed
    assert "T.prim_func" in stages[1].text


def test_samples_are_listed_with_their_headers(session: Session) -> None:
    samples = ask(session, Samples()).samples
    assert {item.path for item in samples} >= set(PATHS)
    assert all(item.title and item.shows and item.source for item in samples)


def test_layout_is_restored(session: Session) -> None:
    restored = ask(session, RestoreLayout("".join(f"> {line}\n" for line in SMALL.splitlines())))
    assert restored.changes
    assert ask(session, Check(program(restored.text))).has_errors is False
