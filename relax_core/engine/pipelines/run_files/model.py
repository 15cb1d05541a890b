"""What a file says of a run of this machine: `runs/DIGEST.json` of a trace, see `docs/trace_format.md`.

Values are numbered; a value names the values in it by their numbers, which are smaller but for those of a reference.
Memories are numbered as well: a tensor is a part of one, so that tensors that shared bytes share them again.
"""

from typing import Literal, TypeAlias

import msgspec

from relax_core.engine.pipelines.trace.events import ArrayValue
from relax_core.engine.programs.program import Program
from relax_core.vm.external.stand_ins import How
from relax_core.vm.recording.trace import Outcome

StateName = Literal["unwritten", "not kept", "machine", "no write"]


class KeptDevice(msgspec.Struct, frozen=True):
    """A device, and the instruction that put a tensor there, -1 for the caller."""

    device: str
    index: int | None = 0
    scope: str = ""
    placed_at: int = -1


class KeptState(msgspec.Struct, frozen=True, tag_field="kind", tag="state"):
    """A state of a register that is no value."""

    name: StateName


class KeptVoid(msgspec.Struct, frozen=True, tag_field="kind", tag="void"):
    """No value."""


class KeptFlag(msgspec.Struct, frozen=True, tag_field="kind", tag="bool"):
    """A truth value on the host."""

    value: bool


class KeptInteger(msgspec.Struct, frozen=True, tag_field="kind", tag="int"):
    """An integer on the host, in decimal digits: it may be of any size."""

    digits: str


class KeptFloat(msgspec.Struct, frozen=True, tag_field="kind", tag="float"):
    """A float on the host: the 16 hexadecimal digits of its bits."""

    bits: str


class KeptNumber(msgspec.Struct, frozen=True, tag_field="kind", tag="number"):
    """A number of a dtype of NumPy: its bytes in hexadecimal digits."""

    dtype: str
    content: str


class KeptText(msgspec.Struct, frozen=True, tag_field="kind", tag="string"):
    """A string; `is_escaped`: with the escapes of Python, for it holds halves of surrogate pairs."""

    text: str
    is_escaped: bool = False


class KeptShape(msgspec.Struct, frozen=True, tag_field="kind", tag="shape"):
    """A shape on the host."""

    sizes: tuple[int, ...]


class KeptDType(msgspec.Struct, frozen=True, tag_field="kind", tag="dtype"):
    """A dtype as a value."""

    name: str


class KeptTuple(msgspec.Struct, frozen=True, tag_field="kind", tag="tuple"):
    """A tuple."""

    fields: tuple[int, ...]


class KeptClosure(msgspec.Struct, frozen=True, tag_field="kind", tag="closure"):
    """A closure: an entry of the function table, its name, and the captures."""

    function: int
    name: str
    captures: tuple[int, ...]


class KeptData(msgspec.Struct, frozen=True, tag_field="kind", tag="data"):
    """A value of an algebraic data type."""

    name: str
    number: int
    fields: tuple[int, ...]


class KeptReference(msgspec.Struct, frozen=True, tag_field="kind", tag="reference"):
    """A reference, or an object of the runtime: what it holds behind which event, the oldest first."""

    versions: tuple[tuple[int, int], ...]
    is_object: bool = False


class KeptSnapshot(msgspec.Struct, frozen=True, tag_field="kind", tag="snapshot"):
    """What an object of the runtime holds at one time."""

    what: str
    names: tuple[str, ...]
    fields: tuple[int, ...]
    words: str = ""


class KeptStorage(msgspec.Struct, frozen=True, tag_field="kind", tag="storage"):
    """Room for tensors, and the memory that it has; -1: none."""

    size_bytes: int
    device: KeptDevice | None
    memory: int


class KeptObject(msgspec.Struct, frozen=True, tag_field="kind", tag="object"):
    """An object of the host, which is not kept, by its class."""

    what: str


