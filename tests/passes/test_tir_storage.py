"""Buffers share memory as in apache-tvm, and never where one sees what another one left."""

import pytest
from hypothesis import given, settings

import relax_core as rc
from relax_core.passes.core import Stage
from tests.passes.tir_nests import SIDE, chains, nests, numbers, output, same_where_written
from tests.passes.tir_programs import agree_on, program
from tests.passes.tir_storages import PROGRAMS
from tests.passes.wheel import passed, remarks, same_values

LOWER = (
    "PlanAndUpdateBufferAllocationLocation, ConvertBlocksToOpaque, CompactBufferAllocation, LowerOpaqueBlock, "
    "FlattenBuffer, StorageRewrite"
)


def shared(stage: Stage) -> list[str]:
    """Return what a pass said of buffers that lie in the memory of others."""
    return [item for item in remarks(stage, "applied") if "lies in the memory" in item]


@pytest.mark.parametrize("body", PROGRAMS.values(), ids=PROGRAMS)
def test_buffers_share_memory_as_in_tvm(body: str) -> None:
    assert agree_on(program(body), "FlattenBuffer, VectorizeLoop, StorageRewrite").is_changed


def test_vectors_are_written_over_vectors_as_in_tvm() -> None:
    text = program("""
B = T.alloc_buffer((120,), "float32")
D = T.alloc_buffer((120,), "float32")
for i, j in T.grid(6, 20):
    B[i * 20 + j] = A[i, j]
for i in range(30):
    for j in T.vectorized(4):
        D[i * 4 + j] = B[i * 4 + j] * T.float32(2)
for i, j in T.grid(6, 20):
    C[i, j] = D[i * 20 + j]
""")
    stage = agree_on(text, "FlattenBuffer, VectorizeLoop, StorageRewrite")
    assert shared(stage) == ["D lies in the memory of B, which it is written over"]


APART = {
    "a loop that reads again what it would write over": """
B = T.alloc_buffer((20,), "float32")
D = T.alloc_buffer((20,), "float32")
for i in range(6):
    for j in range(20):
        B[j] = A[i, j]
    for r, j in T.grid(2, 20):
        D[j] = B[j] * T.float32(2)
    for j in range(20):
        C[i, j] = D[j]
""",
    "a loop that reads what another iteration would write over": """
B = T.alloc_buffer((20,), "float32")
D = T.alloc_buffer((20,), "float32")
for i in range(6):
    for j in range(20):
        B[j] = A[i, j]
    for j in range(20):
        D[j] = B[j] + B[19 - j]
    for j in range(20):
        C[i, j] = D[j]
""",
    "a value that the next iteration reads": """
for i in range(6):
    B = T.alloc_buffer((20,), "float32")
    D = T.alloc_buffer((20,), "float32")
    E = T.alloc_buffer((20,), "float32")
    for j in range(20):
        if i == 0:
            B[j] = A[i, j]
    for j in range(20):
        D[j] = B[19 - j] + A[i, j]
    for j in range(20):
        E[j] = D[19 - j] * T.float32(2)
        C[i, j] = E[j]
""",
    "a buffer of the function in a loop": """
B = T.alloc_buffer((20,), "float32")
for j in range(20):
    B[j] = A[0, j]
for i in range(6):
    D = T.alloc_buffer((20,), "float32")
    for j in range(20):
        D[j] = B[19 - j]
    for j in range(20):
        C[i, j] = D[19 - j] + A[i, j]
""",
    "memory that is used as a whole": """
B = T.alloc_buffer((20,), "float32")
D = T.alloc_buffer((20,), "float32")
V = T.decl_buffer((4, 5), data=B.data)
for i in range(6):
    for j in range(20):
        B[j] = A[i, j]
    for j in range(20):
        D[j] = B[j]
    for j in range(20):
        C[i, j] = D[j] + V[j // 5, j % 5]
""",
    "an element that nothing wrote": """
for i in range(6):
    B = T.alloc_buffer((21,), "float32")
    D = T.alloc_buffer((21,), "float32")
    for j in range(20):
        B[j + 1] = A[i, j]
        if i == 0:
            B[0] = T.float32(3)
    for j in range(20):
        C[i, j] = B[j]
    for j in range(20):
        D[j] = A[i, 19 - j]
    for j in range(20):
        C[i, j] = C[i, j] + D[19 - j]
""",
}


@pytest.mark.parametrize("body", APART.values(), ids=APART)
def test_buffers_stay_apart(body: str) -> None:
    start = rc.parse(f"@I.ir_module\nclass Module:\n{program(body)}")
    stage = passed(start, "StorageRewrite")
    assert shared(stage) == []
    same_values(start, stage.after, rtol=0)


def test_what_was_not_done_is_told() -> None:
    start = rc.parse(f"@I.ir_module\nclass Module:\n{program(APART['a value that the next iteration reads'])}")
    stage = passed(start, "StorageRewrite")
    assert remarks(stage, "missed") == [
        "B shares no memory: it may be read where nothing was written since its allocation"
    ]


SYMBOLIC = """
    @T.prim_func(private=True, s_tir=True)
    def f(a: T.handle, c: T.handle):
        n, m = T.int64(), T.int64()
        A = T.match_buffer(a, (n, m))
        C = T.match_buffer(c, (n, m))
        B = T.alloc_buffer((m,), "float32")
        D = T.alloc_buffer((m,), "float32")
        E = T.alloc_buffer((n,), "float32")
        F = T.alloc_buffer((m,), "float32")
        for j in range(m):
            B[j] = A[0, j]
        for j in range(m):
            D[j] = B[m - 1 - j]
        for i in range(n):
            E[i] = D[0] + A[i, 0]
        for j in range(m):
            F[j] = D[m - 1 - j]
        for i, j in T.grid(n, m):
            C[i, j] = E[i] + F[j]

    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")) -> R.Tensor(("n", "m"), "float32"):
        n, m = T.int64(), T.int64()
        cls = Module
        y = R.call_tir(cls.f, (x,), out_ty=R.Tensor((n, m), "float32"))
        return y
"""


def test_of_symbolic_sizes_only_equal_ones_share() -> None:
    start = rc.parse(f"@I.ir_module\nclass Module:\n{SYMBOLIC}")
    stage = passed(start, "StorageRewrite")
    assert shared(stage) == ["F lies in the memory of B, which is not used any more"]
    same_values(start, stage.after, rtol=0)


@settings(max_examples=60, deadline=None)
@given(chains())
def test_rows_that_share_memory_compute_the_same(body: str) -> None:
    _computes_the_same(body, "StorageRewrite")


@settings(max_examples=30, deadline=None)
@given(nests())
def test_nests_compute_the_same_behind_all_passes_on_memory(body: str) -> None:
    _computes_the_same(body, LOWER)


def _computes_the_same(body: str, passes: str) -> None:
    text = program(body, f"({SIDE}, {SIDE})", SIDE, SIDE)
    start = rc.parse(f"@I.ir_module\nclass Module:\n{text}")
    after = passed(start, passes).after
    functions = [next(function for _, function in module.prim_funcs) for module in (start, after)]
    before, behind = (output(function, numbers()) for function in functions)
    same_where_written(before, behind)
