"""`upstream_equality.toml`: which programs are the same up to names."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

import relax_core as rc
from relax_core.ir.equality import structural_hash

FILE = Path(__file__).with_name("upstream_equality.toml")
CASES: list[dict[str, Any]] = tomllib.loads(FILE.read_text(encoding="utf-8"))["case"]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_programs_are_the_same_or_not(case: dict[str, Any]) -> None:
    first, second, again = (rc.parse(case[name], f"{name}.relay") for name in "aba")
    assert rc.structural_equal(first, again)
    assert rc.structural_equal(first, second) == rc.structural_equal(second, first) == case["equal"]
    if case["equal"]:
        assert structural_hash(first) == structural_hash(second)
