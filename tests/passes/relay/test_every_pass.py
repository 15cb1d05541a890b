"""What holds for every pass on Relay: the value stays, the types are right, depth does not matter."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import relax_core as rc
from relax_core.ir.expr import Call, Function, TensorType
from relax_core.ir.module import IRModule
from relax_core.ir.node import postorder
from relax_core.ir.prim import IntImm
from relax_core.ir.rewriting.rewrite import RewriteLog
from tests.passes.relay.after import ONES, chain, last, same_value
from tests.passes.relay.running import agree
from tests.passes.relay.test_generated_programs import modules

PASSES = (
    "InferType",
    "FoldConstant",
    "DeadCodeElimination",
    "DeadCodeElimination(inline_once=True)",
    "EliminateCommonSubexpr",
    "EtaExpand(expand_constructor=True, expand_global_var=True)",
    "Inline",
    "LambdaLift",
    "ToBasicBlockNormalForm",
    "SimplifyInference",
    "CanonicalizeOps",
    "FuseOps",
    "FuseOps(fuse_opt_level=0)",
    "FuseOps, DefuseOps",
    "RemoveUnusedFunctions",
    "Defunctionalization",
)
# Orders in which a compiler runs them.
PIPELINES = (
    "SimplifyInference, CanonicalizeOps, EliminateCommonSubexpr, FoldConstant, FuseOps, ToANormalForm, LambdaLift",
    "ToANormalForm, DeadCodeElimination(inline_once=True), EliminateCommonSubexpr, FuseOps, InferType",
    "ToBasicBlockNormalForm, FoldConstant, ToGraphNormalForm, FuseOps, ToANormalForm, DeadCodeElimination, LambdaLift",
)
SAMPLES = sorted((Path(__file__).parents[3] / "samples" / "relay").glob("*.relay"))
GIVES_NO_TENSOR = ("assertion_log", "context_analysis_log")


def _program(name: str) -> tuple[IRModule, list[Any]]:
    """A sample with arguments for its `main`; no element is negative, for variances are among them."""
    file = next(item for item in SAMPLES if item.stem == name)
    module = rc.parse(file.read_text(encoding="utf-8"), file.name)
    rng = np.random.default_rng(0)
    main = module["main"]
    assert isinstance(main, Function)
    args: list[Any] = []
    for param in main.params:
        assert isinstance(param.annotation, TensorType)
        shape = tuple(dim.value for dim in param.annotation.dims or () if isinstance(dim, IntImm))
        args.append(rng.uniform(0, 3, shape).astype(param.annotation.dtype))
    return module, args


@pytest.mark.parametrize("passes", [*PASSES, *PIPELINES])
@pytest.mark.parametrize("name", [file.stem for file in SAMPLES if file.stem not in GIVES_NO_TENSOR])
def test_a_sample_keeps_its_value(name: str, passes: str) -> None:
    module, args = _program(name)
    after = same_value(module, passes, *args)
    if passes in PASSES:
        again = rc.run_pipeline(after, passes)[-1].after
        assert rc.structural_equal(again, after)


@pytest.mark.parametrize("passes", PIPELINES)
@settings(max_examples=10, deadline=None)
@given(module=modules(), numbers=st.lists(st.integers(-4, 4), min_size=6, max_size=6))
def test_a_random_program_keeps_its_value(passes: str, module: IRModule, numbers: list[int]) -> None:
    args = (np.array(numbers[:3], "int32"), np.array(numbers[3:], "int32"))
    wanted = rc.evaluate(module, "main", *args)
    for stage in rc.run_pipeline(module, passes):
        assert [item.render() for item in stage.diagnostics] == []
        assert [str(item) for item in rc.check(stage.after) if item.severity == "error"] == []
        agree(rc.evaluate(stage.after, "main", *args), wanted)


@pytest.mark.parametrize("passes", PASSES)
@settings(max_examples=5, deadline=None)
@given(module=modules(), numbers=st.lists(st.integers(-4, 4), min_size=6, max_size=6))
def test_one_pass_keeps_the_value_of_a_random_program(passes: str, module: IRModule, numbers: list[int]) -> None:
    same_value(module, passes, np.array(numbers[:3], "int32"), np.array(numbers[3:], "int32"))


@pytest.mark.parametrize("is_let", [False, True], ids=["graph", "lets"])
@pytest.mark.parametrize("passes", PASSES)
def test_a_deep_program_is_no_problem(passes: str, is_let: bool) -> None:
    module = chain(1000, is_let=is_let)
    stage = rc.run_pipeline(module, passes)[-1]
    assert not stage.is_failed
    agree(rc.evaluate(stage.after, "main", ONES), ONES)


@pytest.mark.parametrize("passes", PIPELINES)
def test_every_call_leads_back_to_the_text(passes: str) -> None:
    module, _ = _program("lstm_list")
    logs: list[RewriteLog] = []
    for stage in rc.run_pipeline(module, passes):
        logs.append(stage.log)
        log = RewriteLog.merged(logs)
        for _, function in stage.after.relax_functions:
            lost = [node for node in postorder(function) if isinstance(node, Call) and log.locate(node) is None]
            assert lost == [], stage.pass_name


def test_passes_of_one_name_are_found_by_the_dialect() -> None:
    module, _ = _program("closures")
    names = [stage.pass_name for stage in rc.run_pipeline(module, "LambdaLift, RelayToRelax, LambdaLift")]
    assert names == ["LambdaLift", "RelayToRelax", "LambdaLift"]
    assert last(module, "relay.LambdaLift").is_changed
