"""Requests that look for faults: the pass that changed a result, values of bindings, stops, and where time goes."""

import io
from typing import Any

import numpy as np
import pytest

import relax_core
from relax_core.engine.debug.replies import Bisection, Dumped, Profiled, Stopped, ValuesCompared
from relax_core.engine.debug.requests import (
    BisectOf,
    CompareArchiveOf,
    CompareValuesOf,
    DumpOf,
    ProfileOf,
    StopsOf,
)
from relax_core.engine.debug.tolerance import Closeness
from relax_core.engine.inputs import write_members
from relax_core.engine.protocol import Execute, Failure, Program
from relax_core.engine.session import Session
from relax_core.present.running.run_models import Breakpoint
from relax_core.vm.machine import Machine
from tests.engine.programs import ENDLESS, FOUR_ERRORS, HEADER, program, sample

CHAIN = program(
    HEADER
    + """    @R.function
    def main(x: R.Tensor(("n", 3), "float32")) -> R.Tensor(("n", 3), "float32"):
        with R.dataflow():
            a = R.add(x, R.const(1.0, "float32"))
            b = R.multiply(a, a)
            R.outputs(b)
        c = R.subtract(b, x)
        return c
"""
)
OTHER = program(CHAIN.text.replace("R.multiply(a, a)", "R.add(a, a)"), "other.py")
LOOP = sample("relax/loop.py")
FOLLOWING = next(number for number, line in enumerate(LOOP.text.split("\n"), 1) if "following =" in line)


@pytest.fixture(scope="module")
def session() -> Session:
    return Session()


def bisected(session: Session, first: Program, *others: Program, relative: float = -1.0) -> Bisection:
    found = session.request(BisectOf(first, others, Closeness(relative)))
    assert isinstance(found, Bisection), found
    return found


def loaded(archive: bytes) -> dict[str, Any]:
    with np.load(io.BytesIO(archive), allow_pickle=False) as found:
        return {name: found[name] for name in found.files}


@pytest.mark.parametrize(
    "path", ["relax/fib.py", "relax/loop.py", "seeds/my_ir_module_corrected.py", "seeds/print_closure2.py"]
)
def test_no_pass_of_the_default_pipeline_changes_a_result(session: Session, path: str) -> None:
    found = bisected(session, sample(path))
    assert found.first_different == -1
    assert {stage.verdict for stage in found.stages} == {"reference", "same"}
    assert found.stages[0].verdict == "reference"
    assert len(found.stages) == 13


def test_the_first_text_that_computes_something_else_is_found(session: Session) -> None:
    later = program(OTHER.text, "later.py")
    found = bisected(session, CHAIN, program(CHAIN.text, "again.py"), OTHER, later)
    assert [stage.verdict for stage in found.stages] == ["reference", "same", "different", "different"]
    assert found.first_different == 2
    assert found.conclusion.startswith("`main` computes something else from other.py (stage 2) on: out: ")
    assert found.to_text().split("\n")[2].startswith("  2 x other.py")


def test_printed_numbers_may_be_as_far_apart_as_others(session: Session) -> None:
    text = (
        HEADER
        + """    @R.function(pure=False)
    def main() -> R.Tuple:
        _ = R.print(R.const(1.0, "float32"), format="loss {}")
        return R.tuple()
"""
    )
    near, far, other = ((text.replace("1.0", "1.00001")), text.replace("1.0", "1.5"), text.replace("loss", "gain"))
    found = bisected(session, program(text), *(program(item) for item in (near, far, other)))
    assert [stage.verdict for stage in found.stages] == ["reference", "same", "different", "different"]
    assert found.stages[2].words.startswith("printed_numbers: 1 of 1 element differs, by at most 0.5")
    assert found.stages[3].words == "printed: it is 'gain #', was 'loss #'"


def test_numbers_may_be_as_far_apart_as_is_asked_for(session: Session) -> None:
    assert bisected(session, CHAIN, OTHER, relative=10.0).first_different == -1


def test_a_stage_that_cannot_run_is_no_difference(session: Session) -> None:
    found = bisected(session, CHAIN, program(FOUR_ERRORS, "wrong.py"), OTHER)
    assert [stage.verdict for stage in found.stages] == ["reference", "not comparable", "different"]
    assert "PA" in found.stages[1].words or "TY" in found.stages[1].words


