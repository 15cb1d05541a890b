"""Schedule primitives refuse what would change values: early exits, conditions, other statements, shared memory."""

import pytest

import relax_core as rc
from relax_core.ir.module import IRModule
from tests.passes.tir_programs import program
from tests.passes.wheel import passed, same_values

BREAKS = """
for i in range(6):
    for j in range(20):
        with T.sblock("copy"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj]
            if A[vi, vj] > T.float32(0.5):
                break
"""
SOMETIMES = """
B = T.alloc_buffer((6, 20))
for i, j in T.grid(6, 20):
    with T.sblock("zero"):
        vi, vj = T.axis.remap("SS", [i, j])
        C[vi, vj] = A[vi, vj]
for i, j in T.grid(6, 20):
    if j < 5:
        with T.sblock("copy"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]
for i, j in T.grid(6, 20):
    if j < 5:
        with T.sblock("read"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj]
for i, j, k in T.grid(6, 20, 4):
    if j < 5:
        with T.sblock("sum"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk]
for i in range(6):
    for j in range(20):
        if C[i, T.max(j - 1, 0)] > T.float32(0.5):
            with T.sblock("clip"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.float32(0.5)
"""
ROWS = """
B = T.alloc_buffer((20,))
D = T.alloc_buffer((6, 20))
for i in range(6):
    for j in range(20):
        with T.sblock("row"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vj] = A[vi, vj]
    for j in range(20):
        with T.sblock("sum"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vj] + T.float32(1)
for i in range(6):
    for j in range(20):
        with T.sblock("save"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = C[vi, vj]
    for j, k in T.grid(20, 4):
        with T.sblock("total"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = D[vi, vj]
            C[vi, vj] = C[vi, vj] + A[vi, vk]
"""
VIEWS = """
B = T.alloc_buffer((6, 20))
V = T.decl_buffer((120,), data=B.data)
for i, j in T.grid(6, 20):
    with T.sblock("copy"):
        vi, vj = T.axis.remap("SS", [i, j])
        B[vi, vj] = A[vi, vj]
for i, j in T.grid(6, 19):
    with T.sblock("shift"):
        vi, vj = T.axis.remap("SS", [i, j])
        B[vi, vj] = V[vi * 20 + vj + 1]
for i, j in T.grid(6, 20):
    with T.sblock("read"):
        vi, vj = T.axis.remap("SS", [i, j])
        C[vi, vj] = B[vi, vj]
"""
BESIDE = """
B = T.alloc_buffer((6, 20))
for i, j in T.grid(6, 20):
    for k in range(20):
        with T.sblock("sum"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                B[vi, vj] = T.float32(0)
            B[vi, vj] = B[vi, vj] + A[vi, vk]
    with T.sblock("read"):
        vi, vj = T.axis.remap("SS", [i, j])
        C[vi, vj] = B[vi, vj]
"""
NEVER_ENDS = "{} has a break or a continue in it; {} takes loops that run to their ends"
UNSAFE = (
    *(
        (BREAKS, f"{name}({given})", NEVER_ENDS.format(loop, name))
        for name, given, loop in (
            ("Fuse", "block='copy', loops=['i', 'j']", "i"),
            ("Split", "block='copy', loop='j', factors=[4, 5]", "j"),
            ("Reorder", "block='copy', loops=['j', 'i']", "i"),
            ("Parallel", "block='copy', loop='j'", "j"),
            ("Vectorize", "block='copy', loop='i'", "i"),
            ("Bind", "block='copy', loop='j', thread='threadIdx.x'", "j"),
        )
    ),
    (SOMETIMES, "CacheRead(block='read')", "it is not seen that one block writes all of B before it is copied"),
    (SOMETIMES, "CacheWrite(block='copy')", "it is not seen that copy alone writes all of B"),
    (SOMETIMES, "DecomposeReduction(block='sum', loop='k')", "sum does not run in each iteration of k"),
    (SOMETIMES, "Reorder(block='clip', loops=['j', 'i'])",
     "C is read outside of a block, and a block in the loop writes it"),
    (SOMETIMES, "Parallel(block='clip', loop='j')", "C is read outside of a block, and a block in the loop writes it"),
    (ROWS, "Parallel(block='row', loop='i')", "an iteration of i may access elements of B that another one writes"),
    (ROWS, "Vectorize(block='sum', loop='i')", "an iteration of i may access elements of B that another one writes"),
    (ROWS, "DecomposeReduction(block='total', loop='i')",
     "D is written in i, before which the initial values would be written"),
    (BESIDE, "CacheWrite(block='sum')", "B is read before sum has written all of it"),
    (VIEWS, "Reorder(block='shift', loops=['j', 'i'])", "B may be the memory of V"),
    (VIEWS, "Parallel(block='shift', loop='j')", "B may be the memory of V"),
    (VIEWS, "CacheRead(block='read')", "the memory of B is used as a whole"),
    (VIEWS, "CacheWrite(block='copy')", "the memory of B is used as a whole"),
)  # fmt: skip


