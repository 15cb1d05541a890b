"""Products of small matrices, asynchronous copies and memory of a warp: numbers against NumPy, and what is wrong."""

from typing import Any, Literal

import numpy as np
import pytest

import relax_core as rc
from relax_core.diagnostics import RunError
from relax_core.ops.kernels.numbers import numpy_type

HEAD = "# from tvm.script import tirx as T\n\n@T.prim_func(s_tir=True)\n"
# Row and column of element `i` of lane `t`, as the tables of the PTX manual have them: left, right, result.
G, Q = "tx // 4", "tx % 4"
HALVES = f"{G} + i % 4 // 2 * 8, {Q} * 2 + i % 2 + i // 4 * 8", f"{Q} * 2 + i % 2 + i // 2 * 8, {G}"
BYTES = f"{G} + i // 4 % 2 * 8, {Q} * 4 + i % 4 + i // 8 * 16", f"{Q} * 4 + i % 4 + i // 4 * 16, {G}"
WORDS = f"{G} + i % 2 * 8, {Q} + i // 2 * 4", f"{Q} + i * 4, {G}"
RESULT = f"{G} + i // 2 * 8, {Q} * 2 + i % 2"
SHAPES: dict[str, tuple[str, str, str, tuple[str, str], tuple[int, int, int]]] = {
    "m16n8k16 of halves": ("m16n8k16", "float16", "float32", HALVES, (16, 8, 16)),
    "m16n8k16 of halves, summed as halves": ("m16n8k16", "float16", "float16", HALVES, (16, 8, 16)),
    "m16n8k8 of halves": ("m16n8k8", "float16", "float32", HALVES, (16, 8, 8)),
    "m16n8k16 of bfloat16": ("m16n8k16", "bfloat16", "float32", HALVES, (16, 8, 16)),
    "m16n8k8 of tf32": ("m16n8k8", "float32", "float32", WORDS, (16, 8, 8)),
    "m16n8k4 of tf32": ("m16n8k4", "float32", "float32", WORDS, (16, 8, 4)),
    "m16n8k32 of bytes": ("m16n8k32", "int8", "int32", BYTES, (16, 8, 32)),
    "m16n8k16 of bytes": ("m16n8k16", "int8", "int32", BYTES, (16, 8, 16)),
    "m8n8k4 of doubles": ("m8n8k4", "float64", "float64", WORDS, (8, 8, 4)),
}


