"""View models of one time of a recorded run: the stack, a frame, a value, a tensor; and of watched expressions."""

from typing import Literal

import msgspec

from relax_core.present.kernel_models import ForTvm

Measure = Literal["value", "absolute", "relative", "ulp"]
"""What the cells show: the values, or how far each is from that of another time."""


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


class Logged(msgspec.Struct, frozen=True):
    """A message of a logpoint."""

    time: int
    line: int
    """Line of the source that is about to run; 0 for none."""
    text: str
    """With values in place of its expressions; of one that has none, why not, in `<>`."""
    is_fault: bool = False
    """An expression has no value then."""


class Logs(msgspec.Struct, frozen=True):
    """What logpoints write over a run, in the order of time."""

    messages: tuple[Logged, ...] = ()
    count: int = 0
    """Of all messages: those behind the first 1,000 are left out."""
    fault: str = ""
    """Why they are not known, if so."""


class Statistic(msgspec.Struct, frozen=True):
    """A number about a tensor: of the plane that is shown, and of all its elements."""

    name: str
    plane: str
    whole: str


class Bin(msgspec.Struct, frozen=True):
    """A bar of the histogram: elements from `low` on, up to `high`."""

    low: str
    high: str
    count: int


class TensorDifference(msgspec.Struct, frozen=True):
    """How the elements of a tensor differ from those of another one."""

    time: int
    """When the other one was looked at; -1 for one that is of no time."""
    words: str
    """Such as `3 of 6 elements differ`, or why the two cannot be compared."""
    rows: tuple[tuple[str, str], ...] = ()
    """The largest differences, each with its measure."""
    bands: tuple[tuple[str, int], ...] = ()
    """How many elements are how many units in the last place apart."""
    largest: tuple[int, ...] = ()
    """Where the largest absolute difference is; empty if none differs."""
    name: str = ""
    """What the other one is; empty for the same name at another time of the run."""


class TensorView(msgspec.Struct, frozen=True):
    """A window of the plane that two axes of a tensor span, at a time of a run."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    time: int
    size_bytes: int
    axes: tuple[int, ...]
    """The axes of the rows and of the columns: none of a tensor of rank 0, only that of the columns of a vector."""
    fixed: tuple[int, ...]
    """The index in every axis; those in `axes` do not count."""
    top: int
    left: int
    rows: int
    columns: int
    row_count: int
    column_count: int
    cells: tuple[str, ...]
    """What the cells of the window show, row by row."""
    heat: tuple[int, ...]
    """How far each is between the least and the largest number that is shown, in per cent; -1 for no finite number."""
    marks: str
    """A letter for each cell: `n` NaN, `i` infinity, `d` denormal, `z` zero, `.` any other number."""
    numpy: str
    """The window as an expression in NumPy that has the same bits, but for those of NaN."""
    map: str = ""
    """The whole plane in small, as in `marks`: a letter says the rarest kind in its block, in that order."""
    map_rows: int = 0
    map_columns: int = 0
    statistics: tuple[Statistic, ...] = ()
    histogram: tuple[Bin, ...] = ()
    sampling: str = ""
    """Which elements were looked at, of a tensor that is too large for all; empty for all."""
    measure: Measure = "value"
    difference: TensorDifference | None = None
    found: tuple[int, ...] = ()
    """The element that a search came to; empty if it found none."""
    search: str = ""
    """What the search came to, in words; empty if nothing was searched for."""


class TensorFile(msgspec.Struct, frozen=True):
    """A whole tensor as a .npy file, or the call that computed it."""

    content: bytes = b""
    for_tvm: ForTvm | None = None


class Reading(msgspec.Struct, frozen=True):
    """What an expression is from a time on, until the next reading."""

    time: int
    text: str
    number: float | None = None
    """Of a truth value, a number or a tensor of one element, if it is finite."""
    is_fault: bool = False
    """It has no value then; the text says why."""


class History(msgspec.Struct, frozen=True):
    """An expression over a run: a reading for each time at which it changes."""

    expression: str
    readings: tuple[Reading, ...]


class Histories(msgspec.Struct, frozen=True):
    """The histories of some expressions."""

    rows: tuple[History, ...]
    step: int = 1
    """Of a long run every so many times are looked at, from the first on, and the last; 1: all of them."""
