"""Views of memory: aliases, other dtypes, strides, regions of blocks; each lies in its memory or is refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.analysis.tir_memory import written_buffers
from relax_core.jit.engine import Engine
from relax_core.jit.kernel import Kernel
from relax_core.vm.kernels import written_params
from tests.jit.low_level import failure, prim_funcs, run, run_in_tvm

FLAT = '@T.prim_func\ndef main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):\n'
SQUARE = '@T.prim_func(s_tir=True)\ndef main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):\n'
LINE = np.random.default_rng(0).random(64, "float32")
BOARD = np.random.default_rng(1).random((16, 16), "float32")

ON_LINES = {
    "a view in another shape": """
    C = T.decl_buffer((8, 8), "float32", data=A.data)
    for i, j in T.grid(8, 8):
        B[i * 8 + j] = C[j, i]""",
    "a view as another dtype": """
    C = T.decl_buffer((64,), "int32", data=A.data)
    D = T.decl_buffer((64,), "int32", data=B.data)
    for i in range(64):
        D[i] = C[i] + 1""",
    "strides and an offset": """
    C = T.decl_buffer((4, 4), "float32", data=A.data, strides=[8, 2], elem_offset=3)
    for i, j in T.grid(4, 4):
        B[i * 4 + j] = C[i, j]""",
    "a view of allocated memory": """
    P = T.alloc_buffer((64,), "float32")
    Q = T.decl_buffer((8, 8), "float32", data=P.data)
    for i in range(64):
        P[i] = A[i]
    for i, j in T.grid(8, 8):
        B[i * 8 + j] = Q[j, i]""",
    "a view behind the address of an element": """
    p: T.let[T.handle("float32")] = T.address_of(A[5])
    C = T.decl_buffer((8,), "float32", data=p)
    for i in range(8):
        B[i] = C[i]""",
    "ignored attributes": """
    with T.attr(0, "pragma_note", 1):
        B[0] = A[3]""",
}

ON_BOARDS = {
    "regions that are read and written": """
    for i, j in T.grid(4, 4):
        with T.sblock("b"):
            vi, vj = T.axis.remap("SS", [i, j])
            C = T.match_buffer(A[vi * 4:vi * 4 + 4, vj * 4:vj * 4 + 4], (4, 4), "float32", offset_factor=1)
            D = T.match_buffer(B[vi * 4:vi * 4 + 4, vj * 4:vj * 4 + 4], (4, 4), "float32", offset_factor=1)
            for x, y in T.grid(4, 4):
                D[x, y] = C[y, x]""",
    "a region with symbols": """
    s0 = T.int32()
    s1 = T.int32()
    e0 = T.int32()
    for i, j in T.grid(4, 4):
        with T.sblock("b"):
            vi, vj = T.axis.remap("SS", [i, j])
            C = T.match_buffer(
                A[vi * 4:vi * 4 + 4, vj * 4:vj * 4 + 4], (4, 4), "float32", strides=[s0, s1], elem_offset=e0
            )
            for x, y in T.grid(4, 4):
                B[vi * 4 + x, vj * 4 + y] = C[x, y] + T.Cast("float32", s0 * 100 + s1 * 10 + e0)""",
    "a region of lower rank": """
    for i in range(16):
        with T.sblock("b"):
            vi = T.axis.spatial(16, i)
            C = T.match_buffer(A[vi, 4:12], (8,), "float32", offset_factor=1)
            for y in range(8):
                B[vi, y] = C[y] * T.float32(2)""",
}
PROGRAMS = {
    **{name: (FLAT + body, (LINE, np.zeros_like(LINE))) for name, body in ON_LINES.items()},
    **{name: (SQUARE + body, (BOARD, np.zeros_like(BOARD))) for name, body in ON_BOARDS.items()},
}


@pytest.mark.tvm
@pytest.mark.parametrize("name", PROGRAMS)
def test_views_compute_what_tvm_does(name: str) -> None:
    text, inputs = PROGRAMS[name]
    for found, expected in zip(run(text, *inputs), run_in_tvm(text, *inputs), strict=True):
        assert np.array_equal(found, expected)


def test_views_of_views_and_regions_of_regions() -> None:
    text = (
        SQUARE
        + """
    C = T.decl_buffer((64, 4), "float32", data=A.data)
    D = T.decl_buffer((32,), "float32", data=C.data, elem_offset=8)
    for i in range(4):
        with T.sblock("b"):
            vi = T.axis.spatial(4, i)
            E = T.match_buffer(C[vi * 2:vi * 2 + 2, 0:4], (2, 4), "float32")
            F = T.match_buffer(E[1, 1:3], (2,), "float32")
            B[vi, 0] = F[0] + D[vi]
            B[vi, 1] = F[1]"""
    )
    found = run(text, BOARD, np.zeros_like(BOARD))[1]
    flat = BOARD.ravel()
    rows = flat.reshape(64, 4)[1:8:2, 1:3]
    assert np.array_equal(found[:4, 0], rows[:, 0] + flat[8:12])
    assert np.array_equal(found[:4, 1], rows[:, 1])


def test_memory_that_is_allocated_in_a_loop() -> None:
    text = (
        FLAT
        + """
    for i in range(8):
        with T.allocate([8], "float32", "global") as p:
            P = T.decl_buffer((8,), "float32", data=p)
            Q = T.decl_buffer((4, 2), "float32", data=p)
            for j in range(8):
                P[j] = A[i * 8 + j]
            for j in range(4):
                B[i * 8 + j] = Q[j, 1]"""
    )
    found = run(text, LINE, np.zeros_like(LINE))[1].reshape(8, 8)
    assert np.array_equal(found[:, :4], LINE.reshape(8, 8)[:, 1::2])


@settings(deadline=None)
@given(
    extents=st.lists(st.integers(0, 5), min_size=1, max_size=3),
    strides=st.lists(st.integers(0, 20), min_size=3, max_size=3),
    offset=st.integers(0, 70),
    is_dynamic=st.booleans(),
)
def test_a_view_runs_just_if_it_lies_in_its_memory(
    extents: list[int], strides: list[int], offset: int, is_dynamic: bool
) -> None:
    used = strides[: len(extents)]
    numbers = [*extents, *used, offset]
    names = [f"n{position}" for position in range(len(numbers))] if is_dynamic else [str(item) for item in numbers]
    params = "".join(f", n{position}: T.int32" for position in range(len(numbers))) if is_dynamic else ""
    rank = len(extents)
    loops = ", ".join("ijk"[:rank])
    text = f"""@T.prim_func
