"""Lifetimes in a recorded run: which storages and tensors lived when, what aliased them, and their bytes.

One pass over the events tracks what every register holds. An object is alive while a register of an open call, a tuple,
a closure, a constructed value, a reference or the host holds it; a storage is alive while a tensor in it is. A tensor
whose bytes were overwritten through another tensor reads the other one's value. If the other one was made after the
tensor had its value, the storage was reused too early; if both were there before, the program lets them alias.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np

from relax_core.analysis.device.devices import Device
from relax_core.diagnostics import Diagnostic, RunError
from relax_core.vm.objects.placed import PlacedArray
from relax_core.vm.objects.values import (
    NOT_KEPT,
    UNWRITTEN,
    AdtValue,
    Array,
    ByteRange,
    Closure,
    RefValue,
    Snapshot,
    StateValue,
    StorageValue,
    Value,
    arrays_in,
    range_of,
    root_of,
)
from relax_core.vm.recording.memory_steps import SHAPE_HEAP, Step, steps_of
from relax_core.vm.recording.recorder import NO_WRITE
from relax_core.vm.recording.trace import Trace

_HOLDERS: Final = frozenset(
    (np.ndarray, PlacedArray, StorageValue, Closure, AdtValue, RefValue, StateValue, Snapshot, tuple)
)
"""Types of values that own memory or hold other values."""
_LOOKS_UP: Final = 1 << 12
_NAMES: Final = 8


@dataclass(slots=True, eq=False)
class Life:
    """The lifetime of a storage, or of the memory of a tensor; an `argument` if the host passed it.

    It is held from time `start` to time `end`; `first_write` and `last_use` are events, -1 if there is none.
    """

    kind: Literal["storage", "tensor", "argument"]
    size_bytes: int
    start: int
    pc: int
    """The instruction that made it, -1 for the host."""
    shape: tuple[int, ...] = ()
    dtype: str = ""
    device: Device | None = None
    names: list[str] = field(default_factory=list[str])
    """Variables or registers that held it, with their functions, the first one first: `main.x`, `main.%3`."""
    first_write: int = -1
    last_write: int = -1
    last_use: int = -1
    end: int = -1
    storage: "Life | None" = None
    offset: int = 0

    def overlaps(self, other: "Life") -> bool:
        """Tell whether two tensors of one storage share bytes."""
        return self.offset < other.offset + other.size_bytes and other.offset < self.offset + self.size_bytes


@dataclass(frozen=True, slots=True, eq=False)
class Reuse:
    """A read, at event `read`, of a tensor whose bytes event `write` had given to another one."""

    tensor: Life
    other: Life
    write: int
    read: int
    pc: int
    """The instruction that read it; -1: the host, that got it as the result."""
    is_shared: bool
    """Both tensors were there before the value was written that the other one overwrote: no value was lost to a plan
    that took the tensor for dead."""


@dataclass(frozen=True, slots=True, eq=False)
class MemoryUse:
    """The memory of a run: `size_bytes[i]` are taken from `times[i]` on."""

    lives: tuple[Life, ...]
    reuses: tuple[Reuse, ...]
    times: tuple[int, ...]
    size_bytes: tuple[int, ...]
    constant_bytes: int
    total: int
    is_complete: bool
    """No value of the run was given up to save memory."""

    @property
    def peak(self) -> tuple[int, int]:
        """The most bytes that were taken at once, and the first time of that."""
        most = max(self.size_bytes, default=0)
        return most, self.times[self.size_bytes.index(most)] if self.size_bytes else 0


def memory_of(trace: Trace, is_cancelled: Callable[[], bool] = lambda: False) -> MemoryUse:
    """Return the memory of a recorded run; linear in its events and in what they hold.

    Raises:
        RunError: VM008, it was cancelled.
    """
    walk = _Walk(trace)
    walk.run(is_cancelled)
    return walk.memory()


@dataclass(slots=True, eq=False)
class _Node:
    """A holder of other values or of memory; `life` is `None` for what has no bytes to count."""

    life: Life | None
    children: tuple[Value, ...] = ()
    holders: int = 0


class _Walk:
    """Replays the events with a count of holders per object."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._steps = steps_of(trace.executable)
        self._changes = trace.memory_changes()
        self._registers: list[list[Value]] = []
        self._nodes: dict[int, _Node] = {}
        """By identity: of a tensor that is alone in its memory, of the array that owns that."""
        self._shared: dict[int, list[tuple[ByteRange, _Node]]] = {}
        """For the bytes of a storage, by identity, the tensors that were made in it."""
        self._lives: list[Life] = []
        self._in_storage: dict[Life, set[Life]] = {}
        self._taken: dict[Life, tuple[Life, int, bool]] = {}
        """By tensor the one that overwrote it, at which event, and whether it was there before what it overwrote."""
        self._reuses: list[Reuse] = []
        self._time = 0
        self._pc = -1
        self._taken_bytes = 0
        self._curve: list[tuple[int, int]] = []
        self._constants: dict[int, int] = {}
        self._is_complete = True

    def run(self, is_cancelled: Callable[[], bool]) -> None:
        """Play all events."""
        self._enter_until(-1)
        self._inject()
        self._note_bytes()
        pcs: list[int] = self._trace.pcs.tolist()
        frames: list[int] = self._trace.frame_ids.tolist()
        for event, (pc, frame) in enumerate(zip(pcs, frames, strict=True)):
            if event % _LOOKS_UP == 0 and is_cancelled():
                raise RunError((Diagnostic("VM008", "cancelled while following the memory of the run"),))
            self._time, self._pc = event + 1, pc
            step = self._steps[pc]
            if step.reads or event in self._changes:
                self._use(step, frame, event)
            self._write(step, frame, event)
            self._enter_until(event)
            if step.is_return:
                self._leave(frame)
            self._inject()
            self._note_bytes()
        self._end()

    def memory(self) -> MemoryUse:
        """Return the result of the walk."""
        for life in self._lives:
            life.end = len(self._trace) if life.end < 0 else life.end
        times, sizes = zip(*self._curve, strict=True) if self._curve else ((), ())
        constants = sum(self._constants.values())
        return MemoryUse(
            tuple(self._lives), tuple(self._reuses), times, sizes, constants, len(self._trace), self._is_complete
        )

    def _end(self) -> None:
        """Count the result as read by the host."""
        if self._trace.outcome == "returned":
            self._pc = -1
            for array in arrays_in(self._trace.result):
                self._read(array, len(self._trace))

    def _note_bytes(self) -> None:
        if not self._curve or self._curve[-1][1] != self._taken_bytes:
            self._curve.append((self._time, self._taken_bytes))

    def _enter_until(self, event: int) -> None:
        """Make the frames that `event` enters; what the host gives to the first one is held by it for the whole run."""
        frames, functions = self._trace.frames, self._trace.executable.functions
        while len(self._registers) < len(frames) and frames[len(self._registers)].enter <= event:
            number = len(self._registers)
            record = frames[number]
            entry = functions[record.function]
            self._registers.append([UNWRITTEN] * entry.register_count)
            for register, value in enumerate(record.args):
                if record.enter < 0:
                    self._hold(value, is_given=True)
                self._put(number, register, value)

    def _inject(self) -> None:
        for item in self._trace.injections:
            if item.time == self._time:
                self._put(item.frame, item.register, item.value)

    def _write(self, step: Step, frame: int, event: int) -> None:
        value = self._trace.written_value(event)
        if value is NO_WRITE:
            return
        if value is NOT_KEPT:
            self._is_complete = False
        register = step.dst if not step.is_return else self._trace.written_register(event)
        target = self._trace.frames[frame].parent if step.is_return else frame
        if register is None or target < 0:
            return
        if isinstance(value, np.ndarray):
            root = id(root_of(value))
            if step.storage >= 0 or (root not in self._nodes and root not in self._shared):
                self._make(step, frame, value)
            elif root in self._shared and id(value) not in self._nodes:
                self._nodes[id(value)] = self._viewed(step, frame, value)
        self._put(target, register, value)

    def _make(self, step: Step, frame: int, array: Array) -> None:
        """Know the memory of a tensor that an instruction made."""
        source = self._registers[frame][step.storage] if step.storage >= 0 else None
        place = range_of(array)
        if isinstance(source, StorageValue) and source.memory is not None and id(source.memory) == place.memory:
            node = self._nodes[id(array)] = _Node(self._new(self._life_of(array, "tensor", array.nbytes)))
            self._shared.setdefault(place.memory, []).append((place, node))
        else:
            node = self._node_of_array(array)
        if step.name == SHAPE_HEAP:
            node.life = None
        elif isinstance(source, StorageValue) and node.life is not None:
            life = node.life
            life.storage, life.offset = self._node_of(source).life, place.start
            node.children = (source,)
            if life.storage is not None:
                self._in_storage.setdefault(life.storage, set())

    def _life_of(self, array: Array, kind: Literal["tensor", "argument"], size_bytes: int) -> Life:
        device = array.place if isinstance(array, PlacedArray) else None
        return Life(kind, size_bytes, self._time, self._pc, array.shape, str(array.dtype), device)

    def _viewed(self, step: Step, frame: int, array: Array) -> _Node:
        """Return the tensor of a storage that an array is a view of: that of an operand, or else the latest there."""
        place = range_of(array)
        for register in step.args:
            for item in arrays_in(self._registers[frame][register], into_data=False):
                known = self._nodes.get(id(item))
                if known is not None and range_of(item).covers(place):
                    return known
        found = [node for known, node in self._shared[place.memory] if known.covers(place)]
        return next((node for node in reversed(found) if node.holders), found[-1] if found else _Node(None))

    def _leave(self, frame: int) -> None:
        if frame == 0:
            self._hold(self._trace.result)
        for value in self._registers[frame]:
            if type(value) in _HOLDERS:
                self._drop(value)
        self._registers[frame] = []

    def _put(self, frame: int, register: int, value: Value) -> None:
        """Let a register hold a value."""
        registers = self._registers[frame]
        old = registers[register]
        registers[register] = value
        if type(value) in _HOLDERS:
            self._hold(value)
            if isinstance(value, np.ndarray | StorageValue):
                self._name(self._node_of(value).life, frame, register)
        if type(old) in _HOLDERS:
            self._drop(old)

    def _name(self, life: Life | None, frame: int, register: int) -> None:
        if life is None or len(life.names) >= _NAMES:
            return
        entry = self._trace.executable.functions[self._trace.frames[frame].function]
        var = entry.register_vars[register] if register < len(entry.register_vars) else None
        own = entry.param_names[register] if register < len(entry.param_names) else f"%{register}"
        name = f"{entry.name}.{var.name if var is not None else own}"
        if name not in life.names:
            life.names.append(name)

    def _hold(self, value: Value, *, is_given: bool = False) -> None:
        stack: list[Value] = [value]
        while stack:
            item = stack.pop()
            if type(item) not in _HOLDERS:
                continue
            node = self._node_of(item, is_given=is_given)
            node.holders += 1
            if node.holders == 1:
                self._begin(node.life)
                stack.extend(node.children)

    def _drop(self, value: Value) -> None:
        stack: list[Value] = [value]
        while stack:
            item = stack.pop()
            if type(item) not in _HOLDERS:
                continue
            node = self._node_of(item)
            node.holders -= 1
            if node.holders == 0:
                self._finish(node.life)
                stack.extend(node.children)

    def _begin(self, life: Life | None) -> None:
        if life is None:
            return
        life.end = -1
        if life.storage is None:
            self._taken_bytes += life.size_bytes
        else:
            self._in_storage[life.storage].add(life)

    def _finish(self, life: Life | None) -> None:
        if life is None:
            return
        life.end = self._time
        if life.storage is None:
            self._taken_bytes -= life.size_bytes
        else:
            self._in_storage[life.storage].discard(life)
            self._taken.pop(life, None)

    def _node_of(self, item: Value, *, is_given: bool = False) -> _Node:
        if isinstance(item, np.ndarray):
            return self._node_of_array(item, is_given=is_given)
        node = self._nodes.get(id(item))
        if node is not None:
            return node
        match item:
            case StorageValue(size_bytes=size_bytes, device=device):
                node = _Node(self._new(Life("storage", size_bytes, self._time, self._pc, device=device)))
            case Closure(captures=captures):
                node = _Node(None, captures)
            case AdtValue(fields=fields) | Snapshot(fields=fields):
                node = _Node(None, fields)
            case RefValue():
                # All that it ever holds counts from the start: a reference is alive about as long as its values.
                node = _Node(None, tuple(value for _, value in item.versions))
            case tuple():
                node = _Node(None, tuple(item))
            case _:
                node = _Node(None)
        self._nodes[id(item)] = node
        return node

    def _node_of_array(self, array: Array, *, is_given: bool = False) -> _Node:
        root = root_of(array)
        node = self._nodes.get(id(array if id(root) in self._shared else root))
        if node is not None:
            return node
        if id(root) in self._shared:
            node = self._nodes[id(array)] = self._viewed(Step("", (), None, is_return=False), 0, array)
            return node
        node = self._nodes[id(root)] = _Node(None)
        if not root.flags.writeable:
            self._constants[id(root)] = root.nbytes
        else:
            node.life = self._new(self._life_of(array, "argument" if is_given else "tensor", root.nbytes))
        return node

    def _new(self, life: Life) -> Life:
        self._lives.append(life)
        return life

    def _use(self, step: Step, frame: int, event: int) -> None:
        """Note what the instruction reads and writes."""
        registers = self._registers[frame]
        for register in step.reads:
            for array in arrays_in(registers[register], into_data=False):
                self._read(array, event)
        for place in self._changes.get(event, ()):
            node = self._writer(step, frame, place)
            if node is not None and node.life is not None:
                self._written(node.life, event)

    def _writer(self, step: Step, frame: int, place: ByteRange) -> _Node | None:
        """Return the tensor through which bytes were written."""
        if place.memory not in self._shared:
            return self._nodes.get(place.memory)
        for register in step.args:
            for item in arrays_in(self._registers[frame][register], into_data=False):
                if range_of(item).covers(place):
                    return self._node_of_array(item)
        found = [node for known, node in self._shared[place.memory] if known.covers(place)]
        return found[-1] if found else None

    def _read(self, array: Array, event: int) -> None:
        life = self._node_of_array(array).life
        if life is None:
            return
        life.last_use = event
        taken = self._taken.pop(life, None)
        if taken is not None:
            other, write, is_shared = taken
            self._reuses.append(Reuse(life, other, write, event, self._pc, is_shared))

    def _written(self, life: Life, event: int) -> None:
        life.first_write = event if life.first_write < 0 else life.first_write
        life.last_write = life.last_use = event
        self._taken.pop(life, None)
        if life.storage is not None:
            for other in self._in_storage[life.storage]:
                if other is not life and other.first_write >= 0 and other.overlaps(life):
                    self._taken[other] = life, event, life.start <= other.last_write
