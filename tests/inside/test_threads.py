"""Threads of a block, stepped one warp at a time: who waits, what is wrong and when, and back to any statement."""

import tomllib
from pathlib import Path
from random import Random
from typing import Any, get_args

import numpy as np
import pytest

import relax_core as rc
from relax_core.diagnostics import CompileError, RunError
from relax_core.engine.debug.requests import WarpOrder
from relax_core.inside.threads.block import BlockRun, Order
from relax_core.inside.threads.looking import owners_of, roots_of, touches_of, values_of
from relax_core.inside.threads.moves import move_threads
from relax_core.inside.threads.stepper import SPACING, ThreadStepper
from relax_core.present.running.inside_models import InsideView, ThreadsHere
from relax_core.simt.kernels import launch_of
from tests.simt.test_kernels import HEAD, counted

KERNELS: dict[str, dict[str, Any]] = tomllib.loads(
    (Path(__file__).parents[1] / "simt" / "kernels.toml").read_text(encoding="utf-8")
)
LAUNCHES = [name for name, kernel in KERNELS.items() if "launch_thread" in kernel["text"]]
SUMMED = "a histogram with atomic additions"
"""Its blocks add to the same elements: one of them alone gives other values."""
CLEAN = [name for name in LAUNCHES if not set(KERNELS[name]["codes"]) - {"GP014", "GP015"} and name != SUMMED]
ORDERS: tuple[WarpOrder, ...] = get_args(WarpOrder)
TILE = KERNELS["a tile that is turned around"]["text"]
LOOP = KERNELS["a loop without its second barrier"]["text"]


def stepper_of(
    text: str, block: int = 0, order: WarpOrder = "forward", seed: int | None = None, spacing: int = SPACING
) -> ThreadStepper:
    module = rc.parse(HEAD + text, "kernel.py")
    return ThreadStepper(launch_of(module, "main", counted(module)), block, order, seed, spacing)


def here(view: InsideView) -> ThreadsHere:
    """Return where the threads are."""
    assert view.threads is not None
    return view.threads.here


def threads_of(text: str, **chosen: Any) -> rc.Threads:
    module = rc.parse(HEAD + text, "kernel.py")
    return rc.threads(module, "main", *counted(module), chosen=rc.ThreadsOf(**chosen))


def state_of(stepper: ThreadStepper) -> list[tuple[str, bytes, bytes, bytes]]:
    """Return all memory with its owners, and where each warp stands."""
    return state_of_block(stepper.run)


def state_of_block(run: BlockRun) -> list[tuple[str, bytes, bytes, bytes]]:
    """Return all memory with its owners, who touched it, and where each warp stands."""
    found: list[tuple[str, bytes, bytes, bytes]] = []
    for root in roots_of(run):
        values, undefined = values_of(run, root)
        touched = b"".join(np.ascontiguousarray(item).tobytes() for item in touches_of(run, root))
        found.append((root.name, np.where(undefined, 0, values).tobytes() + touched, undefined.tobytes(),
                      owners_of(run, root).tobytes()))  # fmt: skip
    places = [(warp.is_waiting, id(warp.next[0]) if warp.next else 0, len(warp.frames)) for warp in run.warps]
    return [*found, ("places", repr(places).encode(), b"", b"")]


@pytest.mark.parametrize("name", CLEAN)
def test_a_sound_kernel_computes_the_same_in_any_order_of_its_warps(name: str) -> None:
    text = KERNELS[name]["text"]
    module = rc.parse(HEAD + text, "kernel.py")
    (output,) = rc.simulate(module, "main", *counted(module)).outputs
    steppers = [*(stepper_of(text, 0, order) for order in ORDERS), *(stepper_of(text, seed=seed) for seed in (1, 2))]
    for stepper in steppers:
        stepper.explore(60)
        assert stepper.total is not None
        stepper.move_to(stepper.total)
        assert not [item for told in stepper.found.values() for item in told if item.severity != "note"]
        root = next(item for item in roots_of(stepper.run) if item.name == output.name)
        written = owners_of(stepper.run, root) >= 0
        assert written.any()
        assert np.array_equal(values_of(stepper.run, root)[0][written], output.value.reshape(root.shape)[written])


