"""Rewrite rules on the command line: a stage of opt, bisect, compare and run."""

from pathlib import Path

import pytest

from relax_core.cli import main
from relax_core.engine.programs.program import with_rules_stage

TEXT = """
from tvm.script import ir as I, relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        a = R.multiply(x, R.const(1.0, "float32"))
        b = R.nn.relu(a)
        return b
"""
RULES = "one: R.multiply(x, 1.0) -> x\nwrong: R.nn.relu(x) -> R.exp(x) where x.ndim == 2\n"


@pytest.mark.parametrize(
    ("pipeline", "expected"),
    [
        ("", "ApplyRules"),
        ("LegalizeOps", "ApplyRules, LegalizeOps"),
        ("Normalize, LegalizeOps", "Normalize, ApplyRules, LegalizeOps"),
        ("RelayToRelax,  Normalize", "RelayToRelax,  Normalize, ApplyRules"),
        ("LegalizeOps, ApplyRules(once=True)", "LegalizeOps, ApplyRules(once=True)"),
        ("NormalizeX", "ApplyRules, NormalizeX"),
    ],
)
def test_the_stage_stands_as_early_as_it_can(pipeline: str, expected: str) -> None:
    assert with_rules_stage(pipeline) == expected


def test_rules_of_a_file_are_a_stage_of_every_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, rules, broken = (tmp_path / name for name in ("m.py", "rules.txt", "broken.txt"))
    program.write_text(TEXT)
    rules.write_text(RULES)
    broken.write_text("R.add(x -> x\n")

    def said(*arguments: str) -> tuple[int, str, str]:
        status = main([*arguments, "--in-process"])
        found = capsys.readouterr()
        return status, found.out, found.err

    status, out, err = said("opt", str(program), "--passes", "Normalize", "--rules", str(rules))
    assert (status, "R.exp(" in out) == (0, True)
    assert err.splitlines()[0] == "note: applied: one is applied 1 time, at line 8"
    status, out, _ = said("bisect", str(program), "--passes", "Normalize, LegalizeOps", "--rules", str(rules))
    assert status == 1
    assert "from ApplyRules (stage 2) on" in out
    status, out, _ = said("compare", str(program), "--stages", "0", "1", "--rules", str(rules))
    assert status == 0
    assert said("run", str(program), "--rules", str(rules))[0] == 0
    status, _, err = said("opt", str(program), "--passes", "", "--rules", str(broken))
    assert status == 1
    assert "<rules>:1:6: error[RW100]" in err
    assert said("opt", str(program), "--passes", "", "--rules", str(tmp_path / "none"))[0] == 2
