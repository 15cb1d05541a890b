"""Values that were given up to save memory are made again, bit for bit, or it is said why they are not."""

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

import numpy as np
import pytest

from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import RunError
from relax_core.engine.inputs import generate
from relax_core.ir.expr import Function
from relax_core.jit.engine import Engine
from relax_core.vm.changes.change import Change, setting
from relax_core.vm.condition import Condition
from relax_core.vm.debugger import AnyBreakpoint, Breakpoint, WriteBreakpoint, run_back_to, run_to
from relax_core.vm.external.host_results import HostResults
from relax_core.vm.external.packed import Registry
from relax_core.vm.limits import Limits
from relax_core.vm.machine import Machine
from relax_core.vm.objects.values import NOT_KEPT, Value
from relax_core.vm.recording.trace import Trace
from relax_core.vm.virtual_machine import entry_arguments
from tests.vm.assemble import assemble
from tests.vm.programs import executable_of, sample_text
from tests.vm.tiers import is_same

ENGINE = Engine()
X = np.arange(100, dtype="float32")
ROUNDS = "@main(x) 3\n" + "  call {0}\n  call custom_add(%1, %0) -> %2\n" * 20 + "  ret %2\n"


def runs(executable: Executable, args: tuple[Value, ...], limit: int, **options: Any) -> tuple[Trace, Trace]:
    """Run twice, and keep everything, and few bytes."""
    whole = Machine(executable, engine=ENGINE, **options).run("main", args)
    trace = Machine(executable, engine=ENGINE, limits=Limits(retained_bytes=limit), **options).run("main", args)
    return whole, trace


def of_sample(path: str) -> tuple[Executable, tuple[Value, ...]]:
    executable = executable_of(sample_text(path), path)
    node = executable.functions[executable.index_of["main"]].node
    assert isinstance(node, Function)
    return executable, entry_arguments(executable, "main", generate(node, 0, {}))


def seen(trace: Trace, at: int) -> list[Value]:
    return [value for frame in trace.frames_at(at) for value in trace.registers_at(at, frame.frame)]


def missing(trace: Trace) -> int:
    """Count what the log lacks, whoever asks."""
    return sum(value is NOT_KEPT for value in trace.recorder.values)


def is_alike(whole: Trace, trace: Trace, times: Iterable[int]) -> bool:
    return all(is_same(tuple(seen(whole, at)), tuple(seen(trace, at))) for at in times)


