"""The command `origins`: what lines became, and texts with the lines that they stem from."""

import json
from pathlib import Path

import pytest

from relax_core.cli import BAD_USAGE, DIAGNOSED, main

NETWORK = """from tvm.script import ir as I, relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 3), "float32")) -> R.Tensor((4, 3), "float32"):
        a = R.exp(x)
        b = R.nn.relu(a)
        return b
"""


@pytest.fixture
def network(tmp_path: Path) -> str:
    path = tmp_path / "network.py"
    path.write_text(NETWORK, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "   8  instructions 6-9, kernel relu     b = R.nn.relu(a)"),
        (("--line", "8"), "  asm relu\n"),
        (("--stage", "LegalizeOps"), "\n8 |         b = R.call_tir(cls.relu, (a,)"),
        (("--stage", "12"), "8 |         _ = cls.relu(a, alloc1)"),
        (("--stage", "bytecode"), "8 | call  relu"),
        (("--stage", "asm relu"), "\n8 | "),
    ],
    ids=["all lines", "a line", "a pass", "the number of a pass", "bytecode", "machine code"],
)
def test_lines_are_followed_both_ways(
    arguments: tuple[str, ...], words: str, network: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["origins", network, *arguments, "--in-process"]) == 0
    assert words in capsys.readouterr().out


def test_json_is_an_object_per_text(network: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["origins", network, "--line", "8", "--json", "--in-process"]) == 0
    layers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [item["name"] for item in layers][-3:] == ["kernel relu", "llvm relu", "asm relu"]
    assert all(8 in lines for item in layers for _, _, lines, _ in item["lines"])


def test_what_is_not_there_is_said(network: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["origins", network, "--stage", "FuseTIR", "--in-process"]) == BAD_USAGE
    assert "stages: Source, LegalizeOps" in capsys.readouterr().err
    assert main(["origins", network, "--line", "99", "--in-process"]) == DIAGNOSED
    assert "there is no line 99" in capsys.readouterr().err
    assert main(["origins", network, "--line", "-1", "--in-process"]) == BAD_USAGE
