"""A run in a notebook: the browser makes the steps, the kernel gives what lies beyond the window that it has."""

import base64
import binascii
from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from relax_core.engine.components.stepper import (
    ChangeFault,
    StepperAction,
    StepperProps,
    TensorAsked,
    logged,
    tensor_shown,
    watched,
)
from relax_core.engine.debug.requests import MemoryOf
from relax_core.engine.documents.meanings import explanations
from relax_core.engine.notebook.screen import Part, PartName
from relax_core.engine.notebook.subject import Subject
from relax_core.engine.programs.program import ChangeAt, Program
from relax_core.engine.protocol import Failure, HitsOf, RunOf, StopOf
from relax_core.present.running.memory_models import MemoryView
from relax_core.present.running.run_models import Breakpoint, PointHits, Run

_HEIGHT: Final = "640px"
_TABS: Final = (("source", "Source"), ("memory", "Memory"), ("tensor", "Tensor"))
_FIXED: Final = "This run comes from a file: open the program itself to change its values."


class RunScreen:
    """A recorded run at a time, with its breakpoints, watched expressions and changed values."""

    def __init__(self, subject: Subject) -> None:
        self.note = ""
        self._subject = subject
        self._program: Program = subject.program
        self._run = subject.session.asked(RunOf(subject.program))
        self._at = 0
        self._by: Literal["binding", "instruction"] = "binding"
        self._points: tuple[Breakpoint, ...] = ()
        self._tab = _TABS[0][0]
        self._tensor: TensorAsked | None = None
        self._watches: tuple[str, ...] = ()
        self._fault: ChangeFault | None = None

    def parts(self) -> Mapping[PartName, Part]:
        """Return the stepper."""
        request, tensor = self._subject.session.request, self._tensor if self._tab == "tensor" else None
        props = StepperProps(
            tabs=_TABS,
            tab=self._tab,
            height=_HEIGHT,
            hits=self._hits(),
            fault=self._fault,
            fixed=_FIXED if self._program.run_file else "",
            memory=self._memory(),
            tensor=None if tensor is None else tensor_shown(request, self._program, tensor, self._at),
            watched=watched(request, self._program, self._watches, self._at),
            logs=logged(request, self._program, self._points),
            until=-1,
        )
        # Into a kernel the app leads; here it is stepped over, like any other call of the runtime.
        run = msgspec.structs.replace(self._run, kernel_pcs=())
        return {"stepper": Part(run, props, {"at": self._at, "by": self._by, "breakpoints": self._points})}

    def act(self, part: PartName, action: Mapping[str, object]) -> None:
        """Take where the user is, and what they ask for."""
        done = msgspec.convert(dict(action), StepperAction)
        self._at, self._by, self._points, self._fault = done.at, done.by, done.breakpoints, None
        match done.kind:
            case "need":
                self._go(done)
            case "tab" if done.command in dict(_TABS):
                self._tab = done.command
            case "change":
                self._change(done)
            case "watch":
                self._watches = tuple(dict.fromkeys(name.strip() for name in done.names if name.strip()))
            case "tensor" if done.tensor is not None:
                self._tab, self._tensor = "tensor", done.tensor
            case "explain":
                self.note = f"{done.text}\n\n{explanations(*done.names).to_text()}"
            case _:
                pass

    def _go(self, done: StepperAction) -> None:
        """Go to a time beyond the window: the one that is named, or that of the next breakpoint."""
        self._at = done.to
        if done.command in ("continue", "continue_back"):
            is_back = done.command == "continue_back"
            self._at = self._subject.session.asked(StopOf(self._program, done.to, done.breakpoints, is_back)).time
        first = self._run.first_event
        if not first <= self._at <= first + len(self._run.events):
            self._run = self._subject.session.asked(RunOf(self._program, self._at))

    def _change(self, done: StepperAction) -> None:
        """Run on with a changed value; a change before others replaces them: from then on the run is another one."""
        try:
            content = base64.b64decode(done.content, validate=True)
        except binascii.Error:
            content = b""
        change = ChangeAt(done.at, done.text, done.depth, done.is_in_place, content)
        before = (item for item in self._program.changes if item.time <= change.time)
        program = msgspec.structs.replace(self._program, changes=(*before, change))
        reply = self._subject.session.request(RunOf(program, done.at))
        if isinstance(reply, Failure):
            self._fault = ChangeFault(done.text, reply.problem)
        else:
            self._program, self._run = program, reply

    def _hits(self) -> tuple[PointHits, ...]:
        """Ask where the breakpoints with a condition stop within the window."""
        points = tuple(point for point in self._points if point.condition)
        if not points:
            return ()
        run: Run = self._run
        last = run.first_event + len(run.events)
        reply = self._subject.session.request(HitsOf(self._program, points, run.first_event, last))
        return () if isinstance(reply, Failure) else reply.points

    def _memory(self) -> MemoryView | None:
        """Ask for the memory of the run while its tab is open."""
        if self._tab != "memory":
            return None
        reply = self._subject.session.request(MemoryOf(self._program))
        return None if isinstance(reply, Failure) else reply
