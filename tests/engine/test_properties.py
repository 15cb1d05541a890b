"""Properties of programs: each form on a program of which the value is known, and refusals, EN031, that say why."""

from pathlib import Path

import pytest

from relax_core.engine.properties.measures import MEASURES
from relax_core.engine.protocol import Program, PropertiesOf
from relax_core.engine.session import Session
from tests.engine.asking import ask
from tests.engine.programs import SAMPLES, sample

FUSED = "LegalizeOps, AnnotateTIROpPattern, FuseOps, FuseTIR"
LIBRARY = (SAMPLES / "patterns" / "dnnl.json").read_text(encoding="utf-8")
VALUES = [
    ("relax/mlp.py", "type of lv1", 'R.Tensor((4, 16), dtype="float32")'),
    ("relax/mlp.py", "shape of main.lv3", "(4, 3)"),
    ("relax/symbolic_shapes.py", "shape of both", "(k * n * 2,)"),
    ("relax/symbolic_shapes.py", "shape of y", "unknown"),
    ("relax/symbolic_shapes.py", "rank of y", "2"),
    ("relax/mlp.py", "dtype of lv", "float32"),
    ("relax/mlp.py", "number of bindings", "5"),
    ("relax/mlp.py", "number of R.matmul", "2"),
    ("relax/mlp.py", "number of dataflow blocks", "1"),
    ("tir/matmul.py", "number of loops in matmul", "3"),
    ("tir/matmul.py", "number of blocks in matmul", "1"),
    ("relax/mlp.py", "launches at the end", "5"),
    ("relax/mlp.py", "operator calls", "5"),
    ("errors/ty_matmul.py", "problem", "TY012"),
    ("relax/mlp.py", "problem line", "0"),
    ("relax/mlp.py", "line of lv3", "21"),
    ("relax/mlp.py", "failed pass", "none"),
    ("relax/mlp.py", "is LegalizeOps changing", "yes"),
    ("relax/mlp.py", "stage of LegalizeOps", "4"),
    ("relax/mlp.py", "number of R.add after LegalizeOps", "0"),
    ("relax/mlp.py", "number of R.add before LegalizeOps", "1"),
    ("relax/mlp.py", "value of lv1.shape[1]", "16"),
    ("relax/mlp.py", "value of isnan(gv)", "no"),
    ("relax/mlp.py", "outcome", "returned"),
    ("errors/jt_out_of_range.py", "outcome", "JT010"),
    ("relax/mlp.py", "stop line", "0"),
    ("relax/mlp.py", "order of lv3, lv, lv1", "lv, lv1, lv3"),
    ("relax/mlp.py", "first nan", "none"),
    ("relax/mlp.py", "depth", "1"),
    ("relax/mlp.py", "instruction 0 of main", "call vm.builtin.check_tensor_info in: %0, i2, c[0], c[1] dst: %void"),
    ("relay/devices.relay", "number of copies", "1"),
    ("relay/devices.relay", "devices unreached", "none"),
    ("gpu/race.py", "number of findings GP001", "1"),
    ("gpu/race.py", "first finding", "GP001"),
    ("gpu/race.py", "finding line", "14"),
    ("gpu/warp_sum.py", "first finding", "none"),
    ("gpu/warp_sum.py", "simulated result", "B = [ 1.2573969  1.4944047  9.275493  -1.157648 ]"),
    ("gpu/transpose.py", "worst bank conflict", "32"),
    ("lessons/stepping_a_reduction/row_sums.py", "number of statements", "15"),
    ("lessons/stepping_a_reduction/row_sums.py", "phase of statement 5", "init"),
    ("lessons/stepping_a_reduction/row_sums.py", "y[1] before statement 9", "18"),
    ("lessons/stepping_a_reduction/by_columns.py", "statement of end; back write y[0]", "12"),
    ("relax/mlp.py", "call of add", "14"),
    ("relax/mlp.py", "shown statement", "none"),
    ("relax/mlp.py", "shown pass", "AttachGlobalSymbol"),
    ("relax/mlp.py", "shown line", "0"),
    ("relax/mlp.py", "node of lv2", "0/main/16"),
]


