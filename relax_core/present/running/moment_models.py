"""View models of one time of a recorded run: the stack, the registers of a frame, the parts of a value."""

import msgspec


class FrameAt(msgspec.Struct, frozen=True):
    """A frame of the stack."""

    function: str
    depth: int
    """0 being the oldest."""
    pc: int
    line: int
    """Line of the source; 0 for none."""


class Stack(msgspec.Struct, frozen=True):
    """Some frames of the stack at a time, the one that runs first."""

    frames: tuple[FrameAt, ...]
    count: int
    """Of all frames; none are left behind the last return."""


class Held(msgspec.Struct, frozen=True):
    """A value at a time, and how it is spoken of."""

    name: str
    """Such as `%3`, `x`, `[0]` or `.1`."""
    type: str
    text: str
    """At most 40 columns."""
    expression: str = ""
    """What evaluates to it in its frame, and is assigned to in a change; empty for what only a debugger sees."""
    part_count: int = 0
    """Rows and elements of a tensor, fields of a tuple, captures of a closure."""
    is_indexed: bool = False
    """Its parts are those of a tensor."""
    variable: str = ""
    """The variable that a register holds."""
    register: int = -1


class FrameView(msgspec.Struct, frozen=True):
    """What a frame holds at a time: registers that are written, and the sizes of its symbolic dimensions."""

    registers: tuple[Held, ...]
    dimensions: tuple[Held, ...]


class Parts(msgspec.Struct, frozen=True):
    """The value of an expression, or of a part of it, with some of its own parts."""

    value: Held
    parts: tuple[Held, ...] = ()
    long: str = ""
    """The value as text of at most 4,000 characters."""


class Texts(msgspec.Struct, frozen=True):
    """The values of expressions as short text, a row for each time; of one that has none, why not, in `<>`."""

    rows: tuple[tuple[str, ...], ...]
