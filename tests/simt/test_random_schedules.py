"""Random schedules of the wheel's `Schedule`: on the simulated GPU they give what the unscheduled loops give."""

from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import relax_core as rc
from tests.apache_tvm import from_source, s_tir

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
