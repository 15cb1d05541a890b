"""ComputeAt and ReverseComputeAt refuse what would change values, and keep the bits where they do not refuse."""

import pytest

import relax_core as rc
from relax_core.ir.module import IRModule
from tests.passes.tir_programs import program
from tests.passes.wheel import passed, same_values

HEAD = """
B = T.alloc_buffer((6, 20))
D = T.alloc_buffer((6, 20))
"""
FIRST = """
for i, j in T.grid(6, 20):
    with T.sblock("first"):
        vi, vj = T.axis.remap("SS", [i, j])
        {}
"""
LAST = """
for i in range(6):
    for j in range(20):
        with T.sblock("last"):
            vi, vj = T.axis.remap("SS", [i, j])
            {}
"""
AGAIN = FIRST.replace("first", "again")
COPY, READ = "D[vi, vj] = A[vi, vj] * T.float32(2)", "C[vi, vj] = D[vi, vj] + T.float32(1)"
SUM = """
for i, j, k in T.grid(6, 20, 20):
    with T.sblock("first"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            D[vi, vj] = T.float32(0)
        D[vi, vj] = D[vi, vj] + A[vi, vk] * A[vi, vj]
"""


def body(first: str, between: str, last: str) -> str:
    """Return loops of a block `first`, what stands behind them, and loops of a block `last`."""
    return HEAD + (FIRST.format(first) if "for" not in first else first) + between + LAST.format(last)


def parsed(text: str) -> IRModule:
    return rc.parse(f"@I.ir_module\nclass Module:\n{program(text)}")


