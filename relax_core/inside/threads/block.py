"""One block of a launch that can be stopped before any statement: its warps run one at a time, and wait at barriers."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from relax_core.inside.threads.touched import Touches
from relax_core.ir.node import Node
from relax_core.ir.prim import IntImm, Intrinsic
from relax_core.ir.tir import AssertStmt, BufferStore, Evaluate, IfThenElse, Stmt
from relax_core.ops.kernels.numbers import is_array
from relax_core.simt.frames import Frame, Part, body_of
from relax_core.simt.hazards import NOBODY, Shadow
from relax_core.simt.kernels import LaunchStart
from relax_core.simt.lanes import Array, Grid, Lanes, Mask
from relax_core.simt.memory import Memory, Registers, View
from relax_core.simt.state import Flight, Launch, State
from relax_core.simt.statements import Statements, meets
from relax_core.simt.values import Partly, Value, data_of

Order: TypeAlias = Literal["forward", "backward", "turns"]
"""Which warp goes on: one up to the next barrier, from the first or from the last one, or each a statement in turn."""
ORDERS: Final[tuple[Order, ...]] = get_args(Order)


class WarpRun(Statements):
    """A warp that stands before a statement."""

    def __init__(self, start: LaunchStart, launch: Launch, number: int, whole: State) -> None:
        lanes = Lanes(start.grid, whole.lanes.first, 1, number)
        super().__init__(State(launch, lanes, whole.shadow_of, whole))
        self.number = number
        self.next: Part | None = None
        """The statement that it runs next, and in which lanes; `None` at the end."""
        self.is_waiting = False
        self.frames.append(body_of(start.body, start.body, None))

    @property
    def is_ready(self) -> bool:
        """Whether it can go on by itself."""
        return self.next is not None and not self.is_waiting

    def arrive(self) -> None:
        """Go on to the next statement that is a step: loops are entered, and variables get their values."""
        self.is_waiting = False
        while self.frames:
            part = self.following()
            if part is None:
                continue
            if is_step(part[0]):
                self.next = part
                return
            self.begin(*part)
        self.next = None


def is_step(node: Stmt) -> bool:
    """Tell whether a statement is one step: a store, a call, an assertion, or the test of an `if`."""
    match node:
        case Evaluate(value=IntImm()):
            return False
        case BufferStore() | Evaluate() | AssertStmt() | IfThenElse():
            return True
        case _:
            return False


@dataclass(frozen=True, slots=True, eq=False)
class _KeptLanes:
    """All that the lanes of a warp, or of a block, need to go on from a statement."""

    frames: tuple[Frame, ...]
    next: Part | None
    is_waiting: bool
    tables: tuple[dict[Any, Any], ...]
    flights: tuple[tuple[Flight, ...], int]
    rows: tuple[tuple[list[Value | None], list[Value | None]], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """All that a block needs to go on from a statement: what is written is a copy."""

    clock: int
    last: int
    warps: tuple[_KeptLanes, ...]
    """None where all of them had met."""
    whole: _KeptLanes | None
    """The lanes of all warps, which had met and not gone on."""
    allocated: dict[Node, Any]
    memories: tuple[tuple[Memory, tuple[Array, ...]], ...]
    shadows: tuple[tuple[Memory, Shadow, tuple[Array, ...]], ...]
    touches: tuple[tuple[Memory, tuple[Array, ...]], ...]
    barriers: tuple[Array, Array]

    @property
    def size_bytes(self) -> int:
        """What it takes."""
        parts = (*self.memories, *self.shadows, *self.touches)
        return sum(array.nbytes for *_, arrays in parts for array in arrays)


class BlockRun:
    """The warps of one block, of which one runs a statement at a time."""

    def __init__(self, start: LaunchStart, block: int, order: Order, seed: int | None = None) -> None:
        self.grid: Grid = start.grid
        self.block = block
        self.touches = Touches()
        self.launch = replace(start.launch, traffic=self.touches)
        self.whole = Statements(State(self.launch, Lanes(start.grid, block, 1), {}))
        self.warps = [WarpRun(start, self.launch, at, self.whole.state) for at in range(start.grid.warp_count)]
        self.clock = 0
        self.order: Order | None = order if seed is None else None
        """`None` for a random one."""
        self._last = NOBODY
        self._choose: Callable[[list[int]], int] = self._chooser(order, seed)
        self.whole.frames.append(body_of(start.body, start.body, None))
        self.first = self.kept_whole()
        """A copy in front of all statements."""
        self.restore(self.first)

    @property
    def running(self) -> WarpRun | None:
        """The warp that runs the next statement; `None` at the end."""
        return self._running

    def _chosen(self) -> WarpRun | None:
        ready = [warp.number for warp in self.warps if warp.is_ready]
        return self.warps[self._choose(ready)] if ready else None

    def _chooser(self, order: Order, seed: int | None) -> Callable[[list[int]], int]:
        if seed is not None:
            return lambda ready: Random(f"{seed},{self.clock}").choice(ready)
        match order:
            case "forward":
                return lambda ready: self._last if self._last in ready else ready[0]
            case "backward":
                return lambda ready: self._last if self._last in ready else ready[-1]
            case "turns":
                return lambda ready: next((item for item in ready if item > self._last), ready[0])

    def step(self) -> None:
        """Run the next statement.

        Raises:
            RunError: GP010 for what is not simulated.
        """
        warp = self._running
        assert warp is not None
        assert warp.next is not None
        self.touches.clock = self.clock
        node, mask = warp.next
        if meets(node):
            warp.is_waiting = True
        else:
            warp.begin(node, mask)
            warp.arrive()
        self.clock += 1
        self._last = warp.number
        if not warp.is_ready and not any(item.is_ready for item in self.warps):
            self._release()
            self._last = NOBODY
        self._running = self._chosen()

    def _release(self) -> None:
        """Let the threads go on that wait: nobody else comes."""
        groups: dict[Stmt, list[WarpRun]] = {}
        for warp in self.warps:
            if warp.is_waiting and warp.next is not None:
                groups.setdefault(warp.next[0], []).append(warp)
        for node, warps in groups.items():
            self._meet(node, warps)
        for warp in (warp for warps in groups.values() for warp in warps):
            warp.arrive()

    def _meet(self, node: Stmt, warps: list[WarpRun]) -> None:
        arrived = np.zeros(self.grid.thread_count, np.bool_)
        for warp in warps:
            arrived[warp.state.lanes.inside] = _lanes(warp)
        mask = None if arrived.all() else arrived
        self.whole.frames = warps[0].frames
        self.whole.state.tag_of = warps[0].state.tag_of
        match node:
            case Evaluate(value=Intrinsic(name="tvm_thread_allreduce")) as reduction:
                self._reduce(reduction, warps, mask)
            case _:
                self.whole.begin(node, mask)
        self.whole.frames = []

    def _reduce(self, node: Evaluate, warps: list[WarpRun], mask: Mask) -> None:
        given = [warp.contributions(node, _mask(warp)) for warp in warps]
        joined = [self._joined(warps, [parts[at] for parts in given]) for at in range(len(given[0]))]
        results = self.whole.reduced(node, joined, warps[0].reducer(node))
        self.whole.barrier(node, mask)
        for warp in warps:
            own = tuple(_part(item, warp.state.lanes.inside) for item in results)
            warp.receive(node, own, _mask(warp))

    def _joined(self, warps: list[WarpRun], values: list[Value]) -> Value:
        """Return the values of some warps as one of the block, undefined in the others."""
        kind = np.asarray(data_of(values[0])).dtype
        data, undefined = np.zeros(self.grid.thread_count, kind), np.ones(self.grid.thread_count, np.bool_)
        for warp, value in zip(warps, values, strict=True):
            inside = warp.state.lanes.inside
            data[inside] = data_of(value)
            undefined[inside] = value.undefined if isinstance(value, Partly) else False
        return Partly(data, undefined) if undefined.any() else data

    @property
    def memories(self) -> list[Memory]:
        """The memory that may be written: of the block, and of the launch."""
        allocated = self.whole.state.allocated.values()
        return [*(item for item in allocated if isinstance(item, Memory)), *self.launch.written]

    def kept(self) -> Kept:
        """Return a copy to go on from."""
        return self._kept(tuple(_kept_lanes(warp) for warp in self.warps), None)

    def kept_whole(self) -> Kept:
        """Return a copy to go on from of a block whose warps have met."""
        return self._kept((), _kept_lanes(self.whole))

    def _kept(self, warps: tuple[_KeptLanes, ...], whole: _KeptLanes | None) -> Kept:
        state = self.whole.state
        self.whole.expressions.accesses.flush()
        return Kept(
            self.clock,
            self._last if whole is None else NOBODY,
            warps,
            whole,
            {node: item for node, item in state.allocated.items() if isinstance(item, Memory)},
            tuple((item, item.copied()) for item in self.memories),
            tuple((memory, shadow, shadow.copied()) for memory, shadow in state.shadow_of.items()),
            tuple((memory, (of[0].copy(), of[1].copy())) for memory, of in self.touches.of.items()),
            (state.barriers.of_block.copy(), state.barriers.of_warp.copy()),
        )  # fmt: skip

    def restore(self, kept: Kept) -> None:
        """Stand where the copy was made: warps that had met have gone on to their next statements."""
        self._restore_memory(kept)
        self.whole.frames = []
        for warp, old in zip(self.warps, kept.warps, strict=False):
            _restore_lanes(warp, old)
        if kept.whole is not None:
            self.touches.clock = kept.clock - 1
            for warp in self.warps:
                _take_lanes(warp, kept.whole)
                warp.expressions.fixed |= self.whole.expressions.fixed
                warp.arrive()
        self._running = self._chosen()

    def restore_whole(self, kept: Kept) -> None:
        """Stand where a copy was made of warps that had met."""
        assert kept.whole is not None
        self._restore_memory(kept)
        _restore_lanes(self.whole, kept.whole)

    def _restore_memory(self, kept: Kept) -> None:
        state = self.whole.state
        self.clock, self._last = kept.clock, kept.last
        _refill(state.allocated, kept.allocated)
        for memory, known in kept.memories:
            memory.restore(known)
        state.shadow_of.clear()
        for memory, shadow, known in kept.shadows:
            shadow.restore(known)
            state.shadow_of[memory] = shadow
        self.touches.of = {memory: (counts.copy(), last.copy()) for memory, (counts, last) in kept.touches}
        state.barriers.of_block[:], state.barriers.of_warp[:] = kept.barriers


def _lanes(warp: WarpRun) -> npt.NDArray[np.bool_]:
    return warp.state.lanes.full(_mask(warp))


def _mask(warp: WarpRun) -> Mask:
    return None if warp.next is None else warp.next[1]


def _part(value: Value, lanes: Array) -> Value:
    return Partly(data_of(value)[lanes], value.undefined[lanes]) if isinstance(value, Partly) else value[lanes]


def _tables(state: State) -> tuple[dict[Any, Any], ...]:
    return state.variables, state.places, state.storage, state.allocated, state.fragments


def _kept_lanes(lanes: Statements) -> _KeptLanes:
    state = lanes.state
    own = [item for item in state.allocated.values() if isinstance(item, Registers)]
    return _KeptLanes(
        tuple(frame.copied() for frame in lanes.frames),
        lanes.next if isinstance(lanes, WarpRun) else None,
        isinstance(lanes, WarpRun) and lanes.is_waiting,
        tuple(dict(item) for item in _tables(state)),
        (tuple(state.flights), state.group_count),
        tuple((item.rows, list(item.rows)) for item in own),
    )


def _restore_lanes(lanes: Statements, kept: _KeptLanes) -> None:
    lanes.frames[:] = [frame.copied() for frame in kept.frames]
    if isinstance(lanes, WarpRun):
        lanes.next, lanes.is_waiting = kept.next, kept.is_waiting
    for table, old in zip(_tables(lanes.state), kept.tables, strict=True):
        _refill(table, old)
    lanes.state.flights[:], lanes.state.group_count = kept.flights
    for rows, old in kept.rows:
        rows[:] = old


def _take_lanes(warp: WarpRun, kept: _KeptLanes) -> None:
    """Let a warp stand where all have met: every lane is there, so that no mask is left in a frame."""
    inside, count = warp.state.lanes.inside, warp.state.lanes.grid.thread_count
    rows_of = {id(rows): [_lanes_of(item, inside, count) for item in old] for rows, old in kept.rows}

    def taken(item: Any) -> Any:
        match item:
            case Registers():
                return replace(item, rows=rows_of[id(item.rows)])
            case Memory() | View():
                return item
            case _:
                return _lanes_of(item, inside, count)

    warp.frames[:] = [
        replace(
            frame, mask=None,
            span=None if frame.span is None else tuple(_lanes_of(item, inside, count) for item in frame.span),
        )
        for frame in kept.frames
    ]  # fmt: skip
    for table, old in zip(_tables(warp.state), kept.tables, strict=True):
        _refill(table, {key: taken(item) for key, item in old.items()})
    warp.state.flights.clear()


def _lanes_of(value: Any, inside: Array, count: int) -> Any:
    """Return what some lanes have of a value of `count` lanes; one row is that of all."""
    match value:
        case Partly(data=data, undefined=undefined):
            lost = undefined[inside]
            own = _lanes_of(data, inside, count)
            return Partly(own, lost) if lost.any() else own
        case _:
            return value[inside] if is_array(value) and value.ndim and len(value) == count else value


def _refill(table: dict[Any, Any], old: dict[Any, Any]) -> None:
    # What evaluates holds the table itself.
    table.clear()
    table.update(old)
