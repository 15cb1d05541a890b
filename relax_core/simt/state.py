"""The state of the lanes that run: variables, buffers, barriers, and what is watched."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from typing import Final, NoReturn, TypeAlias

import numpy as np

from relax_core.diagnostics import Diagnostic, RunError
from relax_core.ir.node import Node
from relax_core.ir.prim import PrimVar, scalar_of
from relax_core.ir.tir import Allocate, Buffer
from relax_core.ops.kernels.numbers import Plain, numpy_type
from relax_core.simt.findings import Findings, text_of
from relax_core.simt.hazards import Barriers, Shadow
from relax_core.simt.lanes import WARP, Lanes, Mask
from relax_core.simt.memory import Kind, Memory, Registers, View
from relax_core.simt.traffic import Traffic
from relax_core.simt.values import Value

Place: TypeAlias = View | Registers
Storage: TypeAlias = Memory | Registers
OPEN_GROUP: Final = -1
MAX_STATEMENTS: Final = 20_000_000
"""So many statements run before a simulation counts as one without end."""


@dataclass(frozen=True, slots=True, eq=False)
class Flight:
    """An asynchronous copy on its way: where each element goes in a row of memory, what it is, and for which lanes."""

    node: Node
    buffer: Buffer
    places: tuple[Plain, ...]
    values: tuple[Value, ...]
    mask: Mask
    source: Buffer
    sources: tuple[Plain, ...]
    """Where each element comes from, for the lanes of `taken`."""
    taken: Mask
    group: int
    """Its number among those that were committed; `OPEN_GROUP` before."""


@dataclass(slots=True, eq=False)
class Launch:
    """What all blocks of a launch share: variables of the host, global memory, findings."""

    findings: Findings
    traffic: Traffic = field(default_factory=Traffic)
    variables: dict[PrimVar, Value] = field(default_factory=dict[PrimVar, Value])
    places: dict[Buffer, Place] = field(default_factory=dict[Buffer, Place])
    storage: dict[PrimVar, Storage] = field(default_factory=dict[PrimVar, Storage])
    cell_bytes: dict[Node, int] = field(default_factory=dict[Node, int])
    """The size of the smallest element in the memory of a buffer or a pointer."""
    written: frozenset[Memory] = frozenset()
    """The global memory that the kernel may write: all else is read without being watched."""
    is_cancelled: Callable[[], bool] = lambda: False
    statement_count: int = 0
    left_out: Node | None = None
    """A barrier at which nobody waits, to see whether it is needed."""
    met: dict[Node, None] = field(default_factory=dict[Node, None])
    """The barriers that were met, in order."""

    def count_statement(self, node: Node) -> None:
        """Count one more statement; stop if there are too many, or if that was asked for."""
        self.statement_count += 1
        if self.statement_count > MAX_STATEMENTS:
            message = f"more than {MAX_STATEMENTS:,} statements ran for all threads at once"
            raise RunError((Diagnostic("GP010", message, node.span, "choose smaller inputs"),))
        if self.statement_count % 512 == 0 and self.is_cancelled():
            raise RunError((Diagnostic("VM008", "cancelled while the launch was simulated"),))


class State:
    """The lanes of some blocks: what each variable and each buffer is there."""

    def __init__(
        self, launch: Launch, lanes: Lanes, shadow_of: dict[Memory, Shadow], block: "State | None" = None
    ) -> None:
        """Begin with the variables and the memory of `launch`.

        Lanes that are a warp of a block share its memory and its barriers.
        """
        self.launch = launch
        self.lanes = lanes
        self.shadow_of = shadow_of
        self.barriers = Barriers(lanes) if block is None else block.barriers
        self._block = block
        self.variables = dict(launch.variables)
        self.places = dict(launch.places)
        self.storage = dict(launch.storage)
        self.fragments: dict[Buffer, Registers] = {}
        """The parts of matrices that a warp holds: no lane knows which elements are its own."""
        self.flights: list[Flight] = []
        self.group_count = 0
        """How many groups of asynchronous copies were committed."""
        self.tag_of: dict[PrimVar, str] = {}
        self.allocated: dict[Node, Storage] = {}
        """What an allocation made: one that runs again gives the same memory."""
        self._made: dict[Node, Memory] = {}
        """Memory that allocations made, those included that a run that went back has not come to again."""

    def shared(self) -> list[Memory]:
        """Return the memory of the blocks."""
        return [item for item in self.allocated.values() if isinstance(item, Memory) and item.kind == "shared"]

    def allocate(self, node: Node, buffer: Buffer, dtype: str, lanes: int, shape: tuple[int, ...]) -> Storage:
        """Return the memory that an allocation makes: registers of each thread, or memory that threads share."""
        if node not in self.allocated:
            self.allocated[node] = self._allocated(node, buffer, dtype, lanes, shape)
        return self.allocated[node]

    def _allocated(self, node: Node, buffer: Buffer, dtype: str, lanes: int, shape: tuple[int, ...]) -> Storage:
        kind = numpy_type(dtype)
        size = prod(shape)
        match buffer.scope.partition(".")[0]:
            case "local":
                return Registers(buffer, kind, lanes, shape, [None] * size)
            case "wmma":
                return Registers(buffer, kind, lanes, (size // WARP,), [None] * (size // WARP))
            case "shared" | "warp" if self._block is not None:
                return self._block.allocate(node, buffer, dtype, lanes, shape)
            case "warp":
                return self._memory(node, buffer, "warp", size * lanes * kind.itemsize)
            case "shared":
                return self._memory(node, buffer, "shared", size * lanes * kind.itemsize)
            case "global" | "" if not self.lanes.grid.extents:
                return self._memory(node, buffer, "global", size * lanes * kind.itemsize)
            case scope:
                unsupported(node, f"memory of the scope `{scope or 'global'}` that a launch allocates")

    def _memory(self, node: Node, buffer: Buffer, kind: Kind, size_bytes: int) -> Memory:
        if node in self._made:
            self._made[node].clear()
            return self._made[node]
        root = node.var if isinstance(node, Allocate) else buffer
        cell = self.launch.cell_bytes.get(root, numpy_type(scalar_of(buffer.dtype)).itemsize)
        blocks = self.lanes.block_count
        copies = blocks if kind == "shared" else blocks * self.lanes.grid.warp_count if kind == "warp" else 1
        self._made[node] = Memory(buffer.name, kind, np.zeros(size_bytes * copies, np.uint8), cell, copies)
        return self._made[node]


def unsupported(node: Node, what: str = "") -> NoReturn:
    """Stop at what is not simulated.

    Raises:
        RunError: GP010.
    """
    raise RunError((Diagnostic("GP010", f"{what or f'`{text_of(node)}`'} is not simulated yet", node.span),))
