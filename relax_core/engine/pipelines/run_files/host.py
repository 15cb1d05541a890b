"""The public functions that record a run of a module and open one from a file, in this process."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from relax_core.diagnostics import Diagnostic
from relax_core.engine.inputs import members_of, write_members
from relax_core.engine.pipelines.entries import file_entry
from relax_core.engine.pipelines.recognize import ARCHIVE_LIMIT_BYTES
from relax_core.engine.pipelines.run_files import reading, writing
from relax_core.engine.programs.module_text import source_of
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.programs.prim_entry import called, chosen
from relax_core.engine.programs.program import Program, StandInFor
from relax_core.engine.session import Session
from relax_core.frontend.parse import parse_text
from relax_core.ir.module import IRModule
from relax_core.present.running.run import present_run
from relax_core.present.running.run_models import Run
from relax_core.vm.external.stand_ins import StandIn, how_of
from relax_core.vm.machine import Machine
from relax_core.vm.recording.trace import Trace
from relax_core.vm.virtual_machine import entry_arguments

PathLike: TypeAlias = str | os.PathLike[str]


@dataclass(frozen=True, slots=True, eq=False)
class RunRecording:
    """A run of this machine with all its events, as it was recorded.

    `trace` answers for any time: `frames_at`, `registers_at`, `value_at`. `len(recording)` is the number of events.
    """

    program: Program
    trace: Trace
    _opened: OpenProgram

    def __len__(self) -> int:
        return len(self.trace)

    @property
    def result(self) -> Any:
        """What the run returned, as the machine has it; `None` if it failed."""
        return self.trace.result

    @property
    def output(self) -> tuple[str, ...]:
        """The lines that it printed."""
        return tuple(line.text for line in self.trace.output)

    @property
    def error(self) -> Diagnostic | None:
        """What ended it, if it did not return."""
        return self.trace.error

    def window(self, event: int = 0) -> Run:
        """Return what the Run page shows of the run around an event."""
        return present_run(self._opened.recording(self.trace), event)

    def session(self) -> Session:
        """Return a session that answers about `program` what pages ask, and holds this run in place of running it."""
        self._opened.runs.take(self.trace)
        session = Session()
        session.hold(self._opened)
        return session

    def to_bytes(self) -> bytes:
        """Return the run as the bytes of an `.rxt` file."""
        if self.program.run_file:
            return self.program.run_file
        return writing.write_run(self.trace, self.program, self._opened.source.parsed.source)

    def write(self, path: PathLike) -> None:
        """Write the run as a file, which `open_run`, the command line and the app open."""
        Path(path).write_bytes(self.to_bytes())


def record_run(
    module: IRModule,
    *args: Any,
    entry: str = "main",
    passes: str | Sequence[str] | None = None,
    stand_ins: Mapping[str, StandIn] | None = None,
) -> RunRecording:
    """Run a function of a module as `run` does, and keep every event.

    The file that is written of it holds the text of the module, so that passes are given by their names. A run that
    fails is recorded up to there.

    Raises:
        CompileError: the module has errors.
        RunError: an argument has no counterpart in the machine.
    """
    source = source_of(module)
    members = {
        key: np.asarray(value) for at, arg in enumerate(args) for key, value in members_of(f"in_{at}", arg).items()
    }
    program = Program(
        source.text,
        source.name,
        pipeline=passes if passes is None or isinstance(passes, str) else ", ".join(passes),
        entry=chosen(module, entry),
        inputs=write_members(members) if members else None,
        stand_ins=tuple(StandInFor(key, how_of(item)) for key, item in (stand_ins or {}).items()),
    )
    opened = _opened(program)
    executable = opened.compilation.executable(lambda _: None, lambda: False)
    machine = Machine(executable, stand_ins=stand_ins)
    entry = called(module, entry)
    return RunRecording(program, machine.run(entry, entry_arguments(executable, entry, args)), opened)


def open_run(path: PathLike) -> RunRecording:
    """Open a run that was written to a file. Its program is compiled and not run.

    Raises:
        CompileError: PL001 to PL005: it cannot be read; PL016: it holds no run; PL017: its program is compiled to other
            instructions here.
    """
    entry = file_entry(os.fspath(path))
    program = reading.program_of_file(entry.name, entry.read(ARCHIVE_LIMIT_BYTES))
    opened = _opened(program)
    executable = opened.compilation.executable(lambda _: None, lambda: False)
    return RunRecording(program, opened.runs.recorded(executable), opened)


def _opened(program: Program) -> OpenProgram:
    return OpenProgram(program, parse_text(program.text, program.name))
