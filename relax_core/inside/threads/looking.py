"""What the statement that runs next touches in each lane of its warp: computed from the memory as it is.

Memory is told as what was declared first in it: a parameter, or an allocation. What each thread has for its own is a
table with a row for each thread.
"""

from copy import copy, deepcopy
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Final

import numpy as np

from relax_core.diagnostics import RunError
from relax_core.inside.threads.block import BlockRun, WarpRun
from relax_core.ir.node import Node
from relax_core.ir.prim import Intrinsic, lanes_of, scalar_of
from relax_core.ir.tir import Allocate, Buffer, BufferStore, DeclBuffer, Evaluate, Stmt
from relax_core.ops.kernels.numbers import Plain, is_array, numpy_type
from relax_core.simt.accesses import Accesses
from relax_core.simt.findings import Findings
from relax_core.simt.frames import Frame
from relax_core.simt.hazards import NOBODY
from relax_core.simt.lanes import Array, Mask
from relax_core.simt.memory import Memory, Registers, View
from relax_core.simt.state import State
from relax_core.simt.statements import Statements, meets
from relax_core.simt.traffic import AccessCost, Traffic
from relax_core.simt.values import Partly, Value, data_of, lanes_first

UNDEFINED: Final = "undefined"


@dataclass(frozen=True, slots=True, eq=False)
class Root:
    """Memory of a block or of the launch, or of each thread, as it is shown."""

    name: str
    scope: str
    dtype: str
    shape: tuple[int, ...]
    """With a first axis for the threads, or the warps, if each has its own."""
    memory: Memory | None
    """`None` for registers."""
    node: Node | None
    """What allocates it."""
    is_written: bool

    @property
    def cell_count(self) -> int:
        """How many cells of memory an element has."""
        return 1 if self.memory is None else numpy_type(self.dtype).itemsize // self.memory.cell_bytes


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """An element that one lane touches, or an index that is outside; `after` is what a store leaves there."""

    node: Node
    lane: int
    root: Root | None
    name: str
    indices: tuple[int, ...]
    is_write: bool
    is_inside: bool
    value: Any
    after: Any = None


def roots_of(run: BlockRun) -> tuple[Root, ...]:
    """Return the memory that exists: the parameters', that of the block, and registers."""
    found: list[Root] = []
    threads = run.grid.thread_count
    for buffer, place in run.launch.places.items():
        if isinstance(place, View) and not any(item.memory is place.memory for item in found):
            shape, is_written = _shape(place.shape, place.lanes), place.memory in run.launch.written
            found.append(Root(buffer.name, "global", scalar_of(buffer.dtype), shape, place.memory, None, is_written))
    allocated = {**run.whole.state.allocated, **run.warps[0].state.allocated}
    for node, storage in allocated.items():
        buffer = _buffer_of(node)
        dtype, lanes = scalar_of(buffer.dtype), lanes_of(buffer.dtype)
        if isinstance(storage, Registers):
            shape = (threads, *_shape(storage.shape, lanes))
            found.append(Root(buffer.name, buffer.scope, dtype, shape, None, node, is_written=True))
        else:
            size = storage.bytes_each // numpy_type(dtype).itemsize // lanes
            place = next((item for key, item in run.warps[0].state.places.items() if key is buffer), None)
            shape = _shape(place.shape if isinstance(place, View) else (size,), lanes)
            if storage.kind == "warp":
                shape = (run.grid.warp_count, *shape)
            if not any(item.memory is storage for item in found):
                found.append(Root(buffer.name, buffer.scope, dtype, shape, storage, node, is_written=True))
    return tuple(found)


def _shape(shape: tuple[int, ...], lanes: int) -> tuple[int, ...]:
    return shape if lanes == 1 else (*shape, lanes)


def _buffer_of(node: Node) -> Buffer:
    match node:
        case Buffer():
            return node
        case DeclBuffer(buffer=buffer):
            return buffer
        case Allocate(var=var, extents=extents, dtype=dtype, scope=scope):
            return Buffer(var.name, extents, dtype, scope=scope)
        case _:
            raise AssertionError(node)


def values_of(run: BlockRun, root: Root) -> tuple[Array, Array]:
    """Return what a memory holds, and where that is undefined."""
    kind = numpy_type(root.dtype)
    if root.memory is not None:
        memory = root.memory
        undefined: Array = np.asarray(~memory.written.reshape(-1, root.cell_count).all(axis=1))
        return memory.raw.view(kind).reshape(root.shape).copy(), undefined.reshape(root.shape)
    values, undefined = np.zeros(root.shape, kind), np.ones(root.shape, np.bool_)
    assert root.node is not None
    for warp in run.warps:
        registers = warp.state.allocated.get(root.node)
        if isinstance(registers, Registers):
            inside = warp.state.lanes.inside
            own = [_row(item, registers, len(inside)) for item in registers.rows]
            shape = (len(inside), *root.shape[1:])
            values[inside] = np.stack([data for data, _ in own], axis=1).reshape(shape)
            undefined[inside] = np.stack([lost for _, lost in own], axis=1).reshape(shape)
    return values, undefined


