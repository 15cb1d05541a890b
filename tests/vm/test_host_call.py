"""Calls of the host: what follows a call like it goes a short way, and says and does what the first one did."""

import sys
import threading
from collections.abc import Callable
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.diagnostics import RunError
from relax_core.vm import machine as machine_module
from relax_core.vm import running, virtual_machine
from relax_core.vm.external.packed import Registry
from relax_core.vm.limits import Limits
from relax_core.vm.machine import Machine
from relax_core.vm.virtual_machine import VirtualMachine
from tests.narrow import is_tuple

TEXT = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def look_up(A: T.Buffer((4,), "float32"), at: T.Buffer((1,), "int64"), B: T.Buffer((1,), "float32")):
        B[0] = A[at[0]]

    @T.prim_func(private=True)
    def endless(A: T.Buffer((1,), "float32"), B: T.Buffer((1,), "float32")):
        B[0] = A[0]
        while B[0] < T.float32(1):
            B[0] = B[0] * T.float32(0.5)

    @R.function
    def add(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return R.add(x, y)

    @R.function
    def pair(x: R.Tensor((4,), "float32")) -> R.Tuple(R.Tensor((4,), "float32"), R.Shape([4])):
        return (R.exp(x), R.shape([4]))

    @R.function
    def at(x: R.Tensor((4,), "float32"), i: R.Tensor((1,), "int64")) -> R.Tensor((1,), "float32"):
        cls = Module
        return R.call_tir(cls.look_up, (x, i), out_ty=R.Tensor((1,), "float32"))

    @R.function
    def forever(x: R.Tensor((1,), "float32")) -> R.Tensor((1,), "float32"):
        cls = Module
        return R.call_tir(cls.endless, (x,), out_ty=R.Tensor((1,), "float32"))

    @R.function(pure=False)
    def said(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        _ = R.print(x, format="it is {}")
        return x

    @R.function(pure=False)
    def said_if(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        if c:
            _ = R.print(x, format="it is {}")
            r = x
        else:
            r = x
        return r

    @R.function
    def count(n: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        cls = Module
        is_done = R.equal(n, R.const(0, "int64"))
        if is_done:
            r = n
        else:
            r = cls.count(R.subtract(n, R.const(1, "int64")))
        return r

    @R.function(pure=False)
    def back(x: R.Tensor((4,), "float32")) -> R.Object:
        y = R.exp(x)
        r = R.call_packed("test.look", y, ty_args=(R.Object,))
        return r
"""
ONES = np.ones(4, "float32")
LIMITS = Limits(memory_bytes=1 << 26, depth=3000)


def shown(value: Any) -> object:
    return tuple(map(shown, value)) if is_tuple(value) else (type(value).__name__, np.asarray(value).tolist())


def ended(call: Callable[..., Any], args: tuple[Any, ...]) -> object:
    """Return the result of a call, or what it says instead."""
    try:
        return shown(call(*args))
    except RunError as error:
        return [(item.code, item.message, item.span, item.hint) for item in error.diagnostics]


@pytest.fixture
def lines() -> list[str]:
    return []


@pytest.fixture
def machine(lines: list[str]) -> VirtualMachine:
    executable = rc.build(rc.parse(TEXT, "m.py"))
    return VirtualMachine(executable, limits=LIMITS, on_output=lines.append)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect the names of what is called the long way."""
    names: list[str] = []
    call = Machine.call

    def counted(self: Machine, entry: str, args: tuple[Any, ...] = ()) -> Any:
        names.append(entry)
        return call(self, entry, args)

    monkeypatch.setattr(Machine, "call", counted)
    return names


# What the entry is called with, and whether such a call goes the short way.
CALLS: dict[str, tuple[str, tuple[Any, ...], bool]] = {
    "tensors": ("add", (ONES, 2 * ONES), True),
    "a tuple as the result": ("pair", (ONES,), True),
    "an array with gaps": ("add", (np.arange(8, dtype="float32")[::2], ONES), False),
    "a list that is no tensor": ("add", ([1, 2], ONES), False),
    "a dtype of no tensor": ("add", (ONES.astype("complex64"), ONES), False),
    "too few": ("add", (ONES,), False),
    "another shape": ("add", (np.ones(5, "float32"), ONES), True),
    "another dtype": ("add", (ONES.astype("float64"), ONES), True),
    "another rank": ("add", (np.ones((2, 2), "float32"), ONES), True),
    "an element that is there": ("at", (np.arange(4, dtype="float32"), np.array([3])), True),
    "one that is not": ("at", (ONES, np.array([4])), True),
    "a call in a call": ("count", (np.array(2),), True),
    "deep calls": ("count", (np.array(2500),), True),
    "calls that are too deep": ("count", (np.array(3500),), True),
    "no such function": ("nothing", (ONES,), False),
    "a private one": ("look_up", (ONES, np.array([0]), ONES), False),
}


@pytest.mark.parametrize("name", CALLS)
def test_each_call_ends_as_the_first_one(name: str, machine: VirtualMachine, steps: list[str]) -> None:
    entry, args, is_short = CALLS[name]
    well = {"add": (ONES, ONES), "at": (ONES, np.array([0])), "count": (np.array(1),), "pair": (ONES,)}
    call = machine[entry]
    limit = sys.getrecursionlimit()
    first = ended(VirtualMachine(machine.executable, limits=LIMITS)[entry], args)
    ended(call, well.get(entry, args))
    for _ in range(3):
        del steps[:]
        assert ended(call, args) == first
        assert steps == [] or not is_short
        assert sys.getrecursionlimit() == limit
        # What fails is forgotten the long way by the next call.
        ended(call, well.get(entry, args))
        if entry in well:
            del steps[:]
            assert ended(call, well[entry]) == ended(machine[entry], well[entry])
            assert steps == []


def test_what_is_printed_is_printed_once_by_each_call(machine: VirtualMachine, lines: list[str]) -> None:
    call = machine["said"]
    for number in range(1, 5):
        call(ONES)
        assert len(lines) == number
    assert set(lines) == {"it is [1. 1. 1. 1.]"}


def test_the_limit_of_what_is_printed_is_that_of_one_call(lines: list[str]) -> None:
    executable = rc.build(rc.parse(TEXT, "m.py"))
    machine = VirtualMachine(executable, limits=Limits(output_bytes=30), on_output=lines.append)
    call = machine["said_if"]
    for _ in range(4):
        call(np.array(False), ONES)
        call(np.array(True), ONES)
    assert len(lines) == 4


def test_each_call_is_cancelled(machine: VirtualMachine) -> None:
    call = machine["forever"]
    assert call(np.ones(1, "float32")) == 1
    for _ in range(3):
        timer = threading.Timer(0.05, machine.cancel)
        timer.start()
        with pytest.raises(RunError) as found:
            call(np.zeros(1, "float32"))
        timer.join()
        assert [item.code for item in found.value.diagnostics] == ["VM008"]
        assert call(np.ones(1, "float32")) == 1


class Clock:
    """A clock that goes on by a second when the watchdog of a kernel looks at it, and stands still for all others."""

    def __init__(self) -> None:
        self.now = 0.0
        self.is_going = False

    def monotonic(self) -> float:
        if self.is_going and threading.current_thread().name == "kernel watchdog":
            self.now += 1.0
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Let all machines look at another clock."""
    made = Clock()
    monkeypatch.setattr(virtual_machine, "monotonic", made.monotonic)
    seen = SimpleNamespace(monotonic=made.monotonic, perf_counter=perf_counter)
    for module in (machine_module, running):
        monkeypatch.setattr(module, "time", seen)
    return made


def test_the_clock_begins_anew_with_each_call_and_stops_it(clock: Clock) -> None:
    machine = VirtualMachine(rc.build(rc.parse(TEXT, "m.py")), limits=Limits(seconds=10))
    call = machine["forever"]
    for _ in range(2):
        clock.is_going = False
        for _ in range(4):
            assert call(np.ones(1, "float32")) == 1
            clock.now += 9
        for thread in threading.enumerate():
            if thread.name == "kernel watchdog":
                thread.join(60)
                assert not thread.is_alive()
        clock.is_going, began = True, clock.now
        with pytest.raises(RunError) as found:
            call(np.zeros(1, "float32"))
        assert [item.code for item in found.value.diagnostics] == ["VM005"]
        assert clock.now - began >= 10


def test_who_is_called_back_sees_the_frames() -> None:
    seen: list[list[tuple[int, int]]] = []
    registry = Registry()
    machine = VirtualMachine(rc.build(rc.parse(TEXT, "m.py")), registry=registry)
    inner = machine._machine  # pyright: ignore[reportPrivateUsage]  # only a debugger asks for frames

    def look(value: Any) -> None:
        del value
        seen.append([(frame.function, frame.pc) for frame in inner.frames])

    registry.register("test.look", look)
    call = machine["back"]
    for _ in range(3):
        call(ONES)
    assert len(seen) == 3
    assert len(seen[0]) == 1
    assert seen[0] == seen[1] == seen[2]


def test_no_memory_is_said_by_each_call(machine: VirtualMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    call = machine["add"]
    call(ONES, ONES)
    tier = machine._machine.tier  # pyright: ignore[reportPrivateUsage]  # there is no other way to its functions
    (index,) = tier.functions

    def exhausted(*args: object) -> None:
        del args
        raise MemoryError

    monkeypatch.setitem(tier.functions, index, exhausted)
    for _ in range(2):
        assert ended(call, (ONES, ONES)) == [("VM006", "there is no memory for a tensor", None, "")]
