"""`diff` and `opt --diff` print patches, which one after the other make the last text of the first."""

import json
import re
from pathlib import Path

import pytest

from relax_core.cli import main
from tests.engine.pipelines.stage_texts import ADD, TWICE, UNREADABLE, dump
from tests.present.test_patch import applied

MLP = str(Path(__file__).parents[1] / "samples" / "relax" / "mlp.py")


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main([str(arguments[0]), "--in-process", *map(str, arguments[1:])])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_the_patches_of_the_passes_lead_to_the_text_behind_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    passes = "LegalizeOps, Normalize, FuseOps, FuseTIR"
    status, out, _ = run(capsys, "opt", MLP, "--passes", passes, "--diff")
    headings = re.findall(r"^# (\d \w+): changed", out, re.MULTILINE)
    assert (status, headings) == (0, ["1 LegalizeOps", "3 FuseOps", "4 FuseTIR"])
    text = run(capsys, "script", MLP)[1]
    for patch in re.split(r"^# \d .*\n", out, flags=re.MULTILINE)[1:]:
        text = applied(tmp_path, text, patch[patch.index("--- ") :].replace("/mlp.py", "/m.py"))
    assert text == run(capsys, "opt", MLP, "--passes", passes)[1]


def test_two_stages_of_two_pipelines_are_compared(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    one = dump(tmp_path / "one", _000_A=ADD, _001_B=TWICE)
    other = dump(tmp_path / "other", _000_A=ADD.replace("\n\n", "\n# as before\n"), _001_C=UNREADABLE)
    status, out, _ = run(capsys, "diff", f"{one}@0", f"{one}@1")
    assert (status, out.count("\n-"), out.count("\n+")) == (1, 1, 2)
    assert out.startswith("--- a/000_A.py\n+++ b/001_B.py\n")
    status, out, _ = run(capsys, "diff", f"{one}@0", f"{other}@0")
    assert (status, "+# as before" in out) == (1, True)
    assert run(capsys, "diff", f"{one}@0", f"{other}@0", "--printed") == (0, "", "note: the texts are equal\n")
    assert run(capsys, "diff", f"{one}@0", f"{other}@1")[0] == 1
    status, out, said = run(capsys, "diff", f"{one}@0", f"{other}@1", "--printed")
    assert (status, out, "PA001" in said) == (1, "", True)


def test_two_stages_are_compared_part_by_part(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    one = dump(tmp_path / "one", _000_A=ADD, _001_B=TWICE)
    named = dump(tmp_path / "named", _000_A=ADD.replace("x:", "arg:").replace("x,", "arg,").replace("x)", "arg)"))
    status, out, _ = run(capsys, "diff", f"{one}@0", f"{one}@1", "--structure")
    assert (status, out.splitlines()[0], out.splitlines()[-1]) == (1, "@main", "1 changed")
    assert run(capsys, "diff", f"{one}@0", f"{one}@0", "--structure") == (0, "no structural change\n", "")
    status, out, _ = run(capsys, "diff", f"{one}@0", f"{named}@0", "--structure")
    assert (status, out.splitlines()[-1]) == (0, "no structural change: only names differ")
    status, out, _ = run(capsys, "diff", f"{one}@0", f"{one}@1", "--structure", "--json")
    found = json.loads(out)
    assert (status, found["is_same"], found["counts"]) == (1, False, [["changed", 1]])
    assert {row["kind"] for row in found["rows"]} == {"changed"}
    assert run(capsys, "diff", f"{one}@0", f"{one}@1", "--json")[0] == 2
    other = dump(tmp_path / "other", _000_C=UNREADABLE)
    status, out, said = run(capsys, "diff", f"{one}@0", f"{other}@0", "--structure")
    assert (status, out, "PA001" in said) == (1, "", True)