def product(name: str) -> str:
    """Return a kernel of two warps, each of which multiplies two matrices and adds a third one."""
    shape, kind, total, (left, right), (m, n, k) = SHAPES[name]
    if m == 8:
        left = f"{G}, {Q}"
    a, b, c = (count // 32 for count in (m * k, k * n, m * n))
    return f"""{HEAD}def main(A: T.Buffer((2, {m}, {k}), "{kind}"), B: T.Buffer((2, {k}, {n}), "{kind}"), C: T.Buffer((2, {m}, {n}), "{total}")):
    ty = T.launch_thread("threadIdx.y", 2)
    tx = T.launch_thread("threadIdx.x", 32)
    a = T.alloc_local(({a},), "{kind}")
    b = T.alloc_local(({b},), "{kind}")
    c = T.alloc_local(({c},), "{total}")
    for i in range({a}):
        a[i] = A[ty, {left}]
    for i in range({b}):
        b[i] = B[ty, {right}]
    for i in range({c}):
        c[i] = C[ty, {RESULT}]
    T.ptx_legacy.mma("{shape}", "row", "col", "{kind}", "{kind}", "{total}", a.data, 0, b.data, 0, c.data, 0, False, dtype="{total}")
    for i in range({c}):
        C[ty, {RESULT}] = c[i]
"""  # noqa: E501


def made_up(shape: tuple[int, ...], dtype: str, seed: int) -> "np.ndarray[Any, Any]":
    """Return small whole numbers: their products and sums are exact in every dtype."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(numpy_type(dtype))


@pytest.mark.parametrize("name", SHAPES)
def test_a_product_by_a_warp_has_the_numbers_of_numpy(name: str) -> None:
    _, kind, total, _, (m, n, k) = SHAPES[name]
    a, b, c = made_up((2, m, k), kind, 1), made_up((2, k, n), kind, 2), made_up((2, m, n), total, 3)
    text = product(name)
    module = rc.parse(text, "mma.py")
    found = rc.simulate(module, "main", a, b, c)
    assert found.is_clean, [item.message for item in found.diagnostics]
    expected = (a.astype("float64") @ b.astype("float64") + c.astype("float64")).astype(numpy_type(total))
    assert np.array_equal(found.outputs[0].value, expected)
    # The same, a warp at a time.
    it = rc.threads(module, "main", a, b, c)
    assert it.go("end").is_ended
    assert np.array_equal(it.buffer("C").data, expected)


def test_numbers_of_tf32_have_ten_bits_behind_the_point() -> None:
    a, b = np.full((2, 16, 8), 1 + 2**-11 + 2**-20, "float32"), np.zeros((2, 8, 8), "float32")
    b[:, 0, :] = 1
    found = rc.simulate(rc.parse(product("m16n8k8 of tf32"), "mma.py"), "main", a, b, np.zeros((2, 16, 8), "float32"))
    assert np.unique(found.outputs[0].value).tolist() == [1 + 2**-10]


def test_a_product_of_a_shape_that_is_not_known_is_refused_with_its_place() -> None:
    with pytest.raises(RunError) as raised:
        rc.simulate(rc.parse(product("m16n8k16 of halves").replace('"m16n8k16"', '"m8n8k4"'), "mma.py"))
    (found,) = raised.value.diagnostics
    assert (found.code, found.span is not None and found.span.line) == ("GP010", 16)
    assert found.message.startswith("mma of the shape m8n8k4 on float16 and float16 is not simulated")


def test_a_product_of_some_lanes_of_a_warp_alone_is_told() -> None:
    text = product("m16n8k16 of halves").replace("    T.ptx_legacy", "    if tx < 16:\n        T.ptx_legacy")
    found = rc.simulate(rc.parse(text, "mma.py"))
    (told,) = [item for item in found.diagnostics if item.code == "GP008"]
    assert (
        "is for all lanes of a warp, and block 0, thread (16, 0) (warp 0, lane 16) does not take part" in told.message
    )


COPY = (
    HEAD
    + """def main(A: T.Buffer((16, 16), "float16"), B: T.Buffer((16, 16), "float16")):
    tx = T.launch_thread("threadIdx.x", 64)
    S = T.alloc_shared((256,), "float16")
    L = T.alloc_local((8,), "float16")
    if tx < 32:
        T.s_tir.cp_async_raw("float16", S.data, tx * 8, A.data, tx * 8, 16)
    T.ptx.cp.async_.commit_group()
    T.ptx.cp.async_.wait_group(0)
    T.tvm_storage_sync("shared")
    if tx < 32:
        T.ptx_legacy.ldmatrix("float16", T.bool(False), 4, ".b16", L.data, 0, S.data, tx % 16 * 16 + tx // 16 * 8)
        for i in range(8):
            B[i % 4 // 2 * 8 + tx // 4, i // 4 * 8 + tx % 4 * 2 + i % 2] = L[i]
"""
)
WAIT = "    T.ptx.cp.async_.wait_group(0)\n"
SYNC = '    T.tvm_storage_sync("shared")\n'


def codes_of(text: str, *args: Any) -> list[str]:
    return [item.code for item in rc.simulate(rc.parse(text, "copy.py"), "main", *args).diagnostics]


@pytest.mark.parametrize("is_transposed", [False, True])
def test_matrices_are_copied_and_loaded_as_fragments(is_transposed: bool) -> None:
    a = made_up((16, 16), "float16", 1)
    text = COPY.replace("T.bool(False)", f"T.bool({is_transposed})")
    found = rc.simulate(rc.parse(text, "copy.py"), "main", a, np.zeros((16, 16), "float16"))
    assert found.is_clean, [item.message for item in found.diagnostics]
    # Each of the four matrices is turned around by itself.
    quarters = a.reshape(2, 8, 2, 8).transpose(0, 3, 2, 1).reshape(16, 16) if is_transposed else a
    assert np.array_equal(found.outputs[0].value, quarters)
    it = rc.threads(rc.parse(text, "copy.py"), "main", a, np.zeros((16, 16), "float16"))
    clock = it.go("end").clock
    assert np.array_equal(it.buffer("B").data, quarters)
    assert it.go("to 4", f"to {clock}").is_ended
    assert np.array_equal(it.buffer("B").data, quarters)


def test_a_copy_that_nobody_waited_for_is_told_where_it_is_read() -> None:
    found = rc.simulate(rc.parse(COPY.replace(WAIT, ""), "copy.py"))
    told = next(item for item in found.diagnostics if item.code == "GP017")
    assert "ldmatrix" in told.message
    assert "while an asynchronous copy is on the way there: block 0, thread 0" in told.message
    assert told.span is not None
    assert told.span.line == 13
    # A wait that lets the only group stay on its way is none.
    assert "GP017" in codes_of(COPY.replace("wait_group(0)", "wait_group(1)"))


def test_what_one_thread_waited_for_is_there_for_others_behind_a_barrier_alone() -> None:
    text = (
        HEAD
        + """def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    tx = T.launch_thread("threadIdx.x", 64)
    S = T.alloc_shared((64,), "float32")
    T.s_tir.cp_async_raw("float32", S.data, tx, A.data, tx, 4)
    T.ptx.cp.async_.commit_group()
    T.ptx.cp.async_.wait_group(0)
    T.tvm_storage_sync("shared")
    B[tx] = S[63 - tx]
"""
    )
    assert codes_of(text) == []
    assert codes_of(text.replace(SYNC, "")) == ["GP001"]


def test_only_the_newest_groups_stay_on_their_way() -> None:
    text = (
        HEAD
        + """def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    tx = T.launch_thread("threadIdx.x", 32)
    S = T.alloc_shared((64,), "float32")
    for k in range(2):
        T.ptx_cp_async("float32", S.data, k * 32 + tx, A.data, k * 32 + tx, 4)
        T.ptx.cp.async_.commit_group()
    T.ptx.cp.async_.wait_group(1)
    B[tx] = S[tx]
    T.ptx.cp.async_.wait_group(0)
    B[32 + tx] = S[32 + tx]
"""
    )
    a = np.arange(64, dtype="float32")
    found = rc.simulate(rc.parse(text, "copy.py"), "main", a, np.zeros(64, "float32"))
    assert found.is_clean, [item.message for item in found.diagnostics]
    assert np.array_equal(found.outputs[0].value, a)
    assert "GP017" in codes_of(text.replace("S[tx]", "S[32 + tx]"), a, np.zeros(64, "float32"))


def fragments() -> str:
    """Return a kernel that multiplies two matrices in fragments, and adds 3."""
    from_a, from_b, to_c = (
        f'T.tvm_access_ptr(T.type_annotation("{kind}"), {name}.data, 0, 256, 3)'
        for name, kind in (("A", "float16"), ("B", "float16"), ("C", "float32"))
    )
    return (
        HEAD
        + f"""def main(A: T.Buffer((256,), "float16"), B: T.Buffer((256,), "float16"), C: T.Buffer((256,), "float32")):
    tx = T.launch_thread("threadIdx.x", 32)
    a = T.alloc_buffer((256,), "float16", scope="wmma.matrix_a")
    b = T.alloc_buffer((256,), "float16", scope="wmma.matrix_b")
    c = T.alloc_buffer((512,), "float32", scope="wmma.accumulator")
    T.tvm_fill_fragment(c.data, 16, 16, 16, 1, T.float32(3))
    T.tvm_load_matrix_sync(a.data, 16, 16, 16, 0, {from_a}, 16, "row_major")
    T.tvm_load_matrix_sync(b.data, 16, 16, 16, 0, {from_b}, 16, "col_major")
    T.tvm_mma_sync(c.data, 1, a.data, 0, b.data, 0, c.data, 1)
    T.tvm_store_matrix_sync(c.data, 16, 16, 16, 1, {to_c}, 16, "row_major")
"""
    )


def test_what_a_copy_comes_from_is_not_written_before_it_has_arrived() -> None:
    text = f"""{HEAD}def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    tx = T.launch_thread("threadIdx.x", 64)
    S = T.alloc_shared((64,), "float32")
    T.s_tir.cp_async_raw("float32", S.data, tx, A.data, tx, 4)
    T.ptx.cp.async_.commit_group()
    A[tx] = T.float32(0)
    T.ptx.cp.async_.wait_group(0)
    B[tx] = S[tx]
"""
    module = rc.parse(text, "copy.py")
    (told,) = rc.simulate(module).diagnostics
    assert (told.code, told.span is not None and told.span.line) == ("GP017", 9)
    assert "`A` while an asynchronous copy is taking it from there: block 0, thread 0" in told.message
    view = rc.threads(module, "main").go("end")
    assert view.threads is not None
    assert view.threads.reported == (2,)
    store = "    A[tx] = T.float32(0)\n"
    assert codes_of(text.replace(store, "").replace("    B[tx]", f"{store}    B[tx]")) == []


def test_fragments_of_wmma_are_multiplied() -> None:
    text = fragments()
    a, b = made_up((16, 16), "float16", 1), made_up((16, 16), "float16", 2)
    found = rc.simulate(rc.parse(text, "wmma.py"), "main", a.ravel(), b.ravel(), np.zeros(256, "float32"))
    assert found.is_clean, [item.message for item in found.diagnostics]
    assert np.array_equal(found.outputs[0].value.reshape(16, 16), a.astype("float32") @ b.astype("float32").T + 3)
    with pytest.raises(RunError, match="a fragment of the shape"):
        rc.simulate(rc.parse(text.replace("16, 16, 16", "32, 8, 16"), "wmma.py"))


def test_memory_of_a_warp_belongs_to_its_lanes() -> None:
    text = (
        HEAD
        + """def main(A: T.Buffer((2, 32), "float32"), B: T.Buffer((2, 32), "float32")):
    ty = T.launch_thread("threadIdx.y", 2)
    tx = T.launch_thread("threadIdx.x", 32)
    W = T.alloc_buffer((32,), "float32", scope="warp")
    W[tx] = A[ty, tx]
    B[ty, tx] = W[31 - tx]
"""
    )
    a = np.arange(64, dtype="float32").reshape(2, 32)
    module = rc.parse(text, "warp.py")
    found = rc.simulate(module, "main", a, np.zeros_like(a))
    assert found.is_clean, [item.message for item in found.diagnostics]
    assert np.array_equal(found.outputs[0].value, a[:, ::-1])
    it = rc.threads(module, "main", a, np.zeros_like(a))
    assert it.go("end").is_ended
    assert np.array_equal(it.buffer("B").data, a[:, ::-1])
    assert np.array_equal(it.buffer("W").data, a)


CHANGING = {
    "an asynchronous copy": COPY,
    "fragments that are added up": fragments(),
    "atomic additions": f"""{HEAD}def main(A: T.Buffer((64,), "int32"), H: T.Buffer((2,), "int32")):
    tx = T.launch_thread("threadIdx.x", 64)
    T.cuda.atomic_add(T.address_of(H[tx % 2]), A[tx])
""",
    "a barrier of a warp": f"""{HEAD}def main(A: T.Buffer((64,), "int32"), B: T.Buffer((64,), "int32")):
    tx = T.launch_thread("threadIdx.x", 64)
    S = T.alloc_shared((64,), "int32")
    S[tx] = A[tx]
    T.tvm_storage_sync("warp")
    B[tx] = S[tx // 32 * 32 + 31 - tx % 32]
""",
}


@pytest.mark.parametrize("name", CHANGING)
def test_a_statement_that_is_looked_at_has_not_run(name: str) -> None:
    module = rc.parse(CHANGING[name], "kernel.py")
    found = rc.simulate(module)
    assert found.is_clean, [item.message for item in found.diagnostics]
    (output,) = found.outputs
    it = rc.threads(module, "main")
    while not (view := it.go("next")).is_ended:
        pass
    assert np.array_equal(it.buffer(output.name).data.reshape(output.value.shape), output.value)
    assert view.threads is not None
    assert view.threads.reported == ()


TICKETS = f"""{HEAD}def main(A: T.Buffer((1,), "int32"), B: T.Buffer((64,), "int32")):
    tx = T.launch_thread("threadIdx.x", 64)
    t = T.alloc_local((1,), "int32")
    t[0] = T.cuda.atomic_add(T.address_of(A[0]), 1)
    B[t[0]] = tx
"""
FIRST = f"""{HEAD}def main(A: T.Buffer((1,), "int32"), B: T.Buffer((64,), "int32")):
    tx = T.launch_thread("threadIdx.x", 64)
    B[tx] = T.cuda.atomic_cas(T.address_of(A[0]), 0, tx + 1)
"""


@pytest.mark.parametrize("order", ["forward", "backward"])
def test_an_atomic_operation_returns_what_its_thread_found(order: Literal["forward", "backward"]) -> None:
    args = np.zeros(1, "int32"), np.zeros(64, "int32")
    threads = np.arange(64) if order == "forward" else np.roll(np.arange(64), 32)
    for text, expected, left in (
        (TICKETS, threads, 64),
        (FIRST, np.where(np.arange(64) == threads[0], 0, threads[0] + 1), threads[0] + 1),
    ):
        module = rc.parse(text, "tickets.py")
        it = rc.threads(module, "main", *args, chosen=rc.ThreadsOf(order=order))
        assert it.go("end").is_ended
        assert it.buffer("B").data.tolist() == expected.tolist()
        assert it.buffer("A").data.tolist() == [left]
        found = rc.simulate(module, "main", *args)
        assert found.is_clean, [item.message for item in found.diagnostics]
        if order == "forward":
            assert [item.value.tolist() for item in found.outputs] == [[left], expected.tolist()]


@pytest.mark.parametrize("call", ["grid_sync()", "atomic_add(tx, 1)"])
def test_what_a_launch_does_not_run_is_refused_with_its_place_in_a_step_too(call: str) -> None:
    text = FIRST.replace("B[tx] = T.cuda.atomic_cas(T.address_of(A[0]), 0, tx + 1)", f"T.cuda.{call}")
    module = rc.parse(text, "launch.py")
    with pytest.raises(RunError) as raised:
        rc.simulate(module)
    (problem,) = raised.value.diagnostics
    assert (problem.code, problem.span is not None and problem.span.line) == ("GP010", 6)
    it = rc.threads(module, "main")
    assert f"T.cuda.{call}` is not simulated yet" in it.go("end").problem
