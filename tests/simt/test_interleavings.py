"""Small kernels at random, with a barrier taken out: the sanitizer against all interleavings of their threads."""

from collections.abc import Iterator
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

import relax_core as rc

CELLS = 4
LANES = (0, 1, 32, 33)
"""The threads that do something: two of each of two warps."""
Statement = tuple[str, int | None, int, int]
"""What is done; by which thread, `None`: by all; and the cell in thread t: (t * factor + shift) % CELLS."""
Step = tuple[str, int, int]
"""One step of a thread: what it does, the cell, and a number that is stored, or added; or the number of a barrier."""
Outcome = tuple[tuple[int, ...], tuple[int, ...]]
"""What the threads have read, and what the memory holds."""
BARRIERS = ("block", "warp")
ORDERS = (rc.ThreadsOf(), rc.ThreadsOf(order="backward"), rc.ThreadsOf(order="turns"), rc.ThreadsOf(seed=7))
HEAD = f"""# from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def main(B: T.Buffer((4,), "int32"), C: T.Buffer(({CELLS},), "int32")):
    tx = T.launch_thread("threadIdx.x", 34)
    S = T.alloc_shared(({CELLS},), "int32")
    r = T.alloc_local((1,), "int32")
    r[0] = 0
    if tx < {CELLS}:
        S[tx] = tx
    T.tvm_storage_sync("shared")
"""
TAIL = f"""    T.tvm_storage_sync("shared")
    if tx % 32 < 2:
        B[tx // 32 * 2 + tx % 32] = r[0]
    if tx < {CELLS}:
        C[tx] = S[tx]
"""


def text_of(statements: list[Statement]) -> str:
    lines: list[str] = []
    for number, (kind, thread, factor, shift) in enumerate(statements, 1):
        if kind in BARRIERS:
            lines.append(f'T.tvm_storage_sync("{"shared" if kind == "block" else "warp"}")')
            continue
        cell = f"S[((tx // 32 * 2 + tx % 32) * {factor} + {shift}) % {CELLS}]"
        lines.append("if tx % 32 < 2:" if thread is None else f"if tx == {LANES[thread]}:")
        match kind:
            case "read":
                lines.append(f"    r[0] = r[0] * 5 + {cell}")
            case "keep":
                lines.append(f"    {cell} = r[0] + {number}")
            case "add":
                lines.append(f"    T.cuda.atomic_add(T.address_of({cell}), {number})")
            case _:
                lines.append(f"    {cell} = {shift + 7}")
    return HEAD + "".join(f"    {line}\n" for line in lines) + TAIL


def steps_of(statements: list[Statement], thread: int) -> list[Step]:
    """Return what one thread does."""
    steps: list[Step] = []
    for number, (kind, alone, factor, shift) in enumerate(statements, 1):
        if kind in BARRIERS:
            steps.append((kind, number, 0))
        elif alone in (None, thread):
            steps.append((kind, (thread * factor + shift) % CELLS, shift + 7 if kind == "store" else number))
    return steps


def outcomes(statements: list[Statement]) -> set[Outcome]:
    """Run all interleavings of the threads, and return how they end; two ways are enough."""
    threads = [steps_of(statements, thread) for thread in range(len(LANES))]
    start = ((0,) * len(threads), (0,) * len(threads), tuple(range(CELLS)))
    seen, todo = {start}, [start]
    found: set[Outcome] = set()
    while todo and len(found) < 2:
        done, read, memory = todo.pop()
        if all(count == len(steps) for count, steps in zip(done, threads, strict=True)):
            found.add((read, memory))
        for thread, steps in enumerate(threads):
            if done[thread] == len(steps) or not may_go(threads, done, thread):
                continue
            kept, held = list(read), list(memory)
            run(steps[done[thread]], thread, kept, held)
            after = tuple(count + (at == thread) for at, count in enumerate(done))
            state = (after, tuple(kept), tuple(held))
            if state not in seen:
                seen.add(state)
                todo.append(state)
    return found


