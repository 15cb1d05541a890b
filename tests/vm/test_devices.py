"""Devices at run time: where tensors are, the check of a call's operands, and the copies with their sizes."""

from typing import Any

import numpy as np
import pytest

from relax_core.analysis.device.devices import Device
from relax_core.analysis.device.virtual_devices import copy_arguments, device_index, device_table, virtual_device
from relax_core.diagnostics import Diagnostic
from relax_core.frontend.parse import parse_text
from relax_core.ir.expr import TensorType
from relax_core.present.running.now import sentence
from relax_core.present.running.run import present_run
from relax_core.vm.machine import Machine
from relax_core.vm.objects.placed import PlacedArray, placed, plain
from relax_core.vm.recording.copies import copies_of
from relax_core.vm.recording.trace import Trace
from relax_core.vm.virtual_machine import VirtualMachine, entry_arguments
from tests.present.programs import recording_of
from tests.present.programs import sample as parsed_sample
from tests.vm.programs import executable_of, floats, run_text, sample_text

CPU, CUDA = Device("cpu"), Device("cuda")
TABLE = 'I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("cuda"), I.vdevice("cuda", 1)]})'
HEAD = f"""
from tvm.script import ir as I, relax as R
@I.ir_module
class Module:
    {TABLE}
    @R.function
    def main(x: R.Tensor((2, 3), "float32"%s), y: R.Tensor((2, 3), "float32"%s)):
"""
ON_CUDA = ', "cuda:0"'
KERNELS, OPERATORS = None, "ToNonDataflow"

# Bindings, where x and y are declared, and what the program returns: its place.
SOUND: dict[str, tuple[tuple[str, ...], str, str, Device]] = {
    "a copy and an operator": (('a = R.to_vdevice(x, "cuda:0")', "b = R.exp(a)"), "", "", CUDA),
    "there and back": (('a = R.to_vdevice(x, "cuda:0")', 'b = R.to_vdevice(R.exp(a), "llvm:0")', "c = R.add(b, y)"),
                       "", "", CPU),
    "declared parameters": (("a = R.add(x, y)", "b = R.nn.softmax(a)"), ON_CUDA, ON_CUDA, CUDA),
    "other shapes": (("a = R.matmul(x, R.permute_dims(y))", "b = R.sum(a)", "c = R.reshape(b, (1,))"),
                     ON_CUDA, ON_CUDA, CUDA),
    "a constant may be anywhere": (("a = R.add(x, R.const(1, 'float32'))",), ON_CUDA, "", CUDA),
    "a tuple": (("a = R.concat((x, y), 0)", "b = R.split(a, 2, 0)", "c = b[1]"), ON_CUDA, ON_CUDA, CUDA),
    "the second of a kind": (('a = R.to_vdevice(x, "cuda:1")', "b = R.exp(a)"), ON_CUDA, "", Device("cuda", 1)),
    "two devices side by side": (("a = R.exp(x)", "b = R.exp(y)", "c = R.exp(b)"), ON_CUDA, "", CPU),
}  # fmt: skip
UNSOUND: dict[str, tuple[tuple[str, ...], str, str, tuple[str, ...]]] = {
    "a copy beside what was not copied": (('a = R.to_vdevice(x, "cuda:0")', "b = R.add(a, y)"), "", "",
                                          ("`a` is on cuda(0)", "`y` is on cpu(0)", "copied to cuda(0) here")),
    "a parameter beside one without a device": (("b = R.add(x, y)",), ON_CUDA, "",
                                                ("`x` is on cuda(0)", "`y` is on cpu(0)", "declares cuda(0)")),
    "two of a kind": (('a = R.to_vdevice(x, "cuda:0")', 'c: R.Tensor((2, 3), "float32") = R.to_vdevice(y, "cuda:1")',
                       'd: R.Object = c', 'e = R.match_cast(d, R.Tensor((2, 3), "float32"))', "b = R.add(a, e)"),
                      "", "", ("cuda(0)", "cuda(1)")),
}  # fmt: skip


def text_of(lines: tuple[str, ...], x: str, y: str) -> str:
    result = lines[-1].split("=")[0].split(":")[0]
    return HEAD % (x, y) + "".join(f"        {line}\n" for line in (*lines, f"return {result}"))


def refused(trace: Trace) -> Diagnostic:
    assert trace.error is not None
    return trace.error


def place(value: Any) -> Device:
    return value.place if isinstance(value, PlacedArray) and value.place is not None else CPU


@pytest.mark.parametrize("passes", [KERNELS, OPERATORS], ids=["kernels", "operators"])
@pytest.mark.parametrize("name", SOUND)
def test_a_sound_program_runs_and_its_result_is_on_a_device(name: str, passes: str | None) -> None:
    lines, x, y, expected = SOUND[name]
    trace = run_text(text_of(lines, x, y), floats(2, 3), floats(2, 3), passes=passes)
    assert trace.error is None, trace.error.render()
    assert place(trace.result) == expected


