"""Moves go where the loops, enumerated in Python, say; nothing depends on how a place was reached."""

from itertools import product

import numpy as np
import pytest

from relax_core.diagnostics import CompileError, RunError
from relax_core.inside import stepper as stepping
from relax_core.inside.moves import move, parse_move
from relax_core.inside.stepper import Stepper
from tests.inside.stepping import INIT_LINE, MATMUL, UPDATE_LINE, stepper_of, values_here

# The statements of `MATMUL` in order: the values of i, j, k and the phase.
ORDER = [
    (*values, phase)
    for values in product(range(4), repeat=3)
    for phase in (("init", "update") if values[2] == 0 else ("update",))
]
RANDOM = np.random.default_rng(1)
A, B = (RANDOM.standard_normal((4, 4), "float32") for _ in range(2))


@pytest.fixture
def matmul() -> Stepper:
    return stepper_of(MATMUL, (A, B, np.zeros((4, 4), "float32")))


def place(stepper: Stepper) -> tuple[object, ...]:
    assert stepper.site is not None
    return (*values_here(stepper), stepper.site.phase)


def test_statements_come_in_the_order_of_the_loops(matmul: Stepper) -> None:
    assert matmul.total == len(ORDER)
    found: list[tuple[object, ...]] = []
    while not matmul.is_ended:
        found.append(place(matmul))
        move(matmul, "next")
    assert found == ORDER


def test_backwards_is_the_same_way(matmul: Stepper) -> None:
    move(matmul, "end")
    assert matmul.is_ended
    for expected in reversed(ORDER):
        assert move(matmul, "back")
        assert place(matmul) == expected
    assert not move(matmul, "back")


MOVES = {
    "next iteration of the innermost loop": (4, "next k", (0, 1, 0, "init")),
    "next iteration in the middle of a loop": (2, "next k", (0, 0, 2, "update")),
    "next iteration of an outer loop": (7, "next i", (1, 0, 0, "init")),
    "previous iteration": (8, "back k", (0, 1, 1, "update")),
    "previous iteration of an outer loop": (45, "back i", (1, 0, 0, "init")),
    "out of a loop": (3, "out k", (0, 1, 0, "init")),
    "out of the innermost loop": (3, "out", (0, 1, 0, "init")),
    "an iteration": (77, "i=2, j=1", (2, 1, 0, "init")),
    "an iteration of all loops": (0, "i=3,j=0,k=2", (3, 0, 2, "update")),
    "the next block instance": (4, "block", (0, 1, 0, "init")),
    "the block instance before": (7, "back block", (0, 1, 0, "init")),
    "a line": (0, f"line {UPDATE_LINE}", (0, 0, 0, "update")),
    "a line backwards": (9, f"back line {INIT_LINE}", (0, 1, 0, "init")),
    "a condition": (0, "if i == 3 and k > 1", (3, 0, 2, "update")),
    "a condition backwards": (70, "back if vi + vj == 1", (1, 0, 3, "update")),
    "a write": (0, "write C[2, 3]", (2, 3, 0, "init")),
    "a write backwards": (79, "back write C[0, 0]", (0, 0, 3, "update")),
    "a position": (0, "to 12", (0, 2, 1, "update")),
    "some statements on": (10, "next 2", (0, 2, 1, "update")),
    "the start": (33, "start", (0, 0, 0, "init")),
}


@pytest.mark.parametrize("name", MOVES)
def test_a_move_goes_where_it_says(name: str, matmul: Stepper) -> None:
    clock, text, expected = MOVES[name]
    matmul.move_to(clock)
    assert move(matmul, text)
    assert place(matmul) == expected
    assert ORDER[matmul.clock] == expected


def test_what_is_not_there_leaves_the_run_where_it_is(matmul: Stepper) -> None:
    matmul.move_to(40)
    for text in ("nan", "if C[i, j] > 1000", "i=9", "back write C[3, 3]"):
        assert not move(matmul, text)
        assert matmul.clock == 40


def test_nothing_is_found_behind_the_end(matmul: Stepper) -> None:
    move(matmul, "end")
    after = matmul.memory.args[2].tobytes()
    for text in ("if i == 0", "write C[0, 0]", "line 9", "next", "next 3"):
        assert not move(matmul, text)
        assert (matmul.clock, matmul.is_ended) == (80, True)
    assert matmul.memory.args[2].tobytes() == after


