"""Files for single parameters on the command line."""

from pathlib import Path

import pytest
from PIL import Image

from relax_core.cli import BAD_USAGE, main

TEXT = """
@R.function
def main(image: R.Tensor((1, 2), "uint8"), tokens: R.Tensor((2,), "int64")):
    return (image, tokens)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m.py").write_text(TEXT)
    (tmp_path / "tokens.txt").write_text("b a\n")
    (tmp_path / "known.txt").write_text("a\nb\n")
    Image.new("L", (2, 1), 7).save(tmp_path / "photo.png")
    return tmp_path


def test_each_file_goes_to_a_parameter_and_what_became_of_it_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = [f"--input={folder / name}" for name in ("tokens.txt", "photo.png")]
    # In a worker, which reads the pictures' decoder behind its limits.
    assert main(["run", str(folder / "m.py"), *inputs, f"--vocabulary={folder / 'known.txt'}"]) == 0
    said = capsys.readouterr()
    assert "[[7 7]]" in said.out
    assert "[1 0]" in said.out
    assert said.err.splitlines() == [
        "note: image (1, 2) uint8: photo.png: gray, 2 × 1 pixels as HW",
        "note: tokens (2,) int64: tokens.txt: 2 tokens of the vocabulary",
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--vocabulary=known.txt",), "--vocabulary is for a text that --input names"),
        (("--input=photo.png", "--inputs=photo.png"), "--input is for a run on made-up arguments"),
    ],
    ids=["a vocabulary alone", "both"],
)
def test_options_that_do_not_go_together_are_told(
    options: tuple[str, ...],
    words: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    assert main(["run", "m.py", *options, "--in-process"]) == BAD_USAGE
    assert words in capsys.readouterr().err
