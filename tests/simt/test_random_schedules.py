"""Random schedules, of the wheel's `Schedule` and of ours: on the simulated GPU they give the unscheduled values."""

from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import relax_core as rc
from relax_core.ir import tir
from relax_core.ir.module import IRModule
from tests.apache_tvm import from_source, s_tir
from tests.jit.reference import Array
from tests.passes.random_schedules import COLUMNS as WIDTH
from tests.passes.random_schedules import ROWS as HEIGHT
from tests.passes.random_schedules import chain, walk
from tests.passes.tir_nests import FreshMemory

ROWS, COLUMNS, DEPTH = 12, 10, 6
HEAD = f"""# from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def main(A: T.Buffer(({ROWS}, {DEPTH}), "int32"), B: T.Buffer(({DEPTH}, {COLUMNS}), "int32"),
         C: T.Buffer(({ROWS}, {COLUMNS}), "int32")):
"""
UPDATES = ("C[vi, vj] + A[vi, vk] * B[vk, vj]", "T.max(C[vi, vj], A[vi, vk] - B[vk, vj])", "C[vi, vj] * 3 + A[vi, vk]")
TAGS = ("blockIdx.x", "blockIdx.y", "threadIdx.x", "threadIdx.y", "vthread.x")


def text_of(update: str) -> str:
    return HEAD + (
        f"    for i, j, k in T.grid({ROWS}, {COLUMNS}, {DEPTH}):\n"
        '        with T.sblock("C"):\n'
        '            vi, vj, vk = T.axis.remap("SSR", [i, j, k])\n'
        "            with T.init():\n"
        "                C[vi, vj] = 0\n"
        f"            C[vi, vj] = {update}\n"
    )


def scheduled(text: str, random: Random) -> tuple[str, int]:
    """Return the text behind some primitives, and how many of them the wheel took."""
    schedule = s_tir.Schedule(from_source(text), debug_mask="none")
    name, taken, tags = "C", 0, list(TAGS)
    random.shuffle(tags)
    for _ in range(random.randint(2, 6)):
        block = schedule.get_sblock(name)
        loops = schedule.get_loops(block)
        loop = random.choice(loops)
        try:
            match random.choice(("split", "fuse", "reorder", "bind", "bind", "unroll", "vectorize", "decompose")):
                case "split":
                    schedule.split(loop, factors=[None, random.choice((2, 3, 4, 5))])
                case "fuse":
                    at = random.randrange(max(len(loops) - 1, 1))
                    schedule.fuse(*loops[at : at + 2])
                case "reorder":
                    schedule.reorder(*random.sample(loops, min(2, len(loops))))
                case "bind":
                    schedule.bind(loop, tags.pop() if tags else "threadIdx.z")
                case "unroll":
                    schedule.unroll(loop)
                case "vectorize":
                    schedule.vectorize(loop)
                case _:
                    schedule.decompose_reduction(block, loop)
                    name = "C_update"
            taken += 1
        except s_tir.ScheduleError:
            pass
    return str(schedule.mod["main"].script(show_meta=False)), taken


@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.sampled_from(UPDATES), st.integers(0, 10**6))
def test_a_schedule_of_the_wheel_gives_the_unscheduled_values(update: str, seed: int) -> None:
    text = text_of(update)
    after, _ = scheduled(text, Random(seed))
    generator = np.random.default_rng(seed)
    a, b = (generator.integers(-9, 9, shape, np.int32) for shape in ((ROWS, DEPTH), (DEPTH, COLUMNS)))
    c = np.zeros((ROWS, COLUMNS), np.int32)
    plain, found = (rc.simulate(rc.parse(item, "kernel.py"), "main", a, b, c) for item in (text, after))
    (one,), (other,) = plain.outputs, found.outputs
    assert np.array_equal(one.value, other.value)
    assert found.is_clean


def test_most_primitives_are_taken() -> None:
    assert sum(scheduled(text_of(UPDATES[0]), Random(seed))[1] for seed in range(8)) > 16


class AnyOrder(FreshMemory):
    """Takes the iterations of parallel loops, and of those bound to blocks, from the last one to the first."""

    def run(self, stmt: tir.Stmt) -> None:
        if not isinstance(stmt, tir.For) or not _is_unordered(stmt):
            super().run(stmt)
            return
        first = self.eval(stmt.start)
        for value in reversed(range(first, first + self.eval(stmt.extent))):
            self.values[stmt.var] = value
            self.run(stmt.body)


def _is_unordered(loop: tir.For) -> bool:
    return loop.kind == "parallel" or (loop.thread or "").startswith("blockIdx")


def interpreted(module: IRModule, given: Array) -> Array:
    """Return what the plain interpreter finds in C; what nothing writes is NaN."""
    function = module["f"]
    assert isinstance(function, tir.PrimFunc)
    result = np.full_like(given, np.nan)
    AnyOrder(function, {"A": given, "C": result})
    return result


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 2**32))
def test_a_schedule_of_ours_gives_the_unscheduled_values(seed: int) -> None:
    random = Random(seed)
    text = chain(random)
    start = rc.parse(f"@I.ir_module\nclass Module:\n{text}")
    taken = list(walk(random, start, 14))
    after = taken[-1][1] if taken else start
    given = np.random.default_rng(seed).integers(-3, 4, (HEIGHT, WIDTH)).astype("float32")
    expected = interpreted(start, given)
    assert not np.isnan(expected).any()
    said = f"{text}\n{', '.join(step for step, _ in taken)}\n{rc.script(after)}"
    np.testing.assert_array_equal(interpreted(after, given), expected, said)
    for module in (start, after):
        found = rc.simulate(module, "f", given, np.zeros_like(given))
        assert found.is_clean, said
        np.testing.assert_array_equal(found.outputs[0].value, expected, said)


def test_most_primitives_of_ours_are_taken() -> None:
    taken: set[str] = set()
    for seed in range(60):
        random = Random(seed)
        start = rc.parse(f"@I.ir_module\nclass Module:\n{chain(random)}")
        taken |= {step.partition("(")[0] for step, _ in walk(random, start, 14)}
    assert taken >= {"Split", "Fuse", "Reorder", "Bind", "Vectorize", "Unroll", "Parallel", "ComputeAt", "CacheRead",
                     "CacheWrite", "DecomposeReduction", "RFactor"}  # fmt: skip
