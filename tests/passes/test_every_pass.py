"""What holds for every pass on every sample: what is closed and well typed stays so, and no pass breaks down."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Final

import pytest

import relax_core as rc
from relax_core.check.check import check
from relax_core.diagnostics import has_errors
from relax_core.ir.dialect import dialect_of
from relax_core.ir.module import IRModule
from relax_core.passes.core import Pass
from relax_core.passes.library import PASSES
from relax_core.passes.named_pipelines import S_TIR
from relax_core.passes.pipeline import DEFAULT_PIPELINE, run_pipeline

pytestmark = pytest.mark.usefixtures("kept_kernels")

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
APART = ("errors", "patterns")
"""Folders of programs with errors, and of tables."""
NAMES = sorted(key for key, pass_ in PASSES.items() if "block" not in {item.name for item in fields(pass_.options)})
"""A schedule primitive changes the block that its options name, so that it has tests of its own."""
LOWERING = tuple(name.strip() for name in DEFAULT_PIPELINE.split(","))
BLOCKS = tuple(name.strip() for name in S_TIR.split(","))
GIVEN: Final[Mapping[str, str | Pass]] = {
    "AnnotateTarget": "AnnotateTarget(targets=['dnnl'])",
    "ApplyRules": rc.rules(
        "R.nn.relu(x) -> R.maximum(x, R.const(0.0, x.dtype))\n"
        'R.add(x, y) -> R.subtract(x, R.negative(y)) where x.dtype == "float32"'
    ),
}
"""What a pass is run as, where it does nothing by its name alone."""
PURITY = ("WF004", "WF005")
"""Memory is written in functions that are declared pure until RemovePurityChecking has promised that they are."""
BROKEN_DOWN = ("PS015", "PS016", "PS017")
REFUSED = frozenset(
    (
        ("relax", "UpdateVDevice"),  # of a module that has no such device
        ("relax", "Gradient"),  # of a function that returns no float of rank 0
        ("relay", "ManifestAlloc"),  # of a module without planned devices
    )
)
"""Passes that refuse most samples, so that a single one has to do."""


def sound_modules() -> list[tuple[str, IRModule]]:
    found: list[tuple[str, IRModule]] = []
    for path in sorted(SAMPLES.rglob("*")):
        if path.suffix in (".py", ".relay") and path.parent.name not in APART:
            modules = rc.parse_all(path.read_text(encoding="utf-8"), path.name)
            name = path.relative_to(SAMPLES).as_posix()
            found += ((name, module) for module in modules.values() if not has_errors(check(module)))
    return found


@pytest.fixture(scope="module")
def modules() -> list[tuple[str, IRModule]]:
    return sound_modules()


def pipelines(dialect: str, name: str) -> tuple[tuple[str | Pass, ...], ...]:
    """A pass alone, and behind the passes that stand before it when a module is lowered."""
    alone = GIVEN.get(name, name)
    if dialect == "tir" and PASSES[dialect, name].needs:
        return ((*BLOCKS[: BLOCKS.index(name)], alone),)
    if dialect == "relay" or name not in LOWERING:
        return ((alone,),)
    return (alone,), (*LOWERING[: LOWERING.index(name)], alone)


@pytest.mark.parametrize(("dialect", "name"), NAMES, ids=[".".join(item) for item in NAMES])
def test_a_pass_leaves_a_closed_and_well_typed_module(
    dialect: str, name: str, modules: list[tuple[str, IRModule]]
) -> None:
    passed = 0
    for sample, module in modules:
        if not (module.prim_funcs if dialect == "tir" else dialect in ("any", dialect_of(module))):
            continue
        for passes in pipelines(dialect, name):
            stage = run_pipeline(module, passes)[-1]
            assert not {item.code for item in stage.diagnostics} & set(BROKEN_DOWN), (sample, passes)
            if stage.is_failed:
                continue
            known = {item.code for item in check(stage.before)}
            new = [item for item in check(stage.after) if item.severity == "error" and item.code not in known]
            assert [str(item) for item in new if item.code not in PURITY] == [], (sample, passes)
            passed += 1
    least = 1 if (dialect, name) in REFUSED else 10
    assert passed >= least, f"{name} took {passed} samples"