AT = "ComputeAt(block='first', loop='i')"
BACK = "ReverseComputeAt(block='last', loop='i')"
VIEW = "V = T.decl_buffer((120,), data=D.data)\nfor i in range(120):\n    V[i] = T.float32(1)\n"
UNSAFE_AT = {
    "an operand changes on the way": (
        body("D[vi, vj] = B[vi, vj]", AGAIN.format("B[vi, vj] = A[vi, vj]"), READ),
        "B, which first reads, is written before the end of i",
    ),
    "an operand changes in the loop": (
        body("D[vi, vj] = B[vi, vj]", "", READ) + "    B[i, 0] = T.float32(1)\n",
        "B, which first reads, is written before the end of i",
    ),
    "an operand changes in its own loops": (
        body(
            "for i in range(6):\n    for j in range(20):\n        with T.sblock('first'):\n"
            "            vi, vj = T.axis.remap('SS', [i, j])\n            D[vi, vj] = B[0, vj]\n"
            "    B[0, 0] = A[i, 0]\n", "", READ),
        "B, which first reads, is written before the end of i",
    ),
    "another statement writes the buffer": (
        body(COPY, "D[0, 0] = T.float32(3)\n", READ),
        "D is written by other statements as well",
    ),
    "a block reads outside of the loop": (
        body(COPY, AGAIN.format("B[vi, vj] = D[vi, vj]"), READ),
        "not every block that reads D stands under one loop i",
    ),
    "the loops leave out instances": (
        body(FIRST.format(COPY).replace("(6, 20)", "(6, 10)").replace('vi, vj = T.axis.remap("SS", [i, j])',
             "vi = T.axis.spatial(6, i)\n        vj = T.axis.spatial(20, j)"), "", READ),
        "it is not seen that the loops of first run each of its instances once",
    ),
    "the loops run instances again": (
        body(FIRST.format(COPY).replace('"SS", [i, j]', '"SS", [i, i]'), "", READ),
        "it is not seen that the loops of first run each of its instances once",
    ),
    "a condition skips it": (
        body("for i, j in T.grid(6, 20):\n    if j < 5:\n        with T.sblock('first'):\n"
             f"            vi, vj = T.axis.remap('SS', [i, j])\n            {COPY}\n", "", READ),
        "first stands under a statement that is no loop",
    ),
    "its loops end early": (
        body("for i in range(6):\n    for j in range(20):\n        with T.sblock('first'):\n"
             f"            vi, vj = T.axis.remap('SS', [i, j])\n            {COPY}\n"
             "        if A[i, j] > T.float32(0.5):\n            break\n", "", READ),
        "the loops of first have a break or a continue in them",
    ),
    "its memory has another name": (
        body(COPY, VIEW, READ),
        "the memory of D is used as a whole",
    ),
    "its instances write the same element": (
        body("D[0, vj] = A[vi, vj]", "", "C[vi, vj] = D[0, vj]"),
        "several instances of first may write the same element of D",
    ),
    "it stores at a sum": (
        body("D[vi, (vj + vi) % 20] = A[vi, vj]", "", READ),
        "first does not store at its iteration variables",
    ),
    "it adds to what is there": (
        body("D[vi, vj] = D[vi, vj] + A[vi, vj]", "", READ),
        "first reads D, which it writes, and has no init",
    ),
    "it reads what other instances write": (
        body("D[vi, vj] = D[vi, T.max(vj - 1, 0)] + A[vi, vj]", "", READ),
        "first reads elements of D that other instances of it write",
    ),
    "it calls a function": (
        body('D[vi, vj] = T.call_extern("float32", "rand")', "", READ),
        "first does more than to store",
    ),
    "it writes two buffers": (
        body("D[vi, vj] = A[vi, vj]\n        B[vi, vj] = A[vi, vj]", "", READ),
        "first writes 2 buffers, not one",
    ),
    "the order of its instances matters": (
        body(FIRST.format(COPY).replace('T.axis.remap("SS", [i, j])', 'T.axis.remap("SO", [i, j])'), "", READ),
        "vj of first is neither spatial nor a reduction",
    ),
    "it uses a variable of its own loops": (
        body("for i, j in T.grid(6, 20):\n    w: T.let[T.int32] = i * 2\n    with T.sblock('first'):\n"
             "        vi, vj = T.axis.remap('SS', [i, j])\n        D[vi, vj] = T.Cast('float32', w)\n", "", READ),
        "first uses w, which has no value in the other loops",
    ),
    "the number of iterations is read from it": (
        HEAD + FIRST.format("D[vi, vj] = T.float32(20)")
        + "for i in range(6):\n    for k in range(T.Cast('int32', D[i, 3])):\n        C[i, k] = D[i, k]\n",
        "not every block that reads D stands under one loop k",
    ),
    "a call stands on the way": (
        body(COPY, 'T.evaluate(T.call_extern("int32", "wait"))\n', READ),
        "first would move past a call",
    ),
}  # fmt: skip
UNSAFE_BACK = {
    "what it writes is read on the way": (
        body(COPY, AGAIN.format("B[vi, vj] = C[vi, vj]"), READ),
        "C, which last writes, is accessed between i and last",
    ),
    "what it writes is written on the way": (
        body(COPY, AGAIN.format("C[vi, vj] = A[vi, vj]"), READ),
        "C, which last writes, is accessed between i and last",
    ),
    "another operand is made on the way": (
        body(COPY, "for q in range(6):\n    B[q, 0] = A[q, 1]\n", "C[vi, vj] = D[vi, vj] + B[vi, 0]"),
        "B is written behind or beside the loop i",
    ),
    "it reads two elements": (
        body(COPY, "", "C[vi, vj] = D[vi, vj] + D[5 - vi, vj]"),
        "last does not read D at its spatial iteration variables",
    ),
    "it reads in both dimensions at one variable": (
        body(COPY, "", "C[vi, vj] = D[T.min(vj, 5), vj]"),
        "last does not read D at its spatial iteration variables",
    ),
    "it reads with two variables": (
        HEAD + FIRST.format(COPY) + LAST.format("C[vi, vj] = D[vi, 0] + D[vj, 1]").replace("20", "6"),
        "last reads elements that different iterations of i make",
    ),
    "a loop around it is a reduction": (
        body("for k in range(20):\n    for i, j in T.grid(6, 20):\n        with T.sblock('first'):\n"
             "            vi, vj, vk = T.axis.remap('SSR', [i, j, k])\n            with T.init():\n"
             "                D[vi, vj] = T.float32(0)\n            D[vi, vj] = D[vi, vj] + A[vi, vk]\n", "", READ),
        "D is complete only behind the loop k",
    ),
    "the elements of an iteration stand apart": (
        body(FIRST.format(COPY).replace("(6, 20)", "(3, 40)")
             .replace('vi, vj = T.axis.remap("SS", [i, j])',
                      "vi = T.axis.spatial(6, j // 20 * 3 + i)\n        vj = T.axis.spatial(20, j % 20)"), "", READ),
        "the values of vi in one iteration of i are no range",
    ),
    "what it reads is made only sometimes": (
        body("for i, j in T.grid(6, 20):\n    if j < 5:\n        with T.sblock('first'):\n"
             f"            vi, vj = T.axis.remap('SS', [i, j])\n            {COPY}\n", "", READ),
        "first stands under a statement that is no loop",
    ),
    "it reads more than is made": (
        body(FIRST.format(COPY).replace("(6, 20)", "(3, 20)").replace('vi, vj = T.axis.remap("SS", [i, j])',
             "vi = T.axis.spatial(3, i)\n        vj = T.axis.spatial(20, j)"), "", READ),
        "D is read where it is not seen to be written",
    ),
    "its operand is written outside of a block": (
        body("for i, j in T.grid(6, 20):\n    D[i, j] = A[i, j]\n", "", READ), "D is written outside of a block",
    ),
    "its variables are of another dtype": (
        HEAD + FIRST.format(COPY) + LAST.format(READ).replace("range(6)", "range(T.int64(6))")
        .replace("range(20)", "range(T.int64(20))"),
        "the values of vi in one iteration of i may not fit int64",
    ),
    "it writes an element twice": (
        body(COPY, "", "C[vi, 0] = D[vi, vj]"),
        "several instances of last may write the same element of C",
    ),
    "it reads its own results": (
        body(COPY, "", "C[vi, vj] = C[T.max(vi - 1, 0), vj] + D[vi, vj]"),
        "last reads elements of C that other instances of it write",
    ),
    "its operand has another name": (
        HEAD + VIEW + body(COPY, "", READ)[len(HEAD):],
        "the memory of D is used as a whole",
    ),
}  # fmt: skip


