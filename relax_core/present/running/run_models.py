"""View models of a recorded run: the stepper gets one window of it and steps without the server.

State at a time is rebuilt from `Run.frames` (the stack at time `first_event`) by applying the deltas of the
events before it; a component goes backwards by applying forwards from the nearest kept state. Values are
named by their index in `Run.values`, so equal values are sent once.
"""

from typing import Literal

import msgspec

from relax_core.present.models import CodeLine, Kind, Problem


class Tensor(msgspec.Struct, frozen=True):
    """A heat table of a tensor, or of its first part."""

    row_count: int
    column_count: int
    cells: tuple[str, ...]
    """Row by row, `row_count * column_count` formatted numbers; presenters cut to at most 12 by 12."""
    heat: tuple[int, ...] = ()
    """0 to 100 per cell, place between minimum and maximum; -1 for NaN and infinities."""
    minimum: str = ""
    maximum: str = ""
    nan_count: int = 0
    cut: str = ""
    """Such as `first 12 x 12 of (1024, 1024)`; empty if all cells are shown."""


class Capture(msgspec.Struct, frozen=True):
    """A value held by a closure."""

    name: str
    value: int
    where: str = ""
    """The register it came from, such as `main %0`."""
    time: int = -1
    """When it was bound; -1 if unknown."""


class Closure(msgspec.Struct, frozen=True):
    """For the debugger only: the program itself prints `<closure>`."""

    function: str
    line: int = 0
    captures: tuple[Capture, ...] = ()


class Field(msgspec.Struct, frozen=True, array_like=True):
    """A field of a tuple or of a data value."""

    name: str
    value: int


class Value(msgspec.Struct, frozen=True):
    """A value as it was at the times that refer to it."""

    kind: Kind
    type: str
    """Such as `(2, 3) f32`, `Object`, `Tuple()`."""
    short: str
    """At most 40 columns, for the register row, such as `[[0.55 0.72 0.60] …]`."""
    device: str = ""
    category: str = ""
    """The device's category, such as `cat0`; empty if the value is on no device."""
    summary: str = ""
    """Head of the value's pane, such as `float32, min 0.42, max 0.72, 0 NaN`."""
    long: str = ""
    """Whole text of a string, shape or dtype; may be cut with `…` at 4,000 characters."""
    tensor: Tensor | None = None
    closure: Closure | None = None
    fields: tuple[Field, ...] = ()
    sizes: tuple[int, ...] = ()
    """The sizes of a tensor or a shape along its axes, and an integer as one of its own."""


class Register(msgspec.Struct, frozen=True):
    """A register of a function, written or not."""

    name: str
    """Such as `%3`."""
    variable: str = ""
    """The variable it holds, such as `v`; empty for a temporary."""
    type: str = ""
    """Shown while it is not yet written."""
    line: int = 0
    """Line that binds the variable (of the `def` for a parameter); its value is shown after that line."""
    node: str = ""
    is_parameter: bool = False
    is_hidden: bool = False
    """A temporary that is shown only when stepping by instruction."""


class Dimension(msgspec.Struct, frozen=True, array_like=True):
    """A symbolic dimension of a function, and where its types have it."""

    name: str
    places: tuple[tuple[int, int], ...]
    """Pairs of a register and an axis of its shape; the axis of a value that is a dimension itself is 0."""


class FunctionInfo(msgspec.Struct, frozen=True):
    """A function of the executable."""

    name: str
    line: int
    registers: tuple[Register, ...]
    """Position i is register i."""
    dimensions: tuple[Dimension, ...] = ()
    home: str = ""
    """The function of the source that it is, or was lifted out of; empty if a pass made it of nothing there."""


class InstructionLine(msgspec.Struct, frozen=True, array_like=True):
    """A line of the listing: a header such as `@main:`, an empty line, or an instruction."""

    text: str
    pc: int = -1
    """Program counter over the whole executable; -1 for a header or an empty line."""
    line: int = 0
    """Line of the source that it came from."""


class Push(msgspec.Struct, frozen=True, array_like=True, tag="push"):
    """A frame is entered; its registers are unwritten until the writes that follow."""

    function: int
    """Index in `Run.functions`."""
    through: str = ""
    """How the caller reached it, such as `%1`; empty for a direct call."""


class Pop(msgspec.Struct, frozen=True, array_like=True, tag="pop"):
    """The top frame is left."""


class Write(msgspec.Struct, frozen=True, array_like=True, tag="write"):
    """A register shows another value: assigned, or changed in place by a kernel or a packed function."""

    depth: int
    """Frame, 0 being the oldest."""
    register: int
    value: int
    """Index in `Run.values`; -1 for not written."""
    note: str = ""
    """Replaces the value's `short`, such as `same as main %0`."""


class Event(msgspec.Struct, frozen=True, array_like=True):
    """A retired instruction: where it stood, and what it did.

    The first four fields describe the moment before (the program is about to do it);
    `changes` lead from its time to the next.
    """

    function: int
    """Index in `Run.functions`."""
    pc: int
    line: int
    depth: int
    """Index of the frame it runs in, 0 being the oldest."""
    is_start: bool
    """First instruction of its binding: where a line breakpoint hits and a step by binding stops."""
    now: str
    """The sentence after `Now:`; parts between backticks are shown as code. Empty: made from the listing."""
    changes: tuple[Push | Pop | Write, ...] = ()


class Frame(msgspec.Struct, frozen=True):
    """A frame at the start of the window."""

    function: int
    pc: int
    line: int
    registers: tuple[int, ...] = ()
    """Index in `Run.values` per register; -1 or missing: not yet written."""
    through: str = ""


