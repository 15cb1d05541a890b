"""Programs that a pass or the code generator refuses: exactly the announced diagnostics, at their lines."""

import re
from pathlib import Path

import pytest

from relax_core.bytecode.build import build
from relax_core.codes import CODES
from relax_core.diagnostics import CompileError
from relax_core.frontend.parse import parse_text

ERRORS = Path(__file__).parents[2] / "samples" / "errors"
SAMPLES = sorted(file for letters in ("ps", "bc") for file in ERRORS.glob(f"{letters}_*.py"))


def _header(text: str, key: str) -> str | None:
    found = re.search(rf"^# {key}: (.+)$", text, re.MULTILINE)
    return found[1] if found else None


def _announced(text: str) -> list[tuple[int, str]]:
    lines = enumerate(text.splitlines(), 1)
    return [(number, code) for number, line in lines for code in re.findall(r"#! (\w{2}\d{3})", line)]


@pytest.mark.parametrize("file", SAMPLES, ids=lambda file: file.stem)
def test_a_sample_fails_as_announced(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    module = parse_text(text, file.name).modules[0]
    with pytest.raises(CompileError) as caught:
        build(module, passes=_header(text, "passes"), as_in="reported" if _header(text, "as_in") else "fixed")
    found = [(item.span.line if item.span else 0, item.code) for item in caught.value.diagnostics]
    assert found == _announced(text), caught.value
    assert all(item.hint for item in caught.value.diagnostics)


def test_every_code_of_the_passes_is_described() -> None:
    used: set[str] = set()
    for room in ("passes", "bytecode"):
        for file in (Path(__file__).parents[2] / "relax_core" / room).rglob("*.py"):
            used.update(re.findall(r'"((?:PS|BC)\d{3})"', file.read_text(encoding="utf-8")))
    assert used <= set(CODES)
    assert {code for code in CODES if code[:2] in ("PS", "BC")} <= used