def refused(text: str, step: str, message: str) -> None:
    *_, stage = rc.run_pipeline(parsed(text), step)
    (problem,) = stage.diagnostics
    assert (problem.code, problem.message) == ("PS019", message)
    assert problem.span is not None
    assert problem.hint


@pytest.mark.parametrize("name", UNSAFE_AT)
def test_a_producer_does_not_move_where(name: str) -> None:
    text, message = UNSAFE_AT[name]
    refused(text, AT.replace("'i'", "'k'") if "loop k" in message else AT, message)


@pytest.mark.parametrize("name", UNSAFE_BACK)
def test_a_consumer_does_not_move_where(name: str) -> None:
    text, message = UNSAFE_BACK[name]
    refused(text, BACK.replace("'i'", "'k'") if "loop k" in message else BACK, message)


SHARED = (
    HEAD
    + FIRST.format(COPY)
    + AGAIN.format("B[vi, vj] = D[0, 0]")
    + LAST.replace("last", "x").format("C[vi, vj] = B[vi, vj]")
    + LAST.format("C[vi, vj] = C[vi, vj] + B[vi, vj]")
)
OVERLAP = body(COPY, "", "C[vi, vj] = D[vi, T.min(vj + 1, 19)]")
MORE = (
    (SHARED, "ComputeInline(block='again'), ComputeAt(block='first', loop='i')",
     "not every block that reads D stands under one loop i"),
    (OVERLAP, "Split(block='last', loop='j', factors=[None, 5]), Parallel(block='last', loop='j_0'), "
     "ComputeAt(block='first', loop='j_0')", "iterations of j_0, which is parallel, may write the same elements"),
    (body(SUM, "", READ), "Bind(block='last', loop='i', thread='blockIdx.x'), ComputeAt(block='first', loop='i'), "
     "ReverseComputeAt(block='last', loop='i')",
     "i does not stand before the loops of last, side by side with them"),
    (body(COPY, "", READ), "Vectorize(block='last', loop='j'), ComputeAt(block='first', loop='j')",
     "iterations of j, which is vectorized, may write the same elements"),
    (body(COPY, "", READ), "ComputeAt(block='last', loop='i')", "last writes C, which the function returns"),
    (body(COPY, "", READ), "ReverseComputeAt(block='first', loop='i')",
     "first reads nothing that another block writes"),
    (body(COPY, "", READ), f"{AT}, ComputeAt(block='first', loop='j')",
     "j does not stand behind the loops of first, side by side with them"),
    (body(COPY, "", "C[vi, vj] = T.float32(0)"), AT, "no block reads D"),
)  # fmt: skip


@pytest.mark.parametrize(("text", "steps", "message"), MORE, ids=[message for *_, message in MORE])
def test_a_move_that_is_not_one_is_refused(text: str, steps: str, message: str) -> None:
    refused(text, steps, message)