def _row(value: Value | None, registers: Registers, count: int) -> tuple[Array, Array]:
    shape = (count, registers.lanes) if registers.lanes > 1 else (count,)
    if value is None:
        return np.zeros(shape, registers.dtype), np.ones(shape, np.bool_)
    data = np.broadcast_to(lanes_first(data_of(value), count), shape)
    lost = np.zeros(shape, np.bool_)
    if isinstance(value, Partly):
        lost[value.undefined] = True
    return data, lost


def owners_of(run: BlockRun, root: Root) -> Array:
    """Return of each element the thread of the block that wrote it last, -1 where none did."""
    found = np.full(root.shape, -1, np.int64)
    memory = root.memory
    shadow = None if memory is None else run.whole.state.shadow_of.get(memory)
    if memory is None or shadow is None:
        return found
    first = shadow.writers[:: root.cell_count]
    threads = run.grid.thread_count
    return np.where(first == NOBODY, -1, first % threads).reshape(root.shape)


def touches_of(run: BlockRun, root: Root) -> tuple[Array, Array]:
    """Return how often each element was touched, and by which statement last."""
    if root.memory is None:
        return np.zeros(root.shape, np.int64), np.full(root.shape, -1, np.int64)
    counts, last = run.touches.cells_of(root.memory)
    return counts[:: root.cell_count].reshape(root.shape), last[:: root.cell_count].reshape(root.shape)


@dataclass(frozen=True, slots=True, eq=False)
class Glance:
    """What the next statement of a warp does: the elements that it touches, and what their costs are."""

    seen: tuple[Seen, ...]
    costs: tuple[AccessCost, ...]


def glance(run: BlockRun, warp: WarpRun) -> Glance:
    """Look at the next statement of a warp."""
    assert warp.next is not None
    node, mask = warp.next
    looking = _Looking(run, warp)
    try:
        with np.errstate(all="ignore"):
            if meets(node):
                looking.at_meeting(node, mask)
            else:
                looking.begin(node, mask)
    except RunError:
        # What cannot be run is told where it is run.
        pass
    return Glance(tuple(looking.watch.seen), looking.state.launch.traffic.costs())


def about_to_store(run: BlockRun, warp: WarpRun) -> Any:
    """Return what the next statement of a warp stores in each lane; `None` if it is no store, or nothing is known."""
    node, mask = warp.next or (None, None)
    if not isinstance(node, BufferStore):
        return None
    try:
        with np.errstate(all="ignore"):
            return data_of(_Looking(run, warp).expressions.evaluate(node.value, mask))
    except RunError:
        return None


class _Looking(Statements):
    """A warp that computes without storing anything: all that its statements change is a copy here."""

    def __init__(self, run: BlockRun, warp: WarpRun) -> None:
        state = copy(warp.state)
        state.launch = replace(state.launch, findings=Findings(), traffic=Traffic(is_of_first=False))
        state.variables, state.places, state.shadow_of = dict(state.variables), dict(state.places), {}
        state.barriers, state.flights = deepcopy(state.barriers), list(state.flights)
        state.fragments = {key: replace(item, rows=list(item.rows)) for key, item in state.fragments.items()}
        super().__init__(state)
        self.frames = [frame.copied() for frame in warp.frames]
        self.watch = _Watch(state, roots_of(run))
        self.expressions.accesses = self.watch

    def at_meeting(self, node: Stmt, mask: Mask) -> None:
        """Look at what lanes give to a reduction over threads."""
        match node:
            case Evaluate(value=Intrinsic(name="tvm_thread_allreduce")):
                self.contributions(node, mask)
            case _:
                pass


