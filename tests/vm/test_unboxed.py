"""Shape heaps in local variables: the same values, the same stops and the same reports as with a tensor of slots."""

from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from relax_core.bytecode.executable import Executable
from relax_core.jit.engine import Engine
from relax_core.vm.limits import Limits
from relax_core.vm.machine import Machine
from relax_core.vm.meter import CHUNK, SMALL_BYTES
from tests.vm.programs import FIB, MODULE, executable_of
from tests.vm.tiers import differences

ARITHMETIC = """
    @R.function
    def main(n: T.int64, m: T.int64):
        a = R.prim_value(n * m + 7)
        b = R.prim_value((n + m) // 3)
        c = R.prim_value((n - m) % 5)
        d = R.prim_value(T.min(n, m) - T.max(n * 3, m))
        e = R.prim_value(n + m >= 10 and n != m)
        f = R.prim_value(n - 1)
        return (a, b, c, d, e, f)
"""
SHAPES = """
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32"), y: R.Tensor(("n", "n * 2"), "float32")):
        n = T.int64()
        m = T.int64()
        cls = Module
        z = cls.rows(x)
        w = R.full(R.shape([m, n + 1]), R.const(1, "float32"), "float32")
        return (z, w, R.shape([n * m, 4]), y)

    @R.function
    def rows(x: R.Tensor(("k", "l"), "float32")) -> R.Tensor(("k * l",), "float32"):
        k = T.int64()
        l = T.int64()
        return R.reshape(x, R.shape([k * l]))
"""
LEAST, GREATEST = -(1 << 63), (1 << 63) - 1


@lru_cache
def built(text: str) -> Executable:
    return executable_of(MODULE + text, "program.py", None)


@lru_cache
def engine() -> Engine:
    return Engine()


def same(text: str, args: tuple[Any, ...], **options: Any) -> None:
    found = differences(built(text), "main", lambda: args, engine=engine(), **options)
    assert not found, "\n".join(found)


def texts(text: str, *, record: bool) -> str:
    executable = built(text)
    machine = Machine(executable, record=record)
    return "\n".join(machine.tier.text_of(at) for at, item in enumerate(executable.functions) if item.kind == "vm")


@pytest.mark.parametrize("text", [FIB, ARITHMETIC, SHAPES])
def test_no_tensor_holds_the_slots(text: str) -> None:
    assert "origins" not in texts(text, record=True)
    found = texts(text, record=False)
    assert "origins" not in found
    assert "kernel" not in found.replace("kernel", "", found.count("kernel") if text is SHAPES else 0)


@pytest.mark.parametrize("events", range(0, 80, 3))
def test_scalars_stop_alike_after_any_number_of_events(events: int) -> None:
    same(FIB, (4,), limits=Limits(events=events))


@pytest.mark.parametrize("depth", [1, 2, 5, 200])
def test_calls_of_scalars_stop_alike_at_any_depth(depth: int) -> None:
    same(FIB, (7,), limits=Limits(depth=depth))


@pytest.mark.parametrize("memory_bytes", [0, 30, 40, 80, 160, 400, 5000])
def test_slots_are_counted_as_if_a_tensor_held_them(memory_bytes: int) -> None:
    same(FIB, (5,), limits=Limits(memory_bytes=memory_bytes))


@pytest.mark.parametrize(
    "args",
    [
        (3, 5),
        (-7, 2),
        (5, 5),
        (GREATEST, 2),
        (LEAST, -3),
        (LEAST, GREATEST),
        (LEAST + 1, 1),
        (1 << 62, 1 << 62),
        (0, 0),
    ],
    ids=str,
)
def test_arithmetic_wraps_as_in_a_kernel(args: tuple[int, int]) -> None:
    same(ARITHMETIC, args)
    n, m = args
    result = Machine(built(ARITHMETIC), record=False).run("main", args).result
    assert isinstance(result, tuple)
    with np.errstate(over="ignore"):
        x, y = np.int64(n), np.int64(m)
        low = min(x, y) - max(x * np.int64(3), y)
        expected = (x * y + np.int64(7), (x + y) // 3, (x - y) % 5, low, bool(x + y >= 10 and n != m), x - np.int64(1))
    assert [repr(item) for item in result] == [repr(item if isinstance(item, bool) else int(item)) for item in expected]


@pytest.mark.parametrize("value", [np.int64(6), np.array(6), True, 2.5, "six", None], ids=repr)
def test_another_kind_of_scalar_is_taken_or_refused_alike(value: Any) -> None:
    same(FIB, (value,))


@pytest.mark.parametrize(
    ("first", "second"),
    [((2, 3), (2, 4)), ((2, 3), (2, 5)), ((2, 3), (3, 4)), ((2,), (2, 4)), ((0, 3), (0, 0))],
    ids=str,
)
def test_sizes_are_matched_and_reported_alike(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    args = np.ones(first, "float32"), np.ones(second, "float32")
    same(SHAPES, args)
    for events in range(1, 30, 4):
        same(SHAPES, args, limits=Limits(events=events))


def test_a_size_that_differs_is_reported_with_what_gave_the_other() -> None:
    trace = Machine(built(SHAPES), record=False).run("main", (np.ones((2, 3), "float32"), np.ones((4, 4), "float32")))
    assert trace.error is not None
    assert "the value that dimension 0 of" in trace.error.message


@pytest.mark.parametrize("spare_bytes", [0, 500, 2000, 9000])
def test_a_run_goes_on_in_the_explicit_tier_with_the_same_slots(spare_bytes: int) -> None:
    limits = Limits(memory_bytes=CHUNK * SMALL_BYTES + spare_bytes)
    machine = Machine(built(FIB), record=False, limits=limits, engine=engine())
    # The memory does not suffice for another portion of fuel, so that all frames are taken over in the middle.
    trace = machine.run("main", (13,))
    assert trace.error is None
    assert trace.result == 233


@pytest.mark.parametrize("events", range(0, 24))
def test_arithmetic_stops_alike_after_any_number_of_events(events: int) -> None:
    same(ARITHMETIC, (GREATEST, 3), limits=Limits(events=events))


FRESH = """
    @T.prim_func(private=True)
    def fill(A: T.handle, B: T.handle):
        n = T.int64()
        m = T.int64()
        X = T.match_buffer(A, (n,))
        Y = T.match_buffer(B, (m,))
        for i in range(m):
            Y[i] = T.float32(1)

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = Module
        y = R.call_tir(cls.fill, (x,), out_sinfo=R.Tensor((n - 5,), "float32"))
        z = R.add(y, y)
        return z
"""


@pytest.mark.parametrize("count", [0, 4, 5, 6, 40, 100_000])
@pytest.mark.parametrize("memory_bytes", [1 << 30, 1_000_000, 400_100, 300])
def test_tensors_of_computed_sizes_are_made_and_counted_as_step_by_step(count: int, memory_bytes: int) -> None:
    same(FRESH, (np.ones(count, "float32"),), limits=Limits(memory_bytes=memory_bytes))


def test_tensors_of_computed_sizes_are_made_by_one_call() -> None:
    machine = Machine(built(FRESH), record=False, engine=engine())
    machine.call("main", (np.ones(9, "float32"),))
    text = machine.tier.text_of(built(FRESH).index_of["main"])
    assert text.count("new_tensor(") == 2
