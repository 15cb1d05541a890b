"""Passes on TIR do as in apache-tvm, and the program computes the same bits after each."""

import pytest

import relax_core as rc
from relax_core.diagnostics import CompileError
from relax_core.ir.equality import first_difference
from tests.apache_tvm import from_source, tirx
from tests.passes.tir_programs import agree_on, program
from tests.passes.wheel import passed, remarks, same_values

LOWERING = "LowerInitBlock, ConvertBlocksToOpaque, LowerOpaqueBlock, FlattenBuffer"
SUM = program(
    """
for i, k in T.grid(6, 20):
    with T.sblock("sum"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            C[vi] = T.float32(0)
        C[vi] = C[vi] + A[vi, vk]
""",
    "(6,)",
)
STAGED = program(
    """
D = T.alloc_buffer((6, 20), "float32")
for i, j in T.grid(6, 20):
    with T.sblock("double"):
        vi, vj = T.axis.remap("SS", [i, j])
        D[vi, vj] = A[vi, vj] * T.float32(2)
for i, j, u in T.grid(6, 20, 1):
    with T.sblock("shift"):
        vi = T.axis.spatial(6, i + u)
        vj = T.axis.spatial(20, j)
        T.where(j < 19)
        T.reads(D[vi, vj : vj + 2])
        T.writes(C[vi, vj])
        E = T.alloc_buffer((1, 2), "float32")
        E[0, 1] = D[vi, vj + 1]
        C[vi, vj] = E[0, 1] + D[vi, vj]
for i in range(6):
    with T.sblock("edge"):
        vi = T.axis.spatial(6, i)
        C[vi, 19] = T.float32(0)
"""
)
TWO = program(
    """
for i in range(6):
    for a, b in T.grid(4, 5):
        with T.sblock("sum"):
            vi, va, vb = T.axis.remap("SRR", [i, a, b])
            with T.init():
                C[vi] = T.float32(1)
            C[vi] = C[vi] + A[vi, va * 5 + vb]
""",
    "(6,)",
)
UNROLLED = program(
    """
for i in range(6):
    for j in T.unroll(5):
        for k in T.unroll(4):
            C[i, j * 4 + k] = A[i, j * 4 + (3 - k)] + T.float32(1)
    C[i, 0] = T.float32(0)
    for j in T.unroll(3):
        C[i, j] = C[i, j + 1]
"""
)
VECTORS = program(
    """
for i in range(6):
    for j in T.vectorized(4):
        C[i, j] = A[i, j * 2] * T.float32(2) + A[i, 3] + T.Cast("float32", j)
        C[i, j + 8] = T.max(A[i, j // 2], T.float32(0))
    for j in T.vectorized(4):
        if i < 3:
            C[i, j + 4] = T.exp(A[i, j])
        else:
            C[i, j + 4] = T.Select(j < 2, A[i, j], T.float32(1))
    for k in range(8):
        C[i, k + 12] = T.float32(0)
"""
)
MEETING = program(
    """
for i in range(6):
    for j in range(20):
        C[i, j] = A[i, j]
    for j in T.vectorized(16):
        C[i, j + 1] = C[i, j] + T.float32(1)
    for j in T.vectorized(4):
        C[i, 0] = C[i, 0] + A[i, j]
    for j in T.vectorized(4):
        C[i, j + 8] = T.if_then_else(j < 2, A[i, j], C[i, j + 8])
"""
)
LOOSE = program(
    """
for i in range(6):
    for j in range(20):
        if i * 20 + j < 200:
            C[i + 0, (j * 4 + 1) // 4] = A[i, (i * 20 + j) % 20]
        if 30 <= j:
            C[i, j] = T.float32(9)
"""
)


@pytest.mark.parametrize("text", [SUM, STAGED, TWO], ids=["a sum", "blocks with conditions and buffers", "two axes"])
def test_blocks_are_lowered_as_in_tvm(text: str) -> None:
    agree_on(text, LOWERING)


ALONE = program(
    """
with T.sblock("copy"):
    vi = T.axis.spatial(1, 0)
    C[vi] = A[vi, 2]
""",
    "(1,)",
)


def test_a_block_alone_gets_the_root_that_it_stands_under() -> None:
    agree_on(ALONE, LOWERING)


def test_loops_are_unrolled_as_in_tvm() -> None:
    stage = agree_on(UNROLLED, "UnrollLoop")
    assert remarks(stage, "applied")[0] == "the 4 iterations of k are written out"


def test_simplification_keeps_the_bits_and_agrees_with_tvm() -> None:
    agree_on(LOOSE, "StmtSimplify")


def test_an_unrolled_program_is_simplified_as_in_tvm() -> None:
    agree_on(UNROLLED, "UnrollLoop, FlattenBuffer, StmtSimplify")


def test_loops_count_from_zero_as_in_tvm() -> None:
    text = program("""
for i in range(6):
    for j in range(2, 20):
        C[i, j] = A[i, j] + T.float32(1)
    for j in T.serial(0, 2, step=1):
        C[i, j] = T.float32(0)
    for j in T.serial(1, 20, step=3):
        C[i, j] = A[i, j - 1]
""")
    assert agree_on(text, "CanonicalizeLoop").is_changed


