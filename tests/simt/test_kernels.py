"""What a simulated launch computes, and what is said of it, on kernels that are right and kernels that are not."""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import relax_core as rc
from relax_core.diagnostics import RunError
from relax_core.ir.prim import IntImm
from relax_core.ir.tir import PrimFunc
from relax_core.simt.kernels import simulate as run_simulated

HEAD = "# from tvm.script import tirx as T\n\n"
KERNELS: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("kernels.toml").read_text(encoding="utf-8"))
TILE = KERNELS["a tile that is turned around"]["text"]


def counted(module: Any) -> list[npt.NDArray[Any]]:
    """Return 0, 1, 2, ... for the first buffer, and zeros for the others."""
    function = module["main"]
    assert isinstance(function, PrimFunc)
    made: list[npt.NDArray[Any]] = []
    for item in function.buffers:
        shape = [dim.value for dim in item.buffer.shape if isinstance(dim, IntImm)]
        numbers = np.zeros(shape) if made else np.arange(np.prod(shape)).reshape(shape)
        made.append(numbers.astype(item.buffer.dtype))
    return made


def simulated(text: str) -> rc.Simulated:
    module = rc.parse(HEAD + text, "kernel.py")
    return rc.simulate(module, "main", *counted(module))


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_gets_its_verdict(name: str) -> None:
    kernel = KERNELS[name]
    found = simulated(kernel["text"])
    assert [item.code for item in found.diagnostics] == kernel["codes"]
    assert found.is_clean == all(code in ("GP003", "GP012", "GP014", "GP015") for code in kernel["codes"])
    (output,) = found.outputs
    assert output.value.reshape(-1)[: len(kernel["first"])].tolist() == kernel["first"]
    assert output.undefined == kernel["undefined"]


def test_a_race_names_both_places_both_threads_the_cell_and_the_barrier_that_mends_it() -> None:
    (race,) = simulated(KERNELS["the same without its barrier"]["text"]).diagnostics
    assert race.message.startswith("race on shared memory, `S`, cell 63: read after write. ")
    assert "block 0, thread 63 (warp 1, lane 31) writes it by `S[tx] = A[bx * 64 + tx]` in line 8" in race.message
    assert "block 0, thread 0 (warp 0, lane 0) reads it by `S[63 - tx]` in line 9" in race.message
    assert race.message.endswith("no barrier is between them; 128 cells in all")
    assert race.hint == 'put T.tvm_storage_sync("shared") between line 8 and line 9'
    assert [span.line for _, span in race.related] == [8]


def test_a_barrier_of_the_warp_orders_its_threads() -> None:
    text = KERNELS["a reduction that relies on warps in step"]["text"]
    store = "            S[tx] = S[tx] + S[tx + T.shift_right(32, k)]\n"
    mended = text.replace(
        store,
        "            v = T.alloc_local((1,))\n            v[0] = S[tx] + S[tx + T.shift_right(32, k)]\n"
        '            T.tvm_storage_sync("warp")\n            S[tx] = v[0]\n            T.tvm_storage_sync("warp")\n',
    )
    assert mended != text
    found = simulated(mended)
    assert not found.diagnostics
    assert found.outputs[0].value.tolist() == [2016]


def test_the_order_of_blocks_is_told_apart_from_that_of_threads() -> None:
    text = TILE.replace("B[bx * 64 + tx]", "B[tx]")
    (race,) = simulated(text).diagnostics
    assert race.code == "GP001"
    assert "write after write" in race.message
    assert "nothing orders two blocks of one launch" in race.message


def test_a_loop_that_some_threads_leave_early_has_a_divergent_barrier() -> None:
    text = TILE.replace(
        '    T.tvm_storage_sync("shared")\n',
        '    for k in range(tx // 32 + 1):\n        T.tvm_storage_sync("shared")\n',
    )
    (found,) = simulated(text).diagnostics
    assert found.code == "GP004"
    assert "32 of 64 threads reach it" in found.message
    assert "`tx // 32 + 1` in line 9 differs between them" in found.message


def test_vectors_are_stored_and_loaded_lane_by_lane() -> None:
    text = """@T.prim_func(s_tir=True)
def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    tx = T.launch_thread("threadIdx.x", 16)
    S = T.alloc_shared((64,), "float32")
    r = T.alloc_local((2,), "float32x2")
    S[T.Ramp(tx * 4, 1, 4)] = A[T.Ramp(tx * 4, 1, 4)]
    T.tvm_storage_sync("shared")
    r[0] = S[T.Ramp((15 - tx) * 4, 2, 2)] * T.Broadcast(T.float32(2), 2)
    r[1] = S[T.Ramp((15 - tx) * 4 + 1, 2, 2)]
    B[T.Ramp(tx * 4, 1, 2)] = r[0]
    B[T.Ramp(tx * 4 + 2, 1, 2)] = r[1]
"""
    found = simulated(text)
    assert found.is_clean
    rows = np.arange(64.0).reshape(16, 4)[::-1]
    expected = np.concatenate([rows[:, ::2] * 2, rows[:, 1::2]], axis=1).reshape(-1)
    assert np.array_equal(found.outputs[0].value, expected)


