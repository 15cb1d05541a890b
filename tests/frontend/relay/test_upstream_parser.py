"""`upstream_parser.toml`: texts that are read as others are, or refused."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

import relax_core as rc
from relax_core.check.text import check_text
from relax_core.frontend.parse import parse_text
from relax_core.ir.equality import first_difference

FILE = Path(__file__).with_name("upstream_parser.toml")
CASES: list[dict[str, Any]] = tomllib.loads(FILE.read_text(encoding="utf-8"))["case"]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_text_is_read_or_refused(case: dict[str, Any]) -> None:
    parsed = parse_text(case["text"], "m.relay")
    errors = [item for item in (*parsed.diagnostics, *check_text(parsed)) if item.severity == "error"]
    assert [item.code for item in errors] == ([case["error"]] if "error" in case else [])
    if "error" not in case:
        (module,) = parsed.modules
        same = [rc.script(module, dialect="relay"), *(case[key] for key in ("same",) if key in case)]
        assert [first_difference(rc.parse(text, "same.relay"), module) for text in same] == [None] * len(same)
