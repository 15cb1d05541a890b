"""Error samples: parsing and checking report exactly what the text announces, line by line."""

import re
from pathlib import Path

import pytest

from relax_core.check.infer import infer
from relax_core.check.prim.prim_policy import prims_outside_packed
from relax_core.check.text import check_text
from relax_core.codes import CODES
from relax_core.diagnostics import Diagnostic
from relax_core.frontend.parse import parse_text

SAMPLES = Path(__file__).parent.parent / "samples" / "errors"
STATIC = ("PA", "RL", "RS", "RY", "TY", "WF")
MARK = re.compile(r"(?:#|//)!\s*(?P<codes>[A-Z]{2}\d{3}(?:[ ,]+[A-Z]{2}\d{3})*)")
PATHS = sorted((*SAMPLES.glob("*.py"), *SAMPLES.glob("*.relay")))

Found = tuple[int, str]


def announced(text: str) -> list[Found]:
    """Return line and code of each mark that parsing or checking must report."""
    found: list[Found] = []
    for number, line in enumerate(text.splitlines(), 1):
        for mark in MARK.finditer(line):
            found.extend((number, code) for code in re.findall(r"[A-Z]{2}\d{3}", mark["codes"]))
    return sorted((line, code) for line, code in found if code.startswith(STATIC))


def reported(text: str, name: str) -> tuple[Diagnostic, ...]:
    parsed = parse_text(text, name)
    is_strict = "\n# prims: packed_only\n" in text
    policy = (item for module in parsed.modules if is_strict for item in prims_outside_packed(module, infer(module)))
    return (*parsed.diagnostics, *check_text(parsed), *policy)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_sample_reports_what_it_announces(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    marks = announced(text)
    noted = {code for _, code in marks}
    found = [item for item in reported(text, path.name) if item.severity != "note" or item.code in noted]
    assert sorted((item.span.line if item.span else 0, item.code) for item in found) == marks


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_sample_announces_something(path: Path) -> None:
    codes = [code for mark in MARK.finditer(path.read_text(encoding="utf-8")) for code in mark["codes"].split()]
    assert codes
    assert all(code.strip(",") in CODES for code in codes)
