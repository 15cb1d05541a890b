"""ManifestAlloc and ManifestLifetimes, and the error samples of devices."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.analysis.device.constraints import parts_of
from relax_core.analysis.device.devices import Device, is_primitive
from relax_core.diagnostics import RunError
from relax_core.engine.inputs import generate
from relax_core.ir.expr import Call, Function, Op, Tuple, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children
from relax_core.ir.relay import Let
from relax_core.vm.objects.values import StorageValue
from relax_core.vm.relay.interpreter import RelayInterpreter
from relax_core.vm.relay.memory import MEMORY_OPERATORS, Copied

SAMPLES = Path(__file__).resolve().parents[3] / "samples"
RUN_TIME = SAMPLES / "errors" / "dv_run_time.relay"
ERRORS = sorted(path for path in (SAMPLES / "errors").glob("dv_*") if path.stem != RUN_TIME.stem)
PROGRAMS = (
    "tensor_array", "map_three_times", "map_twelve_times", "lstm_list", "even_odd", "conditional", "closures",
    "references", "conv_bn_relu", "devices",
)  # fmt: skip


@pytest.mark.parametrize("path", ERRORS, ids=lambda path: path.stem)
def test_a_sample_fails_as_announced(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    passes = re.search(r"^(?://|#) passes: (.+)$", text, re.MULTILINE)
    assert passes is not None
    lines = enumerate(text.splitlines(), 1)
    announced = {(number, code) for number, line in lines for code in re.findall(r"(?://|#)! (DV\d{3})", line)}
    stages = rc.run_pipeline(rc.parse(text, path.name), passes[1])
    found = [item for stage in stages for item in stage.diagnostics]
    assert {(item.span.line if item.span else 0, item.code) for item in found} == announced
    assert all(item.hint for item in found)


def test_a_kernel_on_two_devices_stops_the_run() -> None:
    text = RUN_TIME.read_text(encoding="utf-8")
    module = rc.parse(text, RUN_TIME.name)
    with pytest.raises(rc.RunError) as caught:
        rc.evaluate(module, "main", *arguments(module))
    (error,) = caught.value.diagnostics
    assert error.code == "DV005"
    assert error.span is not None
    assert "//! DV005" in text.splitlines()[error.span.line - 1]
    planned = rc.run_pipeline(module, "PlanDevices")[-1].after
    interpreter = RelayInterpreter(planned)
    interpreter.call("main", arguments(module))
    assert interpreter.copies == [Copied(Device("cuda"), Device("cpu"), 24)]


def arguments(module: IRModule) -> tuple[Any, ...]:
    function = module["main"]
    assert isinstance(function, Function)
    return generate(function, 3, {})


def lowered(name: str, passes: str = "PlanDevices(default='cuda'), ManifestAlloc") -> IRModule:
    text = (SAMPLES / "relay" / f"{name}.relay").read_text(encoding="utf-8")
    stage = rc.run_pipeline(rc.parse(text, f"{name}.relay"), passes)[-1]
    assert not stage.is_failed, [item.render() for item in stage.diagnostics]
    return stage.after


def functions(module: IRModule) -> tuple[Function, ...]:
    return tuple(function for _, function in module.relax_functions if not is_primitive(function))


def operator(node: Node) -> str:
    return node.op.name if isinstance(node, Call) and isinstance(node.op, Op) else ""


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_kernel_writes_into_memory_of_its_own(name: str) -> None:
    module = lowered(name)
    assert [item for item in rc.check(module) if item.severity == "error"] == []
    assert rc.structural_equal(rc.parse(rc.script(module), "again.relay"), module)
    for function in functions(module):
        lets = {node.var: node.value for node in parts_of(function) if isinstance(node, Let)}
        written: list[Var] = []
        for node in parts_of(function):
            if operator(node) in ("vm.invoke_tvm_op", "vm.shape_func"):
                assert isinstance(node, Call)
                outputs = lets[node.args[2]] if isinstance(node.args[2], Var) else node.args[2]
                assert isinstance(outputs, Tuple)
                written += [item for item in outputs.fields if isinstance(item, Var)]
            elif operator(node):
                assert operator(node).startswith(("memory.", "vm.", "on_device", "device_copy")), operator(node)
        assert len(set(written)) == len(written)
        assert {operator(lets[var]) for var in written} <= {"memory.alloc_tensor"}
        calls = [node for node in parts_of(function) if isinstance(node, Call)]
        storages = [call.args[0] for call in calls if operator(call) == "memory.alloc_tensor"]
        assert len(set(storages)) == len(storages) == len(written)


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_value_is_used_behind_its_end(name: str) -> None:
    module = lowered(name, "PlanDevices(default='cuda'), ManifestAlloc, ManifestLifetimes")
    assert [item for item in rc.check(module) if item.severity == "error"] == []
    kills = 0
    for function in functions(module):
        heads = [node for node in parts_of(function) if isinstance(node, Let)]
        inner = {node.body for node in heads}
        for head in heads:
            if head not in inner:
                kills += walk(head)
    assert kills > 0


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_lowered_program_gives_the_same_value(name: str) -> None:
    module = rc.parse((SAMPLES / "relay" / f"{name}.relay").read_text(encoding="utf-8"), f"{name}.relay")
    after = lowered(name, "PlanDevices(default='cuda'), ManifestAlloc, ManifestLifetimes")
    args = arguments(module)
    assert str(rc.evaluate(after, "main", *args)) == str(rc.evaluate(module, "main", *args))


def walk(head: Let) -> int:
    """Follow one scope; return how many values end in it."""
    dead: set[Node] = set()
    at: Node = head
    while isinstance(at, Let):
        if operator(at.value) == "memory.kill":
            assert isinstance(at.value, Call)
            assert at.value.args[0] not in dead
            dead.add(at.value.args[0])
        else:
            assert not used(at.value) & dead
        at = at.body
    assert not used(at) & dead
    return len(dead)


def used(root: Node) -> set[Node]:
    found: set[Node] = set()
    stack: list[Node] = [root]
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack.extend(children(node))
    return found


def test_a_second_run_kills_nothing_twice() -> None:
    passes = "PlanDevices, ManifestAlloc, ManifestLifetimes"
    module = lowered("tensor_array", passes)
    again = rc.run_pipeline(module, "ManifestLifetimes")[-1].after
    assert rc.script(again).count("memory.kill") == rc.script(module).count("memory.kill")


def test_memory_is_on_the_device_of_its_value() -> None:
    text = rc.script(lowered("devices", "PlanDevices, ManifestAlloc"))
    assert text.count("memory.alloc_storage(24i64, 64i64, virtual_device=VirtualDevice(device_type=1)") == 0
    assert text.count('virtual_device=VirtualDevice(device_type=1), dtype="float32"') == 1
    assert text.count('virtual_device=VirtualDevice(device_type=2), dtype="float32"') == 1


@pytest.mark.parametrize(
    ("offset", "count", "code"), [(-4, 1, "VM052"), (16, 1, "VM052"), (0, 5, "VM052"), (2, 1, "VM053")]
)
def test_a_relay_tensor_lies_within_its_storage(offset: int, count: int, code: str) -> None:
    with pytest.raises(RunError, match=code):
        in_storage(StorageValue(16), offset, count, "float32")


def test_relay_tensors_of_one_storage_share_its_bytes() -> None:
    storage = StorageValue(16)
    first, second = in_storage(storage, 0, 4, "float32"), in_storage(storage, 8, 4, "int16")
    first[:] = [0, 0, 1, 2]
    assert second.tobytes() == first[2:].tobytes()


def in_storage(storage: StorageValue, offset: int, count: int, dtype: str) -> Any:
    """Make a tensor as the interpreter of Relay does."""
    call = Call(Op("memory.alloc_tensor"), (), (("dtype", dtype),))
    host: Any = None
    return MEMORY_OPERATORS["memory.alloc_tensor"](host, call, (storage, np.array(offset), np.array([count])))
