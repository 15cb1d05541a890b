"""Origins: what lines of a source became, where lines stem from, and that no pass loses the way."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import relax_core as rc
from relax_core.bytecode.build import build_stages
from relax_core.diagnostics import RunError
from relax_core.engine.debug.replies import Profiled
from relax_core.engine.debug.requests import ProfileOf
from relax_core.engine.protocol import OriginsOf, Program
from relax_core.engine.session import Session
from relax_core.ir.expr import Call, If, Tuple, TupleGetItem, VarBinding
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.ir.tir import Block, BufferStore, For, PrimFunc
from relax_core.passes.core import Stage
from relax_core.passes.pipeline import DEFAULT_PIPELINE, run_pipeline
from relax_core.present.nodes.origin_models import OriginLayer, Origins, spans
from tests import strategies

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
FUSED = (
    "Normalize, LambdaLift, CanonicalizeBindings, EliminateCommonSubexpr, LegalizeOps, DeadCodeElimination, FuseOps, "
    "FuseTIR, ToNonDataflow, RemovePurityChecking, CallTIRRewrite, LowerAllocTensor, KillAfterLastUse, "
    "LowerRuntimeBuiltin, VMShapeLower, AttachGlobalSymbol"
)
PIPELINES = {"default": DEFAULT_PIPELINE, "fused": FUSED}
DROPPING = ("DeadCodeElimination", "CanonicalizeBindings")
FOLLOWED = Call | VarBinding | If | Tuple | TupleGetItem | PrimFunc | Block | BufferStore | For
NETWORK = """from tvm.script import ir as I, relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 3), "float32")) -> R.Tensor((4, 3), "float32"):
        with R.dataflow():
            a = R.exp(x)
            b = R.exp(x)
            c = R.add(a, b)
            unused = R.nn.relu(x)
            d = R.nn.relu(c)
            e = R.nn.relu(d)
            R.output(e)
        return e
