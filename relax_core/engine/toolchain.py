"""What a session needs beyond the texts of programs: their passes, bytecode, kernels and runs."""

from collections.abc import Callable, Iterator
from functools import partial

from relax_core.engine.answers import ANSWERS, PREPARATIONS
from relax_core.engine.debug import changed
from relax_core.engine.debug.request_context import Begun, RequestContext
from relax_core.engine.debug.requests import (
    BisectOf,
    Parcel,
)
from relax_core.engine.pipelines import pipeline, recorded
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.programs.pass_files import PassFiles
from relax_core.engine.protocol import (
    AnyRequest,
    Program,
    Report,
)
from relax_core.engine.recent import Recent
from relax_core.frontend.parse import Parsed
from relax_core.jit.compilation.compiler import local_compiler, served_compiler
from relax_core.jit.engine import Engine
from relax_core.jit.options import KernelOptions
from relax_core.vm.limits import Limits as RunLimits

_OPEN_PROGRAM_COUNT = 6
_RECORDING_COUNT = 1


class Toolchain:
    """Answers the requests that look at more of a program than its text.

    `parsed` reads a program's text; with the number of a socket, the process at its other end writes compiled kernels.
    """

    def __init__(
        self,
        limits: RunLimits,
        is_cancelled: Callable[[], bool],
        parsed: Callable[[Program], Parsed],
        compile_descriptor: int | None,
    ) -> None:
        self._limits = limits
        self._is_cancelled = is_cancelled
        self._parsed = parsed
        self._compiler = local_compiler() if compile_descriptor is None else served_compiler(compile_descriptor)
        self._engines: dict[KernelOptions, Engine] = {}
        self._open_programs: Recent[Program, OpenProgram] = Recent(_OPEN_PROGRAM_COUNT)
        self._recordings: Recent[Parcel, pipeline.Pipeline] = Recent(_RECORDING_COUNT)
        self._begun: dict[BisectOf, Begun] = {}
        self._running: OpenProgram | None = None
        self._pass_files = PassFiles()

    def cancel(self) -> None:
        """Stop the machine and the kernels that run."""
        opened = self._running
        machine = opened.runs.machine if opened is not None else None
        if machine is not None:
            machine.cancel()
        for engine in tuple(self._engines.values()):
            engine.cancel()

    def hold(self, opened: OpenProgram) -> None:
        """Keep a program with what the host has computed of it."""
        # The first request would find the files new, and drop what is kept.
        self._pass_files.refresh()
        self._open_programs.remembered(opened.source.program, lambda: opened)

    def answer(self, message: AnyRequest, report: Report) -> object:
        """Answer a request.

        Raises:
            DiagnosedError: the program cannot be read, compiled or run as far as the answer needs.
        """
        if self._pass_files.refresh():
            self._open_programs.clear()
        return ANSWERS[type(message)](message, self._context(report))

    def preparation(self, message: AnyRequest) -> Iterator[None]:
        """Make in parts what is likely to be asked for behind a request that was answered."""
        make = PREPARATIONS.get(type(message))
        return iter(()) if make is None else make(message, self._context(lambda _: None))

    def _context(self, report: Report) -> RequestContext:
        return RequestContext(
            report,
            self._is_cancelled,
            self._limits,
            self._engine_of,
            partial(self._engine_of, is_brief=True),
            self._open_program,
            self._open_recording,
            self._begun,
        )

    def _engine_of(self, opened: OpenProgram, *, is_brief: bool = False) -> Engine:
        program = opened.source.program
        found = program.finds_uninitialised
        options = KernelOptions(mode=program.mode, finds_uninitialised=found, is_brief=is_brief)
        if options not in self._engines:
            stop, compiler = self._is_cancelled, self._compiler
            self._engines[options] = Engine(is_cancelled=stop, options=options, compiler=compiler)
        return self._engines[options]

    def _open_program(self, program: Program) -> OpenProgram:
        """Return `program` as it runs without changes, kept while it is among the latest ones."""
        program = changed.unchanged(program)
        known = self._open_programs
        self._running = known.remembered(program, lambda: OpenProgram(program, self._parsed(program), known.values))
        return self._running

    def _open_recording(self, parcel: Parcel) -> "pipeline.Pipeline":
        """Return the pipeline of a parcel, whose texts are parsed once while it is the latest one."""
        return self._recordings.remembered(parcel, lambda: recorded.opened(parcel))
