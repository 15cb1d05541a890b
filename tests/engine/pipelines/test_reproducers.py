"""Reproducers: files of tvm and numpy that exit with 1 while the bug is there and with 0 without it."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.cli import main
from relax_core.diagnostics import CompileError
from relax_core.engine.debug.replies import Bisection, StageResult
from relax_core.engine.pipelines.reproducers.reduce import functions_in, only, reached
from relax_core.engine.pipelines.reproducers.reproducer import Case, Form, reproducer_of
from tests.engine.pipelines.stage_texts import ADD, SCALED, TWICE, WRONG, dump

SYMBOLIC = """# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor((n, 3), dtype="float32"),
        y: R.Tuple(R.Tensor((n,), dtype="int32"), R.Tensor((3,), dtype="float32")),
        s: R.Shape([2]),
    ) -> R.Tuple(R.Tensor((n, 3), dtype="float32"), R.Tensor((n,), dtype="int32")):
        a: R.Tensor((n,), dtype="int32") = y[0]
        b: R.Tensor((3,), dtype="float32") = y[1]
        c: R.Tensor((n, 3), dtype="float32") = R.add(x, b)
        d: R.Tensor((n,), dtype="int32") = R.add(a, a)
        return (c, d)
"""
OF_KERNELS = """# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def double(x: T.Buffer((T.int64(4),), "float32"), y: T.Buffer((T.int64(4),), "float32")):
        for i in range(T.int64(4)):
            y[i] = x[i] * T.float32(2)

    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        cls = Module
        y = R.call_tir(cls.double, (x,), out_ty=R.Tensor((4,), dtype="float32"))
        return y
"""

KERNEL = """# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def double(x: T.Buffer((T.int64(4),), "float32"), y: T.Buffer((T.int64(4),), "float32")):
        for i in range(T.int64(4)):
            y[i] = x[i] * T.float32(2)
