"""The text of a pipeline, what a run records, and how it fails."""

from itertools import pairwise

import pytest

from relax_core.diagnostics import CompileError
from relax_core.passes.library import PASSES
from relax_core.passes.options import options_text
from relax_core.passes.pipeline import (
    DEFAULT_PIPELINE,
    parse_pipeline,
    provider,
    run_pipeline,
)
from relax_core.passes.properties import PROPERTIES
from tests.passes.programs import parse, program


def test_every_needed_property_is_given_by_a_pass() -> None:
    for item in PASSES.values():
        for name in item.needs:
            assert name in PROPERTIES
            assert provider(name).name != item.name


def test_options_are_read_as_literals() -> None:
    text = "LambdaLift(names='2022'), LegalizeOps(custom={'relax.add': 'packed'}, functions=['main'])"
    lift, legalize = parse_pipeline(text)
    assert lift.options.names == "2022"
    assert legalize.options.custom == (("relax.add", "packed"),)
    assert legalize.options.functions == ("main",)
    assert options_text(lift.options) == "(names='2022')"
    assert legalize.text == "LegalizeOps(custom={'relax.add': 'packed'}, functions=['main'])"


def test_a_pipeline_may_force_the_dialect() -> None:
    assert parse_pipeline("relax.LambdaLift")[0].pass_ is PASSES["relax", "LambdaLift"]


def test_an_empty_pipeline_has_no_steps() -> None:
    assert parse_pipeline("  ") == ()


@pytest.mark.parametrize(
    ("text", "code", "place", "hint"),
    [
        ("Normalize, LamdaLift", "PS001", "LamdaLift", "did you mean LambdaLift?"),
        ("Normalize, (", "PS001", "", "write passes like"),
        ("Normalize()()", "PS001", "Normalize()", ""),
        ("LambdaLift(nmes='tvm')", "PS002", "nmes='tvm'", "did you mean names?"),
        ("FuseOps(max_depth='x')", "PS002", "max_depth='x'", ""),
        ("LegalizeOps(operators=[None])", "PS002", "operators=[None]", ""),
        ("LegalizeOps(custom=[1])", "PS002", "custom=[1]", ""),
        ("Reindex(block='sum', buffer='A')", "PS002", "buffer='A'", "the default is ('read', 0)"),
        ("TransformLayout(block='sum', buffer=('in', 0))", "PS002", "buffer=('in', 0)", "the default is ('write', 0)"),
        ("LambdaLift('tvm')", "PS002", "'tvm'", "write names='tvm'"),
        ("LambdaLift(names='2020')", "PS002", "names='2020'", ""),
        ("Normalize(deep=1)", "PS002", "deep=1", "Normalize has no options"),
        ("LegalizeOps(functions=open('x'))", "PS002", "open('x')", "use strings"),
        ("LegalizeOps(operators=['ad'])", "PS002", "operators=['ad']", ""),
        ("Normalize,\n  Über", "PS001", "Über", ""),
    ],
)
def test_a_wrong_pipeline_is_a_located_diagnostic(text: str, code: str, place: str, hint: str) -> None:
    with pytest.raises(CompileError) as caught:
        parse_pipeline(text)
    (found,) = caught.value.diagnostics
    assert found.code == code
    assert found.span is not None
    assert found.span.text == place or not place
    assert hint in found.hint


def test_an_unmet_need_names_the_pass_that_gives_it() -> None:
    stages = run_pipeline(program("capture"), "VMShapeLower")
    (found,) = stages[-1].diagnostics
    assert found.code == "PS003"
    assert "LambdaLift" in found.hint
    assert found.span is not None
    assert found.span.text.lstrip().startswith(("@R.function", "def scaled", "scaled"))


def test_a_failed_pass_ends_the_run() -> None:
    stages = run_pipeline(program("capture"), "Normalize, VMShapeLower, LambdaLift")
    assert [item.pass_name for item in stages] == ["Normalize", "VMShapeLower"]
    assert stages[-1].is_failed
    assert stages[-1].after is stages[-1].before


def test_progress_is_called_before_each_pass() -> None:
    calls: list[tuple[int, int, str]] = []
    run_pipeline(
        program("capture"), "Normalize, LambdaLift", progress=lambda i, count, name, _: calls.append((i, count, name))
    )
    assert calls == [(0, 2, "Normalize"), (1, 2, "LambdaLift")]


def test_a_run_can_be_cancelled() -> None:
    seen: list[str] = []
    with pytest.raises(CompileError) as caught:
        run_pipeline(
            program("capture"),
            "Normalize, LambdaLift",
            progress=lambda _i, _n, name, _s: seen.append(name),
            is_cancelled=lambda: bool(seen),
        )
    assert seen == ["Normalize"]
    assert [item.code for item in caught.value.diagnostics] == ["PS009"]


def test_a_module_with_errors_is_refused() -> None:
    module = parse('    @R.function\n    def main(x: R.Tensor((3, 4), "float32")):\n        return R.matmul(x, x)\n')
    with pytest.raises(CompileError):
        run_pipeline(module)


def test_stages_hand_the_module_on() -> None:
    stages = run_pipeline(program("capture"))
    assert len(stages) == len(DEFAULT_PIPELINE.split(","))
    for before, after in pairwise(stages):
        assert before.after is after.before
    assert any(item.is_changed for item in stages)
