"""What a property is asked of: an opened program, the stage and time that are meant, and how to refuse."""

from dataclasses import dataclass
from typing import NoReturn

from relax_core.diagnostics import CompileError, Diagnostic, plural
from relax_core.engine.debug import changed
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.protocol import PropertiesOf
from relax_core.ir.module import IRModule
from relax_core.passes.core import Stage
from relax_core.vm.recording.trace import Trace


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A program and the words behind a measure: `at` is `after FuseOps`, `before FuseOps`, `at the end` or empty."""

    message: PropertiesOf
    opened: OpenProgram
    context: RequestContext
    at: str = ""

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages of the pipeline; a pass that fails is the last one."""
        return self.opened.compilation.stages(self.context.report, self.context.is_cancelled)

    @property
    def stage(self) -> int:
        """The number of the stage that is meant: 0, the source, unless the property says another one."""
        word, _, name = self.at.partition(" ")
        match word:
            case "":
                return 0
            case "now":
                return self.shown_stage
            case "at":
                return len(self.stages)
            case _:
                found = stage_named(self.stages, name)
                return found if word == "after" else found - 1

    @property
    def shown_stage(self) -> int:
        """The number of the stage on the screen; as the Passes page chooses, the last one unless one was picked."""
        return len(self.stages) if self.message.stage < 0 else min(self.message.stage, len(self.stages))

    @property
    def module(self) -> IRModule:
        """The module at the stage that is meant."""
        number = self.stage
        if number == 0:
            self.opened.source.require_sound(reads_data=False)
        return self.opened.compilation.module_at(number)

    @property
    def trace(self) -> Trace:
        """The run of the program."""
        return changed.trace_of(self.opened, self.message.program.changes, self.context)

    @property
    def time(self) -> int:
        """The time on the screen, the end of the run unless one was chosen."""
        return min(self.message.time, len(self.trace)) if self.message.time >= 0 else len(self.trace)


def stage_named(stages: tuple[Stage, ...], name: str) -> int:
    """Return the number of a pass of the pipeline, by its name: `FuseOps`, the second one `FuseOps#2`.

    Raises:
        CompileError: EN031, there is no such pass.
    """
    name, _, which = name.partition("#")
    numbers = [number for number, stage in enumerate(stages, 1) if stage.pass_name == name]
    wanted = int(which) - 1 if which.isdecimal() else 0
    if not 0 <= wanted < len(numbers):
        names = ", ".join(dict.fromkeys(stage.pass_name for stage in stages))
        refuse(f"the pipeline runs `{name}` {plural(len(numbers), 'time')}", f"it has {names}" if names else "")
    return numbers[wanted]


def refuse(message: str, hint: str = "") -> NoReturn:
    """Say that a property has no value here.

    Raises:
        CompileError: EN031.
    """
    raise CompileError((Diagnostic("EN031", message, hint=hint),))
