"""All interleavings of a few threads: how they can end, and whether two of their accesses conflict."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TypeAlias

LANES = (0, 1, 32, 33)
"""The threads that do something: two of each of two warps."""
BARRIERS = ("block", "warp")
Step: TypeAlias = tuple[str, int, int]
"""One step of a thread: what it does, the cell, and a number that is stored, or added; or the number of a barrier."""
Outcome: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""What the threads have read, and what the memory holds."""
Threads: TypeAlias = Sequence[Sequence[Step]]


def outcomes(threads: Threads, memory: Sequence[int]) -> set[Outcome]:
    """Run all interleavings of the threads, and return how they end; two ways are enough."""
    start = ((0,) * len(threads), (0,) * len(threads), tuple(memory))
    seen, todo = {start}, [start]
    found: set[Outcome] = set()
    while todo and len(found) < 2:
        done, read, held = todo.pop()
        if all(count == len(steps) for count, steps in zip(done, threads, strict=True)):
            found.add((read, held))
        for thread, steps in enumerate(threads):
            if done[thread] == len(steps) or not _may_go(threads, done, thread):
                continue
            kept, after = list(read), list(held)
            _run(steps[done[thread]], thread, kept, after)
            counts = tuple(count + (at == thread) for at, count in enumerate(done))
            state = (counts, tuple(kept), tuple(after))
            if state not in seen:
                seen.add(state)
                todo.append(state)
    return found


def _may_go(threads: Threads, done: tuple[int, ...], thread: int) -> bool:
    """Tell whether a thread may make its next step: a barrier lets it go when all others have come there."""
    step = threads[thread][done[thread]]
    return step[0] not in BARRIERS or all(done[at] >= threads[at].index(step) for at in met_by(step[0], thread))


def met_by(kind: str, thread: int) -> Iterator[int]:
    """Yield the threads that a barrier in a thread waits for."""
    return (at for at in range(len(LANES)) if kind == "block" or at // 2 == thread // 2)


def _run(step: Step, thread: int, read: list[int], memory: list[int]) -> None:
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


def is_divergent(threads: Threads) -> bool:
    """Tell whether some barrier is reached by some of the threads that it waits for, and not by others."""
    return any(
        step[0] in BARRIERS and any(step not in threads[at] for at in met_by(step[0], thread))
        for thread, steps in enumerate(threads)
        for step in steps
    )


def conflict(threads: Threads) -> bool:
    """Tell whether two threads access one cell, not both to read or atomically, and no barrier orders them."""
    return any(
        one != other and cell == place and block == same and (one // 2 != other // 2 or warp == equal)
        and not kind == also in ("read", "add")
        for (one, kind, cell, block, warp), (other, also, place, same, equal) in combinations(_accesses(threads), 2)
    )  # fmt: skip


def _accesses(threads: Threads) -> Iterator[tuple[int, str, int, int, int]]:
    """Yield all accesses: thread, kind, cell, and how many barriers of the block and of the warp are behind them."""
    for thread, steps in enumerate(threads):
        met = dict.fromkeys(BARRIERS, 0)
        for kind, cell, _ in steps:
            if kind in BARRIERS:
                met[kind] += 1
            else:
                yield thread, kind, cell, met["block"], met["warp"]


def kernel(lines: Iterable[str], cells: int, more: str = "") -> str:
    """Write a kernel of 34 threads around `lines`, which are indented below it.

    They have `cells` cells of shared memory, S, which C gets in the end, and a register, r: B gets those of `LANES`.
    `more` are further parameters, such as `, n: T.int32`.
    """
    body = "".join(f"{line}\n" for line in lines)
    return f"""# from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def main(B: T.Buffer((4,), "int32"), C: T.Buffer(({cells},), "int32"){more}):
    tx = T.launch_thread("threadIdx.x", 34)
    S = T.alloc_shared(({cells},), "int32")
    r = T.alloc_local((1,), "int32")
    r[0] = 0
    if tx < {cells}:
        S[tx] = tx
    T.tvm_storage_sync("shared")
{body}    T.tvm_storage_sync("shared")
    if tx % 32 < 2:
        B[tx // 32 * 2 + tx % 32] = r[0]
    if tx < {cells}:
        C[tx] = S[tx]
"""
