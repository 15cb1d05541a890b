"""Planned programs in the machine: their devices are in its table and types, and it counts the copies of the plan."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.analysis.device.virtual_devices import device_table
from relax_core.engine.inputs import generate
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import Function
from relax_core.ir.module import IRModule
from relax_core.vm.machine import Machine
from relax_core.vm.recording.copies import copies_of
from relax_core.vm.recording.trace import Trace
from relax_core.vm.relay.interpreter import RelayInterpreter
from relax_core.vm.virtual_machine import entry_arguments
from tests.passes.relay.device_cases import CASES, TO_GPU, TWO, Case, cpu, main
from tests.passes.relay.running import agree, listed, parsed

SAMPLES = Path(__file__).resolve().parents[3] / "samples" / "relay"
PLAN = "PlanDevices(default='cuda')"
NAMES = ("devices", "lstm_list", "map_three_times", "tensor_array", "references", "conditional", "even_odd")
RUN = tuple(case for case in CASES if case.runs)


def given(module: IRModule) -> tuple[Any, ...]:
    function = module["main"]
    assert isinstance(function, Function)
    return tuple(np.asarray(item) if np.isscalar(item) else item for item in generate(function, 0, {}))


def planned(module: IRModule, passes: str = PLAN) -> IRModule:
    stages = rc.run_pipeline(module, passes)
    assert [item.render() for stage in stages for item in stage.diagnostics] == []
    return stages[-1].after


def traced(module: IRModule, args: tuple[Any, ...]) -> Trace:
    """Run a planned module in the machine; what it became is sound, and survives printing."""
    relax = planned(module, "RelayToRelax")
    assert [item.render() for item in rc.check(relax) if item.severity == "error"] == []
    assert first_difference(rc.parse(rc.script(relax), "again.py"), relax) is None
    executable = rc.build(module)
    trace = Machine(executable).run("main", entry_arguments(executable, "main", args))
    assert trace.error is None, trace.error.render()
    return trace


def agrees(module: IRModule, passes: str, args: tuple[Any, ...] | None = None) -> list[str]:
    """See that interpreter and machine copy the same between the same devices; return the copies."""
    after, args = planned(module, passes), given(module) if args is None else args
    interpreter = RelayInterpreter(after)
    interpreter.call("main", args)
    wanted = sorted((str(item.source), str(item.target), item.size_bytes) for item in interpreter.copies)
    copies = [(str(item.source), str(item.target), item.size_bytes) for item in copies_of(traced(after, args))]
    assert sorted(copies) == wanted
    return [f"{source}>{target}" for source, target, _ in wanted]


@pytest.mark.parametrize("case", RUN, ids=[case.name for case in RUN])
def test_the_machine_makes_the_copies_of_the_plan(case: Case) -> None:
    module = rc.parse(case.text, "case.relay")
    assert agrees(module, PLAN) == sorted(copy.rpartition(": ")[2] for copy in case.copies)


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_runs_on_its_devices(name: str) -> None:
    module = rc.parse((SAMPLES / f"{name}.relay").read_text(encoding="utf-8"), f"{name}.relay")
    wanted = agrees(module, PLAN)
    assert agrees(module, f"{PLAN}, FuseOps, LambdaLift") == wanted
    assert agrees(module, f"{PLAN}, ManifestAlloc, ManifestLifetimes") == wanted


def test_memory_that_was_made_explicit_is_taken_back() -> None:
    body = "let %s = split(concatenate((%x, %y)), indices_or_sections=2); let %f = negative; (%s.0, %f(%s.1))"
    module = rc.parse(main(TWO, body), "case.relay")
    lowered = planned(module, f"{PLAN}, ManifestAlloc, ManifestLifetimes")
    assert agrees(lowered, "ManifestLifetimes") == []
    text = rc.script(planned(lowered, "RelayToRelax"))
    assert not any(word in text for word in ("alloc", "invoke", "kill"))


def test_a_kernel_of_two_devices_is_one_for_each() -> None:
    body = f"let %p = fn (%q: T, Primitive=1) -> T {{ negative(%q) }}; subtract({cpu('%p(%x)')}, %p(%y))"
    module = rc.parse(main(TWO, body), "case.relay")
    assert agrees(module, PLAN) == [TO_GPU]
    text = rc.script(planned(module, f"{PLAN}, RelayToRelax"))
    assert text.count('"Primitive": 1') == 2 + text.count("def p(")


def test_a_kill_gives_nothing() -> None:
    module = parsed("def @main(%x: Tensor[(2), float32]) { memory.kill(%x) }")
    assert rc.VirtualMachine(rc.build(module))["main"](np.ones(2, "float32")) == ()


def test_what_the_host_gives_in_data_is_on_the_device_that_was_planned() -> None:
    module = rc.parse(main("%l: List[T], %y: T", f"add(@hd(%l), {cpu('%y')})"), "case.relay")
    assert str(device_table(planned(module, f"{PLAN}, RelayToRelax"))[0]) == "cuda(0)"
    row = np.ones((5, 7), "float32")
    assert agrees(module, PLAN, (listed([row], "float32"), row)) == [TO_GPU]


MADE = {
    "by an operator without operands": 'zeros(shape=[5, 7], dtype="float32")',
    "from a shape": 'cast(take(shape_of(%x, dtype="int32"), 0), dtype="float32")',
}


@pytest.mark.parametrize("name", MADE)
def test_what_is_made_on_two_devices_is_put_there(name: str) -> None:
    made = MADE[name]
    body = f"let %a = {cpu(made)}; let %b = add({made}, %y); (add(%b, {cpu('%x')}), add({cpu(f'exp({made})')}, %b))"
    module = planned(rc.parse(main(TWO, body), "case.relay"))
    args = given(module)
    found = traced(module, args).result
    assert isinstance(found, tuple)
    for a, b in zip(rc.evaluate(module, "main", *args), found, strict=True):
        agree(b, a)


def test_a_program_without_a_plan_has_no_table() -> None:
    module = parsed("def @main(%x: Tensor[(2), float32]) { exp(%x) }")
    assert planned(module, "RelayToRelax").global_infos == ()
