"""Passes on texts of `agreements/`: ours and that of apache-tvm both give the text that stands there."""

import ast
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import relax_core as rc
from benchmarks.relax_stages import text_of
from relax_core.ir.equality import first_difference
from relax_core.ir.module import IRModule
from tests.apache_tvm import from_source, relax, tvm
from tests.passes.byoc_programs import their_pattern

pytestmark = pytest.mark.usefixtures("kept_kernels")

CASES: dict[str, dict[str, Any]] = {
    f"{path.stem}: {name}": case
    for path in sorted((Path(__file__).parent / "agreements").glob("*.toml"))
    for name, case in tomllib.loads(path.read_text(encoding="utf-8")).items()
}


def their_pass(text: str, patterns: Sequence[tuple[str, str]]) -> Any:
    """Return the pass of apache-tvm that a pipeline of one pass names, with the same options."""
    call = ast.parse(text, mode="eval").body
    options: dict[str, Any] = {}
    if isinstance(call, ast.Call):
        options |= {item.arg: ast.literal_eval(item.value) for item in call.keywords if item.arg is not None}
        call = call.func
    if patterns:
        options["patterns"] = [(name, their_pattern(words)) for name, words in patterns]
    return getattr(relax.transform, ast.unparse(call))(**options)


@pytest.mark.tvm
@pytest.mark.parametrize("name", CASES)
def test_a_pass_of_tvm_gives_the_text(name: str) -> None:
    case = CASES[name]
    with tvm.target.Target("llvm"):
        theirs = their_pass(case["pass"], case.get("patterns", ()))(
            from_source(case["before"], check_well_formed=False)
        )
    assert first_difference(rc.parse(text_of(theirs)), rc.parse(case["after"])) is None


@pytest.mark.parametrize("name", CASES)
def test_the_pass_gives_the_text(name: str) -> None:
    case = CASES[name]
    patterns = tuple((name, rc.pattern(words)) for name, words in case.get("patterns", ()))
    stage = rc.run_pipeline(rc.parse(case["before"]), case["pass"], tables=rc.Tables(patterns))[-1]
    assert list(errors_of(stage.after)) == []
    assert first_difference(stage.after, rc.parse(case["after"])) is None


def errors_of(module: IRModule) -> Iterator[str]:
    """Say what is wrong with a module."""
    return (str(item) for item in rc.check(module) if item.severity == "error")
