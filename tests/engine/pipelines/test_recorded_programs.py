"""Requests about the program of a recording: inputs, functions, graphs, our pass beside the recorded one, a trace."""

from dataclasses import replace
from typing import TypeVar

import pytest

import relax_core as rc
from relax_core.diagnostics import CompileError
from relax_core.engine.debug.replies import Bisection
from relax_core.engine.debug.requests import (
    BisectRecordedOf,
    OwnPassOf,
    Parcel,
    RecordedFunctionsOf,
    RecordedGraphOf,
    RecordedInputsOf,
    RecordedOf,
    ReproducerOf,
    TraceOf,
)
from relax_core.engine.pipelines import parcel
from relax_core.engine.pipelines.parcel import parcel_of
from relax_core.engine.protocol import (
    Execute,
    Failure,
    Program,
    Request,
)
from relax_core.engine.session import Session
from tests.engine.pipelines.stage_texts import ADD, EMPTY, TWICE, UNREADABLE, WRONG, after
from tests.passes.programs import program

R = TypeVar("R")

KERNELS = """# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def double(x: T.Buffer((T.int64(4),), "float32"), y: T.Buffer((T.int64(4),), "float32")):
        T.func_attr({"target": T.target({"host": {"kind": "llvm"}, "kind": "cuda"})})
        for i in range(T.int64(4)):
            y[i] = x[i] * T.float32(2)
"""
DEAD = ADD.replace("            R.output", "            z = R.multiply(x, x)\n            R.output")


def log(*stages: tuple[str, str]) -> Parcel:
    return parcel_of((("build.log", "".join(after(name, text) for name, text in stages).encode()),))


def answered(request: Request[R]) -> R:
    reply = Session().request(request)
    assert not isinstance(reply, Failure), reply
    return reply


def test_what_became_of_each_function_is_listed_with_its_target() -> None:
    given = log(("First", ADD), ("Second", TWICE), ("Third", KERNELS))
    (row,) = answered(RecordedFunctionsOf(given, 0, 1)).rows
    assert (row.name, row.kind, row.mark, row.before, row.after) == ("main", "Relax", "changed", 7, 7)
    rows = answered(RecordedFunctionsOf(given, 1, 2)).rows
    assert [(row.name, row.mark, row.placed) for row in rows] == [
        ("double", "added", "cuda, host llvm"), ("main", "removed", ""),
    ]  # fmt: skip


def test_a_graph_pairs_what_binds_one_name() -> None:
    given = log(("First", ADD), ("Second", TWICE), ("Third", KERNELS), ("Fourth", KERNELS.replace("x[i] *", "x[i] +")))
    drawn = answered(RecordedGraphOf(given, 0, 1))
    assert [node.title for node in drawn.nodes if node.mark == "changed"] == ["multiply"]
    assert answered(RecordedGraphOf(given, 0, 0)).empty_title == "No change"
    drawn = answered(RecordedGraphOf(given, 2, 3, "double"))
    assert {node.mark for node in drawn.nodes} == {"changed", "unchanged"}
    assert not answered(RecordedGraphOf(given, 2, 3, "gone")).svg


@pytest.mark.parametrize("text", [UNREADABLE, EMPTY], ids=["a text with errors", "no function"])
def test_a_stage_that_cannot_be_drawn_is_a_failure_or_an_empty_graph(text: str) -> None:
    given = log(("First", ADD), ("Second", text))
    for request in (RecordedGraphOf(given, 0, 1), RecordedFunctionsOf(given, 0, 9)):
        reply = Session().request(request)
        assert not isinstance(reply, Failure) or reply.kind == "diagnosed"


def test_a_module_of_prim_funcs_can_be_entered_by_each() -> None:
    found = answered(RecordedInputsOf(log(("First", KERNELS)), Program("", entry="gone")))
    assert (found.entry, found.entries) == ("double", ("double",))
    assert found.params == (("x", "(4,) f32"), ("y", "(4,) f32"))


