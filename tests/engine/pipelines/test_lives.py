"""The life of a part of a recorded program, and the origins of its lines, in stages that TVM printed."""

import json
from pathlib import Path

import pytest

from relax_core.cli import main
from relax_core.diagnostics import CompileError
from relax_core.engine.debug.requests import (
    LifeOf,
    RecordedOriginsOf,
)
from relax_core.engine.pipelines.matching.excerpts import excerpts_of, masked
from relax_core.engine.pipelines.parcel import parcel_at
from relax_core.engine.pipelines.pipeline import Pipeline
from relax_core.engine.pipelines.sources import open_pipeline
from relax_core.engine.protocol import (
    Failure,
)
from relax_core.engine.samples import SAMPLES
from relax_core.engine.session import Session
from relax_core.ir.module import IRModule
from relax_core.present.nodes.origin_models import LifeStage, NodeLife
from tests.engine.pipelines.stage_texts import ADD, EMPTY, TWICE, UNREADABLE, after

HEAD = str(SAMPLES / "recordings" / "head.rxt")


@pytest.fixture(scope="module")
def head() -> Pipeline:
    return open_pipeline(HEAD)


def stage_of(life: NodeLife, label: str) -> LifeStage:
    return next(stage for stage in life.stages if stage.label.endswith(label))


def rows(life: NodeLife, label: str) -> list[tuple[str, str, str]]:
    """List what is shown of one stage: the beginning of the line, the confidence and the reason."""
    return [(line.text[:24], line.confidence, line.why) for line in stage_of(life, label).lines]


def test_a_binding_is_followed_to_its_kernel_and_its_memory(head: Pipeline) -> None:
    life = head.life(0, 9)
    assert life.title == "binding product of @main"
    assert rows(life, " LegalizeOps") == [
        ("def matmul(x: T.Buffer((", "sure", "called by product"),
        ("product = R.call_tir(cls", "sure", "same name"),
    ]
    assert [row[0] for row in rows(life, "CallTIRRewrite")] == [
        "def matmul(x: T.Buffer((",
        "alloc: R.Tensor((4, 6), ",
        "cls.matmul(x, w, alloc)",
        "product: R.Tensor((4, 6)",
    ]
    gone = stage_of(life, "KillAfterLastUse").lines
    assert ("sure", "another name of it") in [(line.confidence, line.why) for line in gone]
    assert "product" not in [line.name for line in gone]
    assert rows(life, "LowerIntrin") == [("def matmul(self_handle: ", "sure", "same name")]
    assert life.words == ()


def test_a_call_becomes_the_prim_func_that_it_calls_where_only_those_are_left(head: Pipeline) -> None:
    life = head.life(13, 90)
    assert life.title == "binding _ of @main"
    assert rows(life, "(before tirx.BindTarget)") == [
        ("def add(product: T.Buffe", "sure", "the prim func that it calls")
    ]
    assert [row[0] for row in rows(life, "000 (input)")] == ["logits: R.Tensor((4, 6),"]


def test_a_statement_is_followed_through_blocks_views_and_shared_memory(head: Pipeline) -> None:
    life = head.life(80, 260)
    assert life.title == "store T_softmax_maxelem_1 of @softmax"
    assert rows(life, "LegalizeOps")[0][0] == "T_softmax_expsum[v_i0] ="
    assert rows(life, "000 (input)")[0][0] == "probabilities: R.Tensor("
    renamed = stage_of(life, "NarrowDataType").lines[0]
    assert renamed.text.startswith("T_softmax_expsum[i0] =")
    assert renamed.confidence == "likely"
    assert stage_of(life, "LegalizeOps").lines[0].weakest == "likely"


def test_a_block_ends_where_blocks_are_lowered(head: Pipeline) -> None:
    life = head.life(5, 51)
    assert life.title == "block T_softmax_maxelem of @softmax"
    assert stage_of(life, "LowerOpaqueBlock").words == "nothing here is matched to it"
    assert stage_of(life, "LowerOpaqueBlock").mark == "removed"
    assert life.words == ("040 s_tir.LowerOpaqueBlock leaves nothing that is matched to it",)
    assert life.stages[-1].label == "040 s_tir.LowerOpaqueBlock"