@pytest.mark.parametrize("passes", [KERNELS, OPERATORS], ids=["kernels", "operators"])
@pytest.mark.parametrize("name", UNSOUND)
def test_operands_on_two_devices_are_refused(name: str, passes: str | None) -> None:
    lines, x, y, words = UNSOUND[name]
    text = text_of(lines, x, y)
    error = refused(run_text(text, floats(2, 3), floats(2, 3), passes=passes))
    assert error.code == "DV005"
    shown = error.render()
    assert [word for word in words if word not in shown] == []
    at = next(number for number, line in enumerate(text.splitlines(), 1) if "R.add" in line)
    assert error.span is not None
    assert error.span.line == at
    assert len(error.related) >= 2


def test_a_machine_that_does_not_record_refuses_the_same() -> None:
    lines, x, y, _ = UNSOUND["a copy beside what was not copied"]
    executable = executable_of(text_of(lines, x, y))
    args = entry_arguments(executable, "main", (floats(2, 3), floats(2, 3)))
    assert refused(Machine(executable, record=False).run("main", args)).code == "DV005"


def test_the_host_gets_plain_arrays() -> None:
    lines, x, y, _ = SOUND["a copy and an operator"]
    given = floats(2, 3)
    result = VirtualMachine(executable_of(text_of(lines, x, y)))["main"](given, given)
    assert type(result) is np.ndarray
    np.testing.assert_allclose(result, np.exp(given), rtol=1e-6)


def test_copies_are_counted_with_their_bytes() -> None:
    lines, x, y, _ = SOUND["there and back"]
    trace = run_text(text_of(lines, x, y), floats(2, 3), floats(2, 3))
    assert [(copy.source, copy.target, copy.size_bytes) for copy in copies_of(trace)] == [
        (CPU, CUDA, 24), (CUDA, CPU, 24),
    ]  # fmt: skip


def test_what_a_register_held_is_shown_with_its_device_at_every_time() -> None:
    lines, x, y, _ = SOUND["there and back"]
    trace = run_text(text_of(lines, x, y), floats(2, 3), floats(2, 3))
    program = parsed_sample("relax/virtual_devices.py")
    run = present_run(recording_of(program, trace))
    devices = {
        value.device for value in run.values if value.kind in ("tensor", "tensor0", "unwritten") and value.device
    }
    assert devices == {"cpu(0)", "cuda(0)"}
    assert len({value.category for value in run.values if value.device}) == 2
    assert run.end.endswith("; 2 copies between devices, 48 B.")
    pc = int(trace.pcs[copies_of(trace)[0].event])
    assert sentence(trace.executable, pc, None, 9) == "`main` copies `x` to `cuda(0)` for `a`, line 9."


def test_a_copy_in_relay_is_a_copy_of_the_machine() -> None:
    text = (
        '#[version = "0.0.5"]\ndef @main(%x: Tensor[(2, 3), float32]) {\n'
        "  let %a = device_copy(%x, src_dev_type=1, dst_dev_type=2);\n  exp(%a)\n}\n"
    )
    trace = run_text(text, floats(2, 3), name="copy.relay")
    assert trace.error is None
    assert [(str(copy.target), copy.size_bytes) for copy in copies_of(trace)] == [("cuda(0)", 24)]


def test_the_sample_copies_between_its_devices() -> None:
    trace = run_text(sample_text("relax/virtual_devices.py"), floats(2, 3), name="virtual_devices.py")
    assert [(str(copy.source), str(copy.target)) for copy in copies_of(trace)] == [("cpu(0)", "cpu(1)")]


@pytest.mark.parametrize(
    ("text", "device", "numbers"),
    [
        ("llvm", CPU, (1, 0, "global")),
        ("cuda:1:global", Device("cuda", 1), (2, 1, "global")),
        ("opencl:0:global.texture", Device("opencl", 0, "global.texture"), (4, 0, "global.texture")),
        ("c:2", Device("cpu", 2), (1, 2, "global")),
    ],
)
def test_a_virtual_device_is_a_device(text: str, device: Device, numbers: tuple[int, int, str]) -> None:
    assert (virtual_device(text), copy_arguments(text)) == (device, numbers)


def test_the_table_numbers_devices_however_they_are_written() -> None:
    module = parse_text(sample_text("relax/virtual_devices.py"), "m.py").modules[0]
    assert device_table(module) == (CPU, Device("cpu", 1), Device("cpu", 2))
    named = TensorType((), "float32", vdevice="llvm:2")
    assert (device_index(module, named), device_index(module, None)) == (2, 0)


def test_a_view_of_a_placed_tensor_is_there_too() -> None:
    array = placed(np.zeros((2, 3)), CUDA, 7)
    assert (array.reshape(6).place, array.copy().placed_at, plain(array).base is not None) == (CUDA, 7, True)
    assert type(plain(array)) is np.ndarray


def test_the_error_sample_stops_at_its_mark() -> None:
    text = sample_text("errors/dv_run_time.py")
    error = refused(run_text(text, floats(2, 3), floats(2, 3)))
    assert error.code == "DV005"
    assert error.span is not None
    assert "#! DV005" in text.splitlines()[error.span.line - 1]