def test_a_loop_that_is_not_there_is_told() -> None:
    for step, message, hint in (
        ("ComputeAt(block='first', loop='q')", "no block that reads D has a loop q", "their loops: i, j"),
        ("ReverseComputeAt(block='last', loop='q')", "no block that writes what last reads has a loop q",
         "their loops: i, j"),
    ):  # fmt: skip
        (stage,) = rc.run_pipeline(parsed(body(COPY, "", READ)), step)
        (problem,) = stage.diagnostics
        assert (problem.code, problem.message, problem.hint) == ("PS018", message, hint)


SAFE = {
    "an element is computed again where tiles overlap": (
        OVERLAP,
        "Split(block='last', loop='j', factors=[None, 6]), ComputeAt(block='first', loop='j_0')",
    ),
    "a part of a fused loop that does not end with a row": (
        body(COPY, "", READ),
        "Fuse(block='last', loops=['i', 'j']), Split(block='last', loop='i_j_fused', factors=[None, 6]), "
        "ComputeAt(block='first', loop='i_j_fused_0')",
    ),
    "a gather takes all of a row": (body(COPY, "", "C[vi, vj] = D[vi, T.Cast('int32', A[vi, vj] * A[vi, vj])]"), AT),
    "indices that are not affine take all of a row": (body(COPY, "", "C[vi, vj] = D[vi, vj * vj % 20]"), AT),
    "two readers under one loop": (
        body(COPY, "", READ) + "    for j in range(20):\n        with T.sblock('more'):\n"
        "            vi, vj = T.axis.remap('SS', [i, j])\n            C[vi, vj] = C[vi, vj] + D[vi, 19 - vj]\n",
        AT,
    ),
    "a loop of its reader's name around it": (
        body(SUM, "", READ),
        "Parallel(block='last', loop='i'), ComputeAt(block='first', loop='i')",
    ),
    "a chain moves from its end to its beginning": (
        body("B[vi, vj] = A[vi, vj] * T.float32(2)", AGAIN.format("D[vi, vj] = B[vi, 19 - vj]"), READ),
        "ComputeAt(block='again', loop='j'), ComputeAt(block='first', loop='i')",
    ),
    "a tile that does not divide": (
        body("D[vi, vj] = A[vi, 19 - vj]", "", READ),
        "Split(block='first', loop='j', factors=[None, 6]), ReverseComputeAt(block='last', loop='j_0')",
    ),
    "a reader of an earlier result as well": (
        HEAD + FIRST.replace("first", "early").format("B[vi, vj] = A[vi, vj]")
        + FIRST.format(COPY) + LAST.format("C[vi, vj] = D[vi, vj] + B[5 - vi, vj]"),
        BACK,
    ),
    "the initial values and the rest of a sum": (
        body(SUM, "", READ),
        "DecomposeReduction(block='first', loop='j'), ReverseComputeAt(block='last', loop='i')",
    ),
    "a sum over what an iteration has made": (
        HEAD + FIRST.format(COPY) + "for i, j, k in T.grid(6, 20, 20):\n    with T.sblock('last'):\n"
        "        vi, vj, vk = T.axis.remap('SSR', [i, j, k])\n        with T.init():\n"
        "            C[vi, vj] = T.float32(0)\n        C[vi, vj] = C[vi, vj] + D[vi, vk] * D[vi, vj]\n",
        BACK,
    ),
    "threads of the only block": (
        body(COPY, "", READ),
        "DefaultGPUSchedule, ReverseComputeAt(block='last', loop='i_j_fused_0')",
    ),
    "loops of the operand that run once": (
        body(COPY, "", READ),
        "Split(block='first', loop='i', factors=[None, 1]), ReverseComputeAt(block='last', loop='i_0')",
    ),
    "threads of a block": (
        body(COPY, "", READ),
        "Bind(block='last', loop='i', thread='blockIdx.x'), ComputeAt(block='first', loop='i')",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAFE)
def test_a_block_moves_and_keeps_the_bits(name: str) -> None:
    text, steps = SAFE[name]
    module = parsed(text)
    stage = passed(module, steps)
    assert stage.is_changed
    same_values(module, stage.after, rtol=0)


def test_only_the_function_that_has_the_block_changes() -> None:
    text = program(body(COPY, "", READ))
    other = text[: text.index("    @R.function")].replace("def f(", "def g(").replace('"first"', '"other"')
    module = rc.parse(f"@I.ir_module\nclass Module:\n{other}{text}")
    stage = passed(module, "ComputeAt(block='first', loop='i')")
    assert stage.after["g"] is module["g"]
    assert stage.after["f"] is not module["f"]