@pytest.mark.parametrize("name", LAUNCHES)
def test_every_statement_is_come_back_to_as_it_was(name: str) -> None:
    text = KERNELS[name]["text"]
    stepper, random = stepper_of(text, 0, "turns"), Random(4)
    stepper.explore(60)
    assert stepper.total is not None
    for _ in range(5):
        stepper.move_to(random.randrange(stepper.total + 1))
        fresh = stepper_of(text, 0, "turns")
        fresh.move_to(stepper.clock)
        alike = [item for item in state_of(stepper) if item[0] != "places"]
        assert alike == [item for item in state_of(fresh) if item[0] != "places"]
        assert [warp.is_waiting for warp in stepper.run.warps] == [warp.is_waiting for warp in fresh.run.warps]


@pytest.mark.parametrize("order", ["forward", "backward"])
@pytest.mark.parametrize("name", LAUNCHES)
def test_warps_that_go_together_come_to_where_they_come_one_by_one(name: str, order: Order) -> None:
    text = KERNELS[name]["text"]
    stepper, module = stepper_of(text, 0, order, spacing=2), rc.parse(HEAD + text, "kernel.py")
    stepper.explore(60)
    assert stepper.total is not None
    alone = BlockRun(launch_of(module, "main", counted(module)), 0, order)
    while alone.running is not None:
        if alone.clock % 3 == 0:
            stepper.move_to(alone.clock)
            assert state_of(stepper)[:-1] == state_of_block(alone)[:-1]
            assert [warp.is_waiting for warp in stepper.run.warps] == [warp.is_waiting for warp in alone.warps]
        alone.step()
    assert alone.clock == stepper.total


def test_searches_that_pass_over_what_warps_did_together_find_what_is_there() -> None:
    text = LOOP.replace("S[63 - tx]\n", 'S[63 - tx]\n        T.tvm_storage_sync("shared")\n')
    text = text.replace("range(4)", "range(40)").replace("k * 64 + tx", "(k * 64 + tx) % 256")
    stepper, plain = stepper_of(text, spacing=16), stepper_of(text, spacing=1 << 30)
    for item in (stepper, plain):
        item.explore(60)
    assert not stepper.found
    for value in Random(1).sample(range(40), 12):
        for move in (f"k={value}, tx=40", "write S[7]", "write acc[40, 0]", "k=40", "race"):
            assert move_threads(stepper, move, 0) == move_threads(plain, move, 0) == (move not in ("k=40", "race"))
            assert stepper.clock == plain.clock


def test_copies_far_apart_lead_to_the_same_states() -> None:
    text = LOOP.replace("range(4)", "range(400)").replace("k * 64 + tx", "(k * 64 + tx) % 256")
    stepper = stepper_of(text)
    stepper.explore(60)
    assert stepper.total == 2 * (1 + 3 * 400 + 1)
    stepper.move_to(2100)
    here = state_of(stepper)
    for clock in (5, 2300, 1100, 2101):
        stepper.move_to(clock)
    stepper.move_to(2100)
    assert state_of(stepper) == here


def test_warps_wait_for_the_last_one_at_a_barrier() -> None:
    it = threads_of(TILE, thread=40)
    assert it.total == 2 * 3
    view = it.go("barrier")
    assert (view.clock, view.line) == (3, 9)
    assert [(item.state, item.threads, item.line) for item in here(view).groups] == [
        ("waits", "0-31", 9), ("runs", "32-63", 9)
    ]  # fmt: skip
    assert it.owners("S").tolist() == list(range(64))
    assert "threads 0-31 wait at the barrier in line 9" in view.to_text()
    assert [item.state for item in here(it.go("next")).groups] == ["runs", "ready"]


def test_lanes_that_take_another_branch_are_told_with_its_condition() -> None:
    it = threads_of(KERNELS["a reduction in halves"]["text"])
    view = it.go("k=2, tx=3", "line 11")
    assert [(item.state, item.threads, item.text) for item in here(view).groups] == [
        ("runs", "0-7", ""), ("off", "8-31", "tx < T.shift_right(32, k)"), ("ready", "32-63", ""),
    ]  # fmt: skip
    assert here(it.choose(20)).shown == 0
    assert it.choose(5).accesses[0].indices == (5,)


