"""Loads and stores of all lanes at once: in range, of what was written, and watched for races."""

from dataclasses import replace
from math import prod

import numpy as np

from relax_core.ir.equality import structural_equal
from relax_core.ir.node import Node
from relax_core.ir.tir import Buffer, BufferLoad, BufferStore
from relax_core.jit.calls.arguments import contiguous_strides
from relax_core.ops.kernels.numbers import Plain, is_array
from relax_core.simt.findings import text_of
from relax_core.simt.hazards import Access, Race, Shadow
from relax_core.simt.lanes import Array, Mask
from relax_core.simt.memory import Bools, Memory, Registers, View
from relax_core.simt.state import State, unsupported
from relax_core.simt.values import Partly, Value, data_of, lanes_first, undefined_in, with_undefined


class Accesses:
    """The memory of a state as the statements of a program see it."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._lanes = state.lanes

    def load(self, buffer: Buffer, indices: tuple[Value, ...], node: Node, mask: Mask, *, is_atomic: bool = False
             ) -> Value:  # fmt: skip
        """Return the elements that the lanes of `mask` load; the others get any elements."""
        place = self._place(buffer, node)
        index, outside = self._index(place, indices, node, mask)
        if isinstance(place, Registers):
            found = place.load(index, self._lanes)
        else:
            found = self._loaded(place, index, node, mask, is_atomic=is_atomic)
        if outside is None:
            return found
        undefined = undefined_in(found)
        return with_undefined(data_of(found), outside if undefined is None else outside | undefined)

    def store(self, buffer: Buffer, indices: tuple[Value, ...], value: Value, node: Node, mask: Mask, *,
              is_atomic: bool = False) -> None:  # fmt: skip
        """Store what the lanes of `mask` have."""
        place = self._place(buffer, node)
        index, outside = self._index(place, indices, node, mask)
        if outside is not None:
            mask = self._lanes.full(mask) & ~outside
        if isinstance(place, Registers):
            place.store(index, value, mask, self._lanes)
        else:
            self._stored(place, index, value, node, mask, is_atomic=is_atomic)

    def _place(self, buffer: Buffer, node: Node) -> View | Registers:
        place = self._state.places.get(buffer)
        return unsupported(node, f"the memory of `{buffer.name}`") if place is None else place

    def _index(
        self, place: View | Registers, indices: tuple[Value, ...], node: Node, mask: Mask
    ) -> tuple[Plain, "Bools | None"]:
        """Return the number of the element, and the lanes of `mask` in which it is out of range."""
        undefined = undefined_in(*indices)
        if undefined is not None and (found := self._lanes.full(mask) & undefined).any():
            self._undefined(node, found, f"an index of `{text_of(node)}` is undefined")
        flat: Plain = 0
        outside: Bools | None = None
        strides = place.strides if isinstance(place, View) else contiguous_strides(place.shape)
        for value, extent, stride in zip(indices, place.shape, strides, strict=True):
            index = data_of(value)
            index, wrong = self._in_range(index, extent, mask)
            if wrong is not None:
                outside = wrong if outside is None else outside | wrong
            flat = _sum(flat, index * stride if stride != 1 else index)
        if outside is not None:
            self._outside(place.buffer, indices, node, outside)
        return flat, outside

    def _in_range(self, index: Plain, extent: int, mask: Mask) -> tuple[Plain, "Bools | None"]:
        """Return the index with 0 where it is out of range, and the lanes of `mask` in which it is."""
        if not is_array(index):
            if 0 <= index < extent:
                return index, None
            return 0, self._lanes.full(mask).copy()
        if index.min() >= 0 and index.max() < extent:
            return index, None
        wrong = (index < 0) | (index >= extent)
        lanes = wrong if wrong.ndim == 1 else wrong.any(axis=1)
        lanes = np.broadcast_to(lanes, (self._lanes.count,)) & self._lanes.full(mask)
        return np.where(wrong, 0, index), lanes if lanes.any() else None

    def _outside(self, buffer: Buffer, indices: tuple[Value, ...], node: Node, lanes: Bools) -> None:
        lane = int(np.flatnonzero(lanes)[0])
        where = ", ".join(str(_at(data_of(item), lane)) for item in indices)
        shape = ", ".join(map(str, self._state.places[buffer].shape))
        thread = int(self._lanes.thread[lane])
        message = (
            f"`{text_of(node)}` is out of range: {self._lanes.grid.place(thread)} is at {buffer.name}[{where}], and "
            f"`{buffer.name}` has the shape ({shape})"
        )
        self._state.launch.findings.add("GP007", message, node, self._lanes.thread[lanes])

    def _undefined(self, node: Node, lanes: Bools, what: str) -> None:
        thread = int(self._lanes.thread[np.flatnonzero(lanes)[0]])
        message = f"{what} in {self._lanes.grid.place(thread)}"
        self._state.launch.findings.add("GP006", message, node, self._lanes.thread[lanes])

    def _elements(self, view: View, index: Plain) -> Plain:
        """Return where the elements are among all of the memory's, a column for each of a vector."""
        each = view.memory.bytes_each // view.dtype.itemsize
        found = index
        if view.lanes > 1:
            columns = np.arange(view.lanes)
            if not is_array(found):
                found = (found * view.lanes + columns)[None, :]
            elif found.ndim == 1:
                found = found[:, None] * view.lanes + columns
            else:
                found = (found[:, :, None] * view.lanes + columns).reshape(len(found), -1)
        if view.offset:
            found = found + view.offset
        if view.memory.raw.size > view.memory.bytes_each:
            copy = self._lanes.warp if view.memory.kind == "warp" else self._lanes.block_in_batch
            start = copy * each
            found = start[:, None] + found if is_array(found) and found.ndim == 2 else start + found
        return found

    def _loaded(self, view: View, index: Plain, node: Node, mask: Mask, *, is_atomic: bool) -> Value:
        memory, at = view.memory, self._elements(view, index)
        if memory.on_the_way is not None:
            self._note_on_the_way(view, at, node, mask, is_write=False)
        elements = memory.raw.view(view.dtype)
        data = elements[at]
        self._state.launch.traffic.note(view, at, (node, "load"), mask, self._lanes)
        # An atomic operation is watched where it stores.
        shadow = None if is_atomic else self._shadow(memory)
        waits = shadow is not None and shadow.lets_reads_wait
        if shadow is not None and waits:
            shadow.wait(lambda: self._of_lanes(view, at, node, mask), np.size(data))
        if (shadow is None or waits) and self._are_written(view, at):
            return data
        of = self._of_lanes(view, at, node, mask)
        if shadow is not None and not waits and len(of.cells):
            self._note(shadow.read(of))
        if memory.is_all_written:
            return data
        missing = ~memory.written[of.cells]
        if not missing.any():
            return data
        lanes = np.zeros(self._lanes.count, np.bool_)
        lanes[of.thread[missing] - self._lanes.thread[0]] = True
        self._unwritten(view, of, missing, node)
        return Partly(lanes_first(data, self._lanes.count), lanes)

    @staticmethod
    def _are_written(view: View, at: Plain) -> bool:
        """Tell at a glance whether elements were all written, those of lanes that take no part included."""
        memory = view.memory
        if memory.is_all_written:
            return True
        return memory.cell_bytes == view.dtype.itemsize and bool(np.all(memory.written[at]))

    def _unwritten(self, view: View, of: Access, missing: Bools, node: Node) -> None:
        memory, cell = view.memory, int(of.cells[missing][0])
        element = (
            cell % (memory.bytes_each // memory.cell_bytes) * memory.cell_bytes // view.dtype.itemsize - view.offset
        )
        place = self._lanes.grid.place(int(of.thread[missing][0]))
        message = (
            f"`{text_of(node)}` reads {memory.kind} memory that nothing wrote: {view.buffer.name}[{element}], "
            f"counted as one row, in {place}"
        )
        self._state.launch.findings.add("GP005", message, node, of.cells[missing], "cell")

    def _stored(self, view: View, index: Plain, value: Value, node: Node, mask: Mask, *, is_atomic: bool) -> None:
        lanes, memory = self._lanes, view.memory
        at = self._elements(view, index)
        of = replace(self._of_lanes(view, at, node, mask, is_atomic=is_atomic), keeps_values=_is_own_value(node))
        if not len(of.cells):
            return
        if memory.on_the_way is not None or memory.sources is not None:
            self._note_on_the_way(view, at, node, mask, is_write=True)
        self._state.launch.traffic.note(view, at, (node, "store"), mask, lanes)
        data = np.asarray(data_of(value)).astype(view.dtype, copy=False)
        width = at.shape[1] if is_array(at) and at.ndim == 2 else 0
        shape = (lanes.count, width) if width else (lanes.count,)
        data = np.broadcast_to(data[:, None] if width and data.ndim == 1 else data, shape)
        where = np.broadcast_to(at, shape)
        if mask is not None:
            data, where = data[mask], where[mask]
        elements = memory.raw.view(view.dtype)
        per_element = len(of.cells) // max(1, where.size)

        def is_same() -> Bools:
            return np.repeat((elements[where] == data).reshape(-1), per_element)

        shadow = self._shadow(memory)
        if shadow is not None:
            self._note(shadow.write(of, is_same))
        elements[where] = data
        if shadow is not None:
            self._note(shadow.clash(of, is_same))
        self._note_written(view, of, value, node, mask)

    def _note_written(self, view: View, of: Access, value: Value, node: Node, mask: Mask) -> None:
        undefined = undefined_in(value)
        lanes = None if undefined is None else undefined if mask is None else undefined & mask
        view.memory.note_written(of.cells)
        if lanes is None or not lanes.any():
            return
        chosen = lanes if mask is None else lanes[mask]
        cells = of.cells[np.repeat(chosen, len(of.cells) // len(chosen))]
        view.memory.note_undefined(cells)
        where = f"`{text_of(node)}` stores an undefined value into {view.memory.kind} memory, `{view.buffer.name}`,"
        self._undefined(node, lanes, where)

    def _shadow(self, memory: Memory) -> Shadow | None:
        # Memory of a warp is a notation for shuffles, whose lanes go in step.
        if memory.kind == "warp" or (memory.kind == "global" and memory not in self._state.launch.written):
            return None
        if memory not in self._state.shadow_of:
            self._state.shadow_of[memory] = Shadow(memory, self._lanes.grid, [])
        return self._state.shadow_of[memory]

    def _of_lanes(self, view: View, at: Plain, node: Node, mask: Mask, *, is_atomic: bool = False) -> Access:
        """Return an access with one entry for each cell that a lane of `mask` touches."""
        lanes, memory = self._lanes, view.memory
        chosen = slice(None) if mask is None else mask
        thread = lanes.thread[chosen]
        epoch, warp_epoch = self._state.barriers.before(lanes, chosen)
        if is_array(at) and at.shape[0] == lanes.count:
            elements = at[chosen]
        else:
            row = np.asarray(at)
            elements = np.broadcast_to(row, (len(thread), *row.shape[1:]))
        per_element = view.dtype.itemsize // memory.cell_bytes
        cells = elements.reshape(len(thread), prod(elements.shape[1:]))
        if per_element > 1:
            cells = (cells[:, :, None] * per_element + np.arange(per_element)).reshape(
                len(thread), cells.shape[1] * per_element
            )
        each = cells.shape[1]
        if each > 1:
            thread, epoch, warp_epoch = (np.repeat(item, each) for item in (thread, epoch, warp_epoch))
        return Access(memory, node, cells.reshape(-1), thread, epoch, warp_epoch, is_atomic)

    def send(self, buffer: Buffer, index: Plain, node: Node, mask: Mask, *, is_on_the_way: bool) -> None:
        """Note that an asynchronous copy goes to an element of each lane of `mask`, or has come there."""
        memory, cells = self._copied(buffer, index, node, mask)
        if memory.on_the_way is None:
            memory.on_the_way = np.zeros(len(memory.written), np.bool_)
        memory.on_the_way[cells] = is_on_the_way

    def take(self, buffer: Buffer, index: Plain, node: Node, mask: Mask, *, is_on_the_way: bool) -> None:
        """Note that an asynchronous copy comes from an element of each lane of `mask`, or has taken it."""
        memory, cells = self._copied(buffer, index, node, mask)
        if memory.sources is None:
            memory.sources = np.zeros(len(memory.written), np.int32)
        np.add.at(memory.sources, cells, 1 if is_on_the_way else -1)

    def _copied(self, buffer: Buffer, index: Plain, node: Node, mask: Mask) -> tuple[Memory, Array]:
        place = self._place(buffer, node)
        if not isinstance(place, View):
            unsupported(node, "an asynchronous copy of registers")
        found, outside = self._index(place, (index,), node, mask)
        inside = mask if outside is None else self._lanes.full(mask) & ~outside
        return place.memory, self._of_lanes(place, self._elements(place, found), node, inside).cells

    def _note_on_the_way(self, view: View, at: Plain, node: Node, mask: Mask, *, is_write: bool) -> None:
        memory, does = view.memory, "writes" if is_write else "reads"
        found = [(memory.on_the_way, f"on the way there: {{}} {does} it before the thread that copies has waited")]
        if is_write:
            found.append(
                (memory.sources, "taking it from there: {} writes it before the thread that copies has waited")
            )
        for table, why in found:
            if table is None or not table.any():
                continue
            of = self._of_lanes(view, at, node, mask)
            early = table[of.cells] != 0
            if early.any():
                place = self._lanes.grid.place(int(of.thread[early][0]))
                message = (
                    f"`{text_of(node)}` {does} `{view.buffer.name}` while an asynchronous copy is {why.format(place)}"
                )
                self._state.launch.findings.add("GP017", message, node, of.cells[early], "cell")

    def flush(self) -> None:
        """Look at the reads that wait, in front of a barrier that does not order all threads."""
        for shadow in self._state.shadow_of.values():
            self._note(shadow.flushed())

    def _note(self, races: list[Race]) -> None:
        for race in races:
            self._state.launch.findings.add_race(race, self._lanes.grid)


def _sum(a: Plain, b: Plain) -> Plain:
    """Add indices, of which one may be that of a vector: a row for each lane."""
    if is_array(a) and is_array(b) and a.ndim != b.ndim:
        a, b = (item[:, None] if item.ndim == 1 else item for item in (a, b))
    return a + b


def _at(index: Plain, lane: int) -> object:
    if not is_array(index):
        return index
    row = index[lane if len(index) > 1 else 0]
    return row.tolist()


def _is_own_value(node: Node) -> bool:
    """Tell whether a store puts its own value into a cell, as apache-tvm writes it behind a reduction."""
    match node:
        case BufferStore(buffer=buffer, indices=indices, value=BufferLoad(buffer=read, indices=at)) if buffer is read:
            return len(indices) == len(at) and all(map(structural_equal, indices, at))
        case _:
            return False