class KeptUnwritten(msgspec.Struct, frozen=True, tag_field="kind", tag="uninitialised"):
    """A tensor to which nothing was written."""

    shape: tuple[int, ...]
    dtype: str


class KeptTensor(msgspec.Struct, frozen=True, tag_field="kind", tag="tensor"):
    """A part of a memory from byte `start` on, or all of it as it is."""

    memory: int
    start: int = 0
    shape: tuple[int, ...] = ()
    dtype: str = ""
    device: KeptDevice | None = None
    is_whole: bool = False


KeptValue: TypeAlias = (
    KeptState
    | KeptVoid
    | KeptFlag
    | KeptInteger
    | KeptFloat
    | KeptNumber
    | KeptText
    | KeptShape
    | KeptDType
    | KeptTuple
    | KeptClosure
    | KeptData
    | KeptReference
    | KeptSnapshot
    | KeptStorage
    | KeptObject
    | KeptUnwritten
    | KeptTensor
)


class KeptMemory(msgspec.Struct, frozen=True):
    """The memory that an array owns, as it is at the end of the run, from byte `offset` of `bytes` on."""

    shape: tuple[int, ...]
    dtype: str
    offset: int = 0
    constant: int = -1
    """The constant of the pool that it is, whose bytes are not repeated; -1: none."""
    device: KeptDevice | None = None
    is_writeable: bool = True
    is_logged: bool = False
    """The run followed what was written to it."""
    fresh: tuple[tuple[int, int], ...] = ()
    """Bytes to which nothing was written, each of them `fill`."""
    fill: int = 0
    uses: int = 0


class KeptInjection(msgspec.Struct, frozen=True):
    """A value that the host put into a register."""

    time: int
    frame: int
    register: int
    value: int


class KeptPlace(msgspec.Struct, frozen=True):
    """A range of a text: number 0 is the program's, the others are `sources`."""

    source: int
    start: int
    end: int


class KeptDiagnostic(msgspec.Struct, frozen=True):
    """What ended the run."""

    code: str
    message: str
    place: KeptPlace | None = None
    hint: str = ""
    related: tuple[tuple[str, KeptPlace], ...] = ()


class KeptStandIn(msgspec.Struct, frozen=True):
    """A call that a stand-in answered."""

    name: str
    how: How
    number: int
    event: int
    pc: int


class Columns(msgspec.Struct, frozen=True):
    """The numbers of a run as arrays; events, frames and undo entries are rows."""

    pcs: ArrayValue
    """Event: the instruction."""
    frame_ids: ArrayValue
    """Event: its frame."""
    values: ArrayValue
    """Event: the value that it wrote."""
    frames: ArrayValue
    """Frame: function, parent, depth, event of the call, event of the return, end of its `args`; -1: none."""
    args: ArrayValue
    """The values of all frames' arguments."""
    undos: ArrayValue
    """Entry: memory, event, start, stop, what was there (0: `bytes`, 1: nothing, 2: not kept), offset in `bytes`."""
    bytes: ArrayValue
    """Contents of memories, and what was overwritten."""


class RunRecord(msgspec.Struct, frozen=True):
    """A run: the program without its text, what was compiled, the log, and how it ended."""

    program: Program
    text: str
    """The digest of the program's text."""
    compiled: str
    """A digest of the bytecode, its constants and lines."""
    columns: Columns
    values: tuple[KeptValue, ...]
    memories: tuple[KeptMemory, ...]
    result: int
    outcome: Outcome
    stop: tuple[int, int]
    """The frame and the instruction at which it stopped; -1: none."""
    seconds: float
    error: KeptDiagnostic | None = None
    output: tuple[tuple[int, str, int], ...] = ()
    """Lines: the event, the text, the instruction."""
    injections: tuple[KeptInjection, ...] = ()
    stand_ins: tuple[KeptStandIn, ...] = ()
    sources: tuple[tuple[str, str], ...] = ()
    """Further texts that the error names: name and text."""