@pytest.mark.parametrize(("path", "text", "value"), VALUES, ids=lambda item: item)
def test_a_property_has_its_value(session: Session, path: str, text: str, value: str) -> None:
    (found,) = ask(session, PropertiesOf(sample(path), (text,))).values
    assert (found.problem, found.text) == ("", value)


def test_figures_of_a_run_are_those_of_its_trace(session: Session) -> None:
    asked = ("number of events", "time of lv2", "result[0, 0]", "value of gv[0, 0]", "number of entries of main")
    events, time, *values, entries = ask(session, PropertiesOf(sample("relax/mlp.py"), asked)).values
    assert 0 < int(time.text) < int(events.text)
    assert values[0] == values[1]
    assert entries.text == "1"


def test_a_run_on_signed_inputs_tells_programs_apart_that_are_alike_on_positive_ones(session: Session) -> None:
    text = sample("lessons/a_pass_by_hand/saved.py").text
    other = text.replace("R.add(b, b)", "R.add(b, a)")
    asked = ("result", "signed result")
    one, two = (ask(session, PropertiesOf(Program(item), asked)).values for item in (text, other))
    assert one[0] == two[0]
    assert one[1] != two[1]
    assert not one[1].problem


def test_the_screen_is_asked_with_now(session: Session) -> None:
    program = sample("relax/mlp.py")
    asked = ("value of lv2[0, 0] now", "shown time", "shown pass", "depth now")
    (time,) = ask(session, PropertiesOf(program, ("time of lv2",))).values
    early = ask(session, PropertiesOf(program, asked, stage=4, time=1)).values
    late = ask(session, PropertiesOf(program, asked, time=int(time.text))).values
    assert early[0].problem
    assert not late[0].problem
    assert [item.text for item in early[1:]] == ["1", "LegalizeOps", "1"]
    assert late[1].text == time.text


def test_regions_and_launches_follow_the_pipeline_and_the_tables(session: Session) -> None:
    text = sample("relax/mlp.py").text
    asked = ("launches after LegalizeOps", "launches after FuseTIR")
    before, after = ask(session, PropertiesOf(Program(text, pipeline=FUSED), asked)).values
    assert int(after.text) < int(before.text)
    relay = sample("relay/conv_bn_relu.relay")
    asked = ("number of matches of dnnl.conv2d_relu", "number of matches of none")
    one, none = ask(session, PropertiesOf(Program(relay.text, relay.name, tables=LIBRARY), asked)).values
    assert one.text.isdecimal()
    assert "no pattern `none`" in none.problem
    (regions,) = ask(
        session, PropertiesOf(Program(relay.text, relay.name, tables=LIBRARY), ("number of regions",))
    ).values
    assert int(regions.text) > 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("colour of lv", "is no property"),
        ("shape of none", "no variable `none`"),
        ("launches after FuseOps", "runs `FuseOps` 0 times (it has Normalize"),
        ("value of lv[9, 9]", "9"),
        ("result[9, 9]", "no element [9, 9]"),
        ("number of loops in none", "no prim func `none`"),
        ("instruction 999 of main", "instructions"),
        ("call of none", "calls no kernel `none`"),
        ("phase of statement 9999", "statements"),
        ("phase of statement x", "`x` is none"),
        ("lv before statement 3", "no statement of `matmul` knows `lv`"),
        ("statement of write nothing[0]", "nothing"),
    ],
)
def test_a_property_without_a_value_says_why(session: Session, text: str, words: str) -> None:
    good, bad = ask(session, PropertiesOf(sample("relax/mlp.py"), ("shape of lv", text))).values
    assert good.text == "(4, 16)"
    assert words in bad.problem


def test_every_form_is_told_in_the_guide_and_tried() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "lessons.md").read_text(encoding="utf-8")
    for measure in MEASURES:
        assert f"| `{measure.form.replace('|', ', ')}` | {measure.meaning} |" in guide, measure.form
