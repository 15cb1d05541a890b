"""What every pass leaves can be checked, also where it is one of the library, and the first that errs is named."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import relax_core as rc
from relax_core.cli import main
from relax_core.engine.programs.program import Program
from relax_core.engine.protocol import Failure, Opt, Progress
from relax_core.engine.session import Session
from relax_core.ir.expr import Var
from relax_core.ir.module import IRModule
from relax_core.passes import pipeline
from relax_core.passes.core import Pass, Stage
from relax_core.passes.own import OWN_PASSES
from tests.passes.programs import parse
from tests.passes.test_failed_passes import TEXT, main_with, with_body

SAMPLES = sorted(
    item
    for folder in ("relax", "relay", "tir", "prim", "seeds")
    for item in (Path(__file__).parents[2] / "samples" / folder).iterdir()
)


def trusted(stages: tuple[Stage, ...], number: int) -> tuple[Stage, ...]:
    """Return stages of which the one at `number` left a module with a variable that nothing binds, and was trusted."""
    module = main_with(stages[number].after, lambda function: with_body(function, body=Var("nobody")))
    return (*stages[:number], replace(stages[number], after=module), *stages[number + 1 :])


@pytest.mark.parametrize("path", SAMPLES, ids=[item.name for item in SAMPLES])
def test_what_the_default_pipeline_leaves_of_a_sample_is_well_formed(path: Path) -> None:
    try:
        stages = rc.run_pipeline(rc.parse(path.read_text(encoding="utf-8"), name=path.name))
    except rc.CompileError:
        pytest.skip("the sample shows errors")
    assert rc.verify(stages) == stages


def test_the_first_pass_that_left_an_ill_formed_module_is_the_last_stage() -> None:
    stages = rc.run_pipeline(parse(TEXT))
    first, second, *_ = (number for number, stage in enumerate(stages) if stage.is_changed)
    found = rc.verify(trusted(trusted(stages, second), first))
    assert found[:-1] == stages[:first]
    assert found[-1].is_failed
    assert found[-1].pass_name == stages[first].pass_name
    assert [item.code for item in found[-1].diagnostics] == ["PS017", "WF002"]
    assert found[-1].rejected is not None
    assert found[-1].after is stages[first].before


def test_a_verification_is_cancelled_between_stages() -> None:
    stages = rc.run_pipeline(parse(TEXT))
    with pytest.raises(rc.CompileError, match="PS009"):
        rc.verify(stages, is_cancelled=lambda: True)


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a pass that is trusted as one of the library is, and leaves a variable that nothing binds."""

    def run(module: IRModule) -> IRModule:
        return main_with(module, lambda function: with_body(function, body=Var("nobody")))

    rc.register_pass(run, name="Forgetful")
    is_of_library = pipeline.is_of_library

    def is_trusted(pass_: Pass) -> bool:
        return pass_.name == "Forgetful" or is_of_library(pass_)

    monkeypatch.setattr(pipeline, "is_of_library", is_trusted)
    yield "Forgetful"
    OWN_PASSES.drop(("Forgetful",))


@pytest.mark.parametrize("is_verified", [False, True])
def test_the_command_line_stops_where_it_is_told_to_verify(
    forgetful: str, is_verified: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "m.py"
    file.write_text(rc.script(parse(TEXT)), encoding="utf-8")
    options = ["--in-process", "--passes", f"Normalize, {forgetful}", *(["--verify"] if is_verified else [])]
    assert main(["opt", *options, str(file)]) == int(is_verified)
    assert (f"{forgetful} left a module that is ill-formed" in capsys.readouterr().err) == is_verified


@pytest.mark.parametrize("is_verified", [False, True])
def test_a_program_says_whether_its_passes_are_verified(forgetful: str, is_verified: bool) -> None:
    text = rc.script(parse(TEXT))
    said: list[Progress] = []
    program = Program(text, pipeline=f"Normalize, {forgetful}, ToNonDataflow", verify=is_verified)
    stages = Session().request(Opt(program), progress=said.append)
    assert not isinstance(stages, Failure)
    names = [item.name for item in stages.stages]
    assert names[-1] == (forgetful if is_verified else "ToNonDataflow")
    assert any("PS017" in item for item in stages.stages[-1].problems) == is_verified
    assert any(item.text == f"Checking what {forgetful} left" for item in said) == is_verified
