"""What was reported of passes of TVM, by its number: ours keep the value, and give what `reported_in_tvm.toml` says."""

import textwrap
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.ir.expr import Function
from relax_core.ir.module import IRModule
from tests.passes.programs import HEAD
from tests.passes.wheel import flat, input_of, passed, same_values

pytestmark = pytest.mark.usefixtures("kept_kernels")

REPORTS: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("reported_in_tvm.toml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", REPORTS)
def test_what_was_reported_is_right(name: str) -> None:
    case = REPORTS[name]
    module = module_of(case)
    if "refused" in case:
        (stage,) = rc.run_pipeline(module, case["passes"])
        assert [(item.code, item.span is not None) for item in stage.diagnostics] == [(case["refused"], True)]
        return
    assert [str(item) for item in rc.check(module) if item.severity == "error"] == []
    after = passed(module, case["passes"], tables_of(case)).after
    script = rc.script(after)
    assert {words: script.count(words) for words in case.get("counts", {})} == case.get("counts", {})
    assert [words for words in case.get("holds", ()) if words not in script] == []
    assert [words for words in case.get("lacks", ()) if words in script] == []
    if "relay" in case:
        same_meaning(module, after, case.get("entry", "main"))
    elif case.get("runs", True):
        same_values(module, after, rtol=case.get("tolerance", 1e-6))


def module_of(case: dict[str, Any]) -> IRModule:
    """Read the program of a report: Relay's stands as a whole, Relax' without its head."""
    return rc.parse(case["relay"] if "relay" in case else HEAD + textwrap.indent(case["before"], " " * 4))


def tables_of(case: dict[str, Any]) -> rc.Tables:
    """Return the patterns and the operators of the targets of a report."""
    patterns = tuple((name, rc.pattern(text)) for name, text in case.get("patterns", {}).items())
    return rc.Tables(patterns, {target: tuple(names) for target, names in case.get("supported", {}).items()})


def same_meaning(before: IRModule, after: IRModule, entry: str) -> None:
    """Evaluate a function of Relay before and behind passes, and compare the results."""
    function = before[entry]
    assert isinstance(function, Function)
    inputs = [input_of(param.annotation, seed) for seed, param in enumerate(function.params)]
    results = [flat(rc.evaluate(module, entry, *inputs)) for module in (before, after)]
    for was, became in zip(*results, strict=True):
        np.testing.assert_allclose(became, was, rtol=1e-6)
