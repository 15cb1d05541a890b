"""What every pass says: of each module that it changes what it did, and where it has a choice, why it did not.

Modules are in normal form before the pass, so that what is said of that does not stand for what the pass does.
"""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest

import relax_core as rc
from relax_core.check.check import check
from relax_core.diagnostics import has_errors
from relax_core.ir.dialect import dialect_of
from relax_core.ir.module import IRModule
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.passes.core import Pass, Stage
from relax_core.passes.library import PASSES
from relax_core.passes.pipeline import run_pipeline
from tests.passes.programs import HEAD, PROGRAMS, program
from tests.passes.test_every_pass import NAMES, pipelines, sound_modules
from tests.passes.test_passes import COMPOSITES
from tests.passes.tir_programs import program as tir_program
from tests.passes.tir_storages import PROGRAMS as STORAGES

LEFT: Final = tomllib.loads(Path(__file__).with_name("left_programs.toml").read_text(encoding="utf-8"))
HANDED_OVER = f"{COMPOSITES}, MergeCompositeFunctions, RunCodegen, LinkReferenceBackend"
_ALL: Final = "it does the same to all that it is for, and says with an error what it cannot do"
_FORM: Final = "a form is established in the whole module"
_ASKED: Final = "a primitive does what it is asked, or says with an error why it cannot"
CHOICELESS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("relax", "Normalize"): _FORM,
        ("relax", "ToNonDataflow"): _FORM,
        ("relax", "LambdaLift"): "every local function is lifted",
        ("relax", "CallTIRRewrite"): _ALL,
        ("relax", "Gradient"): _ALL,
        ("relax", "LinkReferenceBackend"): "every function that was handed to a backend gets a body",
        ("relay", "CanonicalizeOps"): "the checker takes no nn.bias_add of an unknown rank",
        ("relay", "InferType"): "a type that is not determined is an error",
        ("relay", "RemoveUnusedFunctions"): "what entries lead to stays, and nothing else",
        ("tir", "ConvertBlocksToOpaque"): _FORM,
        ("tir", "FlattenBuffer"): _FORM,
        ("tir", "AddUnitLoop"): _ASKED,
        ("tir", "Bind"): _ASKED,
        ("tir", "Blockize"): _ASKED,
        ("tir", "CacheRead"): _ASKED,
        ("tir", "CacheWrite"): _ASKED,
        ("tir", "ComputeInline"): _ASKED,
        ("tir", "DecomposeReduction"): _ASKED,
        ("tir", "Fuse"): _ASKED,
        ("tir", "Parallel"): _ASKED,
        ("tir", "Reindex"): _ASKED,
        ("tir", "ReverseComputeAt"): _ASKED,
        ("tir", "ReverseComputeInline"): _ASKED,
        ("tir", "Split"): _ASKED,
        ("tir", "StorageAlign"): _ASKED,
        ("tir", "TransformLayout"): _ASKED,
        ("tir", "Unannotate"): _ASKED,
        ("tir", "Unroll"): _ASKED,
        ("tir", "Vectorize"): _ASKED,
    }
)
"""The passes that leave nothing of what they are for, and why."""
REFUSING = (("tir", "Tensorize"),)
"""It knows no intrinsic of any target, so that it always stops with an error."""


@pytest.fixture(scope="module")
def modules() -> list[tuple[str, IRModule]]:
    texts = {f"storage {name}": HEAD + tir_program(body) for name, body in STORAGES.items()}
    found = [*sound_modules(), *((name, program(name)) for name in PROGRAMS)]
    found += ((name, rc.parse(text)) for name, text in texts.items())
    return [(name, module) for name, module in found if not has_errors(check(module))]


def runs(key: tuple[str, str], modules: list[tuple[str, IRModule]]) -> Iterator[tuple[str, tuple[Stage, ...]]]:
    """Yield the stages of each module that a pass takes, the last one that of the pass."""
    dialect, name = key
    first: tuple[str | Pass, ...] = ("Normalize",) if dialect == "relax" and name != "Normalize" else ()
    for title, module in modules if key in NAMES else ():
        if module.prim_funcs if dialect == "tir" else dialect in ("any", dialect_of(module)):
            yield from ((title, run_pipeline(module, (*first, *passes))) for passes in pipelines(dialect, name))
    for item in LEFT[dialect].get(name, ()):
        yield f"left_programs.toml, {item['text']}", run_pipeline(rc.parse(item["text"]), item["passes"])
    if name == "LinkReferenceBackend":
        yield "libraries", run_pipeline(program("libraries"), HANDED_OVER)


def is_said(stages: tuple[Stage, ...]) -> bool:
    """Tell whether the last stage says of a place in the text what it did there."""
    log = RewriteLog.merged(stage.log for stage in stages)
    return any(item.kind == "applied" and log.locate(item.node) is not None for item in stages[-1].remarks)


@pytest.mark.parametrize("key", sorted({*PASSES}.difference(REFUSING)), ids=".".join)
def test_a_pass_says_what_it_did_and_why_something_stayed(
    key: tuple[str, str], modules: list[tuple[str, IRModule]]
) -> None:
    changed, left = 0, ""
    for title, stages in runs(key, modules):
        stage = stages[-1]
        if stage.is_failed or stage.pass_name != key[1]:
            continue
        assert not stage.is_changed or is_said(stages), f"{title} is changed without a word"
        changed += stage.is_changed
        left = next((item.message for item in stage.remarks if item.kind != "applied"), left)
    assert changed or left, "the pass does nothing in any program"
    assert bool(left) != (key in CHOICELESS), left or f"{key[1]} never says why something stays"