def test_programs_that_fail_alike_are_alike_and_one_that_returns_is_not(session: Session) -> None:
    sample_path = "seeds/my_ir_module.py"
    assert bisected(session, sample(sample_path)).conclusion.startswith("`relax_func` stops alike after all 13 stages")
    found = bisected(session, sample(sample_path), sample("seeds/my_ir_module_corrected.py"))
    assert found.stages[1].verdict == "different"
    assert found.stages[1].words.startswith("it returned; was: JT010")


def test_what_a_function_writes_into_its_arguments_is_compared(session: Session) -> None:
    text = (
        HEADER
        + """    @T.prim_func
    def fill(a: T.Buffer((2,), "float32")):
        for i in range(2):
            a[i] = T.float32(1)

    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        cls = Module
        _ = cls.fill(x)
        return x
"""
    )
    first = program(text)
    second = program(text.replace("T.float32(1)", "T.float32(2)").replace("return x", "return R.ones((2,), 'float32')"))
    found = bisected(session, first, second)
    assert [item.name for item in found.stages[1].differences if not item.is_same] == ["in_0"]


def test_bindings_are_compared_by_name_and_the_first_that_differs_leads_to_the_mistake(session: Session) -> None:
    found = session.request(CompareValuesOf(CHAIN, -1, OTHER, -1))
    assert isinstance(found, ValuesCompared)
    verdicts = {row.name: row.verdict for row in found.rows}
    assert (verdicts["main.a"], verdicts["main.b"], verdicts["main.c"]) == ("same", "different", "different")
    first = found.first_different
    assert first is not None
    assert first.line == next(n for n, line in enumerate(CHAIN.text.split("\n"), 1) if "b = " in line)
    assert (found.left, found.right) == ("m.py", "other.py")


@pytest.mark.parametrize("stage", [0, 4, 8])
def test_stages_of_a_pipeline_bind_the_same_values(session: Session, stage: int) -> None:
    found = session.request(CompareValuesOf(LOOP, stage, LOOP, -1))
    assert isinstance(found, ValuesCompared)
    assert not [row for row in found.rows if row.verdict == "different"]
    assert sum(row.verdict == "same" for row in found.rows) > 20
    assert {row.name.partition(".")[2].partition("#")[0] for row in found.rows} <= {
        "goes_on",
        "following",
        "more",
        "r",
        "result",
    }


def test_every_binding_is_dumped_as_it_was_when_it_was_bound(session: Session) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    given = program(CHAIN.text, inputs=write_members({"in_0": x}))
    found = session.request(DumpOf(given))
    assert isinstance(found, Dumped)
    values = loaded(found.archive)
    np.testing.assert_array_equal(values["main.a"], x + 1)
    np.testing.assert_array_equal(values["main.b"], (x + 1) * (x + 1))
    np.testing.assert_array_equal(values["main.c"], (x + 1) * (x + 1) - x)
    names = list(values)
    assert names.index("main.a") < names.index("main.b") < names.index("main.c")


def test_a_binding_in_a_loop_is_numbered(session: Session) -> None:
    found = session.request(DumpOf(LOOP))
    assert isinstance(found, Dumped)
    values = loaded(found.archive)
    name = next(name for name in values if name.endswith(".following"))
    counted = [values[name], *(values[f"{name}#{number}"] for number in range(2, 9))]
    assert [int(item) for item in counted] == list(range(1, 9))


def test_a_run_is_compared_with_an_archive_by_whole_or_short_names(session: Session) -> None:
    dumped = session.request(DumpOf(CHAIN))
    assert isinstance(dumped, Dumped)
    values = loaded(dumped.archive)
    given = {"main.a": values["main.a"], "b": values["main.b"] + 1, "foreign": values["main.a"]}
    found = session.request(CompareArchiveOf(CHAIN, write_members(given)))
    assert isinstance(found, ValuesCompared)
    verdicts = {row.name: row.verdict for row in found.rows}
    assert verdicts["main.a"] == "same"
    assert verdicts["main.b"] == "different"
    assert verdicts["main.c"] == "not comparable"
    assert verdicts["foreign"] == "not comparable"