class Jumps(msgspec.Struct, frozen=True):
    """Where each command leads: entry `t - first_event` is the time after the command at time `t`.

    There is one entry per event and one for the end; -1 means that there is nowhere to go. A time outside
    the window is allowed: the component asks for that window.
    """

    into: tuple[int, ...]
    over: tuple[int, ...]
    out: tuple[int, ...]
    back: tuple[int, ...]
    """Undoes `into`."""
    back_over: tuple[int, ...]
    """Undoes `over`: to the previous step of this frame or its caller."""


class FlameSpan(msgspec.Struct, frozen=True, array_like=True):
    """A call on the time axis: from the event that enters it to the time after it returns."""

    label: str
    start: int
    end: int
    depth: int
    category: str = ""
    """Such as `cat3` for a lifted function; empty for grey."""


class OutputLine(msgspec.Struct, frozen=True, array_like=True):
    """A line that the program printed."""

    time: int
    """From this time on it is there: the number of the event that printed it, plus one."""
    text: str
    line: int = 0


class Run(msgspec.Struct, frozen=True):
    """A window of at most 5,000 events of a recorded run."""

    revision: str
    """Identifies the run (module, inputs, window): the component keeps its state while this stays."""
    title: str
    """What the source shows, such as `module after LambdaLift`."""
    source: tuple[CodeLine, ...]
    instructions: tuple[InstructionLine, ...]
    functions: tuple[FunctionInfo, ...]
    first_event: int
    total: int
    """Events of the whole run (so far, if it was stopped by a limit); times go from 0 to `total`."""
    frames: tuple[Frame, ...]
    """The stack at time `first_event`, oldest first; frames far below all that run in the window have no registers."""
    events: tuple[Event, ...]
    values: tuple[Value, ...]
    by_binding: Jumps
    by_instruction: Jumps
    flame: tuple[FlameSpan, ...] = ()
    """Over the whole run; presenters cut to the 500 longest."""
    output: tuple[OutputLine, ...] = ()
    """Of the whole run, in order."""
    executed_lines: tuple[int, ...] = ()
    """Executed before `first_event`."""
    executed_pcs: tuple[int, ...] = ()
    outcome: Literal["returned", "error", "limit"] = "returned"
    end: str = ""
    """The sentence after `Now:` at time `total`, such as "`main` returned `z`, void."."""
    problem: Problem | None = None
    """Why the run ended, if it did not return; it belongs to time `total`."""
    stop_pc: int = -1
    """The instruction that did not retire, if the run did not return."""
    stop_line: int = 0
    kernel_pcs: tuple[int, ...] = ()
    """The instructions that call a kernel, which a step may go into."""
    interventions: tuple[str, ...] = ()
    """What the host did besides setting values: which calls were not made, and which functions were replaced."""

    def function_at(self, time: int) -> FunctionInfo | None:
        """Return the function whose instruction is next at a time of the window, at its end the one that ran last."""
        place = min(time - self.first_event, len(self.events) - 1)
        return self.functions[self.events[place].function] if place >= 0 else None


class CallAt(msgspec.Struct, frozen=True):
    """The call of the program at a time: what lies before it in its binding, such as an allocation, is gone over."""

    time: int
    name: str = ""
    """The function that is called; empty: the program calls none there."""
    result: str = ""
    """What the call would give if it were skipped, such as `zeros (2, 3) float32`; empty for nothing. If `is_open`: why
    it is not known."""
    is_open: bool = False
    """The program does not tell of what the result would be zeros."""
    substitutes: tuple[str, ...] = ()
    """The functions that can take its place, `numpy` for its definition."""
    depth: int = 0
    """Of the frame that calls it, 0 being the oldest."""


class LastValue(msgspec.Struct, frozen=True, array_like=True):
    """What a variable was given last in a run."""

    variable: str
    line: int
    """Line of the source that binds it."""
    type: str
    """Such as `(2, 3) f32`."""
    short: str
    """Its first elements."""
    summary: str
    function: str
    time: int
    """-1: before the part of a long run that was looked at."""


class Breakpoint(msgspec.Struct, frozen=True):
    """A place to stop at: a line, an instruction, or, with neither, wherever its condition holds."""

    line: int = 0
    pc: int = -1
    is_on: bool = True
    condition: str = ""
    """Evaluated by the engine, see `PointHits`; empty: every hit stops."""
    message: str = ""
    """Of a logpoint, which writes it at every hit in place of stopping: `sum is {sum(x)}`; empty: it stops."""

    @property
    def is_placed(self) -> bool:
        """Tell whether it has a place, rather than to be looked at everywhere."""
        return self.line > 0 or self.pc >= 0


class PointHits(msgspec.Struct, frozen=True):
    """Where a breakpoint with a condition stops."""

    point: Breakpoint
    met: int = 0
    """How often the run comes by its place."""
    stops: int = 0
    """How often the condition holds there."""
    first: int = -1
    """The first time that it stops; -1 for none."""
    times: tuple[int, ...] = ()
    """When it stops, within the window that was asked for."""
    problem: Problem | None = None
    """Why the condition cannot be read, or had no value at a hit; its columns are those of the condition."""
    problem_count: int = 0
    """At how many hits it had no value."""


class PointList(msgspec.Struct, frozen=True):
    """What came of the conditions of breakpoints, in the order in which they were asked for."""

    points: tuple[PointHits, ...]
