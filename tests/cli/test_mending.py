"""`check --fix`: what diagnostics know to mend is written if that is safe, and shown as a patch."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from relax_core.cli import main
from relax_core.cli.integration.mending import applied, mended
from relax_core.engine.protocol import Check, Failure, Program
from relax_core.engine.session import Session
from relax_core.present.models import Mend, Problem

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

    @T.prim_func
    def copy(a: T.handle, B: T.Buffer((4,), "float32")):
        A = T.match_buffer(a, (4,), "float32", strides=[1])
        for i in range(4):
            B[i] = A[i]

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float16"):
        cls = Module
        y = R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor((4,), "float32"))
        z = R.nn.softmax(y, axis=0)
        return R.astype(z, "float16")

    @R.function(pure=False)
    def prints(x: R.Tensor((4, 3), "float32"), h: R.Tensor((4, 3), dtype="float16")):
        with R.dataflow():
            a = R.matmul(x, R.permute_dims(x))
            b = R.nn.softmax(data=R.add(R.astype(h, "float32"), x))
            c = x @ R.permute_dims(x)
            k = T.int64()
            d: R.Tensor((k, 3), "float32") = R.match_cast(b, R.Tensor((k, 3), "float32"))
            R.output(a, d, c)
        with R.dataflow():
            e = R.exp(a)
            R.output(e)
        f = R.concat((e, R.astype(h, "float32")), axis=1)
        R.print(f)
        return R.multiply(R.tanh(c), e)
"""
RELAY = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32]) {
  add(%x, nn.relu(%x))
}
"""
# What is written wrong, and the mend: each alone leads back to the right text.
MISTAKES = {
    "an operator": ("R.nn.softmax(y", "R.nn.sofmax(y"),
    "an operator as others call it": ("R.multiply(", "R.mul("),
    "an operator in another name space": ("R.tanh(", "R.nn.tanh("),
    "an operator that others call otherwise, misspelt": (
        "a = R.matmul(x, R.permute_dims(x))",
        "a = R.matmul(x, R.tranpose(x))",
    ),
    "an argument by name": ("axis=0", "axes=0"),
    "an argument of a type by name": ('dtype="float16")):', 'dtyp="float16")):'),
    "an argument of a buffer by name": ("strides=[1]", "stride=[1]"),
    "a dtype in a type": ('main(x: R.Tensor((4,), "float32")', 'main(x: R.Tensor((4,), "floot32")'),
    "a dtype as an argument": ('R.astype(z, "float16")', 'R.astype(z, "half")'),
    "a dtype of a buffer": (
        'B: T.Buffer((4,), "float32")):\n        for',
        'B: T.Buffer((4,), "float23")):\n        for',
    ),
    "a dtype as C calls it": ('out_sinfo=R.Tensor((4,), "float32")', 'out_sinfo=R.Tensor((4,), "float")'),
    "a variable": ("(y, ax", "(yy, ax"),
    "a function": ("cls.twice", "cls.twcie"),
    "a decorator": ("@R.function\n", "@R.fuction\n"),
    "a decorator of TIR": ("@T.prim_func\n    def twice", "@T.primfunc\n    def twice"),
    "an axis": ("T.axis.spatial", "T.axis.spacial"),
    "a function without a decorator": ("    @R.function\n", ""),
    "a prim func without a decorator": ("    @T.prim_func\n    def copy", "    def copy"),
    "a class without a decorator": ("@I.ir_module\n", ""),
    "a dimension that is not declared": ("            k = T.int64()\n", ""),
    "a variable that a dataflow block does not give out": ("R.output(a, d, c)", "R.output(a, d)"),
    "a dataflow block without outputs": ("            R.output(e)\n", ""),
    "a matrix that is not transposed": ("a = R.matmul(x, R.permute_dims(x))", "a = R.matmul(x, x)"),
    "a matrix behind @ that is not transposed": ("x @ R.permute_dims(x)", "x @ x"),
    "two dtypes": ('R.add(R.astype(h, "float32"), x)', "R.add(h, x)"),
    "two dtypes in a tuple": ('(e, R.astype(h, "float32"))', "(e, h)"),
    "side effects": ("@R.function(pure=False)", "@R.function"),
    "side effects of a function that is declared pure": ("(pure=False)", "(pure=True)"),
    "a colon": ("for i in range(4):\n            with", "for i in range(4)\n            with"),
    "a comma": ("(4, i)", "(4 i)"),
    "a closing bracket": ("R.exp(a)", "R.exp(a"),
}
# Of these another one says something else about the same words, or they hide more than a mend is tried for.
APART = (
    "an operator that others call otherwise, misspelt",
    "a decorator",
    "side effects of a function that is declared pure",
)


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
    together = [name for name in MISTAKES if name not in APART]
    made = mended(Session(), Check(Program(wrong(*together), "m.py")))
    assert not isinstance(made, Failure)
    assert (made.text, made.count) == (RIGHT, len(together))
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


def test_files_of_a_folder_are_called_by_their_paths_in_patches(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models = file.parent / "models"
    for name in ("a/m.py", "b/m.py"):
        (models / name).parent.mkdir(parents=True)
        (models / name).write_text(wrong("an operator"), encoding="utf-8")
    assert main(["check", "models", "--diff"]) == 0
    assert "\n--- a/models/b/m.py\n+++ b/models/b/m.py\n" in capsys.readouterr().out
    assert main(["check", str(models / "**/*.py"), "--diff"]) == 0
    patch = "".join(re.findall("^(?!.*: no problems$).*\n", capsys.readouterr().out, re.MULTILINE))
    assert patch.startswith("--- a/a/m.py\n+++ b/a/m.py\n")
    subprocess.run(["git", "apply"], cwd=models, input=patch, text=True, check=True)
    assert [(models / name).read_text(encoding="utf-8") for name in ("a/m.py", "b/m.py")] == [RIGHT, RIGHT]


def test_a_text_keeps_the_ends_of_its_lines(file: Path) -> None:
    file.write_bytes(wrong("an operator").replace("\n", "\r\n").encode())
    assert main(["check", "m.py", "--fix"]) == 0
    assert file.read_bytes() == RIGHT.replace("\n", "\r\n").encode()


def test_a_text_keeps_the_tabs_before_its_lines(file: Path) -> None:
    file.write_text(wrong(*(name for name in MISTAKES if name not in APART)).replace("    ", "\t"), encoding="utf-8")
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
        mended_at("long", 1, 1, 3),
        Problem("error", "", "", line=1, column=5, end_line=1, end_column=6),
        mended_at("x", 1, 7, 9),
        mended_at("n\n", 2, 1, 1),
        mended_at("m\n", 2, 1, 1),
    ]
    assert applied("ab, c cd\nef", problems) == "long, c x\nn\nm\nef"


def mended_at(text: str, line: int, column: int, end: int) -> Problem:
    return Problem("error", "", "", mend=Mend(text, "", line, column, line, end))
