"""The runs of a program on its inputs: the recorded one is kept, and a cancellation reaches the one that runs."""

from collections.abc import Callable
from typing import TypeVar

import msgspec

from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import Diagnostic, RunError
from relax_core.engine.pipelines.run_files import reading
from relax_core.engine.programs.compilation import Compilation
from relax_core.engine.programs.program import ChangeAt
from relax_core.engine.protocol import Progress, Report
from relax_core.jit.engine import Engine
from relax_core.vm.limits import Limits as RunLimits
from relax_core.vm.machine import Machine
from relax_core.vm.objects.values import Value
from relax_core.vm.recording.trace import Trace
from relax_core.vm.virtual_machine import entry_arguments

T = TypeVar("T")


class Runs:
    """The runs of one compiled program; `changed_run` is the latest one that went on with other values."""

    def __init__(self, compilation: Compilation) -> None:
        self.compilation = compilation
        self.machine: Machine | None = None
        self.changed_run: tuple[tuple[ChangeAt, ...], Trace] | None = None
        self._trace: Trace | None = None

    def run(
        self,
        report: Report,
        is_cancelled: Callable[[], bool],
        limits: RunLimits,
        engine: Engine,
        *,
        records: bool = True,
    ) -> Trace:
        """Run the entry function on the program's inputs; a program that comes with a recorded run is not run.

        Raises:
            DiagnosedError: the program or its inputs have errors, or the recorded run is that of another program.
        """
        if self._trace is not None and (records or self.is_recorded):
            return self._trace
        executable = self.compilation.executable(report, is_cancelled)
        if self.is_recorded:
            self._trace = self.recorded(executable)
            return self._trace
        name, args = self.compilation.source.call()
        report(Progress(f"Running `{name}`"))
        source = self.compilation.source
        machine = Machine(
            executable,
            limits=limits,
            record=records,
            engine=engine,
            options=engine.options,
            poisons_memory=source.program.poisons_memory,
            stand_ins=source.stand_ins,
        )
        trace = self.run_machine(machine, name, entry_arguments(executable, name, args), is_cancelled)
        if is_cancelled() and trace.error is not None:
            raise RunError((trace.error,))
        if records:
            self._trace = trace
        return trace

    def take(self, trace: Trace) -> None:
        """Take over a run of the program that the host made, in place of running it."""
        self._trace = trace

    @property
    def is_recorded(self) -> bool:
        """Tell whether the run comes from a file."""
        return bool(self.compilation.source.program.run_file)

    def require_machine(self, what: str) -> None:
        """Refuse what would run a program that is only shown as it was recorded.

        Raises:
            RunError: PL018, its run comes from a file.
        """
        if self.is_recorded:
            hint = "open the program itself, and run it"
            raise RunError((Diagnostic("PL018", f"{what}: this run comes from a file, and is not run", hint=hint),))

    def recorded(self, executable: Executable) -> Trace:
        """Return the run that the program comes with.

        Raises:
            DiagnosedError: it cannot be read, or is that of another program.
        """
        source = self.compilation.source
        program = source.program
        file = reading.read_run_file("the recorded run", program.run_file)
        if msgspec.structs.replace(program, run_file=b"") != msgspec.structs.replace(file.program, changes=()):
            words = "the recorded run is one of another program, or of this one with other inputs or options"
            raise RunError((Diagnostic("PL018", words, hint="open the file without options of a run"),))
        return reading.trace_of_file(file, executable, source.parsed.source)

    def run_machine(
        self, machine: Machine, entry: str, args: tuple[Value, ...], is_cancelled: Callable[[], bool]
    ) -> Trace:
        """Run a machine that a cancellation reaches."""
        return self.watched(machine, lambda: machine.run(entry, args), is_cancelled)

    def watched(self, machine: Machine, run: Callable[[], T], is_cancelled: Callable[[], bool]) -> T:
        """Carry out `run`, in which a machine runs that a cancellation reaches, as do those that make parts again."""
        self.machine = machine
        # A part of the run may be made again by a later request, which can be cancelled as well.
        machine.watched = lambda again, make: self.watched(again, make, is_cancelled)
        if is_cancelled():
            machine.cancel()
        try:
            return run()
        finally:
            self.machine = None
