"""The device in braces behind the variable of a let: printed back, kept by the passes, and a constraint of planning."""

import numpy as np
import pytest

import relax_core as rc
from relax_core.analysis.device.devices import as_device_copy, declared_devices
from relax_core.ir.attrs import attr
from relax_core.ir.equality import structural_equal
from relax_core.ir.expr import Function
from relax_core.ir.module import IRModule
from relax_core.ir.node import postorder
from relax_core.ir.relay import Let
from tests.passes.relay.running import agree, both, parsed

CPU, GPU = (f"{{virtual_device=VirtualDevice(device_type={number}, virtual_device_id=0)}}" for number in (1, 2))
V = "Tensor[(3), float32]"
TEXT = f"""\
type F {{ F(fn ({V}) -> {V}) }}
def @main(%x: {V}) -> {V} {{
  let %y {CPU}: {V} = add(%x, exp(%x));
  let %f {CPU} = fn (%a: {V}) -> {V} {{ let %b {CPU} = add(%a, %y); multiply(%b, %b) }};
  let %z {CPU} = if (less(sum(%y), 0f)) {{ %f(%y) }} else {{ %y }};
  subtract(%z, %y)
}}
"""
KEPT = ("y", "z", "b")
KEEPING = (
    "InferType", "ToANormalForm", "ToBasicBlockNormalForm", "EtaExpand", "LambdaLift", "DeadCodeElimination",
    "EliminateCommonSubexpr", "FoldConstant", "SimplifyInference", "Defunctionalization", "FuseOps", "PlanDevices",
    "RemoveUnusedFunctions", "PlanDevices, ToANormalForm, ManifestAlloc, ManifestLifetimes",
)  # fmt: skip


def declared(module: IRModule) -> dict[str, object]:
    """Return what the lets of a module say in braces, by variable."""
    functions = [item.function for item in module if isinstance(item.function, Function)]
    lets = [node for function in functions for node in postorder(function) if isinstance(node, Let)]
    return {let.var.name: attr(let.attrs, "virtual_device") for let in lets if let.attrs}


def test_it_is_printed_back() -> None:
    module = parsed(TEXT)
    text = rc.script(module, dialect="relay")
    assert text.count(CPU) == 4
    assert structural_equal(rc.parse(text, "again.relay"), module)
    other = rc.parse(text.replace("device_type=1", "device_type=2", 1), "other.relay")
    assert not structural_equal(other, module)


@pytest.mark.parametrize("passes", KEEPING)
def test_passes_keep_it(passes: str) -> None:
    stage = rc.run_pipeline(parsed(TEXT), passes)[-1]
    assert [str(item) for item in stage.diagnostics if item.severity == "error"] == []
    found = declared(stage.after)
    assert {name for name in KEPT if name in found} == set(KEPT)
    assert len({str(value) for value in found.values()}) == 1


def test_a_program_with_it_runs_in_both_ways() -> None:
    x = np.array([-3, -1, -2], "float32")
    y = x + np.exp(x)
    agree(both(TEXT, x), (2 * y) ** 2 - y)


def test_planning_takes_it_as_a_constraint() -> None:
    text = f"def @main(%x: {V}) {{ let %a {GPU} = exp(%x); let %b = negative(%a); %b }}"
    planned = rc.run_pipeline(parsed(text), "PlanDevices")[-1]
    assert [str(item) for item in planned.diagnostics] == []
    function = planned.after["main"]
    assert isinstance(function, Function)
    assert [device and device.kind for device in (*declared_devices(function)[0], declared_devices(function)[1])] == [
        "cuda",
        "cuda",
    ]
    assert not rc.run_pipeline(planned.after, "PlanDevices")[-1].is_changed


def test_a_value_is_copied_from_the_device_of_one_let_to_that_of_the_next() -> None:
    text = f"def @main(%x: {V}) {{ let %a {GPU} = exp(%x); let %b {CPU} = negative(%a); %b }}"
    planned = rc.run_pipeline(parsed(text), "PlanDevices")[-1]
    copies = [found for node in postorder(planned.after["main"]) if (found := as_device_copy(node)) is not None]
    assert [(copy.source and copy.source.kind, copy.target and copy.target.kind) for copy in copies] == [
        ("cuda", "cpu")
    ]
    assert set(declared(planned.after)) == {"a", "b"}
