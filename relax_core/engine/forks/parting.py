"""Where two runs of one program part: the first time at which a register or the way differs, and by how much."""

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain

from relax_core.bytecode.executable import Executable
from relax_core.bytecode.isa import CallInstruction, Register
from relax_core.diagnostics import Diagnostic, RunError
from relax_core.engine.debug.differences import compare
from relax_core.engine.debug.replies import Parting, ValueRow
from relax_core.engine.debug.tolerance import EXACT
from relax_core.engine.inputs import members_of
from relax_core.present.running.now import sentence
from relax_core.vm.objects.values import Sentinel, Value, describe
from relax_core.vm.recording.recorder import Injection
from relax_core.vm.recording.trace import Trace


def parting_of(one: Trace, other: Trace, moments: Set[int], is_cancelled: Callable[[], bool]) -> Parting | None:
    """Return where two runs part; `None` if nothing that they compute differs.

    At `moments` one of them was changed, and before the first they are the same. Then every register is compared; after
    any other event what it may have changed: the register that it writes, and those that a call is given.

    Raises:
        RunError: VM008, it was cancelled.
    """
    sides = _Side(one), _Side(other)
    for time in range(max(len(one), len(other)) + 1):
        for side in sides:
            side.go_to(time)
        if is_cancelled():
            raise RunError((Diagnostic("VM008", "cancelled while comparing two runs"),))
        if time < min(moments):
            continue
        if _place(one, time) != _place(other, time):
            return _parting(one, other, time, is_way=True)
        places = (side.standing(time) if time in moments else side.touched for side in sides)
        touched = dict.fromkeys(chain.from_iterable(places))
        if any(_differ(one, other, time, [side.held.get(place) for side in sides]) for place in touched):
            return _parting(one, other, time, is_way=False)
    return None


def _place(trace: Trace, time: int) -> tuple[int | None, ...]:
    """Return the frame that runs at a time, its function, and where it is."""
    frame = trace.frame_at(time)
    return frame, None if frame is None else trace.frames[frame].function, trace.pc_at(time)


@dataclass(slots=True)
class _Side:
    """A run that is gone through: what its registers hold, and which the latest event may have changed."""

    trace: Trace
    held: dict[tuple[int, int], Value] = field(default_factory=dict[tuple[int, int], Value])
    touched: tuple[tuple[int, int], ...] = ()
    _frame_count: int = 0

    def go_to(self, time: int) -> None:
        """Go over the event before a time, and take what the host put in then."""
        touched: list[tuple[int, int]] = []
        if 0 < time <= len(self.trace):
            touched += self._written(time - 1)
        while self._frame_count < len(self.trace.frames) and self.trace.frames[self._frame_count].enter < time:
            args = self.trace.frames[self._frame_count].args
            touched += self._put(((self._frame_count, place), value) for place, value in enumerate(args))
            self._frame_count += 1
        injected: Sequence[Injection] = self.trace.injections
        touched += self._put(((item.frame, item.register), item.value) for item in injected if item.time == time)
        self.touched = tuple(touched)

    def standing(self, time: int) -> tuple[tuple[int, int], ...]:
        """Return the registers of the frames that have not returned at a time."""
        frames = {item.frame for item in self.trace.frames_at(time)}
        return tuple(place for place in self.held if place[0] in frames)

    def _put(self, values: Iterator[tuple[tuple[int, int], Value]]) -> list[tuple[int, int]]:
        found = dict(values)
        self.held |= found
        return list(found)

    def _written(self, event: int) -> list[tuple[int, int]]:
        trace = self.trace
        touched: list[tuple[int, int]] = []
        frame = int(trace.frame_ids[event])
        match trace.executable.instructions[int(trace.pcs[event])]:
            case CallInstruction(args=args):
                touched += [(frame, item.index) for item in args if isinstance(item, Register)]
            case _:
                pass
        register = trace.written_register(event)
        if register is not None and trace.written_frame(event) >= 0:
            place = trace.written_frame(event), register
            self.held[place] = trace.written_value(event)
            touched.append(place)
        return touched


def _differ(one: Trace, other: Trace, time: int, held: list[Value]) -> bool:
    was, is_ = (trace.as_it_was(value, time) for trace, value in zip((one, other), held, strict=True))
    return _row("", was, is_, 0) is not None


def _row(name: str, was: Value, is_: Value, line: int) -> ValueRow | None:
    """Compare what two runs hold in a register; `None` if it is the same."""
    if isinstance(was, Sentinel) or isinstance(is_, Sentinel):
        if type(was) is type(is_):
            return None
        return ValueRow(name, line, "different", "", f"it is {_shown(is_)}, was {_shown(was)}")
    found = compare(members_of(name, was), members_of(name, is_), EXACT)
    worst = next((item for item in found if not item.is_same), None)
    if worst is not None:
        return ValueRow(name, line, "different", worst.type, worst.words, worst.largest)
    if not found and describe(was) != describe(is_):
        return ValueRow(name, line, "different", "", f"it is {describe(is_)}, was {describe(was)}")
    return None


def _shown(value: Value) -> str:
    return value.name if isinstance(value, Sentinel) else describe(value)


def _parting(one: Trace, other: Trace, time: int, *, is_way: bool) -> Parting:
    """Describe the time: every register of the frames that both have, where they differ."""
    rows: list[ValueRow] = []
    frames = {item.frame: item for item in other.frames_at(time)}
    for item in one.frames_at(time):
        if item.frame not in frames or frames[item.frame].function != item.function:
            continue
        registers = (trace.registers_at(time, item.frame) for trace in (one, other))
        for number, (was, is_) in enumerate(zip(*registers, strict=True)):
            row = _row(_name(one.executable, item.function, number), was, is_, 0)
            if row is not None:
                rows.append(row)
    return Parting(time, *_where(one, time), _where(other, time)[1] if is_way else "", tuple(rows))


def _where(trace: Trace, time: int) -> tuple[int, str]:
    """Return the line at a time, and what is about to happen there."""
    frames = trace.frames_at(time)
    if not frames:
        return 0, "The run is over."
    pc = frames[-1].pc
    line = int(trace.lines.line_of[pc])
    caller = trace.frames[frames[-1].frame].enter
    return line, sentence(trace.executable, pc, int(trace.pcs[caller]) if caller >= 0 else None, line)


def _name(executable: Executable, function: int, register: int) -> str:
    entry = executable.functions[function]
    var = entry.register_vars[register] if register < len(entry.register_vars) else None
    return f"{entry.name} %{register}" + (f" {var.name}" if var is not None else "")
