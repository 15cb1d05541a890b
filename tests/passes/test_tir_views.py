"""Views become parts of their buffers, and buffers get the strides that are asked for, as in apache-tvm."""

import pytest

import relax_core as rc
from tests.passes.tir_programs import agree_on, program
from tests.passes.wheel import passed, remarks, same_values

COMPACT = "PlanAndUpdateBufferAllocationLocation, ConvertBlocksToOpaque, CompactBufferAllocation"
VIEWS = {
    "rows of two buffers": """
for i in range(6):
    with T.sblock("row"):
        vi = T.axis.spatial(6, i)
        row = T.match_buffer(A[vi, 0:20], (20,), "float32", offset_factor=1)
        out = T.match_buffer(C[vi, 0:20], (20,), "float32", offset_factor=1)
        for j in range(20):
            out[j] = row[j] * T.float32(2)
""",
    "a tile with strides": """
for i, j in T.grid(3, 5):
    with T.sblock("tile"):
        vi, vj = T.axis.remap("SS", [i, j])
        tile = T.match_buffer(
            A[vi * 2 : vi * 2 + 2, vj * 4 : vj * 4 + 4], (2, 4), "float32", strides=("s0", "s1"), offset_factor=1
        )
        for a, b in T.grid(2, 4):
            with T.sblock("e"):
                va, vb = T.axis.remap("SS", [a, b])
                C[vi * 2 + va, vj * 4 + vb] = tile[va, vb] + T.float32(1)
""",
    "a view of a view": """
for i in range(6):
    with T.sblock("row"):
        vi = T.axis.spatial(6, i)
        row = T.match_buffer(A[vi, 0:20], (20,), "float32", offset_factor=1)
        for j in range(5):
            with T.sblock("part"):
                vj = T.axis.spatial(5, j)
                part = T.match_buffer(row[vj * 4 : vj * 4 + 4], (4,), "float32", offset_factor=1)
                for k in range(4):
                    C[vi, vj * 4 + k] = part[k] * T.float32(2)
""",
    "a row of the same rank": """
for i in range(6):
    with T.sblock("row"):
        vi = T.axis.spatial(6, i)
        row = T.match_buffer(A[vi : vi + 1, 0:20], (1, 20), "float32", offset_factor=1)
        for j in range(20):
            C[vi, j] = row[0, j] * T.float32(2)
""",
}


@pytest.mark.parametrize("body", VIEWS.values(), ids=VIEWS)
def test_views_are_parts_of_their_buffers_as_in_tvm(body: str) -> None:
    agree_on(program(body), "ConvertBlocksToOpaque, LowerMatchBuffer, LowerOpaqueBlock")


KEPT_VIEWS = {
    "an access is not proven to lie in it": (
        "row = T.match_buffer(A[vi, 0:10], (10,), 'float32', offset_factor=1)",
        "C[vi, j] = T.if_then_else(A[vi, j] < T.float32(0), row[j // 3 * 3], T.float32(1))",
    ),
    "s is read, which describes its memory": (
        "row = T.match_buffer(A[vi, 0:20], (20,), 'float32', strides=('s',), offset_factor=1)",
        "C[vi, j] = row[j] + T.Cast('float32', T.cast(s, 'int64'))",
    ),
}


@pytest.mark.parametrize("reason", KEPT_VIEWS)
def test_a_view_stays_that_may_show_other_elements(reason: str) -> None:
    declared, used = KEPT_VIEWS[reason]
    text = program(f"""
for i in range(6):
    with T.sblock("row"):
        vi = T.axis.spatial(6, i)
        {declared}
        for j in range(20):
            {used}
""")
    start = rc.parse(f"@I.ir_module\nclass Module:\n{text}")
    stage = rc.run_pipeline(start, "LowerMatchBuffer")[-1]
    assert remarks(stage, "missed") == [f"row stays a view: {reason}"]
    assert not stage.is_changed


def test_a_symbolic_row_is_a_part_of_its_buffer() -> None:
    stage = passed(rc.parse(f"@I.ir_module\nclass Module:\n{SYMBOLIC_VIEW}"), "LowerMatchBuffer")
    assert remarks(stage, "applied") == ["row is accessed as a part of A"]
    same_values(stage.before, stage.after, rtol=0)


SYMBOLIC_VIEW = """
    @T.prim_func(private=True, s_tir=True)
    def f(a: T.handle, c: T.handle):
        n, m = T.int64(), T.int64()
        A = T.match_buffer(a, (n, m))
        C = T.match_buffer(c, (n, m))
        for i in range(n):
            with T.sblock("row"):
                vi = T.axis.spatial(n, i)
                row = T.match_buffer(A[vi, 0:m], (m,), "float32", offset_factor=1)
                for j in range(m):
                    C[vi, j] = row[m - 1 - j]

    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")) -> R.Tensor(("n", "m"), "float32"):
        n, m = T.int64(), T.int64()
        cls = Module
        y = R.call_tir(cls.f, (x,), out_ty=R.Tensor((n, m), "float32"))
        return y
"""


ALIGNED = {
    "a whole buffer": """
with T.sblock("root"):
    B = T.sblock_alloc_buffer((6, 20), "float32", scope="shared")
    for i in range(6):
        for j in range(20):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.sblock_attr({"buffer_dim_align": [[0, 0, 16, 5]]})
                B[vi, vj] = A[vi, vj]
    for i in range(6):
        for j in range(20):
            with T.sblock("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] * B[vi, vj]
""",
    "a tile": """
with T.sblock("root"):
    B = T.sblock_alloc_buffer((6, 20), "float32", scope="shared")
    for i0 in range(3):
        for i, j in T.grid(2, 20):
            with T.sblock("B"):
                vi = T.axis.spatial(6, i0 * 2 + i)
                vj = T.axis.spatial(20, j)
                T.sblock_attr({"buffer_dim_align": [[0, 0, 32, 8]]})
                B[vi, vj] = A[vi, vj]
        for i, j in T.grid(2, 20):
            with T.sblock("C"):
                vi = T.axis.spatial(6, i0 * 2 + i)
                vj = T.axis.spatial(20, j)
                C[vi, vj] = B[vi, vj] * B[vi, vj]
""",
    "two dimensions": """
with T.sblock("root"):
    B = T.sblock_alloc_buffer((2, 3, 20), "float32", scope="shared")
    for i, k, j in T.grid(2, 3, 20):
            with T.sblock("B"):
                vi, vk, vj = T.axis.remap("SSS", [i, k, j])
                T.sblock_attr({"buffer_dim_align": [[0, 1, 8, 1], [0, 0, 64, 2]]})
                B[vi, vk, vj] = A[vi * 3 + vk, vj]
    for i, k, j in T.grid(2, 3, 20):
            with T.sblock("C"):
                vi, vk, vj = T.axis.remap("SSS", [i, k, j])
                C[vi * 3 + vk, vj] = B[vi, vk, vj]
""",
}


@pytest.mark.parametrize("body", ALIGNED.values(), ids=ALIGNED)
def test_strides_that_a_block_asks_for_are_those_of_tvm(body: str) -> None:
    stage = agree_on(program(body), COMPACT)
    assert any("has the strides" in item for item in remarks(stage, "applied"))
    start = rc.parse(f"@I.ir_module\nclass Module:\n{program(body)}")
    same_values(start, passed(start, "s_tir").after, rtol=0)
