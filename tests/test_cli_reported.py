"""`--as-in reported`: `run`, `opt`, `bisect` and `compare` with the bugs that were reported."""

from pathlib import Path

import pytest

from relax_core.cli import main

SEEDS = Path(__file__).resolve().parent.parent / "samples" / "seeds"
CLOSURE, CAPTURING = (str(SEEDS / f"{name}.py") for name in ("print_closure", "print_closure2"))
REFUSAL = ":15:9: error[BC001]"


def test_run_fails_at_the_local_function_and_returns_without(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", CLOSURE, "--as-in", "reported"]) == 1
    assert REFUSAL in capsys.readouterr().err
    assert main(["run", CLOSURE]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "<closure>"


def test_run_of_a_closure_that_captures_returned_in_2022_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", CAPTURING, "--as-in", "reported"]) == 0
    assert "<closure>" in capsys.readouterr().out


def test_bisect_and_compare_stop_at_the_pass_behind_which_nothing_was_built(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bisect", CLOSURE, "--as-in", "reported"]) == 4
    assert "2 ? LambdaLift            not comparable, because it does not build: BC001" in capsys.readouterr().out
    assert main(["bisect", CLOSURE]) == 0
    stages = ["--stages", "1", "2"]
    assert main(["compare", CLOSURE, *stages, "--as-in", "reported"]) == 4
    assert main(["compare", CLOSURE, *stages]) == 0


def test_stages_of_another_compiler_have_no_bugs_of_our_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bisect", str(SEEDS.parent / "recordings" / "head.rxt"), "--as-in", "reported"]) == 2
    assert "--as-in is of our own passes" in capsys.readouterr().err


def test_opt_prints_what_the_passes_made_and_what_the_code_generator_refuses(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["opt", CLOSURE, "--passes", "LambdaLift", "--as-in", "reported"]) == 1
    said = capsys.readouterr()
    assert "closure = lifted_func_0" in said.out
    assert REFUSAL in said.err
    assert main(["opt", CAPTURING, "--passes", "LambdaLift", "--as-in", "reported"]) == 0
    said = capsys.readouterr()
    assert "R.make_closure(lifted_func_0, (x,))" in said.out
    assert said.err == ""


def test_opt_has_the_analysis_of_devices_as_reported(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(SEEDS.parent / "relay" / "map_three_times.relay")
    main(["opt", path, "--passes", "PlanDevices", "--as-in", "reported"])
    assert "has no devices: never visited" in capsys.readouterr().err
    main(["opt", path, "--passes", "PlanDevices"])
    assert "never visited" not in capsys.readouterr().err


def test_a_recorded_run_is_shown_as_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded = str(tmp_path / "run.rxt")
    assert main(["run", CLOSURE, "--trace", recorded]) == 0
    capsys.readouterr()
    assert main(["run", recorded, "--as-in", "reported"]) == 2
    assert "--as-in does not apply" in capsys.readouterr().err
