"""Profile instructions: a machine that takes the time at which each one retires."""

import time
from array import array as packed_array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import Diagnostic
from relax_core.vm.external.stand_ins import StandIn
from relax_core.vm.kernels import KernelEngine
from relax_core.vm.limits import Limits
from relax_core.vm.machine import Machine
from relax_core.vm.objects.values import Array, Value
from relax_core.vm.recording.recorder import Recorder
from relax_core.vm.stack import Opened

ROUNDS: Final = 7
"""The most runs that are measured, after the one that compiles the kernels."""
_SECONDS: Final = 1.0
"""No further run begins after this time."""


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """For each instruction how often it ran, and for how long in all: the medians of `rounds` runs.

    The time of an instruction is from the retirement of the one before it to its own, without what it calls in
    bytecode. `error` is what ended a run, which is then the only one that counts.
    """

    counts: npt.NDArray[np.int64]
    seconds: npt.NDArray[np.float64]
    rounds: int
    error: Diagnostic | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """When each event of a run retired, in nanoseconds since it began.

    `frames` are the calls of bytecode: the event that entered (-1 for the first), the one that left (-1 for one that
    did not) and the function.
    """

    pcs: tuple[int, ...]
    stamps: tuple[int, ...]
    frames: tuple[tuple[int, int, int], ...]

    def before(self, event: int) -> int:
        """Return when the event before this one retired."""
        return self.stamps[event - 1] if event > 0 else 0


class _Stopwatch(Recorder):
    """A log of times in place of values: nothing is kept of what the program computes."""

    __slots__ = ("begun", "stamps")

    def __init__(self) -> None:
        super().__init__(0)
        self.stamps = packed_array("q")
        self.begun = time.perf_counter_ns()

    def record(self, pc: int, frame: int, value: Value) -> None:
        self.pcs.append(pc)
        self.stamps.append(time.perf_counter_ns())

    def keep(self, value: Value) -> None:
        pass

    def before_write(self, array: Array) -> None:
        pass

    def mark_fresh(self, array: Array, fill: int = 0) -> None:
        pass

    def before_forget(self, array: Array, fill: int) -> None:
        pass

    def snapshot(self, array: Array) -> None:
        return None

    def compare(self, array: Array, before: object) -> None:
        pass


class TimedMachine(Machine):
    """A machine of the explicit tier whose log is a stopwatch."""

    def __init__(
        self,
        executable: Executable,
        limits: Limits | None,
        engine: KernelEngine | None,
        stand_ins: Mapping[str, StandIn] | None = None,
    ) -> None:
        super().__init__(executable, limits=limits, engine=engine, tier="explicit", stand_ins=stand_ins)

    def _reset(self) -> None:
        super()._reset()
        # What functions gave is not kept: to copy it would take time of theirs.
        self.host_results = None
        self.recorder = self._watch = _Stopwatch()

    def _start(self, function: int, args: tuple[Value, ...], opened: Opened) -> Value:
        if not self._watch.stamps:
            # What the run does before its first instruction is no part of that.
            self._watch.begun = time.perf_counter_ns()
        return super()._start(function, args, opened)

    def timeline(self) -> Timeline:
        """Return when each event of the latest run retired."""
        watch = self._watch
        frames = tuple((frame.enter, frame.leave, frame.function) for frame in watch.frames)
        return Timeline(tuple(watch.pcs), tuple(stamp - watch.begun for stamp in watch.stamps), frames)

    def times(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Return for each instruction how often it ran in the latest run, and for how many seconds."""
        watch = self._watch
        count = len(self.executable.instructions)
        pcs = np.asarray(watch.pcs, dtype=np.int64)
        taken = np.diff(np.asarray(watch.stamps, dtype=np.int64), prepend=watch.begun) * 1e-9
        counts = np.bincount(pcs, minlength=count).astype(np.int64)
        return counts, np.bincount(pcs, taken, minlength=count).astype(np.float64)


def timeline(
    machine: TimedMachine, entry: str, args: tuple[Value, ...], is_cancelled: Callable[[], bool] = lambda: False
) -> tuple[Timeline, Diagnostic | None]:
    """Run the function `entry` once on compiled kernels and return when what retired, and what ended the run, if so."""
    ran = machine.run(entry, args)
    if ran.error is None and not is_cancelled():
        ran = machine.run(entry, args)
    return machine.timeline(), ran.error


def profile(
    machine: TimedMachine, entry: str, args: tuple[Value, ...], is_cancelled: Callable[[], bool] = lambda: False
) -> Profile:
    """Run the function `entry` several times on copies of `args` and measure each instruction."""
    # The first run compiles the kernels, and its times are of no interest unless it is the last one.
    ran = machine.run(entry, args)
    rounds: list[npt.NDArray[np.float64]] = []
    start = time.monotonic()
    while ran.error is None and not is_cancelled():
        if rounds and (len(rounds) == ROUNDS or time.monotonic() - start > _SECONDS):
            break
        ran = machine.run(entry, args)
        rounds.append(machine.times()[1])
    counts, latest = machine.times()
    if ran.error is not None or not rounds:
        return Profile(counts, latest, 1, ran.error)
    return Profile(counts, np.median(np.stack(rounds), axis=0), len(rounds))
