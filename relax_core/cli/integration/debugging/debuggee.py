"""The program that is debugged: its recorded run, and the time at which it stands."""

import os
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Final

import msgspec

from relax_core.cli import opening
from relax_core.cli.changes import is_skip, replace_setting, skip_setting, with_settings
from relax_core.cli.integration.debugging.asking import Asking, RequestError, answered
from relax_core.cli.integration.debugging.messages import LaunchArguments, Source
from relax_core.cli.terminal import UsageError, read_bytes, with_rules
from relax_core.engine.debug.requests import FrameOf, PartsOf, StackOf, Step, StepOf
from relax_core.engine.programs.program import ChangeAt
from relax_core.engine.protocol import CallAtOf, Program, RunOf
from relax_core.present.running.moment_models import FrameView, Parts, Stack
from relax_core.present.running.run_models import InstructionLine, OutputLine

_TEXT_REFERENCE: Final = 1
"""Under which an editor asks for a text that is in no file of its own."""
_FEW: Final = 1_000


class Debuggee:
    """A recorded run, which one goes through forwards and backwards; what the host changes makes it another run."""

    def __init__(self, asking: Asking, launch: LaunchArguments, first_line: int) -> None:
        """Read and record; `first_line` is the number that the editor gives to the first line of a text.

        Raises:
            RequestError: the program cannot be read, or has errors.
        """
        self._asking = asking
        self._first_line = first_line
        self.program = _changed(asking, _program(launch), launch)
        path = os.path.abspath(launch.program)
        self.path = path if _holds(path, self.program.text) else ""
        self.time = 0
        self.run = asking.ask_long(RunOf(self.program), "Recording the run")
        stack = self.stack(0, _FEW)
        self.entry = stack.frames[-1].function if stack.frames else self.program.entry or "main"
        rows = self.run.instructions
        self.instructions: Mapping[int, InstructionLine] = {item.pc: item for item in rows if item.pc >= 0}
        """By program counter."""
        self.symbols = {row.pc: head.text.strip("@:") for head, row in pairwise(rows) if head.pc < 0 <= row.pc}
        """The functions, by their first instructions."""
        self.lines = tuple(sorted({item.line for item in rows if item.line}))
        """Where the run can stop."""

    @property
    def source(self) -> Source:
        """Where an editor finds the text."""
        name = os.path.basename(self.program.name)
        return Source(name, self.path) if self.path else Source(name, source_reference=_TEXT_REFERENCE)

    def is_source(self, source: Source) -> bool:
        """Tell whether an editor means the text of this program."""
        if source.source_reference:
            return source.source_reference == _TEXT_REFERENCE and not self.path
        return bool(self.path and source.path) and os.path.realpath(source.path or "") == os.path.realpath(self.path)

    @property
    def exit_code(self) -> int:
        """The status with which the command line ends for such a run."""
        return {"returned": 0, "error": 1, "limit": 3}[self.run.outcome]

    @property
    def is_at_end(self) -> bool:
        """Tell whether nothing is left to run."""
        return self.time == self.run.total

    def shown_line(self, line: int) -> int:
        """Return the number that the editor gives to a line; what is on no line is at 0 for both."""
        return line - 1 + self._first_line if line else 0

    def own_line(self, line: int) -> int:
        """Return the number of a line that the editor names."""
        return line + 1 - self._first_line

    def code_line(self, line: int) -> int:
        """Return the first line from `line` on at which the run can stop; 0 if there is none."""
        place = bisect_left(self.lines, line)
        return self.lines[place] if place < len(self.lines) else 0

    def stack(self, first: int, limit: int) -> Stack:
        """Return frames of the stack, the one that runs first."""
        return self._asking.ask(StackOf(self.program, self.time, first, limit))

    def running_depth(self) -> int:
        """Return the depth of the frame that runs.

        Raises:
            RequestError: none does.
        """
        frames = self.stack(0, 1).frames
        if not frames:
            raise RequestError("the program has ended: step back to look at values")
        return frames[0].depth

    def frame(self, depth: int) -> FrameView:
        """Return what a frame holds."""
        return self._asking.ask(FrameOf(self.program, self.time, depth))

    def parts(self, depth: int, expression: str, path: tuple[int, ...] = (), part: range = range(0)) -> Parts:
        """Evaluate an expression in a frame, or a part of it, with parts of its own."""
        message = PartsOf(self.program, self.time, depth, expression, path, part.start, len(part))
        return self._asking.ask(message)

    def after_step(self, step: Step, *, is_by_instruction: bool) -> int:
        """Return where a step leads."""
        by = "instruction" if is_by_instruction else "binding"
        return self._asking.ask(StepOf(self.program, self.time, step, by)).time

    def change(self, depth: int, text: str) -> None:
        """Change something and record how the run goes on; a change at a later time than this belonged to another run.

        The call that is skipped is the next one in the binding, before which the program stands then.

        Raises:
            RequestError: the change does not fit; the run stays as it was.
        """
        time = self._asking.ask(CallAtOf(self.program, self.time)).time if is_skip(text) else self.time
        before = tuple(item for item in self.program.changes if item.time <= time)
        program = msgspec.structs.replace(self.program, changes=(*before, ChangeAt(time, text, depth)))
        self.run = self._asking.ask_long(RunOf(program, time), "Running on otherwise")
        self.program, self.time = program, time

    def printed(self, start: int, stop: int) -> tuple[OutputLine, ...]:
        """Return what the program prints while it goes from one time to a later one."""
        lines = self.run.output
        first = bisect_right(lines, start, key=lambda item: item.time)
        return lines[first : bisect_right(lines, stop, key=lambda item: item.time)]


def _program(launch: LaunchArguments) -> Program:
    try:
        program = opening.program_at(
            launch.program,
            pipeline=launch.passes,
            entry=launch.entry,
            table=launch.table,
            archive=launch.constants,
        )
        if program.run_file:
            return program
        if launch.inputs is not None and launch.sizes:
            raise UsageError("sizes and inputs do not go together: the sizes are those of the archive")
        return msgspec.structs.replace(
            with_rules(program, launch.rules),
            seed=launch.seed,
            sizes=tuple(launch.sizes.items()),
            inputs=read_bytes(launch.inputs) if launch.inputs is not None else None,
        )
    except UsageError as error:
        raise RequestError(str(error)) from None


def _changed(asking: Asking, program: Program, launch: LaunchArguments) -> Program:
    settings = (*map(skip_setting, launch.skip), *map(replace_setting, launch.replace))
    try:
        return answered(with_settings(asking, program, settings))
    except UsageError as error:
        raise RequestError(str(error)) from None


def _holds(path: str, text: str) -> bool:
    """Tell whether a file holds just this text, so that an editor shows it itself."""
    try:
        return Path(path).read_bytes() == text.encode()
    except OSError:
        return False