def test_values_that_are_too_large_together_are_refused(session: Session) -> None:
    found = session.request(DumpOf(program(CHAIN.text, sizes=(("n", 2_000_000),))))
    assert isinstance(found, Failure)
    assert found.problems[0].code == "EN010"


def test_a_stop_shows_the_place_the_stack_and_the_registers_of_its_top(session: Session) -> None:
    found = session.request(StopsOf(LOOP, (Breakpoint(line=FOLLOWING, condition="i > 3"),), limit=2))
    assert isinstance(found, Stopped)
    assert (found.met, found.count, len(found.stops)) == (8, 4, 2)
    text = found.stops[0].text.split("\n")
    assert text[0].startswith(f"relax/loop.py:{FOLLOWING}: time ")
    assert any(line.startswith(f">{FOLLOWING:>5} | ") for line in text)
    assert f"#0 main_loop, line {FOLLOWING}" in text
    assert any(line.split()[:2] == ["%0", "i"] and line.endswith("4") for line in text)
    assert text[-1].startswith("#5 main, line ")


def test_a_condition_that_cannot_be_read_is_a_diagnostic(session: Session) -> None:
    found = session.request(StopsOf(LOOP, (Breakpoint(line=FOLLOWING, condition="i >"),)))
    assert isinstance(found, Failure)
    assert found.problems[0].code == "VM030"


def test_a_profile_counts_runs_by_line_and_its_shares_are_the_whole(session: Session) -> None:
    found = session.request(ProfileOf(LOOP))
    assert isinstance(found, Profiled)
    runs = {item.line: item.calls for item in found.lines}
    assert runs[FOLLOWING] == 8
    assert sum(item.share for item in found.lines) == pytest.approx(1.0)
    assert [item.seconds for item in found.lines] == sorted((item.seconds for item in found.lines), reverse=True)
    assert found.to_text().count("\n") == len(found.lines)


def test_a_profile_of_a_program_that_fails_says_why(session: Session) -> None:
    found = session.request(ProfileOf(sample("seeds/my_ir_module.py")))
    assert isinstance(found, Profiled)
    assert "JT010" in found.rendered


def test_sizes_and_inputs_belong_to_the_program(session: Session) -> None:
    sized = session.request(Execute(program(CHAIN.text, sizes=(("n", 5),))))
    assert not isinstance(sized, Failure)
    assert loaded(sized.archive)["out"].shape == (5, 3)
    wrong = session.request(Execute(program(CHAIN.text, inputs=b"no archive")))
    assert isinstance(wrong, Failure)
    assert wrong.problems[0].code == "EN004"


@pytest.mark.parametrize("request_of", [BisectOf, DumpOf, ProfileOf])
def test_a_cancelled_search_is_cancelled(request_of: Any) -> None:
    own = Session()

    def cancel(progress: object) -> None:
        own.cancel()

    found = own.request(request_of(program(ENDLESS)), cancel)
    assert isinstance(found, Failure)
    assert found.kind == "cancelled"


def test_the_public_functions_find_the_pass_that_changes_a_result() -> None:
    module, x = relax_core.parse(CHAIN.text), np.ones((2, 3), np.float32)
    found = relax_core.bisect_passes(module, None, x)
    assert found.first_different == -1
    assert found.stages[0].name == "Source"
    values = relax_core.binding_values(module, x)
    np.testing.assert_array_equal(values["main.b"], np.full((2, 3), 4, np.float32))
    forms = {"first": module, "again": module, "other": relax_core.parse(OTHER.text)}
    x = np.full((2, 3), 2, np.float32)
    assert relax_core.bisect_modules(forms, x).first_different == 2
    assert relax_core.bisect_modules(forms, x, tolerance=relax_core.Tolerance(absolute=10.0)).first_different == -1


def test_memory_that_is_counted_amid_instructions_does_not_disturb_the_record() -> None:
    executable = relax_core.build(relax_core.parse(CHAIN.text))
    args = (np.ones((2_000_000, 3), np.float32),)
    traces = [Machine(executable, tier=tier).run("main", args) for tier in ("generated", "explicit")]
    assert [trace.error for trace in traces] == [None, None]
    np.testing.assert_array_equal(traces[0].pcs, traces[1].pcs)
    np.testing.assert_array_equal(traces[0].result, traces[1].result)