"""
EXP, SAME_EXP, ADD, UNUSED, RELU, LAST_RELU, RETURN = 8, 9, 10, 11, 12, 13, 15
KERNEL = "kernel fused_tir_exp_add_relu_relu"


def unplaced(stages: tuple[Stage, ...]) -> list[str]:
    """Return what leads back to no place of any text after a pass."""
    found: list[str] = []
    for stage in stages:
        log = RewriteLog.merged(item.log for item in stages[: stage.index + 1])
        nodes = (node for node in preorder(stage.after) if isinstance(node, FOLLOWED))
        found += [f"{stage.pass_name}: {type(node).__name__}" for node in nodes if log.locate(node) is None]
    return found


def lost(module: IRModule, stages: tuple[Stage, ...]) -> list[str]:
    """Return what leads back to no place of any text, after any pass or in the bytecode."""
    executable = build_stages(module, stages)
    pcs = range(len(executable.instructions))
    return unplaced(stages) + [f"instruction {pc}" for pc in pcs if executable.span_of(pc) is None]


@pytest.mark.parametrize("passes", PIPELINES.values(), ids=PIPELINES)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(program=strategies.programs())
def test_everything_that_a_program_becomes_stems_from_a_line(passes: str, program: strategies.Program) -> None:
    module = rc.parse(rc.script(program.module))
    found = rc.origins(module, passes)
    assert lost(module, run_pipeline(module, passes)) == []
    for layer in found.layers[1:]:
        assert all(item.lines for item in layer.lines if item.node or layer.kind == "bytecode"), layer.name
    calls = {node.span.line for node in preorder(module) if isinstance(node, Call) and node.span is not None}
    reached = {
        line for layer in found.layers if layer.kind == "bytecode" for item in layer.lines for line in item.lines
    }
    assert {found.ended(line) for line in calls - reached} <= {*DROPPING}


@pytest.mark.parametrize(
    "path",
    [
        "relax/mlp.py",
        "relax/closure_captures.py",
        "relax/symbolic_shapes.py",
        "relay/conditional.relay",
        "relay/conv_bn_relu.relay",
        "relay/lstm_list.relay",
        "relay/assertion_log.relay",
        "seeds/my_ir_module_corrected.py",
    ],
)
def test_every_node_of_a_sample_has_a_place(path: str) -> None:
    module = rc.parse((SAMPLES / path).read_text(encoding="utf-8"), path)
    assert lost(module, run_pipeline(module)) == []


@pytest.mark.parametrize("path", ["conv_bn_relu.relay", "partition_branches.relay", "partition_lets.relay"])
def test_every_node_of_a_partitioned_program_has_a_place(path: str) -> None:
    """Annotations have one too: a begin that of the operator that it is for, an end that of its value."""
    tables = rc.read_tables((SAMPLES / "patterns/dnnl.json").read_text(encoding="utf-8"), "dnnl.json")
    passes = "MergeComposite, AnnotateTarget, MergeCompilerRegions, PartitionGraph, RelayToRelax"
    module = rc.parse((SAMPLES / "relay" / path).read_text(encoding="utf-8"), path)
    stages = rc.run_pipeline(module, passes, tables=tables)
    assert any("annotation.compiler_begin" in rc.script(stage.after) for stage in stages[:3])
    assert unplaced(stages) == []


@pytest.fixture(scope="module")
def network() -> Origins:
    return rc.origins(rc.parse(NETWORK), FUSED)


def layer(found: Origins, name: str) -> OriginLayer:
    wanted = found.layer(name)
    assert wanted is not None
    return wanted


def lines_of(found: OriginLayer, words: str) -> tuple[int, ...]:
    """Return the lines that the first line with `words` stems from."""
    return next(item.lines for item in found.lines if words in item.text)


@pytest.mark.parametrize(
    ("name", "words", "lines"),
    [
        ("EliminateCommonSubexpr", "a = R.exp(x)", (EXP, SAME_EXP)),
        ("LegalizeOps", "T.exp(", (EXP, SAME_EXP)),
        ("LegalizeOps", "T.max(", (UNUSED, RELU, LAST_RELU)),
        ("FuseTIR", "T.exp(", (EXP, SAME_EXP)),
        ("FuseTIR", "T_add_intermediate[v_ax0, v_ax1] =", (ADD,)),
        ("FuseTIR", "compute_intermediate1[v_i0_1, v_i1_1] =", (RELU,)),
        ("FuseTIR", "compute_intermediate2[v_i0_2, v_i1_2] =", (LAST_RELU,)),
        ("FuseTIR", "return", (RETURN,)),
        ("bytecode", "fused_tir_exp_add_relu_relu", (EXP, SAME_EXP, ADD, RELU, LAST_RELU)),
        (KERNEL, "compute_intermediate2[v_i0_2, v_i1_2] =", (LAST_RELU,)),
    ],
)
def test_a_line_stems_from_all_it_computes_and_from_nothing_else(
    network: Origins, name: str, words: str, lines: tuple[int, ...]
) -> None:
    assert lines_of(layer(network, name), words) == lines


def test_a_prim_func_stems_from_the_calls_that_are_left() -> None:
    found = rc.origins(rc.parse(NETWORK), "LegalizeOps, DeadCodeElimination")
    assert lines_of(layer(found, "LegalizeOps"), "T.max(") == (UNUSED, RELU, LAST_RELU)
    assert lines_of(layer(found, "DeadCodeElimination"), "T.max(") == (RELU, LAST_RELU)
    assert lines_of(layer(found, "kernel relu"), "T.max(") == (RELU, LAST_RELU)


def test_a_line_that_a_pass_removes_ends_there(network: Origins) -> None:
    assert network.ended(UNUSED) == "DeadCodeElimination"
    assert network.ended(SAME_EXP) == ""
    assert "DeadCodeElimination leaves nothing of it" in network.to_text(UNUSED)


def test_the_texts_of_a_chain(network: Origins) -> None:
    chain = network.to_text(SAME_EXP)
    assert "a = R.exp(x)  (with line 8)" in chain
    assert KERNEL in chain
    assert "8-9 |" in layer(network, "FuseTIR").to_text()
    assert f"{UNUSED:>4}  DeadCodeElimination leaves nothing of it" in network.to_text()


def test_machine_code_of_a_fused_kernel_leads_to_the_line_of_each_operator() -> None:
    reply = Session().request(OriginsOf(Program(NETWORK, pipeline=FUSED), line=ADD))
    assert isinstance(reply, Origins)
    for form in ("llvm", "asm"):
        found = layer(reply, KERNEL.replace("kernel", form))
        assert found.of(EXP)
        assert {line for item in found.lines for line in item.lines} <= {EXP, SAME_EXP, ADD, RELU, LAST_RELU}
        assert all(item.lines == (EXP, SAME_EXP) for item in found.of(EXP))


def test_a_kernel_of_the_text_is_what_its_own_lines_and_its_call_became() -> None:
    text = (SAMPLES / "seeds/my_ir_module_corrected.py").read_text(encoding="utf-8")
    found = rc.origins(rc.parse(text))
    call, store = (1 + next(at for at, row in enumerate(found.source) if words in row) for words in ("gv0 =", "+="))
    for line in (call, store):
        assert [item.name for item, _ in found.became(line) if item.kind == "kernel"] == ["kernel tir_matmul"]
    assert "kernel tir_matmul" in found.to_text()


SHARED_TAKE = """from tvm.script import ir as I, relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        good: R.Tensor((2,), "int64") = R.const([0, 1], "int64")
        bad: R.Tensor((2,), "int64") = R.const([0, 9], "int64")
        first = R.take(x, good, axis=0, mode="fast")
        second = R.take(x, bad, axis=0, mode="fast")
        return R.add(first, second)
"""


def test_a_fault_in_a_prim_func_of_several_calls_is_at_the_call_that_runs() -> None:
    with pytest.raises(RunError) as failure:
        rc.VirtualMachine(rc.build(rc.parse(SHARED_TAKE)))["main"](np.zeros((4, 3), "float32"))
    (found,) = failure.value.diagnostics
    assert found.code == "JT010"
    assert found.span is not None
    assert found.span.text == 'second = R.take(x, bad, axis=0, mode="fast")'


def test_the_time_of_a_fused_kernel_is_that_of_all_its_lines() -> None:
    found = Session().request(ProfileOf(Program(NETWORK, pipeline=FUSED)))
    assert isinstance(found, Profiled)
    (fused,) = [item for item in found.lines if item.others]
    assert sorted((fused.line, *fused.others)) == [EXP, SAME_EXP, ADD, RELU, LAST_RELU]
    assert f" {spans((EXP, SAME_EXP, ADD))}, {spans((RELU, LAST_RELU))} " in found.to_text()


def test_a_module_without_a_text_has_no_lines() -> None:
    with pytest.raises(rc.CompileError) as failure:
        rc.origins(IRModule(()))
    assert failure.value.diagnostics[0].code == "EN005"


@pytest.mark.parametrize(("numbers", "text"), [((), ""), ((3,), "3"), ((3, 4, 5, 9), "3-5, 9"), ((1, 3), "1, 3")])
def test_numbers_are_written_in_runs(numbers: tuple[int, ...], text: str) -> None:
    assert spans(numbers) == text