def main(A: T.Buffer((64,), "float32"), B: T.Buffer((1,), "float32"){params}):
    C = T.decl_buffer(({", ".join(names[:rank])},), "float32", data=A.data, strides=[{", ".join(names[rank:-1])}],
                      elem_offset={names[-1]})
    for {loops} in T.grid({", ".join(names[:rank])}):
        B[0] = B[0] + C[{loops}]
"""
    args = (LINE, np.zeros(1, "float32"), *(numbers if is_dynamic else ()))
    last = offset + sum((extent - 1) * stride for extent, stride in zip(extents, used, strict=True))
    if 0 in extents or last < LINE.size:
        total = np.float32(0)
        for place in np.ndindex(*extents):
            total += LINE[offset + sum(at * stride for at, stride in zip(place, used, strict=True))]
        if 0 not in extents:
            assert run(text, *args)[1][0] == total
    else:
        code, message = failure(text, *args)
        assert (code, message.split(" of memory")[0]) == (
            "JT019",
            f"Out of range. The view `C` reaches to byte {4 * (last + 1)}",
        )


BROKEN = {
    "a region behind the end": (
        SQUARE
        + """
    for i in range(4):
        with T.sblock("b"):
            vi = T.axis.spatial(4, i)
            C = T.match_buffer(A[vi * 5:vi * 5 + 4, 0:4], (4, 4), "float32")
            B[vi, 0] = C[0, 0]""",
        ("JT019", "Out of range. The region of `C` ends at 19, but A has 16 rows at i = 3, vi = 3"),
    ),
    "a region of another size": (
        SQUARE
        + """
    for i in range(1, 4):
        with T.sblock("b"):
            vi = T.axis.spatial(4, i)
            C = T.match_buffer(A[0:vi, 0:4], (2, 4), "float32")
            B[vi, 0] = C[0, 0]""",
        ("JT019", "`C` is declared with 2 where its region of `A` has 1 at i = 1, vi = 1"),
    ),
    "an access behind the end of a view": (
        FLAT + '    C = T.decl_buffer((4,), "float32", data=A.data)\n    for i in range(8):\n        B[i] = C[i]',
        ("JT010", "Out of range. `C[i]`: i = 4, but C has 4 elements (load at i = 4)"),
    ),
    "memory that is not known": (
        '@T.prim_func\ndef main(a: T.handle, A: T.Buffer((4,), "float32")):\n'
        '    C = T.decl_buffer((4,), "float32", data=a)\n    A[0] = C[0]',
        ("JT001", "The handle `a`, whose memory is not known, cannot be compiled"),
    ),
    "an attribute with a meaning": (
        FLAT + '    with T.attr(0, "virtual_thread", 2):\n        B[0] = A[0]',
        ("JT001", "The attribute `virtual_thread` cannot be compiled"),
    ),
    "a pointer past the end": (
        FLAT + '    p: T.let[T.handle("float32")] = T.address_of(A[60])\n'
        '    C = T.decl_buffer((8,), "float32", data=p)\n    B[0] = C[0]',
        ("JT019", "Out of range. The view `C` reaches to byte 32 of memory that has 16 bytes"),
    ),
}


ANNOTATED = """@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.sblock("B"):
            vi = T.axis.spatial(4, i)
            C = T.Buffer((4,))
            T.sblock_attr({"layout_free_placeholders": [C]})
            B[vi] = A[vi] + T.float32(1)
