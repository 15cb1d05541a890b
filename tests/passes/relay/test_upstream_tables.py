"""Pattern tables of the kinds that Relay's back ends have, over small programs: what each takes."""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.ir.attrs import attr
from relax_core.ir.expr import Function
from relax_core.ir.node import postorder
from tests.passes.relay.byoc import after, inputs_of, program, tables
from tests.passes.relay.running import agree

CASES: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("upstream_tables.toml").read_text())["case"]
PASSES = "MergeComposite, AnnotateTarget, MergeCompilerRegions, PartitionGraph"


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_tables(case: dict[str, Any]) -> None:
    mod = program(case["program"], case["params"])
    given = tables(*map(tuple, case["patterns"]), **{case["target"]: case.get("supported", "")})
    made = after(mod, PASSES, given)
    nodes = (node for _, function in made.relax_functions for node in postorder(function))
    names = [attr(node.attrs, "Composite") for node in nodes if isinstance(node, Function)]
    assert sorted(str(name) for name in names if name) == sorted(case["composites"]), rc.script(made)
    external = {var.name: fn for var, fn in made.relax_functions if attr(fn.attrs, "Compiler") == case["target"]}
    assert {name: len(fn.params) for name, fn in external.items()} == case["functions"], rc.script(made)
    assert [item.render() for item in rc.check(made) if item.severity == "error"] == []
    with np.errstate(all="ignore"):
        agree(rc.evaluate(made, "main", *inputs_of(mod)), rc.evaluate(mod, "main", *inputs_of(mod)))


def test_a_composite_with_padding_runs_in_the_machine() -> None:
    (case,) = (case for case in CASES if "padding" in case["name"])
    mod = program(case["program"], case["params"])
    made = after(mod, PASSES, tables(*map(tuple, case["patterns"]), **{case["target"]: ""}))
    found = rc.VirtualMachine(rc.build(made))["main"](*inputs_of(mod))
    agree(found, rc.evaluate(mod, "main", *inputs_of(mod)))
