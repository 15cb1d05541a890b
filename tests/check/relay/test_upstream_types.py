"""`upstream_types.toml`: what the tests of the last Relay assert about types, patterns and their errors."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from relax_core.check.infer import infer
from relax_core.check.text import check_text
from relax_core.frontend.parse import parse_text
from relax_core.ops.relay.show import show_type

FILE = Path(__file__).with_name("upstream_types.toml")
CASES: list[dict[str, Any]] = tomllib.loads(FILE.read_text(encoding="utf-8"))["case"]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_program_has_its_type_or_its_error(case: dict[str, Any]) -> None:
    parsed = parse_text(case["text"], "m.relay")
    errors = [item for item in (*parsed.diagnostics, *check_text(parsed)) if item.severity == "error"]
    assert [item.code for item in errors] == ([case["error"]] if "error" in case else [])
    if "missing" in case:
        assert case["missing"] in errors[0].message
    if "type" in case:
        (module,) = parsed.modules
        assert show_type(infer(module).types[module["main"]]) == case["type"]