"""


def test_a_buffer_that_only_an_annotation_names_needs_no_memory() -> None:
    b = np.zeros(4, "float32")
    Engine().kernel(prim_funcs(ANNOTATED)["main"], "main")(LINE[:4].copy(), b)
    assert b.tolist() == (LINE[:4] + np.float32(1)).tolist()
    told = ("JT001", "The buffer `C`, whose memory is not known, cannot be compiled")
    assert failure(ANNOTATED.replace("A[vi] +", "C[vi] +"), LINE[:4].copy(), b) == told


@pytest.mark.parametrize("name", BROKEN)
def test_what_does_not_fit_is_named(name: str) -> None:
    text, expected = BROKEN[name]
    arrays = {"FLAT": (LINE, np.zeros_like(LINE)), "SQUARE": (BOARD, np.zeros_like(BOARD))}
    inputs: tuple[Any, ...] = arrays["SQUARE" if "(16, 16)" in text else "FLAT"]
    if "a: T.handle" in text:
        inputs = (None, LINE[:4])
    assert failure(text, *inputs) == expected


STRIDED = """@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int32()
    m = T.int32()
    s = T.int32()
    t = T.int32()
    A = T.match_buffer(a, (n, m), "float32", strides=[s, t])
    B = T.match_buffer(b, (n, m), "float32")
    for i, j in T.grid(n, m):
        B[i, j] = A[i, j]
"""


@pytest.fixture(scope="module")
def strided() -> Kernel:
    return Engine().kernel(prim_funcs(STRIDED)["main"], "main")


@settings(deadline=None)
@given(rows=st.integers(1, 4), columns=st.integers(1, 4), by=st.tuples(st.integers(1, 3), st.integers(1, 3)))
def test_a_buffer_with_strides_takes_an_array_with_strides(
    strided: Kernel, rows: int, columns: int, by: tuple[int, int]
) -> None:
    whole = np.arange(18 * 18, dtype="float32").reshape(18, 18)
    for array in (whole[: rows * by[0] : by[0], : columns * by[1] : by[1]], whole.T[:rows, :columns]):
        out = np.zeros(array.shape, "float32")
        strided(array, out)
        assert np.array_equal(out, array)


def test_an_array_that_runs_backwards_is_refused() -> None:
    code, message = failure(STRIDED.replace("(a: T.handle, b: T.handle)", "(a: T.handle, b: T.handle)"), 1, 2)
    assert code == "JT003"
    kernel = Engine().kernel(prim_funcs(STRIDED)["main"], "main")
    with pytest.raises(Exception, match="strides of whole elements, forwards"):
        kernel(BOARD[::-1], np.zeros_like(BOARD))
    assert "expects an array" in message


def test_a_store_through_a_view_writes_the_parameter() -> None:
    text = (
        FLAT
        + """
    C = T.decl_buffer((8, 8), "float32", data=B.data)
    D = T.decl_buffer((64,), "float32", data=C.data)
    D[0] = A[0]"""
    )
    function = prim_funcs(text)["main"]
    assert written_params(function) == (1,)
    assert {"B", "D"} == {buffer.name for buffer in written_buffers(function)}
    read_only = np.zeros_like(LINE)
    read_only.flags.writeable = False
    with pytest.raises(Exception, match="the array is read-only"):
        Engine().kernel(function, "main")(LINE, read_only)
