"""Random kernels: a launch is clean exactly if no two threads meet in a cell between barriers, counted one by one."""

from collections import defaultdict
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

import relax_core as rc

THREADS = 40
"""More than a warp, and no multiple of one."""
Step = tuple[str, int, int]
HEAD = """# from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def main(B: T.Buffer((40,), "int32")):
    tx = T.launch_thread("threadIdx.x", 40)
    S = T.alloc_shared((40,), "int32")
    r = T.alloc_local((1,), "int32")
    S[tx] = tx
    T.tvm_storage_sync("shared")
    r[0] = 0
"""
FIRST_LINE = 9
"""Of the barrier in front of the steps."""
# Steps of 1, 3, 7, ... have no divisor in common with 40: the threads access different cells.
STEPS = st.tuples(st.sampled_from(("read", "write", "barrier")), st.sampled_from((1, 3, 7, 39)), st.integers(0, 39))


def text_of(steps: list[Step]) -> str:
    lines: list[str] = []
    for number, (kind, factor, shift) in enumerate(steps, 1):
        cell = f"S[(tx * {factor} + {shift}) % 40]"
        match kind:
            case "read":
                lines.append(f"r[0] = r[0] + {cell}")
            case "write":
                lines.append(f"{cell} = tx + {100 * number}")
            case _:
                lines.append('T.tvm_storage_sync("shared")')
    return HEAD + "".join(f"    {line}\n" for line in (*lines, "B[tx] = r[0]"))


def has_race(steps: list[Step]) -> bool:
    """Look at every pair of accesses of a cell between two barriers."""
    met: defaultdict[tuple[int, int], set[tuple[int, bool]]] = defaultdict(set)
    interval = 0
    for kind, factor, shift in steps:
        interval += kind == "barrier"
        for thread in range(THREADS) if kind != "barrier" else ():
            met[interval, (thread * factor + shift) % THREADS].add((thread, kind == "write"))
    return any(
        one != other and (writes or also_writes)
        for accesses in met.values()
        for (one, writes), (other, also_writes) in combinations(accesses, 2)
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, min_size=1, max_size=8))
def test_a_launch_races_exactly_if_two_threads_meet(steps: list[Step]) -> None:
    found = rc.simulate(rc.parse(text_of(steps), "kernel.py"))
    assert {item.code for item in found.diagnostics} <= {"GP001", "GP002", "GP014", "GP016"}
    assert found.is_clean != has_race(steps)
    told = [item.span.line - FIRST_LINE for item in found.diagnostics if item.code == "GP016" and item.span]
    assert told == (superfluous(steps) if found.is_clean else [])[:4]


def superfluous(steps: list[Step]) -> list[int]:
    """Return which of the barriers may be taken out, counted in lines from the one before the steps."""
    whole: list[Step] = [("write", 1, 0), ("barrier", 1, 0), *steps]
    barriers = [at for at, step in enumerate(whole) if step[0] == "barrier"]
    free = [at for at in barriers if not has_race([*whole[:at], *whole[at + 1 :]])]
    # One line, `r[0] = 0`, stands between the first barrier and the steps.
    return [at - 1 + (at > 1) for at in free]


def test_the_oracle_sees_both_kinds() -> None:
    racy: list[Step] = [("write", 1, 0), ("read", 1, 1)]
    assert has_race(racy)
    assert not has_race([racy[0], ("barrier", 1, 0), racy[1]])


@settings(max_examples=30, deadline=None)
@given(st.lists(STEPS, min_size=1, max_size=8), st.integers(0, 1000))
def test_warps_step_by_step_race_exactly_if_two_threads_meet(steps: list[Step], seed: int) -> None:
    module = rc.parse(text_of(steps), "kernel.py")
    outcomes: set[bytes] = set()
    for chosen in (
        rc.ThreadsOf(),
        rc.ThreadsOf(order="backward"),
        rc.ThreadsOf(order="turns"),
        rc.ThreadsOf(seed=seed),
    ):
        it = rc.threads(module, "main", chosen=chosen)
        view = it.go("end")
        assert view.threads is not None
        assert bool(view.threads.reported) == has_race(steps)
        outcomes.add(it.buffer("B").data.tobytes())
    # Two orders that give two results are a race; a race need not show in the results of these.
    assert len(outcomes) == 1 or has_race(steps)
