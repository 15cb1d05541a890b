"""DefaultGPUSchedule binds loops as apache-tvm does, by primitives that it shows; what they refuse stays."""

from typing import Any

import pytest

import relax_core as rc
from relax_core.ir.equality import structural_equal
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.ir.tir import For
from tests.apache_tvm import s_tir, tvm
from tests.passes.tir_programs import program, scheduled
from tests.passes.wheel import in_tvm, passed, remarks, same_values

CUDA = {"kind": "cuda", "arch": "sm_80", "max_threads_per_block": 1024}
SYMBOLIC = """
    @T.prim_func(private=True, s_tir=True)
    def f(a: T.handle, c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        C = T.match_buffer(c, (n,), "float32")
        for i in range(n):
            with T.sblock("plus"):
                vi = T.axis.spatial(n, i)
                C[vi] = A[vi] + T.float32(1)

    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Module
        y = R.call_tir(cls.f, (x,), out_ty=R.Tensor((n,), "float32"))
        return y
"""


def plus(rows: int, columns: int) -> str:
    return program(
        f"""
for i, j in T.grid({rows}, {columns}):
    with T.sblock("plus"):
        vi, vj = T.axis.remap("SS", [i, j])
        C[vi, vj] = A[vi, vj] + T.float32(1)
""",
        f"({rows}, {columns})",
        rows,
        columns,
    )


SUM = program(
    """
for i, j, k in T.grid(6, 5, 20):
    with T.sblock("sum"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            C[vi, vj] = T.float32(0)
        C[vi, vj] = C[vi, vj] + A[vi, vk]
""",
    "(6, 5)",
)
TOTAL = program(
    """
for i, j in T.grid(6, 20):
    with T.sblock("sum"):
        vi, vj = T.axis.remap("RR", [i, j])
        with T.init():
            C[0] = T.float32(0)
        C[0] = C[0] + A[vi, vj]
""",
    "(1,)",
)
TEXTS = {
    "less than a block of threads": plus(6, 20),
    "one thread": plus(1, 1),
    "several blocks of threads": plus(64, 50),
    "more than all blocks": plus(520, 512),
    "a sum": SUM,
    "nothing but a sum": TOTAL,
    "a symbolic size": SYMBOLIC,
}


def parsed(text: str) -> IRModule:
    return rc.parse(f"@I.ir_module\nclass Module:\n{text}")


def loops(module: IRModule) -> list[tuple[str, str | None, object]]:
    """Return how each loop of `f` runs, its threads and its extent, the outermost first."""
    found = [item for item in preorder(module["f"]) if isinstance(item, For)]
    return [(item.kind, item.thread, getattr(item.extent, "value", "symbolic")) for item in found]


@pytest.mark.parametrize("name", TEXTS)
def test_loops_are_bound_as_in_tvm(name: str) -> None:
    module = in_tvm(TEXTS[name])
    with tvm.target.Target(CUDA):
        theirs = rc.parse(s_tir.transform.DefaultGPUSchedule()(module).script())
    start = rc.parse(module.script())
    stage = passed(start, "DefaultGPUSchedule")
    assert loops(stage.after) == loops(theirs)
    assert 'T.func_attr({"tirx.is_scheduled": True})' in rc.script(stage.after)
    same_values(start, stage.after, rtol=0)


@pytest.mark.parametrize("name", TEXTS)
def test_the_trace_does_the_same_one_by_one(name: str) -> None:
    module = parsed(TEXTS[name])
    whole = passed(module, "DefaultGPUSchedule")
    (trace,) = remarks(whole, "note")
    *_, last = rc.run_pipeline(module, trace)
    assert last.diagnostics == ()
    marked = rc.script(last.after).replace("    for ", '    T.func_attr({"tirx.is_scheduled": True})\n        for ', 1)
    assert structural_equal(rc.parse(marked), whole.after)


def test_the_trace_is_shown() -> None:
    stage = passed(parsed(SUM), "DefaultGPUSchedule(max_thread_per_block=8, max_threadblocks=2)")
    assert remarks(stage, "note") == [
        "Fuse(block='sum', loops=['i', 'j']), Split(block='sum', loop='i_j_fused', factors=[None, 2, 8]), "
        "Reorder(block='sum', loops=['i_j_fused_1', 'i_j_fused_2', 'i_j_fused_0']), "
        "Bind(block='sum', loop='i_j_fused_1', thread='blockIdx.x'), "
        "Bind(block='sum', loop='i_j_fused_2', thread='threadIdx.x')"
    ]
    same_values(parsed(SUM), stage.after, rtol=0)


