"""What each pass does to small programs, as text, and what holds for all of them."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import relax_core as rc
from relax_core.check.check import check
from relax_core.frontend.parse import parse_text
from relax_core.ir.expr import Call, Function, GlobalVar
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.ir.rewriting.builder import names_in
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.passes.core import Stage
from relax_core.passes.pipeline import DEFAULT_PIPELINE, final_module, run_pipeline
from relax_core.printer.tvmscript import print_module
from tests.golden_text import Golden
from tests.passes.programs import LIBRARY_TABLE, PROGRAMS, program
from tests.strategies import Program, programs

SAMPLES = sorted(
    file for room in ("relax", "tir", "seeds") for file in (Path(__file__).parents[2] / "samples" / room).glob("*.py")
)
LOWER = "Normalize, LegalizeOps, ToNonDataflow, RemovePurityChecking, CallTIRRewrite"
COMPOSITES = f"FuseOpsByPattern(patterns='{LIBRARY_TABLE}')"
SCRATCH = "LowerInitBlock, PlanAndUpdateBufferAllocationLocation"

CASES = (
    ("nested_calls", "Normalize"),
    ("no_capture", "LambdaLift"),
    ("no_capture", "LambdaLift(names='2022')"),
    ("no_capture", "LambdaLift(names='2022'), ElideClosureWrappers"),
    ("capture", "LambdaLift"),
    ("capture", "LambdaLift(names='2022')"),
    ("capture", "LambdaLift, ElideClosureWrappers"),
    ("recursion", "LambdaLift, ElideClosureWrappers"),
    ("captured_dimension", "Normalize, LambdaLift"),
    ("dimension_in_recursion", "Normalize, LambdaLift"),
    ("recursion", "Normalize, LambdaLift"),
    ("mutual_recursion", "Normalize, LambdaLift"),
    ("nested_lambdas", "LambdaLift"),
    ("returned_closure", "LambdaLift"),
    ("in_tuple_and_branch", "LambdaLift"),
    ("dataflow", "CanonicalizeBindings"),
    ("dataflow", "CanonicalizeBindings, DeadCodeElimination"),
    ("dataflow", "ToNonDataflow"),
    ("casts", "CanonicalizeBindings"),
    ("dead", "DeadCodeElimination"),
    ("operators", "Normalize, LegalizeOps"),
    ("operators", "Normalize, LegalizeOps(functions=['other'])"),
    ("operators", "Normalize, LegalizeOps(operators=['nn.relu'])"),
    ("operators", "Normalize, LegalizeOps(custom={'relax.add': 'packed', 'exp': 'keep', 'matmul': 'call:my_matmul'})"),
    ("laid_out", "SplitLayoutRewritePreproc"),
    ("call_tir", "Normalize, CallTIRRewrite"),
    ("call_tir", "Normalize, CallTIRRewrite, LowerAllocTensor"),
    ("several_outputs", "CallTIRRewrite"),
    ("symbolic", "VMShapeLower"),
    ("branches", f"{LOWER}, LowerAllocTensor, KillAfterLastUse"),
    ("no_capture", f"{LOWER.replace('Normalize', 'Normalize, LambdaLift')}, LowerAllocTensor, LowerRuntimeBuiltin"),
    ("capture", f"{LOWER.replace('Normalize', 'Normalize, LambdaLift')}, LowerAllocTensor, LowerRuntimeBuiltin"),
    ("dead", "Normalize, AttachGlobalSymbol"),
    ("dead", "RemovePurityChecking"),
    ("repeated", "EliminateCommonSubexpr"),
    ("repeated", "FoldConstant"),
    ("repeated", "LegalizeOps, FuseOps(max_depth=4)"),
    ("repeated", "LegalizeOps, FuseOps(max_depth=4), FuseTIR"),
    ("repeated", "LegalizeOps, EliminateCommonSubexpr, CanonicalizeBindings, FuseOps"),
    ("scratch", SCRATCH),
    ("scratch", f"{SCRATCH}, ConvertBlocksToOpaque, CompactBufferAllocation"),
    ("rows", "StorageRewrite"),
    ("rows", "UnrollLoop, FlattenBuffer, CommonSubexprElim"),
    ("libraries", f"{COMPOSITES}, MergeCompositeFunctions"),
    ("libraries", f"{COMPOSITES}, MergeCompositeFunctions, RunCodegen"),
    ("libraries", f"{COMPOSITES}, MergeCompositeFunctions, RunCodegen, LinkReferenceBackend"),
)  # fmt: skip


def _name(case: tuple[str, str]) -> str:
    letters = "".join(char if char.isalnum() else "_" for char in case[1].split(", ")[-1] if char not in "'\"")
    return f"{case[0]}__{letters.strip('_')}"


def _text(stages: tuple[Stage, ...], module: IRModule) -> str:
    lines = [print_module(final_module(module, stages)).text.rstrip()]
    for remark in stages[-1].remarks:
        lines.append(f"# {remark.kind}: {remark.message}")
    return "\n".join(lines)


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_pass_gives_the_expected_text(case: tuple[str, str], golden: Golden) -> None:
    module = program(case[0])
    golden.check(f"passes/{_name(case)}.txt", _text(run_pipeline(module, case[1]), module))


@pytest.mark.parametrize("file", SAMPLES, ids=lambda file: f"{file.parent.name} {file.stem}")
def test_every_call_of_every_stage_of_a_sample_leads_back_to_its_text(file: Path) -> None:
    for module in parse_text(file.read_text(encoding="utf-8"), file.name).modules:
        _every_call_has_a_place(run_pipeline(module))


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("pipeline", [DEFAULT_PIPELINE, f"{LOWER.replace('Normalize', 'Normalize, LambdaLift')}"])
def test_every_call_of_every_stage_leads_back_to_the_text(name: str, pipeline: str) -> None:
    _every_call_has_a_place(run_pipeline(program(name), pipeline))


def _every_call_has_a_place(stages: tuple[Stage, ...]) -> None:
    logs: list[RewriteLog] = []
    for stage in stages:
        assert stage.diagnostics == ()
        logs.append(stage.log)
        log = RewriteLog.merged(logs)
        for _, function in stage.after.relax_functions:
            lost = [item for item in preorder(function) if isinstance(item, Call) and log.locate(item) is None]
            assert lost == [], stage.pass_name


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_stage_is_well_formed(name: str) -> None:
    for stage in run_pipeline(program(name)):
        found = [item.render() for item in check(stage.after) if item.severity == "error"]
        assert found == [], stage.pass_name


@given(programs())
@settings(max_examples=25, deadline=None)
def test_every_stage_of_a_random_program_is_well_formed(drawn: Program) -> None:
    pipeline = DEFAULT_PIPELINE.replace("LambdaLift", "LambdaLift, ElideClosureWrappers")
    for stage in run_pipeline(drawn.module, pipeline.replace("VMShapeLower", "KillAfterLastUse, VMShapeLower")):
        found = [item.render() for item in check(stage.after) if item.severity == "error"]
        assert found == [], stage.pass_name


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_second_run_changes_nothing(name: str) -> None:
    stages = run_pipeline(program(name))
    for stage in stages:
        again = run_pipeline(stage.after, stage.pass_name)
        assert not again[-1].is_failed
        assert not again[-1].is_changed, stage.pass_name


@pytest.mark.parametrize("name", PROGRAMS)
def test_names_stay_unique_within_a_function(name: str) -> None:
    for stage in run_pipeline(program(name), "Normalize, LambdaLift, LegalizeOps"):
        for _, function in stage.after.relax_functions:
            assert names_in(function).fresh("shape_heap") == "shape_heap"
            assert len({param.name for param in function.params}) == len(function.params)


def test_a_nested_function_is_lifted_with_what_its_surroundings_capture() -> None:
    module = final_module(program("nested_lambdas"), run_pipeline(program("nested_lambdas"), "LambdaLift"))
    assert module.names == ("main", "main_outer", "main_inner")
    inner = module["main_inner"]
    assert isinstance(inner, Function)
    assert [param.name for param in inner.params] == ["z", "x", "y"]


# `writes` stores to memory from outside, so that its type is not pure, as apache-tvm has it.
UNUSED_PRIM_CALLS = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def adds(n: T.int64) -> T.int64:
        return n + T.int64(1)

    @T.prim_func(private=True)
    def writes(A: T.Buffer((2,), "float32")):
        for i in range(2):
            A[i] = T.float32(0)

    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32")):
        cls = Module
        a = cls.adds(R.prim_value(2))
        b = cls.writes(x)
        return x
"""


