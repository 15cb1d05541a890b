"""Small kernels at random, with a barrier taken out: the sanitizer against all interleavings of their threads."""

from hypothesis import given, settings
from hypothesis import strategies as st

import relax_core as rc
from tests.simt.interleavings import BARRIERS, LANES, Outcome, Step, conflict, kernel, outcomes

CELLS = 4
Statement = tuple[str, int | None, int, int]
"""What is done; by which thread, `None`: by all; and the cell in thread t: (t * factor + shift) % CELLS."""
ORDERS = (rc.ThreadsOf(), rc.ThreadsOf(order="backward"), rc.ThreadsOf(order="turns"), rc.ThreadsOf(seed=7))


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
    return kernel((f"    {line}" for line in lines), CELLS)


def steps_of(statements: list[Statement], thread: int) -> list[Step]:
    """Return what one thread does."""
    steps: list[Step] = []
    for number, (kind, alone, factor, shift) in enumerate(statements, 1):
        if kind in BARRIERS:
            steps.append((kind, number, 0))
        elif alone in (None, thread):
            steps.append((kind, (thread * factor + shift) % CELLS, shift + 7 if kind == "store" else number))
    return steps


def threads_of(statements: list[Statement]) -> list[list[Step]]:
    """Return what each thread does."""
    return [steps_of(statements, thread) for thread in range(len(LANES))]


def ways_of(statements: list[Statement]) -> set[Outcome]:
    """Return how the kernel can end."""
    return outcomes(threads_of(statements), range(CELLS))


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
    ways = ways_of(statements)
    assert bool(codes & {"GP001", "GP002", "GP003"}) == conflict(threads_of(statements)), text
    assert len(ways) == 1 or codes & {"GP001", "GP002"}, text
    if not conflict(threads_of(statements)):
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
    assert len(ways_of(statements)) > 1 or {end} == ways_of(statements), text


def test_the_interleavings_see_what_a_barrier_orders() -> None:
    stored, read, block, warp = ("store", 0, 0, 0), ("read", 1, 0, 0), ("block", None, 0, 0), ("warp", None, 0, 0)
    assert len(ways_of([stored, read])) == 2
    assert len(ways_of([stored, block, read])) == len(ways_of([stored, warp, read])) == 1
    assert len(ways_of([stored, warp, ("read", 2, 0, 0)])) == 2
    assert len(ways_of([("add", None, 0, 0)])) == 1
