"""What a notebook shows: a program with what the host computed of it, and the session that answers about it."""

from dataclasses import dataclass
from typing import Final, Literal

from relax_core.engine.programs.module_text import source_of
from relax_core.engine.programs.program import Program
from relax_core.engine.protocol import ReportOf
from relax_core.engine.replies import ReportPart
from relax_core.engine.session import Session
from relax_core.ir.module import IRModule

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
