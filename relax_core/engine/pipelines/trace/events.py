"""The lines of `events.jsonl` in a trace, see `docs/trace_format.md`."""

from typing import Final, TypeAlias

import msgspec

FORMAT: Final = "relaxscope-trace"
VERSION: Final = 2
"""The newest version that is read."""
PLAIN_VERSION: Final = 1
"""The version of a trace without a run of this machine."""
HEADER_NAME: Final = "trace.json"
EVENTS_NAME: Final = "events.jsonl"


class Header(msgspec.Struct, frozen=True):
    """`trace.json`: what the folder or zip is, who wrote it, and facts about that build."""

    format: str
    version: int
    producer: str = ""
    facts: dict[str, str] = msgspec.field(default_factory=dict[str, str])


class ArrayValue(msgspec.Struct, frozen=True, tag_field="kind", tag="array"):
    """A tensor that is kept: `arrays/DIGEST.npy`; dtypes that .npy lacks are stored as unsigned integers."""

    array: str
    shape: tuple[int, ...]
    dtype: str


class OmittedValue(msgspec.Struct, frozen=True, tag_field="kind", tag="omitted"):
    """A value that is not kept: why, or what it is, and the type of a tensor."""

    what: str
    shape: tuple[int, ...] = ()
    dtype: str = ""


class ShapeItem(msgspec.Struct, frozen=True, tag_field="kind", tag="shape"):
    """A shape on the host."""

    sizes: tuple[int, ...]


class ScalarItem(msgspec.Struct, frozen=True, tag_field="kind", tag="scalar"):
    """A number, a truth value, a string or nothing; numbers that JSON lacks are strings in `special`."""

    value: int | float | bool | str | None = None
    special: str = ""


class TupleItem(msgspec.Struct, frozen=True, tag_field="kind", tag="tuple"):
    """A tuple."""

    fields: "tuple[Value, ...]"


Value: TypeAlias = ArrayValue | OmittedValue | ShapeItem | ScalarItem | TupleItem
Constant: TypeAlias = ArrayValue | OmittedValue


class EnterEvent(msgspec.Struct, frozen=True, tag_field="event", tag="enter"):
    """A pass context is entered."""

    facts: dict[str, str] = msgspec.field(default_factory=dict[str, str])


class ExitEvent(msgspec.Struct, frozen=True, tag_field="event", tag="exit"):
    """The pass context is left."""


class NoteEvent(msgspec.Struct, frozen=True, tag_field="event", tag="note"):
    """What the recorder has to say."""

    words: str


class ModuleEvent(msgspec.Struct, frozen=True, tag_field="event", tag="module"):
    """A module that no pass returned: the input, or what a pass was given that no pass before it left."""

    name: str
    depth: int = 0
    text: str = ""
    constants: tuple[Constant, ...] = ()
    hash: str = ""
    number: int = -1


class BeforeEvent(msgspec.Struct, frozen=True, tag_field="event", tag="before", rename={"name": "pass"}):
    """A pass begins."""

    id: int
    name: str
    depth: int = 0


class AfterEvent(msgspec.Struct, frozen=True, tag_field="event", tag="after"):
    """A pass returned: the text of its module, unless that was not to be kept."""

    id: int
    seconds: float = -1.0
    text: str = ""
    constants: tuple[Constant, ...] = ()
    hash: str = ""
    number: int = -1


class RaisedEvent(msgspec.Struct, frozen=True, tag_field="event", tag="raised"):
    """A pass did not return."""

    id: int
    words: str = ""
    number: int = -1


class RunEvent(msgspec.Struct, frozen=True, tag_field="event", tag="run"):
    """A run of an entry function begins."""

    run: int
    entry: str
    inputs: tuple[Value, ...] = ()


class CallEvent(msgspec.Struct, frozen=True, tag_field="event", tag="call"):
    """The machine calls a kernel or a builtin."""

    run: int
    number: int
    name: str
    args: tuple[Value, ...] = ()


class ReturnEvent(msgspec.Struct, frozen=True, tag_field="event", tag="return"):
    """The call returned; a kernel's result is what it wrote to its last argument."""

    run: int
    number: int
    result: Value


class ResultEvent(msgspec.Struct, frozen=True, tag_field="event", tag="result"):
    """The run ended, with a result or an error."""

    run: int
    result: Value | None = None
    error: str = ""


class MachineRunEvent(msgspec.Struct, frozen=True, tag_field="event", tag="machine_run"):
    """A recorded run of this machine: its entry function, and the member `runs/RECORD.json`. From version 2 on."""

    entry: str
    record: str


Event: TypeAlias = (
    EnterEvent
    | ExitEvent
    | NoteEvent
    | ModuleEvent
    | BeforeEvent
    | AfterEvent
    | RaisedEvent
    | RunEvent
    | CallEvent
    | ReturnEvent
    | ResultEvent
    | MachineRunEvent
)