@pytest.mark.parametrize("limit", [1, 400])
@pytest.mark.parametrize(
    "path",
    [
        "relax/loop.py",
        "relax/mlp.py",
        "relax/callback.py",
        "relax/inplace_update.py",
        "relax/storage_reused.py",
        "relay/references.relay",
        "relay/lstm_list.relay",
    ],
)
def test_every_register_at_every_time_is_that_of_a_run_that_keeps_everything(path: str, limit: int) -> None:
    executable, args = of_sample(path)
    whole, trace = runs(executable, args, limit)
    assert limit > 1 or missing(trace)
    step = max(1, len(whole) // 60)
    # Backwards a part is made from the start each time, forwards from the part before it.
    assert is_alike(whole, trace, range(len(whole), -1, -step))
    assert is_alike(whole, trace, range(0, len(whole) + 1, step))


def test_what_an_argument_held_is_known_however_often_it_was_changed() -> None:
    executable = assemble("@main(x) 2\n" + "  call custom_inplace_update(%0)\n" * 20 + "  ret %0\n")
    whole, trace = runs(executable, (X,), 1)
    assert is_alike(whole, trace, range(len(whole) + 1))
    assert is_same(trace.value_at(0, 0, 0), X)


def test_a_part_keeps_what_fits_and_what_is_alive() -> None:
    executable = assemble("@main(x) 2\n" + "  call custom_add(%0, %0) -> %1\n" * 400 + "  ret %1\n")
    trace = runs(executable, (X,), 40 * X.nbytes)[1]
    near = trace.near(100, 0, len(trace))
    kept = sum(value is not NOT_KEPT for value in near.recorder.values[: near.until])
    assert is_same(near.as_it_was(near.raw_registers_at(100, 0)[1], 100), X + X)
    assert 1 <= kept <= 30
    assert near.until < 140


class Dice:
    """A function that gives something else each time, and counts how often it is called."""

    def __init__(self) -> None:
        self.numbers = count(1)
        self.calls = 0

    def roll(self, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        self.calls += 1
        return x * np.float32(next(self.numbers))

    def fill(self, x: np.ndarray[Any, Any]) -> None:
        self.calls += 1
        x += np.float32(next(self.numbers))


@pytest.mark.parametrize("call", ["roll(%0) -> %1", "fill(%0)\n  call custom_add(%0, %0) -> %1"])
def test_a_function_of_the_host_is_not_called_again_but_gives_what_it_gave(call: str) -> None:
    executable = assemble(ROUNDS.format(call))
    found: list[Trace] = []
    for limit in (1 << 30, 1):
        dice, registry = Dice(), Registry()
        registry.register("roll", dice.roll)
        registry.register("fill", dice.fill)
        limits = Limits(retained_bytes=limit)
        found.append(Machine(executable, registry=registry, limits=limits).run("main", (X.copy(),)))
        assert dice.calls == 20
    assert missing(found[1])
    assert is_alike(found[0], found[1], range(len(found[0]) + 1))
    assert dice.calls == 20


@pytest.mark.parametrize(("writes", "kept"), [(None, [0, 1]), ((1,), [0]), ((-1,), [0]), ((), [])])
def test_of_a_function_that_declares_what_it_writes_only_that_is_kept(
    writes: tuple[int, ...] | None, kept: list[int]
) -> None:
    def move(taken: np.ndarray[Any, Any], given: np.ndarray[Any, Any]) -> None:
        given += taken
        taken += np.float32(1)

    registry = Registry()
    registry.register("move", move, writes=writes)
    executable = assemble("@main(x, y) 2\n  call move(%0, %1)\n  ret %1\n")
    trace = Machine(executable, registry=registry).run("main", (X.copy(), X.copy()))
    assert [place for place, _ in trace.host_results[0].changed] == kept


def test_what_cannot_be_done_again_is_said_and_not_guessed() -> None:
    def view(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return x[:50]

    registry = Registry()
    registry.register("view", view)
    executable = assemble(
        "@main(x) 3\n  call custom_add(%0, %0) -> %1\n  call view(%0) -> %2\n"
        + "  call custom_add(%1, %1) -> %1\n" * 9
        + "  ret %1\n"
    )
    trace = Machine(executable, registry=registry, limits=Limits(retained_bytes=1)).run("main", (X,))
    with pytest.raises(RunError) as refused:
        HostResults(trace.host_results).call("view", (X,), (X,), lambda: X, lambda: 1)
    assert refused.value.diagnostics[0].code == "VM059"
    # What was before the call of the function is made again, what is behind it is not.
    assert is_same(trace.value_at(1, 0, 1), X + X)
    assert trace.value_at(4, 0, 1) is NOT_KEPT
    assert "`view` may give something else when it is called again" in trace.near(4).given_up
    assert "its result lies in the memory of an argument" in trace.near(4).given_up


def test_a_program_that_goes_another_way_is_said() -> None:
    numbers, registry = count(), Registry()
    registry.register("number", lambda: next(numbers), is_pure=True)
    executable = assemble(
        "@main(x) 3\n" + "  call number() -> %1\n  call custom_add(%0, %0) -> %2\n" * 9 + "  ret %2\n"
    )
    trace = Machine(executable, registry=registry, limits=Limits(retained_bytes=1)).run("main", (X,))
    assert trace.value_at(4, 0, 2) is NOT_KEPT
    assert trace.near(4).given_up.endswith("the program went another way when it was run again")


def test_it_can_be_cancelled_and_is_made_when_it_is_asked_for_again() -> None:
    executable, args = of_sample("relax/loop.py")
    machine = Machine(executable, engine=ENGINE, limits=Limits(retained_bytes=1))
    is_asked_to_stop = [True]

    def watched(again: Machine, make: Callable[[], Trace]) -> Trace:
        if is_asked_to_stop:
            again.cancel()
        return make()

    machine.watched = watched
    trace = machine.run("main", args)
    with pytest.raises(RunError) as stopped:
        seen(trace, len(trace) // 2)
    assert stopped.value.diagnostics[0].code == "VM008"
    is_asked_to_stop.clear()
    assert not any(value is NOT_KEPT for value in seen(trace, len(trace) // 2))


def test_a_run_that_goes_on_with_another_value_is_made_again_before_and_behind() -> None:
    executable, args = of_sample("relax/loop.py")
    found: list[Trace] = []
    for limit in (1 << 30, 1):
        machine = Machine(executable, engine=ENGINE, limits=Limits(retained_bytes=limit))
        trace = machine.run("main", args)
        at = len(trace) // 3
        frames = trace.frames_at(at)
        place = next(
            number
            for number, value in enumerate(trace.registers_at(at, frames[0].frame))
            if isinstance(value, np.ndarray) and value.dtype.kind == "f"
        )
        change = setting(trace.near(at), at, Change(f"%{place} = 7.5", 0))
        found.append(machine.resume(trace, at, (change,)))
    whole, trace = found
    assert missing(trace)
    assert is_alike(whole, trace, range(len(whole), -1, -5))
    assert is_alike(whole, trace, range(0, len(whole) + 1, 5))


def test_breakpoints_stop_where_those_of_a_run_that_keeps_everything_do() -> None:
    executable, args = of_sample("relax/loop.py")
    whole, trace = runs(executable, args, 200)
    assert missing(trace)
    owner = next(entry for entry in executable.functions if entry.kind == "vm" and entry.name != "main")
    function = executable.index_of[owner.name]
    points: list[Breakpoint] = [WriteBreakpoint(function, register) for register in range(owner.register_count)]
    points.append(AnyBreakpoint(Condition.of("%0 >= 0")))
    for point in points:
        for at in (0, len(whole) // 2, len(whole)):
            assert run_to(trace, at, (point,)) == run_to(whole, at, (point,))
            assert run_back_to(trace, at, (point,)) == run_back_to(whole, at, (point,))