def test_a_condition_reads_elements_and_what_is_about_to_be_written(matmul: Stepper) -> None:
    products = np.zeros((4, 4), "float32")
    negative: list[int] = []
    for clock, (i, j, k, phase) in enumerate(ORDER):
        products[i, j] = 0 if phase == "init" else products[i, j] + A[i, k] * B[k, j]
        negative += [clock] if products[i, j] < 0 else []
    found: list[int] = []
    while move(matmul, "if written < 0"):
        found.append(matmul.clock)
    assert found == [clock for clock in negative if clock > 0]
    matmul.move_to(0)
    assert move(matmul, "if A[i, k + 1] > 0 and k == 1")
    i, _, k, _ = place(matmul)
    assert k == 1
    assert isinstance(i, int)
    assert A[i, 2] > 0


def test_the_first_nan_is_where_it_is_written() -> None:
    poisoned = A.copy()
    poisoned[2, 1] = np.nan
    stepper = stepper_of(MATMUL, (poisoned, B, np.zeros((4, 4), "float32")))
    assert move(stepper, "nan")
    assert place(stepper) == (2, 0, 1, "update")
    assert not np.isnan(stepper.memory.args[2]).any()
    move(stepper, "next")
    assert np.isnan(stepper.memory.args[2]).any()


def test_memory_is_that_of_the_statement_however_it_was_reached(matmul: Stepper) -> None:
    seen: list[bytes] = []
    for clock in range(len(ORDER) + 1):
        matmul.move_to(clock)
        seen.append(matmul.memory.args[2].tobytes())
    for clock in (79, 3, 80, 41, 40, 0, 12):
        matmul.move_to(clock)
        assert matmul.memory.args[2].tobytes() == seen[clock]


WRONG = {
    "no move": ("jump", "TI003"),
    "no loop": ("next q", "TI003"),
    "no loop of these": ("i=1, q=2", "TI003"),
    "no line": ("line 2", "TI003"),
    "no buffer": ("write D[0]", "TI003"),
    "no element": ("write C[4, 0]", "TI003"),
    "an index that is none": ("write C[i, 0]", "TI003"),
    "no name": ("if q > 0", "VM031"),
    "not enough indices": ("if A[i] > 0", "VM031"),
    "no expression": ("if i >", "VM030"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_move_is_refused(name: str, matmul: Stepper) -> None:
    text, code = WRONG[name]
    with pytest.raises(CompileError) as caught:
        move(matmul, text)
    assert [item.code for item in caught.value.diagnostics] == [code]
    assert matmul.clock == 0


def test_a_move_is_read_whatever_its_blanks() -> None:
    assert parse_move(" i = 3 ,j=-2 ").values == (("i", 3), ("j", -2))
    assert parse_move("back   7").number == 7


def test_memory_whose_size_a_loop_decides_is_refused() -> None:
    text = """# from tvm.script import tirx as T

@T.prim_func
def grows(A: T.Buffer((4,), "float32")):
    for i in range(4):
        B = T.alloc_buffer((i + 1,), "float32")
        B[i] = A[i]
        A[i] = B[i]
"""
    with pytest.raises(RunError) as caught:
        stepper_of(text, (np.ones(4, "float32"),))
    assert caught.value.diagnostics[0].code == "TI002"
    assert caught.value.diagnostics[0].span is not None


LARGE = MATMUL.replace("(4, 4)", "(64, 64)").replace("grid(4, 4, 4)", "grid(64, 64, 64)")


def test_checkpoints_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    args = [RANDOM.standard_normal((64, 64), "float32") for _ in range(2)]
    monkeypatch.setattr(stepping, "SPACING", 10_000)
    monkeypatch.setattr(stepping, "COPIES_BYTES", 100_000)
    monkeypatch.setattr(stepping, "FAR", 3_000)
    often = stepper_of(LARGE, (*args, np.zeros((64, 64), "float32")))
    assert 2 < len(often.checkpoints) < 10
    monkeypatch.setattr(stepping, "SPACING", 1 << 40)
    never = stepper_of(LARGE, (*args, np.zeros((64, 64), "float32")))
    assert len(never.checkpoints) == 1
    assert often.total == never.total
    for clock in (200_000, 199_990, 13, 123_456, 266_239, 265_300, 60_000, 266_000):
        for stepper in (often, never):
            stepper.move_to(clock)
        assert often.memory.args[2].tobytes() == never.memory.args[2].tobytes()
        assert values_here(often) == values_here(never)
    assert often.find_back(stepping.Query(wanted=((0, 2), (1, 3)), end=2))
    assert never.find_back(stepping.Query(wanted=((0, 2), (1, 3)), end=2))
    assert often.clock == never.clock
