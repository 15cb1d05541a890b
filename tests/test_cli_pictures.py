"""Pictures from the command line: of a diff, of what passes changed, of a run."""

import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any, cast

import pytest
from pypdf import PdfReader

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
    assert {"fib", "main", "1,102"} <= set(texts)
    assert capsys.readouterr().out.strip() == "21"


@pytest.mark.parametrize(
    ("arguments", "title", "line"),
    [
        (("diff", MLP, FIB), "mlp.py and fib.py", "lv = R.matmul(x, w1)"),
        (("opt", MLP, "--passes", "LegalizeOps"), "Source and LegalizeOps", "cls = Module"),
        (("run", FIB), "fib.py", "a = cls.fib(one)"),
    ],
    ids=["diff", "opt", "run"],
)
def test_a_picture_as_pdf_has_the_texts_of_the_other_in_fonts_that_it_holds(
    tmp_path: Path, arguments: tuple[str, ...], title: str, line: str
) -> None:
    path, again = tmp_path / "x.pdf", tmp_path / "y.pdf"
    _, texts = drawn(tmp_path / "x.svg", *arguments, "--pdf", path)
    file = PdfReader(path)
    (page,) = file.pages
    shown = page.extract_text()
    assert line in shown
    assert sorted("".join(shown.split())) == sorted("".join("".join(texts).split()))
    assert file.metadata is not None
    assert file.metadata.title == title
    # Of a picture in pixels there is none, and the fonts are in the file.
    assert not page.images
    named = cast(Any, page)["/Resources"]["/Font"]
    fonts = [font.get_object()["/DescendantFonts"][0].get_object() for font in named.values()]
    assert fonts
    assert all("/FontFile2" in font["/FontDescriptor"].get_object() for font in fonts)
    main((*arguments, "--pdf", str(again)))
    assert again.read_bytes() == path.read_bytes()


def test_a_picture_that_is_too_long_for_a_page_of_pdf_is_made_smaller(tmp_path: Path) -> None:
    long = tmp_path / "long.py"
    long.write_text(Path(MLP).read_text() + "# more\n" * 1200)
    main(("diff", MLP, str(long), "--pdf", str(tmp_path / "x.pdf")))
    (page,) = PdfReader(tmp_path / "x.pdf").pages
    assert 14_399 < page.mediabox.height <= 14_400


def test_without_typst_pdf_is_refused_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    for arguments in (("diff", MLP, FIB), ("opt", MLP, "--passes", "LegalizeOps"), ("run", FIB)):
        assert main((*arguments, "--pdf", str(tmp_path / "x.pdf"))) == BAD_USAGE
        said = capsys.readouterr()
        assert (said.out, "pip install 'relaxscope[pdf]'" in said.err) == ("", True)


@pytest.mark.parametrize("option", ["--svg", "--pdf"])
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
def test_what_is_no_picture_is_refused(tmp_path: Path, arguments: tuple[str, ...], option: str) -> None:
    path = tmp_path / "x.svg"
    assert main((*arguments, option, str(path))) == BAD_USAGE
    assert not path.exists()