def test_what_a_pass_added_begins_there(head: Pipeline) -> None:
    life = head.life(72, "add.self_handle")
    assert life.words == ("nothing in 058 tirx.CommonSubexprElim is matched to it: 072 tirx.MakePackedAPI made it",)
    assert life.stages[0].mark == "added"
    assert "  072 tirx.MakePackedAPI\n" in life.to_text()


def test_names_and_lines_name_the_same(head: Pipeline) -> None:
    assert head.life(0, "product") == head.life(0, "main.product") == head.life(0, 9)
    assert head.life(5, "@matmul").title == head.life(5, 20).title == "prim func @matmul"
    # A line that only continues a part is of that part.
    assert head.life(5, 15).title == "block T_add of @add"
    # A stage that changed nothing has the form of the one before it.
    assert head.life(6, 84).title == head.life(5, 84).title


def test_what_is_not_there_is_refused(head: Pipeline) -> None:
    for stage, where, code in (
        (0, 99, "EN005"),
        (0, 0, "EN005"),
        (0, "nobody", "EN005"),
        (99, 1, "PL013"),
        (16, 1, "PL013"),
    ):
        with pytest.raises(CompileError) as refused:
            head.life(stage, where)
        assert [item.code for item in refused.value.diagnostics] == [code]
    assert head.life(0, 1).words == ("no part of the program begins in line 1",)


def test_requests_answer_as_the_pipeline_does(head: Pipeline) -> None:
    session, parcel = Session(), parcel_at(HEAD)
    life = session.request(LifeOf(parcel, 0, 9))
    assert life == head.life(0, 9)
    assert session.request(LifeOf(parcel, 0, name="product")) == life
    assert session.request(RecordedOriginsOf(parcel, 0, 9)) == head.origins(0, 9)
    refused = session.request(LifeOf(parcel, 400, 1))
    assert isinstance(refused, Failure)
    assert [item.code for item in refused.problems] == ["PL013"]


def test_lines_of_all_stages_lead_to_a_stage(head: Pipeline) -> None:
    found = head.origins(0)
    layer = found.layer("tirx.LowerIntrin")
    assert layer is not None
    assert layer == found.layer("LowerIntrin")
    [store] = [item for item in layer.lines if "T_softmax_norm_1[" in item.text and " = " in item.text]
    assert store.lines == (12,)
    assert {item.line: item.confidence for item in layer.links}[store.number] in ("sure", "likely")
    assert [item.lines for item in layer.lines if "self_handle" in item.text and "def add" in item.text] == [(10,)]


def test_the_command_line_prints_links_with_their_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["origins", f"{HEAD}@58", "--line", "27", "--in-process"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("058_tirx.CommonSubexprElim.py:27: matmul_1[cse_v1] = ")
    assert "  (input)\n       9  product: R.Tensor" in out
    assert "(sure: same buffer and operations)" in out
    assert main(["origins", f"{HEAD}@5", "--in-process"]) == 0
    out = capsys.readouterr().out
    assert "  13  nothing in s_tir.LowerOpaqueBlock is matched to it" in out
    assert "  17  tirx.LowerIntrin, line 74 " in out
    assert main(["origins", f"{HEAD}@0", "--line", "9", "--json", "--in-process"]) == 0
    layers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert layers[1]["name"] == "LegalizeOps"
    assert {"line": 84, "confidence": "sure", "why": "same name"} in layers[1]["links"]
    assert main(["origins", f"{HEAD}@0", "--line", "999", "--in-process"]) == 1


def test_passes_of_ours_run_on_a_stage_if_they_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["origins", f"{HEAD}@0", "--passes", "LegalizeOps", "--line", "9", "--in-process"]) == 0
    assert "  asm matmul\n" in capsys.readouterr().out


def test_a_stage_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    log.write_text(after("A", ADD) + after("B", UNREADABLE) + after("C", EMPTY) + after("D", TWICE))
    found = open_pipeline(str(log)).life(0, "main")
    assert [stage.label for stage in found.stages] == ["000 A", "001 B", "003 D"]
    assert found.stages[1].words.startswith("it cannot be read: ")
    assert found.stages[2].lines[0].why == "same name"


