"""Storages are bytes: tensors in one share them, and one that does not lie within it is a diagnostic."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relax_core.bytecode.executable import DTypeConstant, PoolConstant, ShapeConstant
from relax_core.cli import main
from relax_core.vm.machine import Machine
from relax_core.vm.objects.values import Uninitialised, arrays_in
from relax_core.vm.recording.trace import Trace
from relax_core.vm.virtual_machine import VirtualMachine
from tests.vm.assemble import assemble
from tests.vm.programs import executable_of, run_text, sample_text

ALLOCATED = """
@main(x) 4
  call vm.builtin.alloc_storage(vm, c[0], i0, c[1], c[2]) -> %1
  call vm.builtin.alloc_tensor(%1, {offset}, c[3], c[4]) -> %2
  {last}
  ret %2
"""
ANY_TIER: Any = pytest.mark.parametrize("options", [{}, {"record": False}, {"tier": "explicit"}], ids=str)


def run(
    size: tuple[tuple[int, ...], str],
    tensor: tuple[tuple[int, ...], str],
    *args: Any,
    offset: str = "i0",
    last: str = "call vm.builtin.copy(%2) -> %3",
    **options: Any,
) -> Trace:
    constants: list[PoolConstant] = [ShapeConstant(size[0]), DTypeConstant(size[1]), "global"]
    constants += [ShapeConstant(tensor[0]), DTypeConstant(tensor[1])]
    listing = ALLOCATED.format(offset=offset, last=last)
    return Machine(assemble(listing, constants), **options).run("main", args or (0,))


@ANY_TIER
@pytest.mark.parametrize(
    ("size", "tensor", "offset", "code"),
    [
        (((16,), "uint8"), ((4,), "float32"), "i-4096", "VM052"),
        (((16,), "uint8"), ((4,), "float32"), "i-4", "VM052"),
        (((16,), "uint8"), ((4,), "float32"), "i4", "VM052"),
        (((4,), "uint8"), ((4,), "float32"), "i0", "VM052"),
        (((16,), "uint8"), ((5,), "float32"), "i0", "VM052"),
        (((16,), "uint8"), ((1 << 62, 4), "float32"), "i0", "VM052"),
        (((16,), "uint8"), ((0,), "float32"), "i20", "VM052"),
        (((16,), "uint8"), ((2,), "float32"), "i2", "VM053"),
        (((16,), "uint8"), ((1,), "float64"), "i4", "VM053"),
        (((16,), "uint8"), ((3,), "bfloat16"), "i1", "VM053"),
        (((-16,), "uint8"), ((4,), "float32"), "i0", "VM054"),
        (((1 << 62,), "float32"), ((4,), "float32"), "i0", "VM054"),
        (((1 << 40, 1 << 40), "uint8"), ((4,), "float32"), "i0", "VM054"),
        (((16,), "handle"), ((4,), "float32"), "i0", "VM054"),
        (((16,), "uint8"), ((4,), "int4"), "i0", "VM055"),
        (((16,), "uint8"), ((1,), "float32x4"), "i0", "VM055"),
        (((16,), "uint8"), ((1,), "handle"), "i0", "VM055"),
        (((16,), "uint8"), ((-1,), "float32"), "i0", "VM020"),
        (((16,), "uint8"), ((-1, -4), "float32"), "i0", "VM020"),
        (((1 << 60,), "uint8"), ((4,), "float32"), "i0", "VM006"),
        (((16,), "uint8"), ((4,), "float32"), "%0", None),
    ],
    ids=str,
)
def test_a_tensor_that_cannot_lie_there_is_a_diagnostic(
    size: Any, tensor: Any, offset: str, code: str | None, options: Any
) -> None:
    error = run(size, tensor, offset=offset, **options).error
    assert (error.code if error else None) == code


@ANY_TIER
@pytest.mark.parametrize("value", [1.0, True, "text", np.zeros(()), None], ids=str)
def test_an_offset_or_a_storage_of_another_kind_is_a_diagnostic(value: Any, options: Any) -> None:
    error = run(((16,), "uint8"), ((4,), "float32"), value, offset="%0", **options).error
    assert error is not None
    assert error.code == "VM011"
    listing = "@main(x) 2\n  call vm.builtin.alloc_tensor(%0, i0, c[0], c[1]) -> %1\n  ret %1\n"
    executable = assemble(listing, (ShapeConstant((1,)), DTypeConstant("float32")))
    error = Machine(executable, **options).run("main", (value,)).error
    assert error is not None
    assert error.code == "VM011"


@pytest.mark.parametrize(
    ("shape", "dtype", "size_bytes"),
    [((3, 5), "uint8", 15), ((3,), "float64", 24), ((5,), "int4", 3), ((), "float32", 4), ((0,), "int64", 0)],
)
def test_the_size_of_a_storage_is_a_number_of_bytes(shape: tuple[int, ...], dtype: str, size_bytes: int) -> None:
    made = run((shape, dtype), ((size_bytes,), "uint8"))
    assert made.error is None
    error = run((shape, dtype), ((size_bytes + 1,), "uint8")).error
    assert error is not None
    assert f"the storage has {size_bytes} bytes" in error.message


OVERLAPPING = """
@main(x) 6
  call vm.builtin.alloc_storage(vm, c[0], i0, c[1], c[2]) -> %1
  call vm.builtin.alloc_tensor(%1, i0, c[3], c[1]) -> %2
  call vm.builtin.alloc_tensor(%1, i2, c[3], c[4]) -> %3
  call custom_copy(%0, %2)
  call custom_inplace_update(%3)
  call vm.builtin.alloc_tensor(%1, i4, c[3], c[4]) -> %4
  call vm.builtin.make_tuple(%2, %3, %4) -> %5
  ret %5