def parsed(body: str) -> IRModule:
    return rc.parse(f"@I.ir_module\nclass Module:\n{program(body)}")


@pytest.mark.parametrize(("body", "step", "message"), UNSAFE, ids=[step for _, step, _ in UNSAFE])
def test_a_step_that_could_change_values_is_refused(body: str, step: str, message: str) -> None:
    (stage,) = rc.run_pipeline(parsed(body), step)
    (problem,) = stage.diagnostics
    assert (problem.code, problem.message) == ("PS019", message)
    assert problem.span is not None
    assert problem.hint


SAFE = (
    (BREAKS, "Unroll(block='copy', loop='j')"),
    (SOMETIMES, "ComputeInline(block='copy')"),
    (ROWS, "DecomposeReduction(block='total', loop='j')"),
    (ROWS, "Parallel(block='total', loop='i')"),
    (ROWS, "Split(block='total', loop='i', factors=[2, 3]), Parallel(block='total', loop='i_0')"),
    (ROWS, "Split(block='save', loop='i', factors=[None, 4]), Parallel(block='save', loop='i_1')"),
)


@pytest.mark.parametrize(("body", "steps"), SAFE, ids=[steps for _, steps in SAFE])
def test_a_step_whose_iterations_are_apart_keeps_the_bits(body: str, steps: str) -> None:
    module = parsed(body)
    stage = passed(module, steps)
    assert stage.is_changed
    same_values(module, stage.after, rtol=0)


DIGITS = """
for f in range(120):
    with T.sblock("zero"):
        vi = T.axis.spatial(6, f // 20)
        vj = T.axis.spatial(20, f % {modulus})
        C[vi, vj] = T.float32(0)
    for k in range(20):
        with T.sblock("sum"):
            vi = T.axis.spatial(6, f // 20)
            vj = T.axis.spatial(20, f % {modulus})
            vk = T.axis.reduce(20, k)
            C[vi, vj] = C[vi, vj] + A[vi, vk]
"""


def test_the_digits_of_a_fused_loop_tell_its_iterations_apart() -> None:
    whole, part = (
        rc.run_pipeline(parsed(DIGITS.format(modulus=modulus)), "Parallel(block='sum', loop='f')")[-1]
        for modulus in (20, 10)
    )
    assert whole.diagnostics == ()
    assert whole.is_changed
    message = "an iteration of f may access elements of C that another one writes"
    assert [item.message for item in part.diagnostics] == [message]


OVERLAPPING = """
for i, j in T.grid(3, 5):
    with T.sblock("copy"):
        vi = T.axis.spatial(6, {row})
        vj = T.axis.spatial(20, {column})
        C[vi, vj] = A[vi, vj]
"""


@pytest.mark.parametrize(
    ("row", "column"), [("0", "i * 2 + j"), ("(i * 2 + j) // 20", "(i * 2 + j) % 20")], ids=["sum", "digits of a sum"]
)
def test_iterations_that_make_the_same_sum_share_an_element(row: str, column: str) -> None:
    (stage,) = rc.run_pipeline(parsed(OVERLAPPING.format(row=row, column=column)), "Parallel(block='copy', loop='i')")
    message = "an iteration of i may access elements of C that another one writes"
    assert [item.message for item in stage.diagnostics] == [message]
