"""Where a running kernel keeps things: buffers and their elements, variables for diagnostics, targets of jumps."""

from dataclasses import dataclass

from relax_core.ir.tir import PrimFunc
from relax_core.jit.lowering.scalars.types import ScalarType


@dataclass(frozen=True, slots=True)
class Pointer:
    """An address, the number of bytes that may be accessed from it on, and its known alignment."""

    register: str
    room_bytes: str
    alignment: int


@dataclass(frozen=True, slots=True)
class Storage:
    """The memory of a buffer: registers or literals of its address, extents and strides, in elements.

    A view starts `offset` elements behind `memory`; a buffer with memory of its own has no `memory`.
    """

    pointer: str
    extents: tuple[str, ...]
    strides: tuple[str, ...]
    scalar: ScalarType
    alignment: int
    memory: Pointer | None = None
    offset: str = "0"


@dataclass(frozen=True, slots=True)
class Visible:
    """A loop or block variable that a diagnostic shows, in a 64-bit register."""

    name: str
    register: str


@dataclass(frozen=True, slots=True)
class LoopLabels:
    """Where `continue` and `break` go in a loop."""

    following: str
    leave: str


@dataclass(frozen=True, slots=True)
class LaneElement:
    """An element of a vector's access: its address, the block that computes it, and the constants of its indices."""

    pointer: str
    block: str
    constants: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Held:
    """An element of `storage` that lies in `slot`, on the stack, until the loops at a place end; then at `pointer`."""

    slot: str
    pointer: str
    storage: Storage


@dataclass(frozen=True, slots=True)
class Inlined:
    """A prim func whose body stands in the place of a call: where its result is stored, and where it ends."""

    function: PrimFunc
    slot: str
    leave: str
    result: ScalarType | None
