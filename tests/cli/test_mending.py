"""`check --fix`: what diagnostics know to mend is written if that is safe, and shown as a patch."""

import json
from pathlib import Path

import pytest

from relax_core.cli import main
from relax_core.cli.integration.mending import applied, mended
from relax_core.engine.protocol import Check, Failure, Program
from relax_core.engine.session import Session
from relax_core.present.models import Problem

RIGHT = """# Ω
from tvm.script import ir as I, relax as R, tir as T

@I.ir_module
class Module:
    @T.prim_func
    def twice(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("b"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi] * T.float32(2)

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float16"):
        cls = Module
        y = R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor((4,), "float32"))
        z = R.nn.softmax(y, axis=0)
        return R.astype(z, "float16")
"""
RELAY = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32]) {
  add(%x, nn.relu(%x))
}
"""
# What is written wrong, and the mend: each alone leads back to the right text.
MISTAKES = {
    "an operator": ("R.nn.softmax", "R.nn.sofmax"),
    "an argument by name": ("axis=0", "axes=0"),
    "a dtype in a type": ('x: R.Tensor((4,), "float32")', 'x: R.Tensor((4,), "floot32")'),
    "a dtype as an argument": ('R.astype(z, "float16")', 'R.astype(z, "half")'),
    "a dtype of a buffer": ('B: T.Buffer((4,), "float32")', 'B: T.Buffer((4,), "float23")'),
    "a dtype as C calls it": ('out_sinfo=R.Tensor((4,), "float32")', 'out_sinfo=R.Tensor((4,), "float")'),
    "a variable": ("(y, ax", "(yy, ax"),
    "a function": ("cls.twice", "cls.twcie"),
    "a decorator": ("@R.function", "@R.fuction"),
    "a decorator of TIR": ("@T.prim_func", "@T.primfunc"),
    "an axis": ("T.axis.spatial", "T.axis.spacial"),
}


def wrong(*names: str) -> str:
    text = RIGHT
    for name in names:
        right, mistake = MISTAKES[name]
        assert text.count(right) == 1
        text = text.replace(right, mistake)
    return text


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "m.py"


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_mended(name: str) -> None:
    made = mended(Session(), Check(Program(wrong(name), "m.py")))
    assert not isinstance(made, Failure)
    assert (made.text, made.count) == (RIGHT, 1)


def test_all_are_mended_at_once_also_those_that_others_hid() -> None:
    made = mended(Session(), Check(Program(wrong(*MISTAKES), "m.py")))
    assert not isinstance(made, Failure)
    assert (made.text, made.count) == (RIGHT, len(MISTAKES))
    assert [item for item in made.problems if item.severity == "error"] == []


def test_relay_is_mended_as_well() -> None:
    made = mended(Session(), Check(Program(RELAY.replace("nn.relu(%x)", "nn.rellu(%xx)"), "m.relay")))
    assert not isinstance(made, Failure)
    assert made.text == RELAY


def test_a_guess_that_makes_another_error_is_not_safe() -> None:
    # The name that is close has another dtype: with it the call has an error that it did not have.
    text = """@I.ir_module
class Module:
    @R.function
    def main(weigh: R.Tensor((2,), "int8"), x: R.Tensor((3,), "float32")):
        y = R.add(x, weight)
        z = R.nn.rellu(x)
        return z
"""
    made = mended(Session(), Check(Program(text, "m.py")))
    assert not isinstance(made, Failure)
    assert (made.text, made.count) == (text.replace("rellu", "relu"), 1)


def test_the_file_is_written_and_the_patch_printed(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(wrong("an operator", "a variable"), encoding="utf-8")
    assert main(["check", "m.py", "--diff"]) == 0
    shown = capsys.readouterr()
    assert file.read_text(encoding="utf-8") == wrong("an operator", "a variable")
    assert main(["check", "m.py", "--fix"]) == 0
    written = capsys.readouterr()
    assert file.read_text(encoding="utf-8") == RIGHT
    assert written.out == shown.out
    assert "-        z = R.nn.sofmax(yy, axis=0)\n+        z = R.nn.softmax(y, axis=0)\n" in written.out
    assert written.out.endswith("m.py: no problems\n")
    assert written.err == "note: 2 mends in m.py\n"
    assert main(["check", "m.py", "--fix"]) == 0
    assert capsys.readouterr().out == "m.py: no problems\n"


def test_what_is_left_is_told(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = wrong("an operator").replace("(x,), out", "(qqq,), out")
    file.write_text(text, encoding="utf-8")
    assert main(["check", "m.py", "--fix", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["mended"] == 1
    assert found["patch"].startswith("--- a/m.py\n+++ b/m.py\n")
    assert [item["code"] for item in found["problems"] if item["severity"] == "error"] == ["RS001"]
    assert file.read_text(encoding="utf-8") == text.replace("sofmax", "softmax")


def test_a_text_keeps_the_ends_of_its_lines(file: Path) -> None:
    file.write_bytes(wrong("an operator").replace("\n", "\r\n").encode())
    assert main(["check", "m.py", "--fix"]) == 0
    assert file.read_bytes() == RIGHT.replace("\n", "\r\n").encode()


def test_a_text_keeps_the_tabs_before_its_lines(file: Path) -> None:
    file.write_text(wrong(*MISTAKES).replace("    ", "\t"), encoding="utf-8")
    assert main(["check", "m.py", "--fix"]) == 0
    assert file.read_text(encoding="utf-8") == RIGHT.replace("    ", "\t")


@pytest.mark.parametrize("path", ["-", "missing.py", "."])
@pytest.mark.parametrize("option", ["--fix", "--diff"])
def test_what_is_no_file_of_one_program_is_refused(
    path: str, option: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not file.exists()
    assert main(["check", path, option]) == 2
    assert "mend a file of one program" in capsys.readouterr().err


def test_several_mends_of_a_line_keep_their_places() -> None:
    problems = [
        Problem("error", "", "", line=1, column=1, end_line=1, end_column=3, fix="long"),
        Problem("error", "", "", line=1, column=5, end_line=1, end_column=6, fix=""),
        Problem("error", "", "", line=1, column=7, end_line=1, end_column=9, fix="x"),
    ]
    assert applied("ab, c cd\nef", problems) == "long,  x\nef"
