"""What a notebook shows: a program with what the host computed of it, and the session that answers about it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from relax_core.engine.pipelines.run_files.host import RunRecording
from relax_core.engine.programs.module_text import source_of
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.programs.program import Program
from relax_core.engine.protocol import ReportOf
from relax_core.engine.replies import ReportPart
from relax_core.engine.session import Session
from relax_core.frontend.parse import Parsed, parse_text
from relax_core.ir.module import IRModule
from relax_core.passes.core import Stage
from relax_core.passes.options import options_text
from relax_core.vm.recording.trace import Trace

Kind = Literal["module", "stages", "run"]

_PARTS: Final[tuple[tuple[Kind, tuple[ReportPart, ...]], ...]] = (
    ("module", ("source",)),
    ("stages", ("source", "passes")),
    ("run", ("source", "run")),
)


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """A program of which the source, the stages or the run is shown; `session` answers about it."""

    kind: Kind
    program: Program
    session: Session

    @property
    def text(self) -> str:
        """What is shown where there is room for text alone: that of the module."""
        return self.program.text

    def page(self, limit_bytes: int) -> str:
        """Return a page of HTML that shows it without a kernel, and says what it leaves out.

        Raises:
            CompileError: it cannot be written.
        """
        command = f"rc.show({self.kind})"
        message = ReportOf(self.program, parts=dict(_PARTS)[self.kind], command=command, limit_bytes=limit_bytes)
        return self.session.asked(message).html


def of_module(module: IRModule) -> Subject:
    """Return a module as what is shown."""
    source = source_of(module)
    return Subject("module", Program(source.text, source.name), Session())


def of_stages(stages: Sequence[Stage]) -> Subject:
    """Return the stages that passes made, as they are: passes of the host's own are not run again.

    Raises:
        ValueError: there are none.
    """
    if not stages:
        raise ValueError("there are no stages to show")
    module = stages[0].before
    source = source_of(module)
    names = ", ".join(stage.pass_name + options_text(stage.options) for stage in stages)
    opened = OpenProgram(Program(source.text, source.name, pipeline=names), Parsed((module,), (), source))
    opened.compilation.take(tuple(stages))
    return _held("stages", opened)


def of_run(recording: RunRecording) -> Subject:
    """Return a run that was recorded, or opened from a file."""
    return Subject("run", recording.program, recording.session())


def of_trace(trace: Trace) -> Subject:
    """Return the events of a run; what the text of its module is, its functions tell."""
    executable = trace.executable
    spans = (executable.log.locate(definition.function) for definition in executable.module)
    source = next((span.source for span in spans if span is not None), None) or source_of(executable.module)
    opened = OpenProgram(Program(source.text, source.name), parse_text(source.text, source.name))
    opened.runs.take(trace)
    return _held("run", opened)


def _held(kind: Kind, opened: OpenProgram) -> Subject:
    session = Session()
    session.hold(opened)
    return Subject(kind, opened.source.program, session)
