"""AnnotateTarget and MergeCompilerRegions as Relay's own tests have them: where regions begin and end."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

import relax_core as rc
from relax_core.ir.equality import first_difference
from tests.passes.relay.byoc import after, begins, program, tables

CASES: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("upstream_annotations.toml").read_text())["case"]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_annotations(case: dict[str, Any]) -> None:
    mod = program(case["program"], case["params"])
    given = tables(*map(tuple, case.get("patterns", ())), **case["supported"])
    made = after(mod, case["passes"], given)
    wanted = program(begins(case["after"]), case["params"]) if "after" in case else mod
    assert first_difference(made, wanted) is None, rc.script(made)
    assert [item.render() for item in rc.check(made) if item.severity == "error"] == []
