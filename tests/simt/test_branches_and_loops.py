"""Kernels at random with barriers in branches and loops, on two memories: the sanitizer against all interleavings."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import relax_core as rc
from tests.simt.interleavings import BARRIERS, LANES, Step, conflict, is_divergent, kernel, outcomes

CELLS = 3
MOST_STEPS = 9
"""So many steps of a thread have a number of interleavings that can all be run."""
CONDITIONS = {
    "all": "tx < 34",
    "none": "tx >= 34",
    "first warp": "tx < 32",
    "second warp": "tx >= 32",
    "one of each warp": "tx % 32 == 0",
    "one": "tx == 33",
    "first time": "{loop} == 0",
    "later": "{loop} > 0",
}
MORE = f', D: T.Buffer(({CELLS},), "int32"), n: T.int32'


@dataclass(frozen=True)
class Access:
    """What is done to a cell: of the shared memory or the global one, (t * factor + shift + i) % CELLS in thread t."""

    kind: str
    lane: int | None
    memory: str
    factor: int
    shift: int
    counts_loop: bool


@dataclass(frozen=True)
class Barrier:
    """Threads of the block, or of each warp, meet."""

    kind: str


@dataclass(frozen=True)
class Branch:
    """Statements, and others, of which those that a condition chooses are run."""

    condition: str
    then: "tuple[Statement, ...]"
    otherwise: "tuple[Statement, ...]"


@dataclass(frozen=True)
class Loop:
    """Statements that are run some times; the number stands in the text, or is an argument."""

    count: int
    is_known: bool
    body: "tuple[Statement, ...]"


Statement: TypeAlias = Access | Barrier | Branch | Loop


class Kernel:
    """A kernel: its text, and what each thread does."""

    def __init__(self, body: tuple[Statement, ...]) -> None:
        self.lines: list[str] = []
        self.numbers: dict[int, int] = {}
        self._write(body, 1, 0)
        self.text = kernel(self.lines, CELLS, MORE)
        self.threads = [list[Step]() for _ in LANES]
        for at, lane in enumerate(LANES):
            self._run(body, at, lane, ())

    def _write(self, body: tuple[Statement, ...], depth: int, loops: int) -> None:
        def put(text: str, more: int = 0) -> None:
            self.lines.append("    " * (depth + more) + text)

        for item in body:
            number = self.numbers.setdefault(id(item), len(self.numbers) + 1)
            match item:
                case Barrier(kind=kind):
                    put(f'T.tvm_storage_sync("{"shared" if kind == "block" else "warp"}")')
                case Branch():
                    put(f"if {CONDITIONS[item.condition].format(loop=f'i{loops - 1}' if loops else 'n')}:")
                    self._write(item.then, depth + 1, loops)
                    if item.otherwise:
                        put("else:")
                        self._write(item.otherwise, depth + 1, loops)
                case Loop():
                    put(f"for i{loops} in range({item.count if item.is_known else f'n + {item.count}'}):")
                    self._write(item.body, depth + 1, loops + 1)
                case Access():
                    index = f"(tx // 32 * 2 + tx % 32) * {item.factor} + {item.shift}"
                    index += f" + i{loops - 1}" if item.counts_loop and loops else ""
                    cell = f"{item.memory}[({index}) % {CELLS}]"
                    put("if tx % 32 < 2:" if item.lane is None else f"if tx == {LANES[item.lane]}:")
                    put(_ACTS[item.kind].format(cell=cell, number=number), 1)

    def _run(self, body: tuple[Statement, ...], at: int, lane: int, loops: tuple[int, ...]) -> None:
        for item in body:
            number = self.numbers[id(item)]
            match item:
                case Barrier(kind=kind):
                    # A barrier is another one in each iteration of the loops around it.
                    self.threads[at].append((kind, number, sum(i * 7**n for n, i in enumerate(loops, 1))))
                case Branch():
                    self._run(item.then if _holds(item.condition, lane, loops) else item.otherwise, at, lane, loops)
                case Loop():
                    for i in range(item.count):
                        self._run(item.body, at, lane, (*loops, i))
                case Access() if item.lane in (None, at):
                    counted = loops[-1] if item.counts_loop and loops else 0
                    cell = (at * item.factor + item.shift + counted) % CELLS + CELLS * (item.memory == "D")
                    self.threads[at].append((item.kind, cell, number))
                case Access():
                    pass


def _holds(condition: str, lane: int, loops: tuple[int, ...]) -> bool:
    match condition:
        case "first warp":
            return lane < 32
        case "second warp":
            return lane >= 32
        case "one of each warp":
            return lane % 32 == 0
        case "one":
            return lane == 33
        case "first time":
            return not loops or loops[-1] == 0
        case "later":
            return bool(loops) and loops[-1] > 0
        case _:
            return condition == "all"


_ACTS = {
    "read": "r[0] = r[0] * 5 + {cell}",
    "keep": "{cell} = r[0] + {number}",
    "store": "{cell} = {number}",
    "add": "T.cuda.atomic_add(T.address_of({cell}), {number})",
}
ACCESSES = st.builds(
    Access,
    st.sampled_from(tuple(_ACTS)),
    st.sampled_from((None, None, 0, 1, 2, 3)),
    st.sampled_from("SSD"),
    st.sampled_from((1, 1, 0)),
    st.integers(0, CELLS - 1),
    st.booleans(),
)
MET = st.builds(Barrier, st.sampled_from(BARRIERS))


def bodies(inner: st.SearchStrategy[Statement], most: int) -> st.SearchStrategy[tuple[Statement, ...]]:
    return st.lists(st.one_of(ACCESSES, MET, inner), min_size=1, max_size=most).map(tuple)


def nested(inner: st.SearchStrategy[Statement]) -> st.SearchStrategy[Statement]:
    body = bodies(inner, 3)
    branches = st.builds(Branch, st.sampled_from(tuple(CONDITIONS)), body, st.one_of(st.just(()), body))
    return st.one_of(branches, st.builds(Loop, st.integers(1, 2), st.booleans(), body))


KERNELS = bodies(nested(nested(ACCESSES)), 4)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(KERNELS)
def test_barriers_in_branches_and_loops_are_judged_as_all_interleavings_do(body: tuple[Statement, ...]) -> None:
    kernel = Kernel(body)
    assume(max(map(len, kernel.threads)) <= MOST_STEPS)
    held = [*range(CELLS), *range(10, 10 + CELLS)]
    given_ = (np.zeros(4, "int32"), np.zeros(CELLS, "int32"), np.asarray(held[CELLS:], "int32"), 0)
    found = rc.simulate(rc.parse(kernel.text, "kernel.py"), "main", *given_)
    codes = {item.code for item in found.diagnostics}
    assert codes <= {"GP001", "GP002", "GP003", "GP004", "GP014", "GP015", "GP016"}, (kernel.text, codes)
    assert ("GP004" in codes) == is_divergent(kernel.threads), kernel.text
    if "GP004" in codes:
        return
    is_racy = conflict(kernel.threads)
    assert bool(codes & {"GP001", "GP002", "GP003"}) == is_racy, kernel.text
    ways = outcomes(kernel.threads, held)
    assert len(ways) == 1 or codes & {"GP001", "GP002"}, kernel.text
    if not is_racy:
        ((read, memory),) = ways
        values = {item.name: item.value.tolist() for item in found.outputs}
        assert values["B"] == list(read), kernel.text
        assert [*values["C"], *values.get("D", held[CELLS:])] == list(memory), kernel.text
