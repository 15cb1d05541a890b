"""The machine: it runs functions, chooses the tier that runs them, and says where a program failed."""

import time
from collections.abc import Callable, Mapping, Sequence
from inspect import currentframe
from typing import Final, Literal, NoReturn

from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import DiagnosedError, Diagnostic, RunError
from relax_core.jit.options import DEFAULT_OPTIONS, KernelOptions
from relax_core.vm.builtin.storage import POISON
from relax_core.vm.calls import CANCELLED, Calls
from relax_core.vm.changes.interventions import Intervention
from relax_core.vm.changes.replace import Replacement
from relax_core.vm.changes.skip import Skip
from relax_core.vm.context import fail
from relax_core.vm.external.host_results import HostResult, HostResults, has_objects
from relax_core.vm.external.packed import HOST, Registry
from relax_core.vm.external.stand_ins import StandIn, StandIns
from relax_core.vm.interpreter import Interpreter
from relax_core.vm.kernels import KernelEngine
from relax_core.vm.limits import Limits
from relax_core.vm.objects.convert import own_copies
from relax_core.vm.objects.values import (
    Closure,
    Value,
)
from relax_core.vm.recording.again import Again, PartRecorder, ReachedError
from relax_core.vm.recording.fork import Setting, StoppedFrame, fork, made_frame
from relax_core.vm.recording.locate import located, wrong_count
from relax_core.vm.recording.recorder import NO_WRITE, Recorder
from relax_core.vm.recording.trace import Intervened, Outcome, Trace
from relax_core.vm.recording.written import WrittenBytes
from relax_core.vm.running import Running
from relax_core.vm.stack import FROM_HOST, Frame, Opened
from relax_core.vm.tiers.generated_stack import Base
from relax_core.vm.tiers.tier import Tier

_LIMIT_CODES: Final = ("VM003", "VM004", "VM005", "VM006", "VM007", "VM008", "VM019")

_LONG: Final = 2_000
"""To write so many instructions as Python takes some 0.2 s, twenty times as long as to interpret each of them once."""

TierName = Literal["generated", "explicit"]