def test_a_reduction_outside_moves_inside() -> None:
    module = parsed(SUM.replace("for i, j, k in T.grid(6, 5, 20)", "for k, i, j in T.grid(20, 6, 5)"))
    stage = passed(module, "DefaultGPUSchedule")
    assert remarks(stage, "note")[0].startswith("Reorder(block='sum', loops=['i', 'j', 'k']), Fuse(")
    same_values(module, stage.after, rtol=0)


def test_each_block_of_each_function_is_bound() -> None:
    text = program(
        """
D = T.sblock_alloc_buffer((6, 20), "float32")
for i, j in T.grid(6, 20):
    with T.sblock("double"):
        vi, vj = T.axis.remap("SS", [i, j])
        D[vi, vj] = A[vi, vj] * T.float32(2)
for i, j in T.grid(6, 20):
    with T.sblock("last"):
        vi, vj = T.axis.remap("SS", [i, j])
        C[vi, vj] = D[vi, vj] + T.float32(1)
"""
    )
    other = text[: text.index("    @R.function")].replace("def f(", "def g(")
    module = parsed(other + text)
    stage = passed(module, "DefaultGPUSchedule")
    assert len(remarks(stage, "note")) == 4
    assert rc.script(stage.after).count('thread="threadIdx.x"') == 4
    same_values(module, stage.after, rtol=0)


LEFT = {
    "elements that threads share": (
        plus(6, 20).replace("C[vi, vj]", "C[0, vj]"),
        "a statement of f is left as it is: "
        "an iteration of i_j_fused_0 may access elements of C that another one writes",
    ),
    "several blocks in one nest": (
        program(
            "for i in range(6):\n    for j in range(20):\n        with T.sblock('a'):\n"
            "            vi, vj = T.axis.remap('SS', [i, j])\n            C[vi, vj] = A[vi, vj]\n"
            "    for j in range(20):\n        with T.sblock('b'):\n"
            "            vi, vj = T.axis.remap('SS', [i, j])\n            C[vi, vj] = C[vi, vj] + A[vi, vj]\n"
        ),
        "a statement of f is left as it is: it does not stand alone in loops that run one after the other",
    ),
    "a function that is scheduled": (
        plus(6, 20).replace("for i, j in T.grid(6, 20):", 'for i in T.thread_binding(6, thread="blockIdx.x"):\n'
                            "          for j in range(20):").replace("            with", "             with"),
        "f is scheduled already",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LEFT)
def test_what_cannot_be_bound_stays(name: str) -> None:
    text, message = LEFT[name]
    stage = passed(parsed(text), "DefaultGPUSchedule(max_thread_per_block=8)")
    assert not stage.is_changed
    assert remarks(stage, "missed") == [message]
    assert remarks(stage, "applied") == []


def test_a_second_time_nothing_is_bound() -> None:
    stage = passed(parsed(SUM), "DefaultGPUSchedule, DefaultGPUSchedule")
    assert not stage.is_changed


def test_a_loop_that_runs_once_is_added_as_in_tvm() -> None:
    def around_block(sch: Any) -> None:
        sch.add_unit_loop(sch.get_sblock("plus"))
        sch.add_unit_loop(sch.get_loops(sch.get_sblock("plus"))[0])

    text = "AddUnitLoop(block='plus'), AddUnitLoop(block='plus', loop='i')"
    after = scheduled(plus(6, 20), text, around_block)
    assert loops(after) == [("serial", None, size) for size in (1, 6, 20, 1)]


INNER = """
for f in range(120):
    with T.sblock("plus"):
        vi = T.axis.spatial({rows}, f // 20)
        vj = T.axis.spatial(20, f % {modulus})
        C[vi, vj] = A[vi, vj] + T.float32(1)
"""


@pytest.mark.parametrize(("modulus", "is_own"), [(20, True), (10, False)])
def test_a_loop_inside_of_another_part_of_the_same_loop_is_bound(modulus: int, *, is_own: bool) -> None:
    module = parsed(program(INNER.format(rows=6, modulus=modulus)))
    stages = rc.run_pipeline(
        module,
        "Split(block='plus', loop='f', factors=[2, 3, 20]), Reorder(block='plus', loops=['f_1', 'f_0', 'f_2']), "
        "Parallel(block='plus', loop='f_1'), Parallel(block='plus', loop='f_2')",
    )
    assert [item.is_failed for item in stages[2:]] == ([False, False] if is_own else [False, True])
    if is_own:
        same_values(module, stages[-1].after, rtol=0)