def test_memory_that_two_dtypes_share_is_watched_byte_by_byte() -> None:
    text = """@T.prim_func(s_tir=True)
def main(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
    tx = T.launch_thread("threadIdx.x", 32)
    arena = T.alloc_buffer((128,), "uint8", scope="shared.dyn")
    halves = T.decl_buffer((64,), "float16", data=arena.data, scope="shared.dyn")
    words = T.decl_buffer((32,), "float32", data=arena.data, scope="shared.dyn")
    words[tx] = A[tx]
    halves[tx] = T.float16(1)
    B[tx] = words[tx]
"""
    found = simulated(text)
    assert {item.code for item in found.diagnostics} == {"GP002"}
    assert any("write after write" in item.message for item in found.diagnostics)


def test_a_bank_conflict_goes_with_a_padded_row() -> None:
    text = KERNELS["a transpose through shared memory"]["text"]
    (conflict,) = simulated(text).diagnostics
    assert conflict.message.startswith("the load `S[tx, r * 8 + ty]` has a 32-way bank conflict")
    padded = simulated(text.replace("T.alloc_shared((32, 32)", "T.alloc_shared((32, 33)"))
    assert not padded.diagnostics
    assert {item.worst for item in padded.accesses if item.kind == "shared"} == {1}
    assert {item.sectors / item.warps for item in padded.accesses if item.kind == "global"} == {4}


def test_an_access_that_is_not_coalesced_is_told_with_its_figures() -> None:
    found = simulated(KERNELS["a transpose without shared memory"]["text"])
    (wasteful,) = found.diagnostics
    assert "moves 32 sectors of 32 bytes for a warp, and uses 12% of them" in wasteful.message
    assert [(item.way, item.sectors / item.warps) for item in found.accesses] == [("load", 4), ("store", 32)]


def test_an_assertion_that_fails_names_the_first_thread() -> None:
    text = TILE.replace("    B[bx", '    assert tx < 60, "too many threads"\n    B[bx')
    (found,) = simulated(text).diagnostics
    assert found.code == "GP009"
    assert found.message.startswith("an assertion fails in block 0, thread 60 (warp 1, lane 28): too many threads")


def test_shared_memory_has_a_limit() -> None:
    (found,) = simulated(TILE.replace("T.alloc_shared((64,)", "T.alloc_shared((60000,)")).diagnostics
    assert found.code == "GP011"
    assert "each block of this launch needs 240,000 B of shared memory" in found.message


def test_views_of_allocated_memory_may_have_smaller_elements() -> None:
    text = """@T.prim_func
def main(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
    tx = T.launch_thread("threadIdx.x", 32)
    arena = T.allocate((32,), "float32", "shared")
    halves = T.decl_buffer((64,), "float16", data=arena, scope="shared")
    halves[tx] = T.cast(A[tx], "float16")
    B[tx] = T.cast(halves[tx], "float32")
"""
    found = simulated(text)
    assert not found.diagnostics
    assert found.outputs[0].value.tolist() == list(range(32))


def test_global_memory_that_a_launch_allocates_is_refused() -> None:
    with pytest.raises(RunError) as raised:
        simulated(TILE.replace("T.alloc_shared((64,)", "T.alloc_buffer((64,)"))
    (found,) = raised.value.diagnostics
    assert found.code == "GP010"
    assert found.message.startswith("memory of the scope `global` that a launch allocates")


def test_what_is_not_simulated_is_told_with_its_place() -> None:
    text = TILE.replace("S[63 - tx]", 'T.call_pure_extern("float32", "my_function", S[63 - tx])')
    with pytest.raises(RunError) as raised:
        simulated(text)
    (found,) = raised.value.diagnostics
    assert (found.code, found.span is not None and found.span.line) == ("GP010", 10)
    assert "my_function" in found.message


def test_a_module_that_launches_nothing_is_refused() -> None:
    module = rc.parse(
        HEAD + '@T.prim_func(s_tir=True)\ndef main(A: T.Buffer((4,), "float32")):\n    A[0] = T.float32(1)\n'
    )
    with pytest.raises(RunError) as raised:
        rc.simulate(module)
    assert [item.code for item in raised.value.diagnostics] == ["EN009"]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int8", "uint8"])
def test_arithmetic_rounds_in_its_dtype(dtype: str) -> None:
    text = TILE.replace('"float32"', f'"{dtype}"').replace("= S[63 - tx]", f"= S[63 - tx] * T.{dtype}(3)")
    found = simulated(text)
    assert not found.diagnostics
    tile = np.arange(128).astype(dtype).reshape(2, 64)[:, ::-1]
    assert np.array_equal(found.outputs[0].value, (tile * np.asarray(3).astype(dtype)).reshape(-1))


