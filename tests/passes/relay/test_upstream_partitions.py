"""PartitionGraph as Relay's own tests have it: the calls, the functions, and that the value stays."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import relax_core as rc
from relax_core.ir.equality import first_difference
from tests.passes.relay.byoc import after, begins, inputs_of, program, tables
from tests.passes.relay.running import agree

CASES: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("upstream_partitions.toml").read_text())["case"]


def _with_attributes(functions: str) -> str:
    """Give each external function the attributes that PartitionGraph adds to its target."""
    return re.sub(r'@(\w+)(\(.*)Compiler="', r'@\1\2Primitive=1, Inline=1, global_symbol="\1", Compiler="', functions)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_partitions(case: dict[str, Any]) -> None:
    mod = program(begins(case["program"]), case["params"], case.get("more", ""))
    given = tables(*map(tuple, case.get("patterns", ())), **case.get("supported", {}))
    made = after(mod, case["passes"], given)
    functions = f"{case.get('after_more', '')}\n{_with_attributes(case['functions'])}"
    wanted = program(case["after"], case["params"], functions)
    assert first_difference(made, wanted) is None, f"{first_difference(made, wanted)}\n{rc.script(made)}"
    assert [item.render() for item in rc.check(made) if item.severity == "error"] == []
    agree(rc.evaluate(made, "main", *inputs_of(mod)), rc.evaluate(mod, "main", *inputs_of(mod)))


@pytest.mark.parametrize("passes", ["AnnotateTarget, MergeCompilerRegions", "AnnotateTarget, PartitionGraph"])
def test_tuples_of_literals_do_not_cross_a_border(passes: str) -> None:
    (case,) = (case for case in CASES if case["name"] == "tuples of constants are bound")
    given = tables(**case["supported"])
    made = after(program(case["program"], case["params"]), passes, given)
    (row,) = rc.region_report(made, given).regions
    assert len(row.inputs) == 1
    assert len(row.constants) == 6