def test_an_unused_call_of_a_prim_func_is_dropped_if_its_type_is_pure() -> None:
    (module,) = parse_text(UNUSED_PRIM_CALLS, "m.py").modules
    after = run_pipeline(module, "DeadCodeElimination")[-1].after
    assert [item.var.name for item in after] == ["writes", "main"]
    assert [
        item.op.name for item in preorder(after["main"]) if isinstance(item, Call) and isinstance(item.op, GlobalVar)
    ] == ["writes"]


def test_what_a_prim_func_calls_is_kept() -> None:
    text = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add1(a: T.int32) -> T.int32:
        return a + 1
    @T.prim_func(private=True, s_tir=True)
    def unused(a: T.int32) -> T.int32:
        return a + 2
    @T.prim_func(private=True, s_tir=True)
    def kernel(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
        for i in range(4):
            B[i] = Module.add1(A[i])
    @R.function
    def main(x: R.Tensor((4,), "int32")):
        return R.call_tir(Module.kernel, (x,), out_ty=R.Tensor((4,), "int32"))
"""
    module = rc.parse(text)
    assert run_pipeline(module, "DeadCodeElimination")[-1].after.names == ("add1", "kernel", "main")
    found = rc.VirtualMachine(rc.build(module))["main"](np.arange(4, dtype="int32"))
    np.testing.assert_array_equal(found, [1, 2, 3, 4])
