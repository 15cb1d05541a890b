"""Which instruction of a recorded run computed the value of a register."""

from dataclasses import dataclass

from relax_core.bytecode.executable import FunctionEntry
from relax_core.bytecode.isa import CallInstruction, ConstantRef, Immediate, Register
from relax_core.engine.debug.intermediates import is_allocated
from relax_core.source import Source
from relax_core.vm.condition import Moment
from relax_core.vm.conditions.condition_syntax import Name, RegisterName, parse_expression
from relax_core.vm.decode import pool_value
from relax_core.vm.objects.values import Uninitialised, Value, ranges_in
from relax_core.vm.recording.trace import FrameState, Trace


class NothingToCompareError(Exception):
    """There is nothing to compare a value with; the text says why."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The instruction that computed a value: its event, and the frame and the names that the value has.

    `raw` is the value as the run holds it, see `Trace.as_it_was`.
    """

    trace: Trace
    frame: int
    event: int
    variables: tuple[str, ...]
    raw: Value

    @property
    def moment(self) -> Moment:
        """The values of the frame as the instruction began."""
        return Moment(self.trace, self.event, 1, self.frame)

    @property
    def line(self) -> int:
        """The line of the source that the instruction comes from."""
        return int(self.trace.lines.line_of[int(self.trace.pcs[self.event])])

    def call(self) -> tuple[FunctionEntry, tuple[Value, ...]]:
        """Return the function that the instruction called, and its arguments as the run holds them.

        Raises:
            NothingToCompareError: it is no call.
        """
        trace, event = self.trace, self.event
        instruction = trace.executable.instructions[int(trace.pcs[event])]
        if not isinstance(instruction, CallInstruction):
            raise NothingToCompareError("no call computed it")
        registers = trace.raw_registers_at(event, int(trace.frame_ids[event]))
        args: list[Value] = []
        for item in instruction.args:
            match item:
                case Register(index=index):
                    args.append(registers[index])
                case ConstantRef(index=index):
                    args.append(pool_value(trace.executable.constants[index]))
                case Immediate(value=value):
                    args.append(value)
                case _:
                    args.append(None)
        return trace.executable.functions[instruction.function], tuple(args)


def origin_of(trace: Trace, time: int, frame: FrameState, expression: str) -> Origin:
    """Return what computed the value that a register or a variable of a frame has at a time.

    Raises:
        CompileError: VM030, the expression cannot be read.
        NothingToCompareError: it names no register, or one that no instruction wrote.
    """
    run, trace = trace, trace.near(time)
    register = _register(trace, time, frame, expression)
    writes = [event for event in trace.writes_of(frame.frame) if event < time]
    bound = next((event for event in reversed(writes) if _writes(trace, event, frame.frame, register)), None)
    if bound is None:
        raise NothingToCompareError("it is an argument of the function, which nothing in it computed")
    event = _computed(trace, trace.written_value(bound), bound)
    trace = run.near(time, event, time)
    raw = trace.written_value(bound)
    registers = trace.raw_registers_at(time, frame.frame)
    entry = trace.executable.functions[frame.function]
    sharing = (register, *(number for number, held in enumerate(registers) if held is raw and number != register))
    names = (entry.register_vars[number] for number in sharing if number < len(entry.register_vars))
    variables = tuple(dict.fromkeys(var.name for var in names if var is not None))
    return Origin(trace, frame.frame, event, variables, raw)


def _writes(trace: Trace, event: int, frame: int, register: int) -> bool:
    return trace.written_frame(event) == frame and trace.written_register(event) == register


def _register(trace: Trace, time: int, frame: FrameState, expression: str) -> int:
    match parse_expression(Source("expression", expression)):
        case RegisterName(index=index):
            return index
        case Name(name=name):
            found = Moment(trace, time, 1, frame.frame).register_of(name)
            if found is not None:
                return found
        case _:
            pass
    raise NothingToCompareError(f"`{expression}` is no register and no variable, of which it is known what computed it")


def _computed(trace: Trace, raw: Value, bound: int) -> int:
    """Return the event that wrote the memory of a value last before it was bound, or first behind."""
    later: list[int] = []
    earlier: list[int] = []
    for own in ranges_in(raw):
        events = trace.changes_of(own.memory)
        changes = trace.memory_changes(events)
        for event in events:
            if any(item.overlaps(own) for item in changes.get(event, ())):
                (earlier if event <= bound else later).append(event)
    is_written = not isinstance(trace.as_it_was(raw, bound + 1), Uninitialised) and earlier
    if is_written and not is_allocated(trace, bound):
        return max(earlier)
    return min(later, default=bound)