def may_go(threads: list[list[Step]], done: tuple[int, ...], thread: int) -> bool:
    """Tell whether a thread may make its next step: a barrier lets it go when all others have come there."""
    step = threads[thread][done[thread]]
    others = (at for at in range(len(threads)) if step[0] == "block" or at // 2 == thread // 2)
    return step[0] not in BARRIERS or all(done[at] >= threads[at].index(step) for at in others)


def run(step: Step, thread: int, read: list[int], memory: list[int]) -> None:
    kind, cell, number = step
    match kind:
        case "read":
            read[thread] = read[thread] * 5 + memory[cell]
        case "keep":
            memory[cell] = read[thread] + number
        case "add":
            memory[cell] += number
        case "store":
            memory[cell] = number
        case _:
            pass


def accesses(statements: list[Statement]) -> Iterator[tuple[int, str, int, int, int]]:
    """Yield all accesses: thread, kind, cell, and how many barriers of the block and of the warp are behind them."""
    for thread in range(len(LANES)):
        met = dict.fromkeys(BARRIERS, 0)
        for kind, cell, _ in steps_of(statements, thread):
            if kind in BARRIERS:
                met[kind] += 1
            else:
                yield thread, kind, cell, met["block"], met["warp"]


def conflict(statements: list[Statement]) -> bool:
    """Tell whether two threads access one cell, not both to read or atomically, and no barrier orders them."""
    return any(
        one != other and cell == place and block == same and (one // 2 != other // 2 or warp == equal)
        and not kind == also in ("read", "add")
        for (one, kind, cell, block, warp), (other, also, place, same, equal) in combinations(accesses(statements), 2)
    )  # fmt: skip


ACCESSES: st.SearchStrategy[Statement] = st.tuples(
    st.sampled_from(("read", "keep", "store", "add")),
    st.sampled_from((None, None, 0, 1, 2, 3)),
    st.sampled_from((1, 1, 0)),
    st.integers(0, CELLS - 1),
)
MET: st.SearchStrategy[Statement] = st.sampled_from(BARRIERS).map(lambda kind: (kind, None, 0, 0))


@st.composite
def kernels(draw: st.DrawFn) -> list[Statement]:
    """Draw one to three barriers with one to three accesses between them, and take one barrier out, or none."""
    parts = draw(st.lists(st.lists(ACCESSES, min_size=1, max_size=3), min_size=2, max_size=4))
    barriers = draw(st.lists(MET, min_size=len(parts) - 1, max_size=len(parts) - 1))
    gone = draw(st.integers(0, len(barriers)))
    statements = list(parts[0])
    for at, (barrier, part) in enumerate(zip(barriers, parts[1:], strict=True)):
        statements += [*([] if at == gone else [barrier]), *part]
    return statements


@settings(max_examples=300, deadline=None, derandomize=True)
@given(kernels())
def test_two_outcomes_are_a_race_and_no_conflict_is_none(statements: list[Statement]) -> None:
    text = text_of(statements)
    found = rc.simulate(rc.parse(text, "kernel.py"))
    codes = {item.code for item in found.diagnostics}
    assert codes <= {"GP001", "GP002", "GP003", "GP014", "GP015", "GP016"}, text
    ways = outcomes(statements)
    assert bool(codes & {"GP001", "GP002", "GP003"}) == conflict(statements), text
    assert len(ways) == 1 or codes & {"GP001", "GP002"}, text
    if not conflict(statements):
        ((read, memory),) = ways
        assert [item.value.tolist() for item in found.outputs] == [list(read), list(memory)], text


@settings(max_examples=60, deadline=None, derandomize=True)
@given(kernels(), st.sampled_from(ORDERS))
def test_races_show_step_by_step_as_well(statements: list[Statement], order: rc.ThreadsOf) -> None:
    text = text_of(statements)
    module = rc.parse(text, "kernel.py")
    is_racy = bool({item.code for item in rc.simulate(module).diagnostics} & {"GP001", "GP002"})
    it = rc.threads(module, "main", chosen=order)
    view = it.go("end")
    assert view.threads is not None
    assert bool(view.threads.reported) == is_racy, text
    end = (tuple(it.buffer("B").data.tolist()), tuple(it.buffer("C").data.tolist()))
    assert len(outcomes(statements)) > 1 or {end} == outcomes(statements), text


def test_the_interleavings_see_what_a_barrier_orders() -> None:
    stored, read, block, warp = ("store", 0, 0, 0), ("read", 1, 0, 0), ("block", None, 0, 0), ("warp", None, 0, 0)
    assert len(outcomes([stored, read])) == 2
    assert len(outcomes([stored, block, read])) == len(outcomes([stored, warp, read])) == 1
    assert len(outcomes([stored, warp, ("read", 2, 0, 0)])) == 2
    assert len(outcomes([("add", None, 0, 0)])) == 1
