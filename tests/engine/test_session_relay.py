"""The session on Relay programs: read, typed, drawn, inspected and printed; passed through the pipeline and run."""

import io

import numpy as np
import pytest

import relax_core as rc
from relax_core.engine.inputs import write_archive
from relax_core.engine.protocol import (
    Asm,
    Ast,
    CompareGraph,
    Execute,
    Failure,
    GraphOf,
    Inspect,
    Open,
    Opt,
    PipelineOf,
    Program,
    RunOf,
    Script,
    SourceView,
    StageOf,
)
from relax_core.engine.session import Session
from relax_core.vm.objects.values import AdtValue, RefValue
from tests.engine.asking import ask
from tests.engine.programs import SAMPLES, SMALL, sample
from tests.passes.relay.running import listed

PATHS = tuple(sorted(path.relative_to(SAMPLES).as_posix() for path in SAMPLES.rglob("*.relay")))
SOUND = tuple(path for path in PATHS if not path.startswith("errors/"))
ONE = "relay/even_odd.relay"


@pytest.mark.parametrize("path", PATHS)
def test_every_sample_opens_as_relay(session: Session, path: str) -> None:
    view: SourceView = ask(session, Open(sample(path)))
    assert view.code.language == "relay"
    assert [("".join(token.text for token in line.tokens)) for line in view.code.lines] == view.code.text.split("\n")
    assert view.status.error_count == 0 or path.startswith("errors/")
    assert not view.modules or view.dialect.startswith("Relay 0.0.")
    assert set(view.entries) <= set(view.functions)


@pytest.mark.parametrize("path", SOUND)
def test_every_function_is_drawn_and_every_node_inspected(session: Session, path: str) -> None:
    that = sample(path)
    view: SourceView = ask(session, Open(that))
    names = {item.node for item in view.code.ranges}
    for function in ("", *view.functions):
        graph = ask(session, GraphOf(that, 0, function))
        assert graph.svg
        names.update(node.node for node in graph.nodes)
    for name in sorted(names - {""}):
        model = ask(session, Inspect(that, name))
        assert model.title
        assert model.sections


@pytest.mark.parametrize("path", SOUND)
def test_the_tree_and_the_text_are_printed(session: Session, path: str) -> None:
    that = sample(path)
    tree = ask(session, Ast(that))
    assert tree.text.startswith("IRModule")
    assert tree.ranges
    text = ask(session, Script(that)).text
    assert text == ask(session, Script(that, "relay")).text
    again = ask(session, Script(Program(text, "again.relay"))).text
    assert again == text


RUNNABLE = tuple(path for path in SOUND if path != "relay/context_analysis_log.relay")


@pytest.mark.parametrize("path", RUNNABLE)
def test_a_sample_goes_through_the_passes_and_runs(session: Session, path: str) -> None:
    that = sample(path)
    pipeline = ask(session, PipelineOf(that))
    assert [stage.name for stage in pipeline.stages[:2]] == ["Source", "RelayToRelax"]
    for message in (StageOf(that, 1), CompareGraph(that, 1), Asm(that), Opt(that), Execute(that)):
        ask(session, message)
    assert ask(session, RunOf(that)).outcome == "returned"


def test_a_run_shows_constructors_by_name_and_what_a_reference_held(session: Session) -> None:
    shown = {value.short for value in ask(session, RunOf(sample("relay/own_data_type.relay"))).values}
    assert {"Nil", "Cons(3, Nil)", "Cons(1, Cons(3, Nil))", "Left(1)"} <= shown
    held = {value.short for value in ask(session, RunOf(sample("relay/references.relay"))).values}
    assert {"ref(0)", "ref(1)", "ref(11)", "ref(111)"} <= held


def test_each_language_is_printed_as_itself(session: Session) -> None:
    for message in (Script(sample(ONE), "tvmscript"), Script(Program(SMALL), "relay")):
        reply = session.request(message)
        assert isinstance(reply, Failure)
        assert reply.problems


def test_the_version_of_tvm_decides_the_spelling(session: Session) -> None:
    new = ask(session, Script(Program(SMALL), tvm="0.27")).text
    old = ask(session, Script(Program(SMALL), tvm="0.25")).text
    assert new == ask(session, Script(Program(SMALL))).text == rc.script(rc.parse(SMALL), tvm="0.27")
    assert old == rc.script(rc.parse(SMALL), tvm="0.25")
    assert rc.structural_equal(rc.parse(old), rc.parse(new))


def test_a_name_of_the_other_language_is_not_believed(session: Session) -> None:
    assert ask(session, Open(Program(SMALL, "even_odd.relay"))).dialect.startswith("Relax")
    assert ask(session, Open(Program(sample(ONE).text, "module.py"))).dialect == "Relay 0.0.5"


def test_an_operator_shows_its_attributes_and_uses(session: Session) -> None:
    that = sample("relay/conv_bn_relu.relay")
    graph = ask(session, GraphOf(that, 0, "main"))
    node = next(item.node for item in graph.nodes if item.title == "nn.conv2d")
    model = ask(session, Inspect(that, node))
    rows = {row.label: "".join(part.text for part in row.value) for section in model.sections for row in section.rows}
    assert rows["Type"].startswith("Tensor[(1, 8, 8, 8), float32]")
    assert rows["Operator"] == "nn.conv2d"
    assert rows["channels"] == "8"
    uses = next(section for section in model.sections if section.title == "Used by")
    assert ["".join(part.text for part in row.value) for row in uses.rows] == ["nn.bias_add"]


def test_a_mark_of_a_device_analysis_is_shown(session: Session) -> None:
    that = sample("relay/context_analysis_log.relay")
    graph = ask(session, GraphOf(that, 0, "hd"))
    models = [ask(session, Inspect(that, item.node)) for item in graph.nodes]
    rows = [row for model in models for section in model.sections for row in section.rows if row.label == "Marked"]
    assert rows
    assert "cpu(0)" in rows[0].value[0].text


def test_a_type_that_a_comment_says_is_shown(session: Session) -> None:
    text = "def @main(%x: int32) {\n  %0 = exp(%x) /* ty=int32 */;\n  (%0, %0)\n}\n"
    that = Program(text, "m.relay")
    graph = ask(session, GraphOf(that, 0, "main"))
    node = next(item.node for item in graph.nodes if item.title == "exp")
    model = ask(session, Inspect(that, node))
    rows = {row.label: "".join(part.text for part in row.value) for section in model.sections for row in section.rows}
    assert rows["Noted type"] == "int32 in the text's comment"


def test_lists_and_other_data_are_written_to_an_archive() -> None:
    pair = AdtValue("Some", 0, (np.array(3),))
    result = (listed([1, 2]), pair, AdtValue("None", 1), RefValue(np.array(4)))
    with np.load(io.BytesIO(write_archive(result))) as archive:
        members = {name: archive[name].tolist() for name in archive.files}
    assert members == {
        "out_0_0": 1, "out_0_1": 2, "out_1_constructor": "Some", "out_1_0": 3, "out_2_constructor": "None", "out_3": 4,
    }  # fmt: skip
