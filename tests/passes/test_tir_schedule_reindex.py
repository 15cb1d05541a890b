"""Reindex does as in apache-tvm, keeps the bits, and refuses what breaks its rules."""

import pytest

import relax_core as rc
from relax_core.ir.module import IRModule
from tests.passes.tir_programs import program, scheduled
from tests.passes.wheel import passed, same_values

PRODUCT = program(
    """
for i, j, k in T.grid(6, 5, 20):
    with T.sblock("sum"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            C[vi, vj] = T.float32(0)
        C[vi, vj] = C[vi, vj] + A[vi, vk] * T.Cast("float32", vj)
""",
    "(6, 5)",
)
ONCE = program(
    """
for i, u, j in T.grid(6, 1, 20):
    with T.sblock("sum"):
        vi, vu, vj = T.axis.remap("SSS", [i, u, j])
        C[vi, vj] = A[vi, vj + vu]
"""
)
SHIFTED = program(
    """
D = T.sblock_alloc_buffer((20, 7), "float32")
for i, j in T.grid(6, 20):
    with T.sblock("double"):
        vi, vj = T.axis.remap("SS", [i, j])
        D[vj, vi] = A[vi, vj] * T.float32(2)
for i, j in T.grid(6, 20):
    with T.sblock("sum"):
        vi, vj = T.axis.remap("SS", [i, j])
        C[vi, vj] = D[(vj * 3 + vi) % 20, vi] * D[(vj * 3 + vi) % 20, vi]
"""
)


def parsed(text: str) -> IRModule:
    return rc.parse(f"@I.ir_module\nclass Module:\n{text}")


@pytest.mark.parametrize("kind", ["read", "write"])
@pytest.mark.parametrize("text", [PRODUCT, ONCE, SHIFTED], ids=["product", "a loop that runs once", "sums as indices"])
def test_a_block_accesses_a_copy_at_its_variables_as_in_tvm(text: str, kind: str) -> None:
    steps = f"Reindex(block='sum', buffer=('{kind}', 0))"
    scheduled(text, steps, lambda sch: sch.reindex("sum", (kind, 0)))


def test_what_is_written_turned_is_copied_as_in_tvm() -> None:
    scheduled(SHIFTED, "Reindex(block='double', buffer=('write', 0))", lambda sch: sch.reindex("double", ("write", 0)))


def test_a_divided_block_reads_a_copy() -> None:
    module = parsed(PRODUCT)
    stage = passed(module, "Split(block='sum', loop='j', factors=[None, 4]), Reindex(block='sum'), "
                   "ComputeAt(block='A_reindex_reindex', loop='j_0')")  # fmt: skip
    assert stage.is_changed
    same_values(module, stage.after, rtol=0)


def test_a_copy_is_not_read_out_of_its_buffer() -> None:
    """TVM copies A[v0, v1 - 1] for all v1, which is in front of a row for 0: the condition stays with the block."""
    text = ONCE.replace("A[vi, vj + vu]", "T.if_then_else(vj >= 1, A[vi, vj - 1], T.float32(0))")
    (problem,) = rc.run_pipeline(parsed(text), "Reindex(block='sum')")[-1].diagnostics
    message = "it is not seen that all elements that would be copied are in A"
    assert (problem.code, problem.message) == ("PS019", message)


BESIDE = program(
    """
for i in range(6):
    for j in range(20):
        with T.sblock("sum"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj]
    A[i, 0] = C[i, 1]
"""
)
READ, WRITE = "Reindex(block='sum')", "Reindex(block='sum', buffer=('write', 0))"
REFUSED = {
    "two elements": (ONCE.replace("A[vi, vj + vu]", "A[vi, vj] + A[vi, 19 - vj]"), READ,
                     "sum accesses several elements of A"),
    "an index that is read": (ONCE.replace("vj + vu", 'T.Cast("int32", A[vi, vj])'), READ,
                              "sum accesses several elements of A"),
    "a buffer that is written in the loops": (BESIDE, READ, "A is written in the loops of sum"),
    "a result that is read in the loops": (BESIDE, WRITE, "C is accessed by other statements in the loops of sum"),
    "instances that write one element": (ONCE.replace("C[vi, vj]", "C[0, vj]"), WRITE,
                                         "several instances of sum may write the same element of C"),
    "instances that are left out": (
        ONCE.replace('vi, vu, vj = T.axis.remap("SSS", [i, u, j])', "vi = T.axis.spatial(6, i)\n"
                     "                vu = T.axis.spatial(1, u)\n                vj = T.axis.spatial(40, j)"), WRITE,
        "it is not seen that the loops of sum run each of its instances once"),
    "partial results of another block": (ONCE.replace("= A[vi, vj + vu]", "= C[vi, vj] + A[vi, vj]"), WRITE,
                                         "sum reads C, which it writes, and has no init"),
    "another name of the memory": (
        SHIFTED.replace("for i, j in T.grid(6, 20):", "V = T.decl_buffer((140,), data=D.data)\n"
                        "        for i, j in T.grid(6, 20):", 1), READ, "the memory of D is used as a whole"),
    "a buffer that is written as well": (
        ONCE.replace("C[vi, vj] = A[vi, vj + vu]", "T.reads(C[vi, vj])\n                T.writes(C[vi, vj])\n"
                     "                C[vi, vj] = C[vi, vj] + T.float32(1)"),
        READ, "sum does not only read C"),
    "a buffer that is not there": (ONCE, "Reindex(block='sum', buffer=('read', 1))",
                                   "sum reads 1 buffers, not one with the number 1"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_no_copy_is_accessed_for(name: str) -> None:
    text, steps, message = REFUSED[name]
    (problem,) = rc.run_pipeline(parsed(text), steps)[-1].diagnostics
    assert (problem.code, problem.message) == ("PS019", message)
    assert problem.span is not None
    assert problem.hint