class _Watch(Accesses):
    """Memory that notes what is touched, and keeps what it has."""

    def __init__(self, state: State, roots: tuple[Root, ...]) -> None:
        super().__init__(state)
        self.seen: list[Seen] = []
        self._roots = roots

    def load(self, buffer: Buffer, indices: tuple[Value, ...], node: Node, mask: Mask, *, is_atomic: bool = False
             ) -> Value:  # fmt: skip
        found = super().load(buffer, indices, node, mask, is_atomic=is_atomic)
        if not is_atomic:
            self._watch(buffer, indices, node, mask, found)
        return found

    def store(self, buffer: Buffer, indices: tuple[Value, ...], value: Value, node: Node, mask: Mask, *,
              is_atomic: bool = False) -> None:  # fmt: skip
        state = self._state
        kept = state.launch
        state.launch = replace(kept, findings=Findings(), traffic=Traffic())
        old = super().load(buffer, indices, node, mask, is_atomic=is_atomic)
        state.launch = kept
        place = self._place(buffer, node)
        if isinstance(place, View):
            index, _ = self._index(place, indices, node, mask)
            kept.traffic.note(place, self._elements(place, index), (node, "store"), mask, self._lanes)
        self._watch(buffer, indices, node, mask, old, value)

    def send(self, buffer: Buffer, index: Plain, node: Node, mask: Mask, *, is_on_the_way: bool) -> None:
        """Leave it at what is on the way."""

    def take(self, buffer: Buffer, index: Plain, node: Node, mask: Mask, *, is_on_the_way: bool) -> None:
        """Leave it at what is on the way."""

    def _shadow(self, memory: Memory) -> None:
        return None

    def _watch(self, buffer: Buffer, indices: tuple[Value, ...], node: Node, mask: Mask, value: Value,
              after: Value | None = None) -> None:  # fmt: skip
        place = self._place(buffer, node)
        lanes = self._lanes
        full = np.flatnonzero(lanes.full(mask)).tolist()
        plain = [data_of(item) for item in indices]
        for lane in full:
            rows = [_at(item, lane) for item in plain]
            width = max((len(item) for item in rows), default=1)
            for at in range(width):
                cell = tuple(int(item[at % len(item)]) for item in rows)
                self._see(place, cell, node, lane, at, (value, after))

    def _see(self, place: View | Registers, cell: tuple[int, ...], node: Node, lane: int, at: int,
             values: tuple[Value, Value | None]) -> None:  # fmt: skip
        value, after = values
        is_inside = all(0 <= item < size for item, size in zip(cell, place.shape, strict=True))
        is_write = after is not None
        root, where = self._at_root(place, cell, lane) if is_inside else (None, cell)
        old = element_of(value, lane, at) if is_inside else None
        self.seen.append(
            Seen(node, lane, root, place.buffer.name, where, is_write, is_inside, old,
                 None if after is None else element_of(after, lane, at))
        )  # fmt: skip

    def _at_root(
        self, place: View | Registers, cell: tuple[int, ...], lane: int
    ) -> tuple[Root | None, tuple[int, ...]]:
        """Return the memory that an element of a place is in, and where."""
        if isinstance(place, Registers):
            thread = int(self._lanes.inside[lane])
            for root in self._roots:
                own = None if root.node is None else self._state.allocated.get(root.node)
                if isinstance(own, Registers) and own.rows is place.rows:
                    return root, (thread, *_unravel(_flat(cell, place.shape), root.shape[1:], place.lanes))
            return None, cell
        for root in self._roots:
            if root.memory is place.memory:
                flat = sum(item * stride for item, stride in zip(cell, place.strides, strict=True))
                warp = int(self._lanes.warp[lane]) if place.memory.kind == "warp" else 0
                byte = (flat * place.lanes + place.offset) * place.dtype.itemsize + warp * place.memory.bytes_each
                first = byte // numpy_type(root.dtype).itemsize
                inside = 0 <= first < prod(root.shape)
                return (root, tuple(int(at) for at in np.unravel_index(first, root.shape))) if inside else (None, cell)
        return None, cell


def _at(index: Any, lane: int) -> list[int]:
    """Return the index of a lane: one, or one for each element of a vector."""
    if not is_array(index):
        return [int(index)]
    row: Any = index[lane if len(index) > 1 else 0]
    return [int(item) for item in np.atleast_1d(row)]


def element_of(value: Value, lane: int, at: int = 0) -> Any:
    """Return what a value is in a lane: element `at` of a vector."""
    if isinstance(value, Partly):
        return UNDEFINED if value.undefined[lane] else element_of(value.data, lane, at)
    if not is_array(value):
        return value
    row: Any = value[lane if len(value) > 1 else 0]
    return row if np.ndim(row) == 0 else row[at % len(row)]


def _flat(cell: tuple[int, ...], shape: tuple[int, ...]) -> int:
    return int(np.ravel_multi_index(cell, shape)) if shape else 0


def _unravel(flat: int, shape: tuple[int, ...], lanes: int) -> tuple[int, ...]:
    return tuple(int(at) for at in np.unravel_index(flat * lanes, shape)) if shape else ()


def frames_of_lane(warp: WarpRun, lane: int) -> tuple[Frame, ...]:
    """Return the statements around what a warp runs next in which a lane takes part."""
    return tuple(frame for frame in warp.frames if frame.mask is None or bool(frame.mask[lane]))