class Machine(Running):
    """Runs functions of one executable.

    With `record` the run's trace holds every event; without it only result, output and error. Code is generated for
    a function when it is first called, and kernels are compiled; both are kept between runs. The explicit tier
    interprets instead, with the same events; so does the first run of a long function of a program that runs nothing
    twice. `options` are those of the kernels if no `engine` is given. `on_output` is called with every line as it is
    printed. With `poisons_memory` the bytes of a tensor in a storage are `POISON` when it is made, whatever lay there;
    such a run is interpreted, and so is one with `stand_ins`, which answer for packed functions. Not to be used by two
    threads at once, but for `cancel`. `watched` runs the machine that makes a part of a recorded run again.
    """

    def __init__(
        self,
        executable: Executable,
        *,
        limits: Limits | None = None,
        record: bool = True,
        registry: Registry = HOST,
        engine: KernelEngine | None = None,
        on_output: Callable[[str], None] | None = None,
        tier: TierName = "generated",
        options: KernelOptions = DEFAULT_OPTIONS,
        poisons_memory: bool = False,
        stand_ins: Mapping[str, StandIn] | None = None,
    ) -> None:
        fill = POISON if poisons_memory else 0
        stands_in = StandIns(stand_ins) if stand_ins else None
        super().__init__(executable, limits or Limits(), registry, fill=fill, on_output=on_output, stand_ins=stands_in)
        self._is_recording = record
        self._part: PartRecorder | None = None
        self._past_results: tuple[HostResult, ...] = ()
        self.watched: Callable[[Machine, Callable[[], Trace]], Trace] = lambda _, run: run()
        self._stand_in_of = stand_ins
        self._options = options
        self._entries = {name: at for name, at in executable.index_of.items() if executable.functions[at].is_entry}
        self._param_counts = tuple(entry.param_count for entry in executable.functions)
        self._finds_unwritten = options.finds_uninitialised
        self._is_explicit = tier == "explicit" or poisons_memory or self._finds_unwritten or stands_in is not None
        self.calls = Calls(self, engine, options)
        self.interpreter = Interpreter(self, self.calls)
        self.watchdog = self.calls.watchdog
        self.is_unchanged = False
        self._tiers: dict[bool, Tier] = {}
        self._interpreted: set[int] = set()
        self._reset()

    def _tier(self) -> Tier:
        """Return the generated code for runs of this kind."""
        found = self._tiers.get(self._is_recording)
        if found is None:
            found = self._tiers[self._is_recording] = Tier(
                self, self.calls, self.interpreter, is_recording=self._is_recording
            )
        return found

    def _reset(self) -> None:
        """Reset for a run: only the deadline and the meter, if the latest run left nothing else."""
        self.deadline = time.monotonic() + self.limits.seconds
        self.meter.reset(is_over=self.is_cancelled)
        if self.stand_ins is not None:
            self.stand_ins.reset()
        if self.is_unchanged:
            self.is_unchanged = False
            self.written = WrittenBytes(self.executable, None) if self._finds_unwritten else None
            return
        self.interpreter.frames.clear()
        self.interpreter.redirect({})
        self.interventions: tuple[Intervened, ...] = ()
        self._recorded = self.executable
        self.calls.reset()
        recorder = (self._part or Recorder(self.limits.retained_bytes)) if self._is_recording else None
        self.host_results = HostResults(self._past_results) if self._is_recording else None
        written = WrittenBytes(self.executable, recorder) if self._finds_unwritten else None
        self.start_recording(recorder, written)
        self.tier = self._tier()
        self.tier.reset()
        self._nested_count = 0
        self._failure: tuple[Exception, tuple[int, int], Diagnostic] | None = None

    def run(self, entry: str, args: tuple[Value, ...] = ()) -> Trace:
        """Run the function `entry` on machine values; a failure is the trace's `error`, never an exception.

        A recording machine copies the tensors in `args`, so that the host cannot change the past.
        """
        self._reset()
        start = time.perf_counter()
        if not self._is_recording:
            return self._traced(lambda: self._run(entry, args), start)
        own = own_copies(args)
        if self._part is None and self.recorder is not None:
            self.recorder.keep_first(own)
        self._begin_part()
        trace = self._traced(lambda: self._run(entry, own), start)
        if not has_objects(own):
            self._can_be_made_again(
                trace, lambda machine: machine.run(entry, tuple(trace.as_it_was(item, 0) for item in own))
            )
        return trace

    def _begin_part(self) -> None:
        if self._part is not None:
            self._part.frames_of = lambda: self.interpreter.frames

    def _can_be_made_again(
        self, trace: Trace, begin: Callable[["Machine"], Trace], earlier: Trace | None = None, left: int = 0
    ) -> None:
        """Let values of a run be made again: from its start by `begin`, or within the `earlier` run that it left."""
        if self._part is not None:
            return

        def rerun(recorder: PartRecorder, start: Trace | None, at: int) -> Trace:
            machine = self._for_part(recorder, trace.host_results)
            return self.watched(machine, lambda: begin(machine) if start is None else machine.resume(start, at))

        trace.again = Again(trace, rerun, earlier, left)

    def _for_part(self, recorder: PartRecorder, host_results: tuple[HostResult, ...]) -> "Machine":
        """Return a machine that makes a part of a run again, whose packed functions gave these results."""
        made = Machine(
            self.executable,
            limits=self.limits,
            registry=self.registry,
            engine=self.calls.engine,
            tier="explicit",
            options=self._options,
            poisons_memory=bool(self._fill),
            stand_ins=self._stand_in_of,
        )
        made._part, made._past_results = recorder, host_results
        return made

    def _traced(self, run: Callable[[], Value], start: float) -> Trace:
        error: Diagnostic | None = None
        result: Value = None
        stop = (-1, -1)
        try:
            result = run()
        except DiagnosedError as failure:
            stop, error = self.note(failure)
        except ReachedError:
            pass
        is_limit = error is not None and error.code in _LIMIT_CODES
        outcome: Outcome = "limit" if is_limit else "error" if error else "returned"
        trace = Trace(
            self._recorded,
            self.recorder or Recorder(0),
            result=result,
            error=error,
            outcome=outcome,
            output=tuple(self.output),
            stop=stop,
            seconds=time.perf_counter() - start,
            written=self.written,
            stand_ins=tuple(self.stand_ins.calls) if self.stand_ins is not None else (),
            interventions=self.interventions,
        )
        trace.host_results = tuple(self.host_results.calls) if self.host_results is not None else ()
        return trace

    def resume(self, trace: Trace, at: int, changes: Sequence[Intervention] = ()) -> Trace:
        """Continue from time `at` of a recorded run, with `changes` made; `trace` stays as it was.

        The new run shares the log of the old one up to then. It is interpreted, with the same events. Values are set
        before a call is skipped. A machine for replaced functions has the executable of `executable_for`.

        Raises:
            RunError: VM050, the run cannot go on from there.
        """
        assert self._is_recording, "a run that goes on is recorded like the one before it"
        past = trace.near(at, None if self._part is None else self._part.first)
        self._reset()
        self.host_results = HostResults(self._past_results, [item for item in trace.host_results if item.event < at])
        recorder = self.recorder
        assert recorder is not None, "a recording machine has a recorder"
        if self.stand_ins is not None:
            self.stand_ins.reset(call for call in trace.stand_ins if call.event < at)
        start = time.perf_counter()
        self._recorded = trace.executable
        skips = tuple(item for item in changes if isinstance(item, Skip))
        replacements = tuple(item for item in changes if isinstance(item, Replacement))
        self.interventions = (*(item for item in trace.interventions if item.time < at), *replacements, *skips)
        active = [item for item in self.interventions if isinstance(item, Replacement)]
        self.interpreter.redirect({item.function: item.target for item in active})
        self.calls.definitions = {item.by: item.definition for item in active if item.definition is not None}
        stopped = fork(past, at, recorder, self.written)
        frames = [self._stopped(frame) for frame in stopped.frames]
        for change in changes:
            if isinstance(change, Setting):
                change.make(recorder, self.written, frames, at)
        for skip in skips:
            skip.make(recorder, self.written, frames)
        self.put_output(stopped.output)
        self._begin_part()
        found = self._traced(lambda: self._resume(frames), start)
        self._can_be_made_again(found, lambda machine: machine.resume(trace, at, changes), trace, at)
        return found

    def _stopped(self, frame: StoppedFrame) -> Frame:
        start = self.executable.functions[frame.function].start
        return made_frame(frame, self.interpreter.code(frame.function), start)

    def _resume(self, frames: list[Frame]) -> Value:
        try:
            self.watchdog.watch()
            return self.interpreter.resume(frames, 0)
        finally:
            self.watchdog.is_watching = False
            self.is_cancelled = False

    def call(self, entry: str, args: tuple[Value, ...] = ()) -> Value:
        """Run the function `entry` and return its result, without a trace.

        Raises:
            RunError: the program failed.
        """
        self._reset()
        try:
            return self._run(entry, args)
        except DiagnosedError as failure:
            raise RunError((self.note(failure)[1],)) from failure

    def _run(self, entry: str, args: tuple[Value, ...]) -> Value:
        watchdog = self.watchdog
        try:
            watchdog.watch()
            index = self._entries.get(entry)
            if index is None:
                self._no_entry(entry)
            is_first = self._is_first_of_long(index)
            value = self.interpreter.start(index, args, FROM_HOST) if is_first else self._start(index, args, FROM_HOST)
            # What a run records or prints must be reset before the next one.
            self.is_unchanged = not (self._is_recording or self.output)
            return value
        finally:
            watchdog.is_watching = False
            self.is_cancelled = False

    def _is_first_of_long(self, function: int) -> bool:
        """Tell whether a function is run for the first time that takes longer to write as Python than to interpret."""
        entry = self.executable.functions[function]
        is_long = entry.end - entry.start >= _LONG
        if not is_long or function in self._interpreted or not self.executable.runs_each_once:
            return False
        self._interpreted.add(function)
        return True

    def ended(self, failure: Exception, base: Base) -> Value:
        """Return the result of a call of generated code that ended by an error, if the explicit tier came to one.

        Raises:
            RunError: the program failed.
        """
        try:
            return self.tier.ended(failure, base)
        except DiagnosedError as reason:
            raise RunError((self.note(reason)[1],)) from reason

    def cancel(self) -> None:
        """Stop the run soon, or the next one if none is running; may be called from another thread."""
        self.is_cancelled = True
        self.calls.cancel()

    def call_closure(self, closure: Closure, args: tuple[Value, ...]) -> Value:
        """Call a closure that an earlier run returned; raises `RunError`. Nothing is recorded."""
        was_recording, self._is_recording = self._is_recording, False
        self._reset()
        try:
            self.calls.watchdog.watch()
            return self.invoke(closure, args)
        except DiagnosedError as failure:
            raise RunError((self.note(failure)[1],)) from failure
        finally:
            self.calls.watchdog.is_watching = False
            self._is_recording = was_recording
            self.tier = self._tier()

    @property
    def frames(self) -> list[Frame]:
        """The calls that have not returned, the oldest first."""
        return [*self.tier.stack.standing(currentframe()), *self.interpreter.frames]

    @property
    def here(self) -> Frame | None:
        """The call that is running, `None` if none is."""
        if self.interpreter.frames:
            return self.interpreter.frames[-1]
        return self.tier.stack.innermost(currentframe())

    @property
    def slot_origins(self) -> dict[int, str]:
        """For each set slot of the running function's shape heap, the words for what set it."""
        frames = self.interpreter.frames
        return frames[-1].slot_origins if frames else self.origins

    def settle(self) -> None:
        """Decode what generated code has logged."""
        self.tier.settle()

    def outstanding_bytes(self) -> int:
        """Return how much generated code may still allocate without being counted."""
        return self.tier.stack.outstanding_bytes(currentframe())

    def invoke(self, closure: Closure, args: tuple[Value, ...]) -> Value:
        """Call a closure from the host's side and wait for its result; its frames come on top of the stack."""
        args, function = (*args, *closure.captures), self.interpreter.target(closure.function)
        if self.executable.functions[function].kind != "vm":
            return self.calls.call(function, args)
        if self._nested_count >= self.limits.nested_runs:
            fail("VM019", f"packed functions and closures call each other {self._nested_count} deep")
        self._nested_count += 1
        try:
            with self.calls.interrupted():
                return self._start(function, args, self._opened_here())
        finally:
            self._nested_count -= 1

    def _opened_here(self) -> Opened:
        """Return the call that comes back from the running instruction.

        That is an event of its own each time that it calls back.
        """
        depth = self.interpreter.depth if self.interpreter.frames else self.generated_depth
        here = self.here if self.recorder is not None else None
        if self.recorder is None or here is None:
            return Opened(depth)
        event = len(self.recorder.pcs)
        self.recorder.record(here.absolute_pc, here.number, NO_WRITE)
        return Opened(depth, here.number, event)

    def _start(self, function: int, args: tuple[Value, ...], opened: Opened) -> Value:
        if self._is_explicit or self.interpreter.frames:
            return self.interpreter.start(function, args, opened)
        if len(args) != self._param_counts[function]:
            fail("VM010", wrong_count(self.executable.functions[function], args))
        return self.tier.start(function, args, opened)

    def _no_entry(self, name: str) -> NoReturn:
        functions = self.executable.functions
        names = tuple(functions[at].name for at in self._entries.values() if functions[at].kind == "vm")
        fail("VM009", f"there is no function `{name}` to run", f"functions that can run: {', '.join(names)}")

    def give_up(self, failure: DiagnosedError, latest: list[Frame]) -> NoReturn:
        """Raise `failure` of generated code, whose frames `latest` have ended; one that was cancelled says why."""
        try:
            if failure.diagnostics[0].code == CANCELLED:
                self.check_time(failure.diagnostics[0].span)
        except DiagnosedError as reason:
            self.note(reason, latest)
            raise
        self.note(failure, latest)
        raise failure

    def note(self, failure: DiagnosedError, latest: list[Frame] | None = None) -> tuple[tuple[int, int], Diagnostic]:
        """Return where the program stood when `failure` was raised, and the diagnostic with its place.

        The first who notes it knows: later the frames are gone. `latest` are frames of generated code that ended.
        """
        if self._failure is None or self._failure[0] is not failure:
            frames = [*self.tier.stack.standing(currentframe()), *(latest or ()), *self.interpreter.frames]
            stop = (frames[-1].number, frames[-1].absolute_pc) if frames else (-1, -1)
            self._failure = (failure, stop, located(self.executable, frames, failure.diagnostics[0]))
        return self._failure[1], self._failure[2]
