"""Play a recorded run forwards: the changes of the stack and of the shown registers per event."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

import numpy as np

from relax_core.bytecode.isa import CallInstruction, IfInstruction, Instruction, Register, ReturnInstruction
from relax_core.present.running.flame import through
from relax_core.present.running.now import sentence
from relax_core.present.running.run_models import Event, Frame, Pop, Push, Write
from relax_core.present.running.values import SHOWN_LEVELS, Values
from relax_core.vm.objects.nested import memories_near
from relax_core.vm.objects.values import UNWRITTEN, AdtValue, Closure, RefValue
from relax_core.vm.recording.trace import FrameState, Trace

_WHOLE = 1_000
"""In a frame with more registers than this, only so many of those written before the window are shown whole."""
_OLDER_FRAMES = 16
"""Of the frames below everything that runs in a window, so many come with their registers."""
_OLDER_REGISTERS = 300
"""And no more of them than have so many registers together, but for the nearest one."""
_OLDER_WHOLE = 60
"""Of a frame with more registers than that, so many of those written last are shown whole where it does not run."""


@dataclass(slots=True)
class _Live:
    """A frame on the stack while the window is played: the objects in its registers and what is shown for them."""

    number: int
    name: str
    raw: list[Any]
    shown: list[int] = field(default_factory=list[int])
    registers_of: dict[int, set[int]] = field(default_factory=dict[int, set[int]])
    """The registers that hold an object, by its identity, for objects that can be shared."""

    def put(self, register: int, item: Any) -> None:
        """Put an object into a register."""
        held = self.registers_of.get(id(self.raw[register]))
        if held is not None:
            held.discard(register)
            if not held:
                del self.registers_of[id(self.raw[register])]
        self.raw[register] = item
        if _is_shared(item):
            self.registers_of.setdefault(id(item), set()).add(register)

    def place_of(self, item: Any) -> str:
        """Name the first register that holds an object."""
        held = self.registers_of.get(id(item))
        return f"{self.name} %{min(held)}" if held else ""


class Player:
    """Plays a window forwards, keeping the stack and what each register shows."""

    def __init__(self, trace: Trace, values: Values, shown: dict[int, int], window: range) -> None:
        self._trace = trace
        self._values = values
        self._place_of_function = shown
        self._changes = trace.memory_changes(window)
        self._stack: list[_Live] = []
        self._depth_of: dict[int, int] = {}
        self._holders: dict[int, list[tuple[int, int]]] = defaultdict(list)
        """Frames and registers that got a value with a tensor in some memory, by the array that owns it."""
        self._first, self._last = window.start, window.stop
        depths = trace.depths[window.start : window.stop]
        self._least_depth = int(depths.min()) if len(depths) else 0

    def initial_frames(self) -> Iterator[Frame]:
        """Yield the stack at the start of the window; frames far below come without registers."""
        trace, at = self._trace, self._first
        stack = trace.frames_at(at)
        first_near = self._first_near(stack)
        for place, state in enumerate(stack):
            entry = trace.executable.functions[state.function]
            line = int(trace.lines.line_of[state.pc]) if state.pc >= 0 else 0
            shown = self._place_of_function[state.function]
            if place < first_near:
                self._push(_Live(state.frame, entry.name, []))
                yield Frame(shown, state.pc, line, (), self._through(state.through))
                continue
            raw = list(trace.raw_registers_at(at, state.frame))
            live = _Live(state.frame, entry.name, [UNWRITTEN] * len(raw), [-1] * len(raw))
            self._push(live)
            is_older = state.depth < self._least_depth and len(raw) > _OLDER_REGISTERS
            near = self._near(state.frame, len(raw), _OLDER_WHOLE if is_older else _WHOLE)
            for register, item in enumerate(raw):
                self._set(live, register, item, at, is_near=register in near)
            yield Frame(shown, state.pc, line, tuple(live.shown), self._through(state.through))

    def _first_near(self, stack: tuple[FrameState, ...]) -> int:
        """Return the place of the first frame that comes with its registers."""
        functions, left = self._trace.executable.functions, _OLDER_REGISTERS
        for place in range(len(stack) - 1, -1, -1):
            if stack[place].depth < self._least_depth:
                is_nearest = stack[place].depth == self._least_depth - 1
                left -= functions[stack[place].function].register_count
                if (left < 0 and not is_nearest) or stack[place].depth < self._least_depth - _OLDER_FRAMES:
                    return place + 1
        return 0

    def _near(self, frame: int, count: int, limit: int) -> frozenset[int] | range:
        """Return the registers of a frame that are shown whole: all if they are few, else the last ones written.

        Those that it reads come with them. A long function has so many that all their values would outweigh the window.
        """
        trace = self._trace
        record = trace.frames[frame]
        if count <= limit:
            return range(count)
        found = set(range(min(len(record.args), limit)))
        written = list(takewhile(lambda event: event < self._first, trace.writes_of(frame)))
        registers = map(trace.written_register, written[-limit:])
        found.update(register for register in registers if register is not None)
        window = slice(self._first, self._last)
        for pc in np.unique(trace.pcs[window][trace.frame_ids[window] == frame]):
            found.update(_read(trace.executable.instructions[int(pc)]))
        return frozenset(found)

    def event(self, at: int) -> Event:
        """Present event `at` and bring the stack to the time after it."""
        trace = self._trace
        pc, number = int(trace.pcs[at]), int(trace.frame_ids[at])
        line = int(trace.lines.line_of[pc])
        caller = trace.frames[number].enter
        caller_pc = int(trace.pcs[caller]) if caller >= 0 else None
        return Event(
            self._place_of_function[trace.frames[number].function],
            pc,
            line,
            int(trace.depths[at]),
            bool(trace.lines.starts_binding[pc]),
            sentence(trace.executable, pc, caller_pc, line),
            tuple(self._changes_of(at)),
        )

    def _changes_of(self, at: int) -> Iterator[Push | Pop | Write]:
        trace = self._trace
        written = self._written(at)
        yield from self._move_to(at + 1)
        if written is not None:
            yield from self._write(*written, at)
        for item in self._trace.injections:
            if item.time == at + 1:
                yield from self._write(item.frame, item.register, item.value, at)
        ranges = self._changes.get(at)
        if ranges:
            yield from self._refresh(tuple(dict.fromkeys(item.memory for item in ranges)), at + 1)
        if trace.frame_at(at + 1) is None:
            self._stack.clear()
            self._depth_of.clear()

    def _written(self, at: int) -> tuple[int, int, Any] | None:
        """Return frame number, register and object that event `at` wrote."""
        register = self._trace.written_register(at)
        if register is None:
            return None
        return self._trace.written_frame(at), register, self._trace.written_value(at)

    def _move_to(self, at: int) -> Iterator[Push | Pop | Write]:
        """Leave and enter frames until the stack is that of time `at`."""
        trace = self._trace
        target = trace.frame_at(at)
        entered: list[int] = []
        while target is not None and target >= 0 and target not in self._depth_of:
            entered.append(target)
            target = trace.frames[target].parent
        while self._stack and self._stack[-1].number != target:
            del self._depth_of[self._stack.pop().number]
            yield Pop()
        for number in reversed(entered):
            yield from self._enter(number, at)

    def _enter(self, number: int, at: int) -> Iterator[Push | Write]:
        trace = self._trace
        record = trace.frames[number]
        entry = trace.executable.functions[record.function]
        live = _Live(number, entry.name, [UNWRITTEN] * entry.register_count, [-1] * entry.register_count)
        yield Push(self._place_of_function[record.function], self._through(through(trace, number)))
        where = self._where()
        self._push(live)
        for register, item in enumerate(record.args):
            self._set(live, register, item, at)
            source = where(item)
            note = f"same as {source}" if source else ""
            yield Write(len(self._stack) - 1, register, live.shown[register], note)

    def _write(self, number: int, register: int, item: Any, at: int) -> Iterator[Write]:
        depth = self._depth_of.get(number)
        if depth is None:
            return
        if isinstance(item, Closure) and item.captures:
            self._values.note_birth(item, at + 1, self._where())
        live = self._stack[depth]
        source = self._where()(item)
        self._set(live, register, item, at + 1)
        yield Write(depth, register, live.shown[register], f"same as {source}" if source else "")

    def _refresh(self, roots: tuple[int, ...], at: int) -> Iterator[Write]:
        """Refresh registers whose tensors were changed in place, in the order in which their memory was met first."""
        for root in roots:
            holders = dict.fromkeys(self._holders.pop(root, ()))
            for number, register in holders:
                depth = self._depth_of.get(number)
                if depth is None:
                    continue
                live = self._stack[depth]
                item = live.raw[register]
                if root not in memories_near(item, SHOWN_LEVELS):
                    continue
                self._holders[root].append((number, register))
                place = self._show(item, at)
                if place != live.shown[register]:
                    live.shown[register] = place
                    yield Write(depth, register, place)

    def _push(self, live: _Live) -> None:
        self._depth_of[live.number] = len(self._stack)
        self._stack.append(live)

    def _set(self, live: _Live, register: int, item: Any, at: int, *, is_near: bool = True) -> None:
        """Put an object into a register as it is at time `at`."""
        live.put(register, item)
        live.shown[register] = self._show(item, at, is_near=is_near)
        if self._changes and _is_shared(item):
            for root in memories_near(item, SHOWN_LEVELS):
                self._holders[root].append((live.number, register))

    def _show(self, item: Any, at: int, *, is_near: bool = True) -> int:
        if item is UNWRITTEN:
            return -1
        return self._values.index(item, at) if is_near else self._values.outline(item, at)

    def _where(self) -> Callable[[Any], str]:
        """Return a function that names the register, in the newest frames, which holds an object."""
        newest = self._stack[:-3:-1]

        def place(item: Any) -> str:
            return next(filter(None, (live.place_of(item) for live in newest)), "") if _is_shared(item) else ""

        return place

    def _through(self, register: int) -> str:
        return f"%{register}" if register >= 0 else ""


def _read(instruction: Instruction) -> Iterator[int]:
    """Yield the registers that an instruction reads."""
    match instruction:
        case CallInstruction(args=args):
            yield from (item.index for item in args if isinstance(item, Register))
        case ReturnInstruction(result=Register(index=index)) | IfInstruction(condition=Register(index=index)):
            yield index
        case _:
            pass


def _is_shared(item: Any) -> bool:
    """Tell whether an object has an identity that registers can share."""
    return isinstance(item, np.ndarray | tuple | Closure | AdtValue | RefValue)
