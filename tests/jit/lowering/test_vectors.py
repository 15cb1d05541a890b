"""Vectors: every lane computes what a scalar does, and all lanes are loaded before the first is stored."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.jit.low_level import failure, run, run_in_tvm

HEAD = """@T.prim_func
def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), C: T.Buffer((64,), "int32")):
"""
LOW, HIGH = "A[T.Ramp(0, 1, 4)]", "A[T.Ramp(4, 1, 4)]"
STATEMENTS = {
    "arithmetic": f"B[0:4] = {LOW} * T.Broadcast(T.float32(2), 4) + {HIGH}",
    "a ramp backwards": "B[T.Ramp(0, 2, 8)] = A[T.Ramp(15, -1, 8)]",
    "a selection": f"B[0:4] = T.Select({LOW} > T.Broadcast(T.float32(0.5), 4), {LOW}, T.exp({HIGH}))",
    "a choice by a scalar": f"B[0:4] = T.if_then_else(C[0] > 0, {LOW}, {HIGH})",
    "a shuffle": f"B[0:4] = T.Shuffle([{LOW}, {HIGH}], [7, 0, 3, 4])",
    "one lane": f"B[0] = T.Shuffle([{LOW}], [2])",
    "casts": f'B[0:4] = T.Cast("float32x4", T.Cast("int32x4", {LOW} * T.Broadcast(T.float32(10), 4)))',
    "integers": "C[0:4] = C[T.Ramp(3, 1, 4)] // T.Broadcast(3, 4) + T.Ramp(5, 3, 4) % T.Broadcast(4, 4)",
    "a shifted copy of itself": f"B[0:4] = {LOW}\n    B[1:5] = B[T.Ramp(0, 1, 4)] + {LOW}",
    "a gather": "B[0:4] = A[C[T.Ramp(8, 1, 4)]]",
    "the greater": f"B[0:4] = T.max({LOW}, {HIGH})",
    "a comparison": f'C[0:4] = T.Cast("int32x4", {LOW} < {HIGH})',
    "a variable": f"v = T.bind({LOW})\n    B[0:4] = v * v + T.Broadcast(A[0], 4)",
    "a function of LLVM": f'B[0:4] = T.call_llvm_pure_intrin("float32x4", "llvm.sqrt", {LOW})',
    "a vectorized loop": "for i in T.vectorized(16):\n        B[i] = A[63 - i]",
    "a scalar in a vector": "B[0:4] = T.Broadcast(T.float32(3), 4)",
    "a store of every other": f"B[T.Ramp(1, 2, 4)] = {LOW}",
}
VALUES = (np.random.default_rng(0).random(64, "float32"), np.zeros(64, "float32"), np.arange(64, dtype="int32"))


@pytest.mark.tvm
@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_computes_what_tvm_does(name: str) -> None:
    text = f"{HEAD}    {STATEMENTS[name]}\n"
    for found, expected in zip(run(text, *VALUES), run_in_tvm(text, *VALUES), strict=True):
        np.testing.assert_allclose(found, expected, rtol=2e-7)


a, b = VALUES[0][:4], VALUES[0][4:8]
# What TVM 0.27 does not read or does not make code for, beside NumPy.
BESIDE_NUMPY = {
    "slices": ("B[0:4] = A[0:4] * T.Broadcast(T.float32(2), 4)", a * np.float32(2)),
    "a slice with a step": ("B[0:4] = A[0:8:2]", VALUES[0][:8:2]),
    "halves": (
        f'B[0:2] = T.vectorhigh("float32x2", {LOW})\n    B[2:4] = T.vectorlow("float32x2", {LOW})',
        a[[2, 3, 0, 1]],
    ),
    "joined halves": (f'B[0:8] = T.vectorcombine("float32x8", {HIGH}, {LOW})', np.concatenate((b, a))),
    "a ramp of ramps": (
        "B[0:8] = A[T.Ramp(T.Ramp(0, 1, 4), T.Broadcast(8, 4), 2)]", VALUES[0][[0, 1, 2, 3, 8, 9, 10, 11]],
    ),
    "vload and vstore": ('B.vstore([0], A.vload([4], "float32x4"))', b),
    "a buffer of vectors": (
        'D = T.decl_buffer((16,), "float32x4", data=A.data)\n    E = T.decl_buffer((16,), "float32x4", data=B.data)\n'
        "    for i in range(16):\n        E[i] = D[15 - i] + T.Broadcast(T.float32(1), 4)",
        VALUES[0].reshape(16, 4)[::-1].ravel() + np.float32(1),
    ),
    "an allocated buffer of vectors": (
        'D = T.alloc_buffer((4,), "float32x4")\n    D[1] = A[4:8]\n    B[0:4] = D[1] * D[1]', b * b,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BESIDE_NUMPY)
def test_a_statement_computes_what_numpy_does(name: str) -> None:
    statement, expected = BESIDE_NUMPY[name]
    found = run(f"{HEAD}    {statement}\n", *VALUES)[1]
    assert np.array_equal(found[: expected.size], expected)


@settings(deadline=None)
@given(base=st.integers(-2, 40), stride=st.integers(-9, 9), lanes=st.integers(2, 16), is_dynamic=st.booleans())
def test_each_lane_is_checked(base: int, stride: int, lanes: int, is_dynamic: bool) -> None:
    at = ("n", "m") if is_dynamic else (str(base), str(stride))
    text = (
        "@T.prim_func\n"
        'def main(A: T.Buffer((64,), "float32"), B: T.Buffer((16,), "float32"), n: T.int32, m: T.int32):\n'
        f"    B[0:{lanes}] = A[T.Ramp({at[0]}, {at[1]}, {lanes})]\n"
    )
    places = [base + number * stride for number in range(lanes)]
    args = (VALUES[0], np.zeros(16, "float32"), base, stride)
    if all(0 <= place < 64 for place in places):
        assert np.array_equal(run(text, *args)[1][:lanes], VALUES[0][places])
    else:
        wrong = next(place for place in places if not 0 <= place < 64)
        code, message = failure(text, *args)
        assert code == "JT010"
        assert f"{wrong}, but A has 64 elements (load" in message


REFUSED = {
    "a call in every lane": (
        "B[0:4] = T.Broadcast(T.call_packed(\"f\", dtype=\"float32\"), 4)", "A call inside the vector",
    ),
    "an unknown function": ('B[0] = T.call_extern("float32", "launch", A[0])', "A `T.call_extern` of `launch`"),
    "a function of another dtype": ('B[0] = T.call_extern("float32", "sin", A[0])', "A `T.call_extern` of `sin`"),
    "a condition that is a vector": (
        f"if {LOW} > {HIGH}:\n        B[0] = T.float32(1)", "The dtype boolx4",
    ),
    "a vector without end": (
        "B[T.Ramp(0, 0, 60000)] = A[T.Ramp(0, 0, 60000)] + A[T.Ramp(1, 0, 60000)]", "A vector of 60000 lanes",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_named(name: str) -> None:
    statement, expected = REFUSED[name]
    assert failure(f"{HEAD}    {statement}\n", *VALUES)[1].startswith(expected)