def test_what_a_prim_func_wrote_stands_beside_what_was_there_before() -> None:
    part = KERNELS.replace("range(T.int64(4))", "range(T.int64(3))")
    (item,) = answered(Execute(Program(part, entry="double"))).written
    assert item.name == "y"
    before, after = (text.strip("[]").split() for text in (item.before, item.after))
    assert before[3] == after[3]
    assert before[:3] != after[:3]
    assert answered(Execute(Program(ADD))).written == ()


def test_our_pass_beside_the_recorded_one_is_equal_equal_in_value_or_neither() -> None:
    def judged(name: str, made: str, before: str = DEAD) -> tuple[str, str]:
        given = log(("First", before), (name, made))
        found = answered(OwnPassOf(given, 1, Program("")))
        return found.verdict, found.words

    assert judged("DeadCodeElimination", ADD)[0] == "equal"
    assert judged("tirx.DeadCodeElimination", DEAD + "\n")[0] == "same"
    verdict, words = judged("DeadCodeElimination", WRONG)
    assert verdict == "different"
    assert "elements differ" in words
    assert judged("Unheard", ADD)[0] == "no such pass"
    assert judged("DeadCodeElimination", KERNELS)[0] == "not comparable"
    assert judged("DeadCodeElimination", UNREADABLE)[0] == "not comparable"
    assert isinstance(Session().request(OwnPassOf(log(("First", ADD)), 4, Program(""))), Failure)


def test_our_pass_on_prim_funcs_is_compared_in_the_program_that_calls_them() -> None:
    whole = program("rows")
    kernels = replace(whole, definitions=tuple(item for item in whole.definitions if item.var.name == "rows"))
    (stage,) = rc.run_pipeline(kernels, "StorageRewrite")
    texts = [rc.script(item) for item in (whole, kernels, stage.after)]

    def judged(name: str, made: str) -> tuple[str, str]:
        given = log(("AttachGlobalSymbol", texts[0]), ("tirx.BindTarget", texts[1]), (name, made))
        found = answered(OwnPassOf(given, 2, Program("")))
        return found.verdict, found.words

    assert judged("tirx.StorageRewrite", texts[2])[0] == "equal"
    assert judged("StorageRewrite", texts[2])[0] == "equal"
    other = texts[2].replace("F[0] = T.Cast", "F[0] = T.float32(1) * T.Cast")
    assert judged("tirx.StorageRewrite", other)[0] == "same"
    verdict, words = judged("tirx.StorageRewrite", texts[2].replace("+ T.float32(1.0)", "+ T.float32(3.0)"))
    assert verdict == "different"
    assert "computes something else, RelaxScope's does not" in words
    assert judged("tirx.MakePackedAPI", texts[2])[0] == "no such pass"
    # A pass that has the name in both dialects is the one of its prefix.
    assert judged("relax.StorageRewrite", texts[2])[0] == "no such pass"


def test_a_reproducer_is_made_of_what_a_bisection_found_and_of_nothing_else() -> None:
    given = log(("First", ADD), ("Second", TWICE), ("Third", WRONG))
    asked = BisectRecordedOf(given.content, Program(""))
    found = answered(asked)
    assert answered(ReproducerOf(asked, found)).script == answered(ReproducerOf(asked)).script
    # What belongs to another recording is not trusted.
    other = Bisection(found.entry, found.stages[:1])
    assert answered(ReproducerOf(asked, other)).pass_name == "Third"


def test_what_is_open_is_written_as_a_trace_that_opens_alike() -> None:
    given = log(("First", ADD), ("Second", TWICE))
    written = answered(TraceOf(given)).content
    rows = [answered(RecordedOf(item)).pipeline.stages for item in (given, Parcel("a.rxt", written))]
    assert [row.name for row in rows[0]] == [row.name for row in rows[1]]


def test_too_many_files_are_refused_before_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parcel, "FILE_LIMIT", 2)
    with pytest.raises(CompileError) as caught:
        parcel_of([(f"{number}.py", b"x") for number in range(3)])
    assert caught.value.diagnostics[0].code == "PL002"