"""


@ANY_TIER
def test_tensors_share_bytes_whatever_their_dtypes(options: Any) -> None:
    constants = (ShapeConstant((8,)), DTypeConstant("uint8"), "global", ShapeConstant((2,)), DTypeConstant("int16"))
    listing = OVERLAPPING.replace("%1, i0, c[3], c[1]", "%1, i0, c[0], c[1]")
    trace = Machine(assemble(listing, constants), **options).run("main", (np.arange(8, dtype=np.uint8),))
    assert trace.error is None
    first, second, third = arrays_in(trace.result)
    assert first.tolist() == [0, 1, 3, 3, 5, 5, 6, 7]
    assert [second.tolist(), third.tolist()] == [[0x0303, 0x0505], [0x0505, 0x0706]]
    if len(trace):
        shown = [trace.value_at(time, 0, 3) for time in (3, 4, 5)]
        assert shown[0] == Uninitialised((2,), "int16")
        assert [np.asarray(item).tolist() for item in shown[1:]] == [[0x0302, 0x0504], [0x0303, 0x0505]]
        assert np.asarray(trace.value_at(4, 0, 2)).tolist() == list(range(8))


@ANY_TIER
def test_what_a_planner_got_wrong_shows_in_the_values(options: Any) -> None:
    x = np.arange(1, 5, dtype=np.float32)
    trace = run_text(sample_text("relax/storage_reused.py"), x, **options)
    assert np.array_equal(np.asarray(trace.result), 16 * x)


@ANY_TIER
def test_a_truth_value_in_shared_bytes_is_any_that_is_not_zero(options: Any) -> None:
    constants = (ShapeConstant((8,)), DTypeConstant("uint8"), "global", ShapeConstant(()), DTypeConstant("bool"))
    listing = """
@main(x) 5
  call vm.builtin.alloc_storage(vm, c[0], i0, c[1], c[2]) -> %1
  call vm.builtin.alloc_tensor(%1, i0, c[0], c[1]) -> %2
  call vm.builtin.alloc_tensor(%1, i3, c[3], c[4]) -> %3
  call custom_copy(%0, %2)
  call vm.builtin.read_if_cond(%3) -> %4
  ret %4
"""
    executable = assemble(listing, constants)
    for value, expected in ((np.full(8, 0xAA, np.uint8), 1), (np.zeros(8, np.uint8), 0)):
        assert Machine(executable, **options).run("main", (value,)).result == expected


def test_results_stay_when_the_program_runs_again() -> None:
    text = sample_text("relax/storage_reused.py").replace("return d", "return a")
    vm = VirtualMachine(executable_of(text))
    first = vm["main"](np.ones(4, np.float32))
    second = vm["main"](np.full(4, 3, np.float32))
    assert [first.tolist(), second.tolist()] == [[8] * 4, [24] * 4]


@pytest.mark.parametrize(("dtype", "shown"), [("float32", np.nan), ("int16", -1), ("bool", True)])
@pytest.mark.parametrize("is_recorded", [False, True])
def test_poisoned_memory_shows_what_lay_there_before(dtype: str, shown: Any, is_recorded: bool) -> None:
    constants = (ShapeConstant((8,)), DTypeConstant("uint8"), "global", ShapeConstant((2,)), DTypeConstant(dtype))
    listing = """
@main(x) 5
  call vm.builtin.alloc_storage(vm, c[0], i0, c[1], c[2]) -> %1
  call vm.builtin.alloc_tensor(%1, i0, c[0], c[1]) -> %2
  call custom_copy(%0, %2)
  call vm.builtin.alloc_tensor(%1, i0, c[3], c[4]) -> %3
  ret %3
"""
    machine = Machine(assemble(listing, constants), poisons_memory=True, record=is_recorded)
    trace = machine.run("main", (np.ones(8, np.uint8),))
    assert np.array_equal(np.asarray(trace.result), [shown] * 2, equal_nan=dtype == "float32")
    if is_recorded:
        assert trace.value_at(4, 0, 3) == Uninitialised((2,), dtype)
        assert np.asarray(trace.value_at(3, 0, 2)).tolist() == [1] * 8


def test_the_command_line_poisons_memory(tmp_path: Path) -> None:
    text = sample_text("relax/storage_reused.py").replace("        cls.double(b, c)\n", "")
    file = tmp_path / "reused.py"
    file.write_text(text, encoding="utf-8")
    for flags, is_poisoned in (([], False), (["--poison-memory"], True)):
        out = tmp_path / "out.npz"
        assert main(["run", str(file), "--outputs", str(out), *flags]) == 0
        assert bool(np.isnan(np.load(out)["out"]).all()) == is_poisoned
