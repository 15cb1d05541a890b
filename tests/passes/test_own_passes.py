"""Passes of the user's own: any function is a stage like ours, by itself, by name, and from a file."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.cli import main
from relax_core.engine.programs.pass_files import PASSES_VARIABLE, PassFiles
from relax_core.ir.module import IRModule
from relax_core.passes.own import OWN_PASSES
from tests.callables import Compute
from tests.code_rules import REPOSITORY

DOCUMENT = (REPOSITORY / "docs" / "own_passes.md").read_text(encoding="utf-8")
TEXT = """
from tvm.script import ir as I, relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.nn.relu(x)
            b = R.nn.relu(a)
            c = R.multiply(b, R.const(2.0, "float32"))
            R.output(c)
        return c
"""
FILE = """
import relax_core as rc

inner = rc.is_op("nn.relu")(rc.wildcard())

def ReluOnce(module):
    return rc.rewrite(rc.is_op("nn.relu")(inner), lambda match: match[inner], module)

def _private(module):
    return None
"""


@pytest.fixture(autouse=True)
def _forgotten() -> Any:
    yield
    OWN_PASSES.drop(OWN_PASSES.names)


@pytest.fixture
def module() -> IRModule:
    return rc.parse(TEXT, "m.py")


def relu_once(module: IRModule) -> IRModule:
    inner = rc.is_op("nn.relu")(rc.wildcard())
    return rc.rewrite(rc.is_op("nn.relu")(inner), lambda match: match[inner], module)


def codes(passes: Any, module: IRModule) -> list[str]:
    try:
        return [item.code for item in rc.run_pipeline(module, passes)[-1].diagnostics]
    except rc.CompileError as error:
        return [item.code for item in error.diagnostics]


def test_the_examples_of_the_document_do_what_it_says() -> None:
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    assert len(blocks) == 4
    names: dict[str, Any] = {}
    exec(blocks[0], names)
    exec(blocks[1], names)
    stages = names["stages"]
    assert [stage.pass_name for stage in stages] == ["relu_once", "LegalizeOps", "FuseOps"]
    assert rc.script(stages[0].after).count("nn.relu") == 1
    exec(blocks[2], names)
    stage = names["stages"][1]
    assert "R.add" in rc.script(stage.after)
    assert [item.message for item in stage.remarks] == ["a sum is cheaper"]
    exec(blocks[3], names)
    assert names["found"].first_different == 2
    assert "DropScale" in names["found"].to_text().splitlines()[-1]


def test_a_function_is_a_stage_with_origins(module: IRModule) -> None:
    stages = rc.run_pipeline(module, [relu_once, "LegalizeOps"])
    assert not any(stage.is_failed for stage in stages)
    text = rc.origins(module, [relu_once, "LegalizeOps"]).to_text(line=11)
    assert "multiply" in text
    assert rc.bisect_passes(module, relu_once, np.ones((2, 3), np.float32)).verdict == "same"


WRONG: tuple[tuple[Compute[Any, Any], str], ...] = (
    (lambda module: None, "PS016"),
    (lambda module: "text", "PS016"),
    (lambda module: 1 / 0, "PS015"),
    (lambda module: module.nothing, "PS015"),
    (lambda module: exit(3), "PS015"),
    (lambda: None, "PS015"),
    (lambda module, ctx, options, more: module, "PS015"),
    (int, "PS015"),
    (print, "PS016"),
)


@pytest.mark.parametrize(("made", "code"), WRONG)
def test_a_function_that_is_wrong_is_a_failed_stage(made: Any, code: str, module: IRModule) -> None:
    stages = rc.run_pipeline(module, ["Normalize", made, "LegalizeOps"])
    assert len(stages) == 2
    assert stages[-1].is_failed
    assert [item.code for item in stages[-1].diagnostics] == [code]
    assert stages[-1].after is stages[-1].before


def test_options_are_parameters_behind_the_star(module: IRModule) -> None:
    seen: list[Any] = []

    def mine(module: IRModule, *, depth: int = 2, names: tuple[str, ...] = ()) -> IRModule:
        seen.append((depth, names))
        return module

    rc.register_pass(mine)
    rc.run_pipeline(module, [mine, rc.pass_(mine, depth=3), "mine(depth=4, names=['a'])"])
    assert seen == [(2, ()), (3, ()), (4, ("a",))]
    with pytest.raises(rc.CompileError) as caught:
        rc.pass_(mine, width=3)
    assert caught.value.diagnostics[0].code == "PS002"
    assert codes("mine(width=3)", module) == ["PS002"]
    assert codes([rc.pass_("FuseOps", width=3)], module) == ["PS002"]
    with pytest.raises(rc.CompileError) as caught:
        rc.pass_("FuseOps", max_depth=mine)
    assert [item.code for item in caught.value.diagnostics] == ["PS002"]
    assert caught.value.diagnostics[0].message == "FuseOps takes an integer as max_depth, got a value of type function"


def same(module: IRModule) -> IRModule:
    return module


def test_a_name_is_refused_that_a_pipeline_cannot_tell(module: IRModule) -> None:
    def deep(module: IRModule, *, depth: Any) -> IRModule:
        return module

    for item, name in ((relu_once, "FuseOps"), (relu_once, "two words"), (deep, "deep")):
        with pytest.raises(rc.CompileError) as caught:
            rc.register_pass(item, name)
        assert caught.value.diagnostics[0].code == "PL010"
    rc.register_pass(relu_once, "First")
    rc.register_pass(same, "First")
    assert rc.run_pipeline(module, "First")[0].after is module


def test_a_pass_file_is_imported_and_again_when_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: IRModule
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    monkeypatch.setenv(PASSES_VARIABLE, str(path))
    files = PassFiles()
    assert files.refresh()
    assert not files.refresh()
    assert OWN_PASSES.names == ("ReluOnce",)
    path.write_text(FILE + "\nrc.register_pass(_private, 'Named')\n")
    assert files.refresh()
    assert OWN_PASSES.names == ("Named",)
    for text in ("def f(:", "raise ValueError('no')", "import sys; sys.exit(2)", "import nothing_there", "1/0"):
        path.write_text(text)
        with pytest.raises(rc.CompileError) as caught:
            files.refresh()
        assert caught.value.diagnostics[0].code == "PL011"
    path.unlink()
    with pytest.raises(rc.CompileError):
        files.refresh()


def test_the_command_line_takes_a_pass_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(PASSES_VARIABLE, "")
    (tmp_path / "mine.py").write_text(FILE)
    (tmp_path / "m.py").write_text(TEXT)
    chosen = [str(tmp_path / "m.py"), "--pass-file", str(tmp_path / "mine.py"), "--passes", "ReluOnce, LegalizeOps"]
    assert main(["opt", *chosen, "--print-after-all"]) == 0
    assert "# 1 ReluOnce: changed" in capsys.readouterr().out
    assert main(["bisect", *chosen, "--in-process"]) == 0
    (tmp_path / "mine.py").write_text("1/0")
    assert main(["opt", *chosen]) == 1
    assert "PL011" in capsys.readouterr().err
