"""Pictures from the command line: of a diff, of what passes changed, of a run."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from relax_core.cli import BAD_USAGE, DIAGNOSED, main
from tests.engine.programs import SAMPLES

MLP, FIB = "mlp.py", "fib.py"


@pytest.fixture(autouse=True)
def _beside_the_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Name them as they are, so that no path is cut in a title."""
    monkeypatch.chdir(SAMPLES / "relax")


def drawn(path: Path, *arguments: object) -> tuple[int, list[str]]:
    """Return the status of a command, and the texts of the picture that it wrote."""
    status = main((*map(str, arguments), "--svg", str(path)))
    return status, [text.text or "" for text in ET.parse(path).iter("{http://www.w3.org/2000/svg}text")]


def test_a_diff_is_drawn_beside_its_patch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, texts = drawn(tmp_path / "d.svg", "diff", MLP, FIB)
    assert status == DIAGNOSED
    assert texts[:2] == ["mlp.py", "fib.py"]
    assert any("matmul(x, w1)" in text for text in texts)
    assert "+            r = R.add(a, b)" in capsys.readouterr().out


def test_what_all_passes_changed_is_drawn(tmp_path: Path) -> None:
    status, texts = drawn(tmp_path / "o.svg", "opt", MLP, "--passes", "LegalizeOps, AnnotateTIROpPattern, FuseOps")
    assert (status, texts[:2]) == (0, ["Source", "FuseOps"])
    assert any("fused_matmul_add_relu" in text for text in texts)


def test_a_run_longer_than_one_window_is_drawn_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, texts = drawn(tmp_path / "r.svg", "run", FIB)
    assert (status, texts[0]) == (0, "fib.py: 1,102 events")
    assert {"fib", "main"} <= set(texts)
    assert capsys.readouterr().out.strip() == "21"


@pytest.mark.parametrize(
    "arguments",
    [
        ("diff", MLP, FIB, "--structure"),
        ("diff", MLP, FIB, "--markdown"),
        ("run", FIB, MLP),
        ("run", FIB, "--memory"),
    ],
    ids=["parts", "modules", "several files", "memory"],
)
def test_what_is_no_picture_is_refused(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    path = tmp_path / "x.svg"
    assert main((*arguments, "--svg", str(path))) == BAD_USAGE
    assert not path.exists()
