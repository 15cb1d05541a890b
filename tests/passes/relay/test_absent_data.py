"""Relay text without its metadata: passes that never look at the data of constants run, the others refuse."""

import pytest

import relax_core as rc
from relax_core.ir.absent import absence_of
from relax_core.ir.equality import structural_equal
from relax_core.ir.expr import Constant, Tuple
from relax_core.ir.module import IRModule
from relax_core.ir.node import postorder
from relax_core.passes.core import Pass
from relax_core.passes.library import PASSES
from relax_core.printer.relay_text.module import print_relay

NETWORK = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 8), float32]) {
  %0 = nn.dense(%x, meta[relay.Constant][0] /* ty=Tensor[(8, 8), float32] */, units=None);
  %1 = nn.relu(add(%0, meta[relay.Constant][1] /* ty=Tensor[(8), float32] */));
  %2 = nn.relu(add(%0, meta[relay.Constant][2] /* ty=Tensor[(8), float32] */));
  add(%1, %2)
}
"""
TABLES = rc.Tables(supported={"dnnl": ("nn.dense", "add", "nn.relu")})
RELAY = [item for item in PASSES.values() if item.dialect == "relay"]


def absent(module: IRModule) -> set[Constant]:
    return {node for node in postorder(module) if isinstance(node, Constant) and absence_of(node) is not None}


@pytest.mark.parametrize("made", [item for item in RELAY if not item.reads_data], ids=lambda item: item.name)
def test_a_pass_that_does_not_read_data_keeps_what_is_absent(made: Pass) -> None:
    module = rc.parse(NETWORK, "m.relay")
    stage = rc.run_pipeline(module, [made], tables=TABLES)[-1]
    assert not stage.is_failed, stage.diagnostics
    assert absent(stage.after) == absent(module)
    assert len(absent(stage.after)) == 3
    again = rc.parse(print_relay(stage.after).text, "again.relay")
    assert structural_equal(stage.after, again)


@pytest.mark.parametrize("made", [item for item in RELAY if item.reads_data], ids=lambda item: item.name)
def test_a_pass_that_reads_data_refuses_a_module_without_it(made: Pass) -> None:
    module = rc.parse(NETWORK, "m.relay")
    with pytest.raises(rc.CompileError) as refused:
        rc.run_pipeline(module, [made], tables=TABLES)
    assert {item.code for item in refused.value.diagnostics} == {"WF025"}
    stages = rc.run_pipeline(module, ["RemoveUnusedFunctions", made], tables=TABLES)
    assert [stage.is_failed for stage in stages] == [False, True]
    assert [item.code for item in stages[-1].diagnostics] == ["WF025"] * 3


def test_a_network_is_partitioned_without_its_weights() -> None:
    passes = "AnnotateTarget(targets=['dnnl']), MergeCompilerRegions, PartitionGraph"
    stages = rc.run_pipeline(rc.parse(NETWORK, "m.relay"), passes, tables=TABLES)
    assert not stages[-1].is_failed
    assert len(tuple(stages[-1].after.relax_functions)) == 2
    assert len(absent(stages[-1].after)) == 3


def test_two_constants_without_data_are_two_values() -> None:
    module = rc.parse(NETWORK, "m.relay")
    _, second, third = sorted(absent(module), key=lambda item: str(absence_of(item)))
    assert not structural_equal(Tuple((second,)), Tuple((third,)))
    assert structural_equal(Tuple((second,)), Tuple((second,)))


def test_a_constant_that_no_memory_would_hold_has_its_type() -> None:
    large = "Tensor[(65536, 65536, 64), float32]"
    module = rc.parse(f"def @main() {{ meta[relay.Constant][0] /* ty={large} */ }}", "m.relay")
    stage = rc.run_pipeline(module, "InferType")[-1]
    assert not stage.is_failed
    assert f"-> {large}" in print_relay(stage.after).text


def test_what_an_absent_constant_says_of_an_attribute_is_unknown() -> None:
    text = (
        "def @main(%x: Tensor[(2, 3), float32]) {\n"
        "  dyn.reshape(%x, meta[relay.Constant][0] /* ty=Tensor[(1), int64] */, newshape=[])\n}"
    )
    stage = rc.run_pipeline(rc.parse(text, "m.relay"), "InferType")[-1]
    assert not stage.is_failed
    assert "-> Tensor[(?,), float32]" in print_relay(stage.after).text
