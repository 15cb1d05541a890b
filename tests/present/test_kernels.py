"""The forms of a kernel: parts that lead from TIR to machine code, remarks, range checks."""

from pathlib import Path

import pytest

from relax_core.engine.protocol import Asm, Failure, KernelOf, PlansOf, Program, StepCostsOf
from relax_core.engine.replies import Listing
from relax_core.engine.session import Session
from relax_core.present.kernel_models import (
    AccessRow,
    KernelPlans,
    KernelText,
    KernelView,
    StepRow,
    StepTable,
    duration,
)

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
REPORTED, CORRECTED = "seeds/my_ir_module.py", "seeds/my_ir_module_corrected.py"
SOFTMAX, GATHER = "tir/row_softmax.py", "tir/gather.py"


@pytest.fixture(scope="module")
def session() -> Session:
    return Session()


def view_of(session: Session, sample: str, sizes: dict[str, int] | None = None) -> KernelView:
    program = Program((SAMPLES / sample).read_text(), Path(sample).name)
    reply = session.request(KernelOf(program, sizes=tuple((sizes or {}).items())))
    assert isinstance(reply, KernelView), reply
    return reply


def parts_in(text: KernelText) -> set[int]:
    return {line.part for line in text.lines if line.part}


@pytest.mark.parametrize("sample", [REPORTED, CORRECTED, SOFTMAX, GATHER])
def test_every_part_has_a_line_of_tir_and_code(session: Session, sample: str) -> None:
    view = view_of(session, sample)
    numbers = {part.number for part in view.parts}
    in_tir = parts_in(view.tir) | {number for line in view.tir.lines for number in line.others}
    assert in_tir == numbers
    assert parts_in(view.lowered) <= numbers
    assert parts_in(view.assembly)
    for text in (view.tir, view.lowered, view.optimised, view.assembly):
        assert text.text.split("\n") == ["".join(token.text for token in line.tokens) for line in text.lines]


def test_the_words_are_those_of_the_text(session: Session) -> None:
    view = view_of(session, SOFTMAX)
    words = [part.words for part in view.parts]
    assert [item for item in words if item.startswith("Loops")] == [
        f"Loops over `i0{end}` and `j0{end}`" for end in ("", "_1", "_2")
    ]
    assert "Block `largest`" in words
    assert "The reduction starts: `largest[i] = X[i, 0]`" in words
    assert "Store: `Y[i_2, j_2] = T.exp(X[i_2, j_2] - largest[i_2]) / total[i_2]`" in words


def test_checks_tell_the_reported_program_from_the_corrected_one(session: Session) -> None:
    wrong, right = view_of(session, REPORTED), view_of(session, CORRECTED)
    kept = {(row.access.partition("[")[0], row.condition) for row in wrong.accesses if row.state == "checked"}
    assert kept == {("A", "k <= n"), ("C", "n <= k")}
    assert all(row.state == "always" for row in right.accesses)
    assert any(remark.word == "kept" and remark.part for remark in wrong.remarks)
    assert any(part.words.startswith("Range check") for part in wrong.parts)
    assert not any(part.words.startswith("Range check") for part in right.parts)


def test_a_remark_is_made_once_per_line(session: Session) -> None:
    for sample in (REPORTED, SOFTMAX):
        remarks = view_of(session, sample).remarks
        assert len(set(remarks)) == len(remarks)
        assert sum(remark.word == "refused" for remark in remarks) > 0


def test_sizes_prove_what_holds_for_them(session: Session) -> None:
    fitting = view_of(session, REPORTED, {"m": 4, "n": 8, "k": 8})
    assert {row.state for row in fitting.accesses} == {"always", "proven"}
    stopping = view_of(session, REPORTED, {"m": 4, "n": 4, "k": 8})
    assert AccessRow("A[i, k]", "k <= n", "checked") in {
        AccessRow(row.access.replace("k_1", "k"), row.condition, row.state) for row in stopping.accesses
    }
    assert [(size.name, size.value) for size in fitting.sizes] == [("m", 4), ("n", 8), ("k", 8)]


def test_a_transformation_is_switched_off_and_what_it_is_worth_is_measured(session: Session) -> None:
    program = Program((SAMPLES / SOFTMAX).read_text(), "m.py")
    sizes = (("n", 64), ("m", 64))
    view = session.request(KernelOf(program, "row_softmax", sizes, ("rows",)))
    assert isinstance(view, KernelView)
    assert {step.name: step.is_off for step in view.steps} == {"lanes": False, "rows": True, "collapse": False}
    table = session.request(StepCostsOf(program, "row_softmax", sizes))
    assert isinstance(table, StepTable), table
    assert [row.name for row in table.rows] == ["rows", "collapse"]
    assert all(row.words == "the same bits" and row.factor > 0 for row in table.rows)
    assert "without rows" in table.to_text()
    text = session.request(Asm(program, "remarks", "row_softmax", ("rows",), sizes))
    assert isinstance(text, Listing)
    assert "Rows" not in text.code.text
    assert "Lanes" in text.code.text


def test_the_plan_of_each_transformation_is_a_text_with_what_it_changed(session: Session) -> None:
    program = Program((SAMPLES / "tir" / "matmul.py").read_text(), "m.py")
    found = session.request(PlansOf(program, "matmul", (("m", 70), ("n", 50), ("k", 60))))
    assert isinstance(found, KernelPlans), found
    stages = [stage for stage in found.stages if stage.transform == "tile"]
    assert stages
    assert all(stage.diff is not None and not stage.diff.is_unchanged for stage in stages)
    assert 'scope="local"' in stages[-1].text
    assert "T.vectorized" in stages[-1].text
    text = session.request(Asm(program, "plan", "matmul", ("tile",), (("m", 70), ("n", 50), ("k", 60))))
    assert isinstance(text, Listing)
    assert "# 1 " in text.code.text
    assert " tile: " not in text.code.text


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (KernelOf(Program("", "m.py"), "nothing"), "there is no kernel `nothing`"),
        (KernelOf(Program("", "m.py"), sizes=(("q", 3),)), "has no dimension `q`"),
        (KernelOf(Program("", "m.py"), without=("tiles",)), "no transformation `tiles`"),
    ],
)
def test_what_there_is_not_is_named(session: Session, asked: KernelOf, said: str) -> None:
    program = Program((SAMPLES / CORRECTED).read_text(), "m.py")
    reply = session.request(KernelOf(program, asked.kernel, asked.sizes, asked.without))
    assert isinstance(reply, Failure)
    assert said in reply.problems[0].message
    assert reply.problems[0].hint


def test_a_step_without_which_results_are_equal_and_not_the_same_says_so() -> None:
    rows = [StepRow("lanes", "", 1.0, 1.0, *found) for found in ((0.0, True), (0.0, False), (0.25, False))]
    assert [row.words for row in rows] == ["the same bits", "other bits, equal as float64", "differs by up to 0.25"]


def test_times_are_written_in_the_unit_that_suits_them() -> None:
    shown = [duration(seconds).strip() for seconds in (93e-9, 1e-6, 2.34e-3, 0.01, 1.5)]
    assert shown == ["93 ns", "1.0 us", "2340.0 us", "10.0 ms", "1500.0 ms"]
