"""ComputeAt and ReverseComputeAt do as in apache-tvm, keep the bits, and refuse what breaks their rules."""

from typing import Any

import pytest

import relax_core as rc
from tests.passes.tir_programs import program, scheduled
from tests.passes.wheel import passed, remarks

DOUBLE = """
D = T.sblock_alloc_buffer((6, 20), "float32")
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
SUM = """
D = T.sblock_alloc_buffer((6, 20), "float32")
for i, j, k in T.grid(6, 20, 20):
    with T.sblock("sum"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            D[vi, vj] = T.float32(0)
        D[vi, vj] = D[vi, vj] + A[vi, vk] * A[vi, vj]
"""
PLAIN = program(DOUBLE + LAST.format("D[vi, vj] + T.float32(1)"))
HALO = program(DOUBLE + LAST.format("T.if_then_else(vj >= 1 and vj < 19, D[vi, vj - 1] + D[vi, vj + 1], T.float32(1))"))
TURNED = program(DOUBLE + LAST.format("D[5 - vi, 19 - vj]"))
REDUCED = program(SUM + LAST.format("D[vi, vj] + T.float32(1)"))


def loop(schedule: Any, block: str, name: str) -> Any:
    loops = schedule.get_loops(schedule.get_sblock(block))
    return next(item for item in loops if schedule.get(item).loop_var.name == name)


def split(schedule: Any, block: str, name: str, factor: int) -> None:
    schedule.split(loop(schedule, block, name), [None, factor])


def test_a_producer_moves_under_a_loop_of_its_consumer_as_in_tvm() -> None:
    for name in "ij":
        steps = f"ComputeAt(block='double', loop='{name}')"
        scheduled(PLAIN, steps, lambda sch, name=name: sch.compute_at("double", loop(sch, "last", name)))


def test_loops_that_run_once_are_kept_if_asked_for() -> None:
    def steps(sch: Any) -> None:
        sch.compute_at("double", loop(sch, "last", "j"), preserve_unit_loops=True)

    scheduled(PLAIN, "ComputeAt(block='double', loop='j', preserve_unit_loops=True)", steps)


@pytest.mark.parametrize("factor", [5, 6, 32], ids=["divides", "does not divide", "is more than all"])
@pytest.mark.parametrize(
    ("text", "block"), [(PLAIN, "double"), (HALO, "double"), (REDUCED, "sum")], ids=["plain", "halo", "sum"]
)
def test_a_producer_computes_the_tile_that_is_read(text: str, block: str, factor: int) -> None:
    def steps(sch: Any) -> None:
        split(sch, "last", "j", factor)
        sch.compute_at(block, loop(sch, "last", "j_0"))

    given = f"Split(block='last', loop='j', factors=[None, {factor}]), ComputeAt(block='{block}', loop='j_0')"
    scheduled(text, given, steps)


def test_a_producer_computes_the_tile_of_a_fused_loop() -> None:
    def steps(sch: Any) -> None:
        fused = sch.fuse(loop(sch, "last", "i"), loop(sch, "last", "j"))
        sch.compute_at("double", sch.split(fused, [None, 5])[0])

    scheduled(
        PLAIN,
        "Fuse(block='last', loops=['i', 'j']), Split(block='last', loop='i_j_fused', factors=[None, 5]), "
        "ComputeAt(block='double', loop='i_j_fused_0')",
        steps,
    )


@pytest.mark.parametrize(("text", "block"), [(TURNED, "last"), (REDUCED, "sum")], ids=["turned", "reduction"])
def test_a_copy_moves_to_where_it_is_read(text: str, block: str) -> None:
    def steps(sch: Any) -> None:
        sch.cache_read(sch.get_sblock(block), 0, "local")
        copy = "D_local" if block == "last" else "A_local"
        sch.compute_at(copy, loop(sch, block, "j"))

    copy = "D_local" if block == "last" else "A_local"
    given = f"CacheRead(block='{block}', storage_scope='local'), ComputeAt(block='{copy}', loop='j')"
    scheduled(text, given, steps)


@pytest.mark.parametrize("name", ["i", "j"])
def test_a_consumer_moves_under_a_loop_of_its_producer_as_in_tvm(name: str) -> None:
    given = f"ReverseComputeAt(block='last', loop='{name}')"
    scheduled(REDUCED, given, lambda sch: sch.reverse_compute_at("last", loop(sch, "sum", name)))


@pytest.mark.parametrize("factor", [5, 6])
def test_a_consumer_computes_the_tile_that_is_made(factor: int) -> None:
    def steps(sch: Any) -> None:
        split(sch, "sum", "j", factor)
        sch.reorder(loop(sch, "sum", "k"), loop(sch, "sum", "j_1"))
        sch.reverse_compute_at("last", loop(sch, "sum", "j_0"))

    scheduled(
        REDUCED,
        f"Split(block='sum', loop='j', factors=[None, {factor}]), Reorder(block='sum', loops=['k', 'j_1']), "
        "ReverseComputeAt(block='last', loop='j_0')",
        steps,
    )


def test_a_consumer_computes_the_tile_of_a_fused_loop() -> None:
    def steps(sch: Any) -> None:
        split(sch, "sum", "i", 2)
        split(sch, "sum", "j", 5)
        sch.reorder(*(loop(sch, "sum", name) for name in ("i_0", "j_0", "k", "i_1", "j_1")))
        sch.reverse_compute_at("last", sch.fuse(loop(sch, "sum", "i_0"), loop(sch, "sum", "j_0")))

    scheduled(
        REDUCED,
        "Split(block='sum', loop='i', factors=[None, 2]), Split(block='sum', loop='j', factors=[None, 5]), "
        "Reorder(block='sum', loops=['i_0', 'j_0', 'k', 'i_1', 'j_1']), Fuse(block='sum', loops=['i_0', 'j_0']), "
        "ReverseComputeAt(block='last', loop='i_0_j_0_fused')",
        steps,
    )


def test_a_reduction_whose_loops_run_in_another_order_is_told() -> None:
    stage = passed(
        rc.parse(f"@I.ir_module\nclass Module:\n{REDUCED}"),
        "Split(block='sum', loop='k', factors=[None, 4]), Reorder(block='sum', loops=['k_1', 'k_0']), "
        "ComputeAt(block='sum', loop='i')",
    )
    assert remarks(stage, "note") == [
        "the reduction runs in the order of its iteration variables: floats may differ in the last bits",
        "an iteration of i takes all values of vj",
    ]


SYMBOLIC = """
    @T.prim_func(private=True, s_tir=True)
    def f(a: T.handle, c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        C = T.match_buffer(c, (n,), "float32")
        D = T.sblock_alloc_buffer((n,), "float32")
        for i in range(n):
            with T.sblock("double"):
                vi = T.axis.spatial(n, i)
                D[vi] = A[vi] * T.float32(2)
        for i in range(n):
            with T.sblock("last"):
                vi = T.axis.spatial(n, i)
                C[vi] = D[vi] + T.float32(1)

    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Module
        y = R.call_tir(cls.f, (x,), out_ty=R.Tensor((n,), "float32"))
        return y
"""


def test_blocks_of_a_symbolic_size_move_as_in_tvm() -> None:
    def at(sch: Any) -> None:
        split(sch, "last", "i", 4)
        sch.compute_at("double", loop(sch, "last", "i_0"))

    def back(sch: Any) -> None:
        split(sch, "double", "i", 4)
        sch.reverse_compute_at("last", loop(sch, "double", "i_0"))

    scheduled(SYMBOLIC, "Split(block='last', loop='i', factors=[None, 4]), ComputeAt(block='double', loop='i_0')", at)
    scheduled(
        SYMBOLIC, "Split(block='double', loop='i', factors=[None, 4]), ReverseComputeAt(block='last', loop='i_0')", back
    )