def test_loops_are_vectorized_as_in_tvm() -> None:
    stage = agree_on(VECTORS, "FlattenBuffer, VectorizeLoop")
    assert remarks(stage, "applied") == ["the iterations of j are lanes of vectors"] * 2


def test_loops_whose_iterations_meet_are_not_vectorized() -> None:
    start = rc.parse(f"@I.ir_module\nclass Module:\n{MEETING}")
    stage = passed(start, "FlattenBuffer, VectorizeLoop")
    same_values(start, stage.after, rtol=0)
    assert remarks(stage, "missed") == [
        "j is a serial loop: an iteration may see what another one stores in C",
        "j is a serial loop: its iterations do not store to different elements of C in a row",
        "j is a serial loop: it holds an expression that has no form on vectors (Select)",
    ]


@pytest.mark.parametrize("loop", ["T.unroll(3)", "range(1)"])
def test_a_loop_that_is_left_early_stays_one(loop: str) -> None:
    text = program(f"""
for i in range(6):
    for j in range(20):
        C[i, j] = A[i, j]
    for j in {loop}:
        if A[i, j] < T.float32(0):
            continue
        C[i, j] = T.float32(1)
""")
    start = rc.parse(f"@I.ir_module\nclass Module:\n{text}")
    stage = passed(start, "s_tir")
    assert "continue" in rc.script(stage.after)
    same_values(start, stage.after, rtol=0)


def test_a_long_loop_stays_one() -> None:
    text = program("for i in range(6):\n    for j in T.unroll(20000):\n        C[i, j % 20] = A[i, j % 20]")
    start = rc.parse(f"@I.ir_module\nclass Module:\n{text}")
    stage = passed(start, "UnrollLoop")
    assert remarks(stage, "missed") == ["j stays a loop: it would be 20000 statements"]
    same_values(start, stage.after, rtol=0)


ONCE = program("""
for i in range(3, 4):
    for j in T.unroll(1):
        C[i, j + 2] = A[i, j] + T.float32(1)
for i in range(0):
    C[i, 0] = A[i, 0]
""")


def test_a_loop_that_runs_once_or_never_is_left_to_other_passes() -> None:
    agree_on(ONCE, "StmtSimplify, FlattenBuffer")


INDICES = {
    "wide sizes": ("i, j, l", "T.int64(2), T.int64(3), T.int64(4)"),
    "narrow sizes": ("i, j, l", "2, 3, 4"),
    "wide sums": ("i + 1, j * 2, l % 3", "T.int64(4), T.int64(6), T.int64(4)"),
    "one dimension": ("(i + 1) // 2,", "T.int64(4),"),
    "symbolic": ("i, j, l", "T.int64(2), T.int64(3), n"),
    "ones": ("i, j, l", "T.int64(3), T.int64(1), T.int64(3)"),
    "no dimension": ("()", ""),
}


@pytest.mark.parametrize("is_s_tir", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "bool"])
@pytest.mark.parametrize("name", INDICES)
def test_buffers_are_flattened_as_in_tvm(name: str, dtype: str, *, is_s_tir: bool) -> None:
    indices, sizes = INDICES[name]
    text = f"""@I.ir_module
class Module:
    @T.prim_func(private=True{", s_tir=True" if is_s_tir else ""})
    def f(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, ({sizes}), "{dtype}")
        unused = T.match_buffer(b, (n, 2), "float32")
        for i, j, l in T.grid(2, 3, 2):
            A[{indices}] = T.{dtype}(1)
"""
    theirs = tirx.transform.FlattenBuffer()(from_source(text, check_well_formed=False)).script()
    ours = rc.run_pipeline(
        rc.parse(text if is_s_tir else "# from tvm.script import tirx as T\n" + text), "FlattenBuffer"
    )
    assert first_difference(ours[-1].after, rc.parse(theirs)) is None, rc.script(ours[-1].after) + theirs


def test_a_pass_that_is_missing_is_named() -> None:
    (stage,) = rc.run_pipeline(rc.parse(f"@I.ir_module\nclass Module:\n{SUM}"), "ConvertBlocksToOpaque")
    (problem,) = stage.diagnostics
    assert (problem.code, problem.hint) == ("PS003", "run LowerInitBlock before ConvertBlocksToOpaque")
    assert problem.span is not None


def test_the_prefixes_of_tvm_name_passes_on_tir() -> None:
    module = rc.parse(f"@I.ir_module\nclass Module:\n{SUM}")
    stages = rc.run_pipeline(module, "s_tir.LowerInitBlock, tirx.UnrollLoop, tir.StmtSimplify, LegalizeOps")
    assert [item.pass_name for item in stages] == ["LowerInitBlock", "UnrollLoop", "StmtSimplify", "LegalizeOps"]
    assert not stages[-1].is_failed
    with pytest.raises(CompileError, match="there is no pass"):
        rc.run_pipeline(module, "tir.LegalizeOps")
