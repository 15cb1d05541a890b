"""What a name means: from the tables and docstrings, for the API, the command line and the pages alike."""

import json
from typing import get_args

import pytest

import relax_core as rc
from relax_core.bytecode.isa import CallInstruction, GotoInstruction, IfInstruction, ReturnInstruction
from relax_core.cli import main
from relax_core.codes import CODES
from relax_core.engine.documents.glossary import terms
from relax_core.engine.protocol import ExplanationsOf, Failure, KernelOf, PipelineOf, Program, StageOf
from relax_core.engine.samples import SAMPLES, list_samples
from relax_core.engine.session import Session
from relax_core.jit.transforms.registry import TRANSFORMS
from relax_core.lessons.explaining import lessons_on
from relax_core.lessons.library import list_lessons
from relax_core.lessons.screens import program_of
from relax_core.ops import OPS
from relax_core.passes.library import PASSES
from relax_core.passes.properties import PROPERTIES
from relax_core.passes.remarks import RemarkKind
from relax_core.present.kernel_models import KernelView
from relax_core.present.running.listing import instruction_lines
from relax_core.vm.builtin.builtins import BUILTINS


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (tuple(CODES), "diagnostic"),
        (tuple(name for _, name in PASSES), "pass"),
        (tuple(OPS), "operator"),
        (tuple(BUILTINS), "function of the machine"),
        (tuple(item.name for item in TRANSFORMS), "transformation of kernels"),
        (tuple(word for term in terms() for word in term.words), "word of the glossary"),
    ],
    ids=["diagnostics", "passes", "operators", "builtins", "transformations", "glossary"],
)
def test_every_name_has_a_paragraph(names: tuple[str, ...], kind: str) -> None:
    for name in names:
        found = [item for item in rc.explanations(name).found if item.kind.startswith(kind)]
        assert found, name
        for item in found:
            assert item.text.rstrip("`").endswith((".", ":")), name
            assert "Raises:" not in item.text, name


def test_every_opcode_of_a_listing_is_an_instruction() -> None:
    executable = rc.build(rc.parse((SAMPLES / "relax" / "fib.py").read_text(encoding="utf-8")))
    kinds = {type(item) for item in executable.instructions}
    assert kinds >= {CallInstruction, ReturnInstruction, IfInstruction, GotoInstruction}
    opcodes = {line.text.partition(" ")[0] for line in instruction_lines(executable) if line.pc >= 0}
    for opcode in opcodes:
        assert any(item.kind == "instruction" for item in rc.explanations(opcode).found), opcode


def test_every_rule_that_a_pass_of_a_sample_applies_is_told() -> None:
    programs = {Program(item.text, item.path.rpartition("/")[2]) for item in list_samples()}
    for file in list_lessons():
        steps = () if file.lesson is None else file.lesson.steps
        programs |= {program_of(file.folder, step.shown) for step in steps}
    session, told = Session(), set[str]()
    for program in programs:
        pipeline = session.request(PipelineOf(program))
        if isinstance(pipeline, Failure):
            continue
        # What ApplyRules applies has the names that users give their rules.
        numbers = [item.index for item in pipeline.stages if item.rewrite_count and item.name != "ApplyRules"]
        views = [session.request(StageOf(program, number)) for number in numbers]
        told |= {item.rule for view in views if not isinstance(view, Failure) for item in view.detail.rewrites}
    assert len(told) > 30
    for rule in told:
        assert [item.kind for item in rc.explanations(f"rewrite rule/{rule}").found] == ["rewrite rule"], rule


def test_every_kind_of_remark_is_told() -> None:
    program = Program((SAMPLES / "relax" / "mlp.py").read_text(encoding="utf-8"), pipeline="LegalizeOps, FuseOps")
    view = Session().request(StageOf(program, 2))
    assert not isinstance(view, Failure)
    assert {item.kind for item in view.detail.remarks} <= set(get_args(RemarkKind))
    for kind in get_args(RemarkKind):
        assert [item.kind for item in rc.explanations(f"remark/{kind}").found] == ["remark"]


@pytest.mark.parametrize("name", ["matmul", "row_softmax", "gather"])
def test_every_word_of_a_remark_on_a_kernel_is_told(name: str) -> None:
    view = Session().request(KernelOf(Program((SAMPLES / "tir" / f"{name}.py").read_text(encoding="utf-8"))))
    assert isinstance(view, KernelView)
    assert view.remarks
    for remark in view.remarks:
        assert rc.explanations(f"remark on a kernel/{remark.word}").found


def test_a_pass_says_what_it_needs_and_what_gives_that() -> None:
    (lambda_lift, relay) = rc.explanations("LambdaLift").found
    assert (lambda_lift.kind, relay.kind) == ("pass on Relax", "pass on Relay")
    facts = dict(lambda_lift.facts)
    assert facts["Needs"] == f"a module {PROPERTIES['normal form'].claim}, which `Normalize` gives"
    assert facts["Gives"] == f"a module {PROPERTIES['no local functions'].claim}"
    assert rc.explanations("relay.LambdaLift").found == (relay,)
    assert rc.explanations("LambdaLift", language="relax").found == (lambda_lift,)
    assert rc.explanations("LambdaLift", language="relay").found == (relay,)
    assert [item.kind for item in rc.explanations("PartitionGraph", language="relax").found] == ["pass on Relay"]
    assert dict(rc.explanations("FuseOpsByPattern").found[0].facts)["Stops with"] == "PT005, PS018"


def test_a_name_is_found_as_it_is_written_anywhere() -> None:
    wanted = rc.explanations("R.nn.softmax")
    for name in ("relax.nn.softmax", "nn.softmax", "`R.NN.softmax`"):
        assert rc.explanations(name) == wanted
    assert [item.kind for item in rc.explanations("tile").found] == [
        "operator",
        "transformation of kernels",
        "word of the glossary",
    ]
    assert [item.kind for item in rc.explanations("transformation of kernels/tile").found] == [
        "transformation of kernels"
    ]
    # A name that means nothing, such as that of a function of the program, does not hide what the others mean.
    assert rc.explanations("call", "my.function") == rc.explanations("call")


def test_a_name_that_means_nothing_is_diagnosed_with_one_that_is_near() -> None:
    with pytest.raises(rc.CompileError) as caught:
        rc.explanations("FuseOpz")
    (problem,) = caught.value.diagnostics
    assert (problem.code, problem.hint) == ("EN005", "did you mean FuseOps?")
    assert isinstance(Session().request(ExplanationsOf(())), Failure)


def test_lessons_are_those_that_name_it_and_common_words_count_as_code_only() -> None:
    def names(name: str) -> list[str]:
        return [file.name for item in rc.explanations(name).found for file, _ in lessons_on(item)]

    assert "closures" in names("LambdaLift")
    assert "fusion" in names("missed")
    assert names("call") == []
    assert "bytecode" in names("frame")


def test_the_command_line_explains(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("explain", "LambdaLift")) == 0
    told = capsys.readouterr().out
    assert told.startswith("LambdaLift: pass on Relax\n  Lifts local functions to the module;")
    assert "  Lesson: closures, step 3\n" in told
    assert max(map(len, told.splitlines())) <= 100
    assert main(("explain", "TY012", "--json")) == 0
    (found,) = json.loads(capsys.readouterr().out)["found"]
    assert (found["name"], found["kind"]) == ("TY012", "diagnostic")
    assert main(("explain", "nothing_of_ours")) == 1
    assert "EN005" in capsys.readouterr().err