def test_a_race_is_come_to_and_shows_what_it_spoils() -> None:
    it = threads_of(KERNELS["the same without its barrier"]["text"], thread=5)
    view = it.go("race")
    assert (view.clock, view.accesses[0].value) == (1, "undefined")
    view = it.go("race")
    assert "error[GP001]" in here(view).told[0]
    assert view.threads is not None
    assert view.threads.reported == (1, 2, 3)
    assert it.go("back race").clock == 1
    assert not it.go("back race").is_found


def test_a_barrier_that_some_threads_do_not_reach_is_told_where_the_others_wait() -> None:
    it = threads_of(KERNELS["a barrier under a condition on threads"]["text"])
    view = it.go("race")
    assert "32 of 64 threads reach it" in here(view).told[0]
    assert [item.state for item in here(view).groups] == ["waits", "runs"]


def test_moves_among_threads() -> None:
    it = threads_of(LOOP, thread=40)
    assert it.go("warp").clock == 3
    assert it.go("k=2").loops[0].value == 2
    at = it.clock
    assert it.go("next k").loops[0].value == 3
    assert (it.go("back k").clock, it.view.loops[0].value) == (at, 2)
    assert it.go("out k").line == 13
    assert here(it.go("start", "thread")).shown == 40
    assert it.go("write S[63]").accesses[-1].indices == (40,)
    # 40 adds 87 and 151, and loads the third number before the next statement.
    assert it.go("if tx == 40 and acc[0] > 100").accesses[0].cell == "A[168]"
    assert it.go("line 13").line == 13
    assert it.go("back line 10").line == 10
    assert it.go("end").is_ended
    assert not it.go("nan").is_found
    for wrong in ("block", "write Q[1]", "q=3", "if q > 1", "next q", "thread 3"):
        with pytest.raises(CompileError):
            it.go(wrong)


def test_an_expression_is_watched_in_the_chosen_thread() -> None:
    it = threads_of(LOOP, thread=40)
    it.go("k=2, tx=40", "line 11")
    assert it.watch("tx * 100 + k") == 4002
    it.choose(5)
    # The second warp runs: its first thread is looked at.
    assert it.watch("tx * 100 + k") == 3202
    it.go("end")
    assert it.watch("tx") is None
    with pytest.raises(CompileError):
        it.watch("q + 1")


def test_a_statement_says_what_its_accesses_cost_the_warp() -> None:
    it = threads_of(KERNELS["a transpose through shared memory"]["text"], block=3, thread=7)
    view = it.go("line 14")
    assert here(view).costs == ("the load `S[tx, r * 8 + ty]`: 32-way bank conflict",)
    assert len(view.accesses[0].others) == 31


def test_registers_have_a_row_for_each_thread() -> None:
    it = threads_of(LOOP)
    it.go("k=0", "line 13")
    acc = it.buffer("acc")
    assert acc.shape == (64, 1)
    assert it.go("end").is_ended
    # The race shows: the first warp writes the next row over what the second one is about to read.
    rows = np.arange(256).reshape(4, 64)
    assert it.buffer("acc")[0, 0] == rows[:, 63].sum()
    assert it.buffer("acc")[32, 0] == rows[1:, 31].sum() + rows[3, 31]


def test_what_there_is_not_is_refused() -> None:
    for chosen in ({"block": 2}, {"launch": 1}, {"thread": 64}):
        with pytest.raises((RunError, CompileError)) as raised:
            threads_of(TILE, **chosen)
        assert [item.code for item in raised.value.diagnostics] == ["TI004"]


def test_what_is_not_simulated_stops_the_run_before_it() -> None:
    it = threads_of(TILE.replace("S[63 - tx]", 'T.call_pure_extern("float32", "my_function", S[63 - tx])'))
    view = it.go("end")
    assert (view.clock, view.line, view.is_ended) == (4, 10, False)
    assert "GP010" in view.problem
