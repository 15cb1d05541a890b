"""`upstream_passes.toml`: what the tests of the last Relay assert about its passes."""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import Call
from relax_core.ir.node import postorder
from relax_core.ir.relay import Let
from tests.passes.relay.running import parsed

FILE = Path(__file__).with_name("upstream_passes.toml")
CASES: list[dict[str, Any]] = tomllib.loads(FILE.read_text(encoding="utf-8"))["case"]
SAYS = frozenset({"after", "functions", "names", "lets", "ops", "value"})
"""What a case may say about the program that a pipeline makes; one that says nothing of it wants the same program."""


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_pass_does_what_it_did(case: dict[str, Any]) -> None:
    before = parsed(case["before"])
    stages = rc.run_pipeline(before, case["passes"])
    assert [item.render() for stage in stages for item in stage.diagnostics] == []
    after = stages[-1].after
    assert [str(item) for item in rc.check(after) if item.severity == "error"] == []
    if "after" in case or not SAYS & case.keys() - {"value"}:
        wanted = parsed(case["after"]) if "after" in case else before
        difference = first_difference(after, wanted)
        assert difference is None, f"{difference}\n{rc.script(after, dialect='relay')}"
    if "functions" in case:
        assert len(after.names) == case["functions"]
    if "names" in case:
        assert set(after.names) == set(case["names"])
    nodes = [node for item in after for node in postorder(item.function)]
    if "ops" in case:
        assert sum(isinstance(node, Call) for node in nodes) == case["ops"]
    if "lets" in case:
        assert any(isinstance(node, Let) for node in nodes) == case["lets"]
    if "value" in case:
        assert np.asarray(rc.evaluate(after, "main")).tolist() == case["value"]