def test_functions_that_are_read_one_by_one_have_the_lives_of_the_whole_text() -> None:
    one_by_one, whole = open_pipeline(HEAD), open_pipeline(HEAD)
    for form in whole.forms():
        whole.module(form.number)
    for form in whole.forms()[::4]:
        for line in range(1, (form.text or "").count("\n") + 2, 7):
            assert one_by_one.life(form.number, line) == whole.life(form.number, line)
    assert not all(one_by_one.is_read(form.number) for form in one_by_one.forms())
    assert one_by_one.origins(0) == whole.origins(0)


def test_a_life_reads_the_prim_funcs_on_its_way_only(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    excerpt = Pipeline.excerpt

    def counted(self: Pipeline, number: int, text: str) -> IRModule:
        module = excerpt(self, number, text)
        read.extend(item.var.name for item in module.definitions)
        return module

    monkeypatch.setattr(Pipeline, "excerpt", counted)
    open_pipeline(HEAD).life(0, 9)
    assert set(read) == {"matmul"}


@pytest.mark.parametrize("is_read", [False, True], ids=["asked first", "read before"])
def test_errors_in_a_prim_func_are_those_of_its_own_life(is_read: bool, tmp_path: Path) -> None:
    def module(*values: str) -> str:
        head = "from tvm.script import ir as I\nfrom tvm.script import tir as T\n\n@I.ir_module\nclass Module:\n"
        signature = "    @T.prim_func\n    def {}(A: T.Buffer((4,), 'float32')):\n        for i in range(4):\n"
        return head + "\n".join(
            f"{signature.format(name)}            A[i] = {value}\n" for name, value in zip("fg", values, strict=True)
        )

    one, other, broken = "T.float32(1)", "T.float32(2)", "B[i]"
    log = tmp_path / "build.log"
    log.write_text(after("A", module(one, one)) + after("B", module(other, broken)) + after("C", module(one, other)))
    pipeline = open_pipeline(str(log))
    if is_read:
        with pytest.raises(CompileError):
            pipeline.module(1)
    broken_life, whole_life = pipeline.life(0, "g"), pipeline.life(0, "f")
    assert [stage.words[:19] for stage in broken_life.stages] == ["", "it cannot be read: ", ""]
    assert broken_life.stages[2].lines[0].why == "same name"
    assert [stage.words for stage in whole_life.stages] == ["", "", ""]


def test_excerpts_are_the_lines_of_each_prim_func() -> None:
    first = "    @T.prim_func\n    def f(\n        a: T.handle,\n    ):\n        pass\n"
    second = "    @T.prim_func\n    def g():\n        pass"
    text = f"# head\nclass Module:\n{first}\n{second}\n# Metadata omitted."
    found = excerpts_of(text)
    assert {name: (item.first_line, item.last_line) for name, item in found.items()} == {"f": (3, 8), "g": (9, 11)}
    assert masked(text, found, found["g"]) == f"# head\nclass Module:{chr(10) * 7}{second}\n# Metadata omitted."
    assert found["g"].line_of("def g():\n        pass") == 0
    assert found["g"].line_of(second.strip()) == 9


@pytest.mark.parametrize(
    "text",
    [
        "",
        "    @R.function\n    def f():\n        pass",
        "    @T.prim_func\n    def f():\n        pass\n    x = 1",
        "    @T.prim_func\n    def f():\n        pass\nmetadata = 1",
        "    @T.prim_func\n    def f():\n        pass\n    @T.prim_func\n    def f():\n        pass",
        '    @T.prim_func\n    def f():\n        """\n    @T.prim_func\n    def g():\n"""',
        "    @T.prim_func\n    def f():\n        @T.prim_func\n        def g():\n            pass",
        "    @T.prim_func",
    ],
    ids=["nothing", "Relax", "a value", "a table", "two of one name", "a long string", "one in another", "no head"],
)
def test_a_text_that_holds_anything_else_is_read_whole(text: str) -> None:
    assert not excerpts_of(text)