"""


def bisected(folder: Path, *options: str) -> Path:
    target = folder.parent / "bug.py"
    assert main(["bisect", str(folder), "--in-process", "--reproducer", str(target), *options]) == 1
    return target


def run(path: Path) -> tuple[int, str]:
    done = subprocess.run((sys.executable, path.name), cwd=path.parent, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout


def without_the_bug(path: Path) -> Path:
    """Return the reproducer with the text before the pass in place of that after it, as if the pass were right."""
    fixed = path.with_name("fixed.py")
    fixed.write_text(
        path.read_text().replace('__main__":\n', '__main__":\n    AFTER, AFTER_CONSTANTS = BEFORE, BEFORE_CONSTANTS\n')
    )
    return fixed


@pytest.mark.tvm
@pytest.mark.parametrize(
    ("before", "after", "entry"),
    [
        (ADD, WRONG, "main"),
        (
            SYMBOLIC,
            SYMBOLIC.replace("R.add(a, a)", "R.multiply(a, a)").replace("R.add(x, b)", "R.subtract(x, b)"),
            "main",
        ),
        (OF_KERNELS, OF_KERNELS.replace("T.float32(2)", "T.float32(3)"), "run_double"),
    ],
    ids=["a scalar", "symbolic sizes, tuples and shapes", "a kernel, which is all that is left"],
)
def test_a_reproducer_fails_with_the_bug_and_passes_without(
    tmp_path: Path, before: str, after: str, entry: str
) -> None:
    target = bisected(dump(tmp_path / "dump", _000_A=before, _001_Broken=after))
    status, said = run(target)
    assert status == 1, said
    assert "after Broken: result 0" in said
    assert "elements differ; the first at" in said
    assert "against what RelaxScope computed" not in said
    assert run(without_the_bug(target))[0] == 0
    report = target.with_name("bug.py.md").read_text()
    assert report.startswith(f"# Broken changes what `{entry}` computes")
    assert "```diff" in report
    assert "relax_core" not in target.read_text()


TWO_KERNELS = OF_KERNELS.replace(
    "    @R.function",
    """    @T.prim_func(private=True)
    def half(x: T.Buffer((T.int64(4),), "float32"), y: T.Buffer((T.int64(4),), "float32")):
        for i in range(T.int64(4)):
            y[i] = x[i] / T.float32(2)

    @R.function
    def unused(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        z = R.add(x, x)
        return z

    @R.function""",
).replace(
    "        return y\n",
    """        z = R.call_tir(cls.half, (y,), out_ty=R.Tensor((4,), dtype="float32"))
        return z
""",
)


@pytest.mark.tvm
def test_only_the_function_that_halving_isolated_is_in_the_file(tmp_path: Path) -> None:
    wrong = TWO_KERNELS.replace("/ T.float32(2)", "- T.float32(2)").replace("x[i] * T.float32(2)", "x[i] + x[i]")
    target = bisected(dump(tmp_path / "dump", _000_A=TWO_KERNELS, _001_Broken=wrong))
    text = target.read_text()
    assert "ENTRY = 'run_half'" in text
    assert "Of the program of `main` only `run_half` is left" in text
    assert not any(name in text for name in ("def double", "def main(x", "def unused"))
    status, said = run(target)
    assert (status, "before Broken: as expected" in said) == (1, True), said
    assert run(without_the_bug(target))[0] == 0


def test_what_the_entry_does_not_reach_is_left_out() -> None:
    assert reached(TWO_KERNELS, "main") == {"main", "double", "half"}
    text = only(TWO_KERNELS, reached(TWO_KERNELS, "main"))
    assert functions_in(text).keys() == {"main", "double", "half"}
    assert rc.parse(text).names == ("double", "half", "main")
    assert only(text, functions_in(text)) == text
    quoted = TWO_KERNELS.replace("def main", 'def main("""')
    assert only(quoted, ()) == quoted
    assert reached(TWO_KERNELS, "gone") == functions_in(TWO_KERNELS).keys()


@pytest.mark.tvm
def test_constants_and_inputs_are_in_the_file(tmp_path: Path) -> None:
    other = SCALED.replace("multiply", "subtract")
    folder = dump(tmp_path / "dump", _000_A=SCALED, _001_Broken=other)
    np.savez(tmp_path / "c.npz", np.array([1, 2, 3], np.float32))
    np.savez(tmp_path / "in.npz", in_0=np.full((2, 3), 7, np.float32))
    target = bisected(folder, "--constants", str(tmp_path / "c.npz"), "--inputs", str(tmp_path / "in.npz"))
    assert run(target)[0] == 1
    assert run(without_the_bug(target))[0] == 0


@pytest.mark.tvm
def test_prim_funcs_alone_are_put_into_the_last_whole_module(tmp_path: Path) -> None:
    wrong = KERNEL.replace("T.float32(2)", "T.float32(3)")
    texts = (("(input)", OF_KERNELS), ("tirx.BindTarget", KERNEL), ("Broken", wrong))
    verdicts: tuple[Any, ...] = ("reference", "same", "different")
    rows = tuple(
        StageResult(at, name, verdict) for at, ((name, _), verdict) in enumerate(zip(texts, verdicts, strict=True))
    )
    x = np.ones(4, np.float32)
    forms = tuple(Form(*item) for item in texts)
    made = reproducer_of(Case(forms, Bisection("main", rows), (x,), {"out": x * 2}, {"tvm": "0.27"}))
    target = tmp_path / "bug.py"
    target.write_text(made.script)
    status, said = run(target)
    assert (status, "before Broken: as expected" in said) == (1, True), said
    assert run(without_the_bug(target))[0] == 0
    with pytest.raises(CompileError) as caught:
        reproducer_of(Case((forms[1], *forms[1:]), Bisection("main", rows), (x,), {"out": x}, {}))
    assert caught.value.diagnostics[0].code == "PL012"


@pytest.mark.usefixtures("pass_file")
def test_a_program_of_ones_own_passes_has_a_reproducer(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import relax_core as rc\n\ndef Broken(module):\n    scaled = rc.is_op('add')(rc.wildcard(), rc.wildcard())\n"
        "    return rc.rewrite(scaled, lambda match: match.root.args[0], module)\n"
    )
    (tmp_path / "m.py").write_text(ADD)
    options = ("--passes", "Broken, LegalizeOps", "--pass-file", str(tmp_path / "mine.py"))
    target = tmp_path / "bug.py"
    assert main(["bisect", str(tmp_path / "m.py"), *options, "--in-process", "--reproducer", str(target)]) == 1
    assert "PASS_NAME = 'Broken'" in target.read_text()


def test_where_nothing_differs_there_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = dump(tmp_path / "dump", _000_A=ADD, _001_B=TWICE)
    assert main(["bisect", str(folder), "--in-process", "--reproducer", str(tmp_path / "bug.py")]) == 0
    assert "nothing to reproduce" in capsys.readouterr().err
    assert not (tmp_path / "bug.py").exists()


def test_what_is_too_large_for_a_file_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    large, other = (re.sub(r"\(2, 3\)", "(2000, 3000)", text) for text in (ADD, WRONG))
    folder = dump(tmp_path / "dump", _000_A=large, _001_B=other)
    assert main(["bisect", str(folder), "--in-process", "--reproducer", str(tmp_path / "bug.py")]) == 1
    assert "PL012" in capsys.readouterr().err
