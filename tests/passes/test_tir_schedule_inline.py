"""ReverseComputeInline does as in apache-tvm, keeps the bits, and refuses what breaks its rules."""

from typing import Any

import pytest

import relax_core as rc
from relax_core.ir.module import IRModule
from tests.passes.tir_programs import program, scheduled
from tests.passes.wheel import passed, same_values

ALONE = 'D = T.sblock_alloc_buffer((6, 20), "float32")\n'
HEAD = 'B = T.sblock_alloc_buffer((6, 20), "float32")\n' + ALONE
DOUBLE = """
for i, j in T.grid(6, 20):
    with T.sblock("double"):
        vi, vj = T.axis.remap("SS", [i, j])
        D[vi, vj] = A[vi, vj] * T.float32(2)
"""
LAST = """
for i, j in T.grid(6, 20):
    with T.sblock("last"):
        vi, vj = T.axis.remap("SS", [i, j])
        C[vi, vj] = {}
"""
OTHER = """
for i, j in T.grid(6, 20):
    with T.sblock("other"):
        vi, vj = T.axis.remap("SS", [i, j])
        {}
"""
PLUS = LAST.format("D[vi, vj] + T.float32(1)")
SUM = """
for i, j, k in T.grid(6, 20, 20):
    with T.sblock("double"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            D[vi, vj] = T.float32(0)
        D[vi, vj] = D[vi, vj] + A[vi, vk] * A[vi, vj]
"""
TURNED = """
E = T.sblock_alloc_buffer((20, 6), "float32")
for i, j in T.grid(6, 20):
    with T.sblock("double"):
        vi, vj = T.axis.remap("SS", [i, j])
        E[vj, vi] = A[vi, vj] * T.float32(2)
"""
STEP = "ReverseComputeInline(block='last')"


def parsed(text: str) -> IRModule:
    return rc.parse(f"@I.ir_module\nclass Module:\n{program(text)}")


@pytest.mark.parametrize(
    "text",
    [ALONE + DOUBLE + PLUS, TURNED + LAST.format("E[vj, vi] * E[vj, vi] + A[vi, 0]")],
    ids=["plain", "turned and read twice"],
)
def test_a_consumer_is_inlined_as_in_tvm(text: str) -> None:
    scheduled(program(text), STEP, lambda sch: sch.reverse_compute_inline("last"))


def test_a_consumer_is_inlined_into_divided_loops() -> None:
    def steps(sch: Any) -> None:
        sch.split(sch.get_loops(sch.get_sblock("double"))[1], [None, 6])
        sch.reverse_compute_inline("last")

    scheduled(program(ALONE + DOUBLE + PLUS), f"Split(block='double', loop='j', factors=[None, 6]), {STEP}", steps)


def test_a_consumer_is_inlined_that_adds_to_what_is_there() -> None:
    zero = OTHER.format("C[vi, vj] = T.float32(1)")
    module = parsed(ALONE + zero + DOUBLE + LAST.format("C[vi, vj] - D[vi, vj]"))
    stage = passed(module, STEP)
    assert stage.is_changed
    same_values(module, stage.after, rtol=0)


UNSAFE = {
    "it reduces": (DOUBLE + SUM.replace("double", "last").replace("D[vi, vj]", "C[vi, vj]"),
                   "last is not one store"),
    "an operand changes": (DOUBLE + OTHER.format("A[vi, vj] = T.float32(0)") + LAST.format("D[vi, vj] + A[vi, vj]"),
                           "A is written between double and last"),
    "its operand is a sum": (SUM + PLUS, "D is not written by one store without an init"),
    "its operand is read elsewhere": (DOUBLE + OTHER.format("B[vi, vj] = D[vi, vj]") + PLUS,
                                      "D is read elsewhere as well"),
    "two operands are computed": (DOUBLE + OTHER.format("B[vi, vj] = A[vi, vj]") + LAST.format("D[vi, vj] + B[vi, vj]"),
                                  "last reads 2 buffers that blocks compute: D, B"),
    "no operand is computed": (DOUBLE + LAST.format("A[vi, vj]"), "last reads 0 buffers that blocks compute: none"),
    "its result is read before": (DOUBLE + OTHER.format("B[vi, vj] = C[vi, vj]") + PLUS,
                                  "C is read between double and last"),
    "its result is written before": (DOUBLE + OTHER.format("C[vi, vj] = A[vi, vj]") + PLUS,
                                     "C is written between double and last"),
    "it reads two elements": (DOUBLE + LAST.format("D[vi, vj] + D[vi, 19 - vj]"),
                              "last does not read D at all of its iteration variables, each once"),
    "it reads some elements": (DOUBLE + PLUS.replace("(6, 20)", "(6, 10)"),
                               "last and double do not run for the same values of vj"),
    "it reads a turned element as well": (
        DOUBLE.replace("20", "6") + LAST.format("D[vi, vj] + D[vj, vi]").replace("20", "6"),
        "last does not read D at all of its iteration variables, each once"),
    "its operand is written twice": (DOUBLE + OTHER.format("D[vi, vj] = A[vi, vj]") + PLUS,
                                     "D is not written by one store without an init"),
    "it stands before": (PLUS + DOUBLE, "the loops of double do not stand before those of last"),
    "a condition skips the operand": (
        DOUBLE.replace('    with T.sblock("double"):\n', '    if j < 5:\n        with T.sblock("double"):\n')
        .replace("        vi, vj", "            vi, vj").replace("        D[", "            D[") + PLUS,
        "double stands under a statement that is no loop"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSAFE)
def test_a_consumer_is_not_inlined_where(name: str) -> None:
    text, message = UNSAFE[name]
    (stage,) = rc.run_pipeline(parsed(HEAD + text), STEP)
    (problem,) = stage.diagnostics
    assert (problem.code, problem.message) == ("PS019", message)
    assert problem.span is not None
    assert problem.hint