def test_a_barrier_that_nothing_relies_on_is_told_and_one_that_is_needed_is_not() -> None:
    text = KERNELS["a tile that is turned around"]["text"]
    sync = next(line for line in text.splitlines(keepends=True) if "tvm_storage_sync" in line)
    twice = rc.parse(HEAD + text.replace(sync, sync + sync, 1))
    assert "GP016" not in {item.code for item in rc.simulate(rc.parse(HEAD + text), "main").diagnostics}
    told = [item for item in rc.simulate(twice, "main").diagnostics if item.code == "GP016"]
    # Either one may go, but not both.
    assert [item.severity for item in told] == ["note", "note"]
    assert told[0].span is not None
    assert told[1].span is not None
    assert told[1].span.line == told[0].span.line + 1


LAUNCHED = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def doubled(A_ptr: T.handle("float32", "global")):
        A = T.decl_buffer((8,), data=A_ptr)
        tx = T.launch_thread("threadIdx.x", 8)
        A[tx] = A[tx] * T.float32(2)

    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((8,), "float32")):
        code: T.let[T.int32] = T.call_ffi_kernel("doubled", A.data, 8, launch_params=["threadIdx.x"], ret_ty="int32")
        assert code == 0, ("RuntimeError", ["the launch failed"])
"""


def test_a_launch_whose_result_is_looked_at_returns_no_error() -> None:
    module = rc.parse("# from tvm.script import ir as I\n" + HEAD + LAUNCHED)
    found = rc.simulate(module, "main", np.arange(8, dtype="float32"))
    assert not found.diagnostics
    assert found.outputs[0].value.tolist() == list(range(0, 16, 2))
    with pytest.raises(RunError) as raised:
        rc.run(module, np.zeros(8, "float32"))
    (told,) = raised.value.diagnostics
    assert (told.code, told.message) == ("JT001", "The launch of `doubled` cannot be compiled")
    assert told.hint is not None
    assert "--simulate" in told.hint


def test_a_kernel_is_launched_by_a_plain_call_and_a_host_may_return() -> None:
    text = LAUNCHED.replace(
        'T.call_ffi_kernel("doubled", A.data, 8, launch_params=["threadIdx.x"], ret_ty="int32")',
        "Module.doubled(A.data)",
    )
    text = text.replace('"global")):\n        A =', '"global")) -> T.int32:\n        A =')
    text = text.replace(
        '        tx = T.launch_thread("threadIdx.x", 8)\n        A[tx] = A[tx] * T.float32(2)\n',
        '        with T.launch_thread("threadIdx.x", 8) as tx:\n            A[tx] = A[tx] * T.float32(2)\n'
        "        return 0\n",
    )
    found = rc.simulate(rc.parse("# from tvm.script import ir as I\n" + HEAD + text), "main", np.ones(8, "float32"))
    assert not found.diagnostics
    assert found.outputs[0].value.tolist() == [2] * 8
    early = text.replace(
        "        return 0\n", "        if A[0] > T.float32(1):\n            return 0\n        A[0] = T.float32(7)\n"
    )
    for first, left in ((1, 2), (0.25, 7)):
        given = np.full(8, first, "float32")
        found = rc.simulate(rc.parse("# from tvm.script import ir as I\n" + HEAD + early), "main", given)
        assert found.outputs[0].value[0] == left


@pytest.mark.parametrize(("args", "code"), [
    ((), "JT003"),
    ((np.zeros(8, "float32"), 1), "JT003"),
    ((np.zeros((2, 4), "float32"),), "JT005"),
    ((np.zeros(7, "float32"),), "JT005"),
])  # fmt: skip
def test_arguments_that_do_not_fit_are_told(args: tuple[Any, ...], code: str) -> None:
    module = rc.parse("# from tvm.script import ir as I\n" + HEAD + LAUNCHED)
    with pytest.raises(RunError) as raised:
        run_simulated(module, "main", args)
    assert [item.code for item in raised.value.diagnostics] == [code]


def test_an_array_for_a_scalar_is_told() -> None:
    text = LAUNCHED.replace('"float32")):\n        code', '"float32"), n: T.int32):\n        code')
    with pytest.raises(RunError) as raised:
        rc.simulate(
            rc.parse("# from tvm.script import ir as I\n" + HEAD + text), "main", np.zeros(8, "float32"), np.zeros(2)
        )
    assert raised.value.diagnostics[0].message == "`n` expects a number, got an array of shape (2,)"


def test_a_store_that_is_out_of_range_in_every_thread_is_told() -> None:
    (found,) = simulated(TILE.replace("B[bx * 64 + tx]", "B[bx * 64 + tx + 128]")).diagnostics
    assert found.code == "GP007"
    assert found.message.endswith("128 threads in all")
