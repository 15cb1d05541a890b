"""The command line, end to end, through the limited worker and in this process."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import relax_core
from relax_core.cli import main
from tests.engine.programs import FOUR_ERRORS, HUGE, RECURSIVE, SAMPLES, SMALL

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def small(tmp_path: Path) -> str:
    path = tmp_path / "small.py"
    path.write_text(SMALL, encoding="utf-8")
    return str(path)


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "m.py"
    path.write_text(text, encoding="utf-8")
    return str(path)


def run(*arguments: str, input: str | None = None) -> "subprocess.CompletedProcess[str]":
    command = (sys.executable, "-m", "relax_core", *arguments)
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False, input=input)


@pytest.mark.parametrize("place", [(), ("--in-process",)], ids=["worker", "in process"])
def test_a_sound_program_goes_through_every_command(
    small: str, tmp_path: Path, place: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.savez(tmp_path / "in.npz", in_0=x)
    assert main(["check", small, *place]) == 0
    assert capsys.readouterr().out == f"{small}: no problems\n"
    assert main(["script", small, "--passes", "LegalizeOps", *place]) == 0
    assert "R.call_tir" in capsys.readouterr().out
    assert main(["opt", small, "--passes", "Normalize, LegalizeOps", "--print-after-all", *place]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if line.startswith("# ") and line[2].isdigit()]
    out = tmp_path / "out.npz"
    assert main(["run", small, "--inputs", str(tmp_path / "in.npz"), "--outputs", str(out), *place]) == 0
    assert capsys.readouterr().out == f"{x + x}\n"
    with np.load(out, allow_pickle=False) as loaded:
        np.testing.assert_array_equal(loaded["out"], x + x)
    assert main(["asm", small, *place]) == 0
    assert "@main:" in capsys.readouterr().out
    assert main(["asm", small, "--as", "llvm", *place]) == 0
    assert "define" in capsys.readouterr().out
    assert main(["asm", small, "--as", "asm", *place]) == 0
    assert "@function" in capsys.readouterr().out


def test_stages_are_objects_one_per_line(small: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["opt", small, "--passes", "Normalize, LegalizeOps", "--json", "--in-process"]) == 0
    stages = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [stage["name"] for stage in stages] == ["Source", "Normalize", "LegalizeOps"]


@pytest.mark.parametrize("spelling", ["2026", "2025", "2023", "2022"])
def test_what_is_printed_is_read_again(spelling: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seed = str(SAMPLES / "seeds" / "my_ir_module.py")
    assert main(["script", seed, "--spelling", spelling, "--in-process"]) == 0
    text = capsys.readouterr().out
    first, second = relax_core.parse(Path(seed).read_text(encoding="utf-8")), relax_core.parse(text)
    assert relax_core.structural_equal(first, second)


def test_what_was_printed_is_read_back(small: str, capsys: pytest.CaptureFixture[str]) -> None:
    for options in ((), ("--spelling", "2022"), ("--passes", "LegalizeOps")):
        assert main(["script", small, "--read-back", *options]) == 0
        assert capsys.readouterr().err == f"{small}: printed and read back: equal\n"
    assert main(["script", small, "--read-back", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["read_back"] == {
        "is_equal": True,
        "words": "printed and read back: equal",
    }
    assert main(["script", small, "--read-back", "--dialect", "ast"]) == 2
    assert "--dialect ast is none" in capsys.readouterr().err


def test_the_tree_is_printed(small: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["script", small, "--dialect", "ast", "--in-process"]) == 0
    assert "Call(" in capsys.readouterr().out


def _title(value: tuple[str, ...] | int) -> str:
    return " ".join(value) or "nothing" if isinstance(value, tuple) else str(value)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ((), 2),
        (("unknown",), 2),
        (("check",), 2),
        (("check", "/nothing/here.py"), 2),
        (("run", "{file}", "--seed", "x"), 2),
        (("run", "{file}", "--inputs", "a", "--seed", "1"), 2),
        (("opt", "{file}"), 2),
        (("--help",), 0),
        (("run", "{file}", "--entry", "other"), 1),
        (("opt", "{file}", "--passes", "Nothing"), 1),
        (("script", "{file}", "--dialect", "relay"), 1),
        (("asm", "{file}", "--kernel", "other"), 1),
    ],
    ids=_title,
)
def test_the_exit_status_says_what_was_wrong(arguments: tuple[str, ...], status: int, small: str) -> None:
    given = [word.replace("{file}", small) for word in arguments]
    assert main([*given, "--in-process"] if given and given[0] in ("run", "opt", "script", "asm") else given) == status


def test_every_error_is_rendered_with_place_excerpt_and_hint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, FOUR_ERRORS)
    assert main(["check", path, "--in-process"]) == 1
    said = capsys.readouterr().out
    for line in (7, 8, 9, 10):
        assert f"{path}:{line}:" in said
    assert "error[TY" in said
    assert "^^^" in said
    assert "hint: " in said


def test_several_files_are_checked_and_the_worst_counts(
    small: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = written(tmp_path, FOUR_ERRORS)
    assert main(["check", small, wrong, "--in-process"]) == 1
    assert capsys.readouterr().out.startswith(f"{small}: no problems\n{wrong}:7:")


@pytest.mark.parametrize("text", [HUGE, RECURSIVE], ids=["memory", "recursion"])
def test_a_limit_has_a_status_of_its_own(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, text)
    assert main(["run", path]) == 3
    assert capsys.readouterr().err.startswith(f"{path}:")


def test_a_text_is_read_from_standard_input() -> None:
    ran = run("check", "-", input=SMALL)
    assert (ran.returncode, ran.stdout) == (0, "<stdin>: no problems\n")


def test_the_seed_runs_to_its_located_diagnostic() -> None:
    ran = run("run", "samples/seeds/my_ir_module.py")
    assert ran.returncode == 1
    assert ran.stderr.startswith("samples/seeds/my_ir_module.py:")
    assert "error[JT010]: Out of range. `A[i, k]`" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_closures_print_as_closures() -> None:
    ran = run("run", "samples/seeds/print_closure2.py")
    assert (ran.returncode, ran.stdout) == (0, "<closure>\n()\n")


def test_a_closed_pipe_is_no_error(small: str) -> None:
    command = f"{sys.executable} -m relax_core asm {small} --in-process | true; exit ${{PIPESTATUS[0]}}"
    ran = subprocess.run(("bash", "-c", command), capture_output=True, text=True, cwd=ROOT, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_what_is_not_text_is_bad_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.py"
    path.write_bytes(b"\xff\xfe\x00")
    assert main(["check", str(path)]) == 2
    assert "is not UTF-8 text" in capsys.readouterr().err


def test_the_public_names_are_there() -> None:
    for name in relax_core.__all__:
        assert callable(getattr(relax_core, name))


def test_the_public_interface_goes_from_text_to_result() -> None:
    module = relax_core.parse(SMALL, name="m.py")
    assert not [item for item in relax_core.check(module) if item.severity == "error"]
    assert relax_core.structural_equal(relax_core.parse(relax_core.script(module)), module)
    assert relax_core.run_pipeline(module, "LambdaLift, LegalizeOps")[-1].pass_name == "LegalizeOps"
    executable = relax_core.build(module)
    assert "@main:" in executable.as_text()
    x = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(relax_core.VirtualMachine(executable)["main"](x), x + x)
    with pytest.raises(relax_core.CompileError) as caught:
        relax_core.parse(FOUR_ERRORS)
    assert all(isinstance(item, relax_core.Diagnostic) for item in caught.value.diagnostics)


LOOP = str(SAMPLES / "relax" / "loop.py")


def test_a_run_stops_at_breakpoints_where_the_condition_holds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", LOOP, "--break", "16", "--when", "i > 3", "--stops", "2", "--in-process"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{LOOP}:16: time ")
    assert said.count("\n#0 main_loop, line 16\n") == 2
    assert said.endswith("4 stops, 2 shown; the places were met 8 times in 212 events\n")


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("--break", "x"), 2, "error: --break takes a line"),
        (("--when", "i >"), 1, "error[VM030]"),
        (("--sizes", "n:4"), 2, "error: --sizes takes names"),
        (("--sizes", "n=4,n=5"), 2, "error: --sizes gives n twice"),
        (("--sizes", "n=4", "--inputs", "in.npz"), 2, "error: --sizes and --inputs do not go together"),
        (("--profile", "--dump", "v.npz"), 2, "error: --profile and --dump do not go together"),
        (("--stop-at-nan", "--outputs", "v.npz"), 2, "error: stops and --outputs do not go together"),
    ],
    ids=[
        "a place that is none",
        "a condition that is none",
        "sizes that are none",
        "a size twice",
        "sizes of an archive",
        "two tables",
        "stops and a result",
    ],
)
def test_what_cannot_be_read_is_said(
    arguments: tuple[str, ...], status: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", LOOP, *arguments, "--in-process"]) == status
    assert words in capsys.readouterr().err


def test_a_run_stops_behind_what_wrote_a_nan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, SMALL.replace("y = R.add(x, x)", "a = R.subtract(x, x)\n        y = R.divide(a, a)"))
    assert main(["run", path, "--stop-at-nan", "--in-process"]) == 1
    said = capsys.readouterr().out
    assert f"{path}:9: time " in said
    assert "[[nan nan nan] …]" in said
    assert main(["run", LOOP, "--stop-at-nan", "--in-process"]) == 0
    assert capsys.readouterr().out == "0 stops, 0 shown in 212 events\n"


def test_bisection_and_comparison_tell_by_their_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, again, other = (tmp_path / name for name in ("first.py", "again.py", "other.py"))
    for path, text in ((first, SMALL), (again, SMALL), (other, SMALL.replace("R.add", "R.multiply"))):
        path.write_text(text, encoding="utf-8")
    assert main(["bisect", str(first), "--in-process"]) == 0
    assert capsys.readouterr().out.endswith("`main` computes the same after all 13 stages: 1 result compared\n")
    assert main(["bisect", *map(str, (first, again, other)), "--values", "--in-process"]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[2].split()[:2] == ["2", "x"]
    assert "1 of 1 value differs; result: different" in said[-1]
    assert main(["compare", str(first), "--stages", "0", "5", "--in-process"]) == 0
    assert main(["compare", str(first), str(other), "--in-process"]) == 1
    assert main(["compare", str(first)]) == 2
    for path in (first, other):
        assert main(["run", str(path), "--dump", str(path.with_suffix(".npz")), "--in-process"]) == 0
    archives = [str(path.with_suffix(".npz")) for path in (first, other)]
    assert main(["compare", *archives]) == 1
    assert main(["compare", archives[0], archives[0]]) == 0
    capsys.readouterr()


def test_a_profile_is_a_table_of_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", LOOP, "--profile", "--in-process"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0].split()[:4] == ["share", "us", "runs", "line"]
    assert any(row.split()[3] == "16" and row.split()[2] == "8" for row in rows[1:])


def test_a_stop_shows_what_a_closure_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tensor = 'R.Tensor((2,), "float32")'
    text = f"""@R.function
def make(held: {tensor}):
    @R.function
    def inner(y: {tensor}) -> {tensor}:
        return R.multiply(y, held)
    return inner
@R.function
def main(x: {tensor}):
    f = make(x)
    y = f(x)
    return y
"""
    assert main(["run", written(tmp_path, text), "--break", "10", "--in-process"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (at,) = (number for number, line in enumerate(lines) if "1 capture" in line)
    assert lines[at + 1].split()[:3] == ["held", "(2,)", "f32"]
