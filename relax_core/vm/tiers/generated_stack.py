"""Where generated code stands, and how its frames go on in the explicit tier: deoptimisation."""

from dataclasses import dataclass
from inspect import currentframe
from types import FrameType
from typing import Final, NoReturn

import numpy as np

from relax_core.diagnostics import DiagnosedError, Diagnostic, RunError
from relax_core.vm.interpreter import Interpreter
from relax_core.vm.meter import SMALL_BYTES
from relax_core.vm.objects.values import Value, no_memory
from relax_core.vm.recording.liveness import written
from relax_core.vm.running import Running
from relax_core.vm.stack import Frame
from relax_core.vm.tiers.frames import FrameFinder, GeneratedFrame
from relax_core.vm.tiers.log import RawLog

NO_NUMBER: Final = -1


class Deoptimised(Exception):
    """Unwinds generated frames that were deoptimised: the explicit tier has run the call to its end, with `value`."""

    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


@dataclass(slots=True)
class Base:
    """An entry into generated code from the host or another tier.

    `depth` counts the calls of the program below it, `floor` the open frames of the log below it. Once it
    `is_deoptimised`, its generated frames are stale: the explicit tier has their state.
    """

    depth: int
    floor: int
    is_deoptimised: bool = False


class GeneratedStack:
    """The entries into generated code that have not returned, with the frames above each, and the log of the run.

    `bases` are the entries, the oldest first; generated frames are found on Python's own stack.
    """

    def __init__(self, machine: Running, interpreter: Interpreter, finder: FrameFinder) -> None:
        self._machine = machine
        self._interpreter = interpreter
        self._finder = finder
        self.bases: list[Base] = []
        self.log: RawLog | None = None

    def is_called(self) -> bool:
        """Tell whether the caller is generated code."""
        return bool(self._finder.below(currentframe())[0])

    def outstanding_bytes(self, frame: FrameType | None) -> int:
        """Return how many bytes the generated frames from `frame` outwards have charged and not surely allocated."""
        total = 0
        while frame is not None and self.bases:
            generated = self._finder.generated(frame)
            if generated is not None:
                count, size_bytes = GeneratedFrame(generated, frame.f_lineno, frame).charged_ahead
                total += count * SMALL_BYTES + size_bytes
            frame = frame.f_back
        return total

    def deoptimise(self) -> NoReturn:
        """Deoptimise the running frames: the explicit tier stops at the exact instruction where a limit is reached.

        Raises:
            Deoptimised: always, unless the explicit tier raises the diagnostic of the limit.
        """
        stale, _ = self._finder.below(currentframe())
        self._machine.meter.give_back(sum(frame.charged_ahead[0] for frame in stale))
        raise Deoptimised(self._resume(stale, self.bases[-1]))

    def _resume(self, stale: list[GeneratedFrame], base: Base, *, from_start: bool = False) -> Value:
        """Continue generated frames on the explicit tier; with `from_start` the innermost one from its beginning."""
        frames: list[Frame] = []
        numbers = self._open_numbers(stale, base)
        logged = [item.heap for item in self.log.open[base.floor :]] if self.log is not None else [None] * len(stale)
        for generated, number, heap in zip(stale, numbers, logged, strict=True):
            frame = generated.explicit(number, self._interpreter.code(generated.generated.index), heap)
            frame.dst = self._destination(frames[-1]) if frames else NO_NUMBER
            frames.append(frame)
        if from_start:
            frames[-1].pc = 0
        base.is_deoptimised = True
        if self.log is not None:
            del self.log.open[base.floor :]
        return self._interpreter.resume(frames, base.depth)

    def _destination(self, caller: Frame) -> int:
        index = written(self._machine.executable.instructions[caller.absolute_pc])
        return -1 if index is None else index

    def _open_numbers(self, stale: list[GeneratedFrame], base: Base) -> list[int]:
        """Complete the log up to the last retired instruction, and return the frames' numbers in it."""
        log = self.log
        if log is None:
            return [NO_NUMBER] * len(stale)
        innermost = stale[-1]
        if innermost.has_settled:
            log.settle()
        else:
            unlogged = innermost.unlogged()
            made = innermost.generated.text.made_by.get(innermost.pc)
            if made is not None:
                # The kernel allocates its own output, which is lost when it fails: no register ever held it, so that
                # zeros in its place cannot be told from what the kernel wrote.
                unlogged[made[0]] = np.zeros(made[1].shape, made[1].dtype)
            log.settle_until(innermost.pc + innermost.generated.entry.start, unlogged)
        if not innermost.is_entered:
            log.enter(innermost.generated.index, innermost.params())
        return [item.number for item in log.open[base.floor :]]

    def failed(self, failure: DiagnosedError | MemoryError, base: Base) -> Value:
        """Report `failure` with the program's stack.

        If the check of a parameter was left to a kernel that may be the one that failed, an earlier instruction has to
        raise: the function starts again on the explicit tier, whose checks come first. That is sound, for until that
        kernel the function has only checked and allocated, and its parameters are still in registers (`checks.py`).
        """
        stale = [] if base.is_deoptimised else self._finder.failed(failure.__traceback__)
        if stale and stale[-1].has_open_checks and not isinstance(failure, MemoryError):
            self._machine.meter.give_back(stale[-1].pc + 1 + sum(frame.charged_ahead[0] for frame in stale))
            return self._resume(stale, base, from_start=True)
        frames: list[Frame] = []
        if stale:
            numbers = self._open_numbers(stale, base)
            frames = [frame.standing(number) for frame, number in zip(stale, numbers, strict=True)]
            if self.log is not None:
                del self.log.open[base.floor :]
        if isinstance(failure, MemoryError):
            failure = self._no_memory(stale)
        self._machine.give_up(failure, frames)

    def _no_memory(self, stale: list[GeneratedFrame]) -> DiagnosedError:
        """Return the diagnostic that names the tensor for which the host has no memory."""
        innermost = stale[-1] if stale else None
        made = innermost.generated.text.made_by.get(innermost.pc) if innermost is not None else None
        words = no_memory(made[1].shape, made[1].dtype) if made is not None else "there is no memory for a tensor"
        return RunError((Diagnostic("VM006", words),))

    def standing(self, frame: FrameType | None) -> list[Frame]:
        """Return the frames of generated code from `frame` outwards over all entries, oldest first, to be looked at."""
        found: list[Frame] = []
        bases = self.bases[::-1]
        numbers = [item.number for item in self.log.open] if self.log is not None else []
        while frame is not None and bases:
            frames, frame = self._finder.below(frame)
            if frame is not None and frame.f_locals["bases"] is self.bases:
                base = bases.pop(0)
                own = [*numbers[base.floor :], *(NO_NUMBER,) * len(frames)]
                if not base.is_deoptimised:
                    found = [*(item.standing(number) for item, number in zip(frames, own, strict=False)), *found]
            frame = frame.f_back if frame is not None else None
        return found

    def innermost(self, frame: FrameType | None) -> Frame | None:
        """Return the innermost frame of generated code from `frame` outwards, to be looked at."""
        found = self._finder.innermost(frame) if self.bases else None
        number = self.log.open[-1].number if self.log is not None and self.log.open else NO_NUMBER
        return found.standing(number) if found is not None else None
