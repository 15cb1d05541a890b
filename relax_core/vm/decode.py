"""Instructions as the machine's loop takes them: what to do, how to fetch the arguments, where to put the result."""

from dataclasses import dataclass
from functools import lru_cache
from operator import is_, itemgetter
from typing import Any, Final, assert_never, cast

from relax_core.bytecode.executable import DTypeConstant, Executable, FunctionEntry, PoolConstant, ShapeConstant
from relax_core.bytecode.isa import (
    Argument,
    CallInstruction,
    ConstantRef,
    FunctionRef,
    GotoInstruction,
    IfInstruction,
    Immediate,
    Instruction,
    Register,
    ReturnInstruction,
    Special,
)
from relax_core.vm.builtin.builtins import BUILTINS
from relax_core.vm.objects.values import MACHINE, UNWRITTEN, Closure, DTypeValue, ShapeValue, Value
from relax_core.vm.stack import Fetch, Step

BUILTIN: Final = 0
KERNEL: Final = 1
FUNCTION: Final = 2
CLOSURE: Final = 3
RETURN: Final = 4
PACKED: Final = 5
IF: Final = 6
GOTO: Final = 7


@dataclass(frozen=True, slots=True)
class DecodedFunction:
    """The steps of a VM function, and what a frame's registers start as: unwritten registers, then the constants."""

    steps: tuple[Step, ...]
    template: tuple[Value, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Code:
    """The instructions of a function and what they refer to; equal for executables that share them, by identity."""

    executable: Executable
    entry: FunctionEntry

    def _parts(self) -> tuple[object, ...]:
        return self.executable.instructions, self.executable.constants, self.executable.functions, self.entry

    def __hash__(self) -> int:
        return hash(tuple(map(id, self._parts())))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Code) and all(map(is_, self._parts(), other._parts()))


def decode(executable: Executable, entry: FunctionEntry) -> DecodedFunction:
    """Decode the instructions of a VM function; its jumps are relative to its start.

    What was decoded last is kept: the forms of a program may have their bytecode in common, and differ in kernels.
    """
    return _decoded(_Code(executable, entry))


@lru_cache(maxsize=2)
def _decoded(code: _Code) -> DecodedFunction:
    executable, entry = code.executable, code.entry
    constants = _Constants(executable, entry.register_count)
    steps = tuple(
        _step(executable, constants, instruction, pc)
        for pc, instruction in enumerate(executable.instructions[entry.start : entry.end])
    )
    return DecodedFunction(steps, ((UNWRITTEN,) * entry.register_count) + tuple(constants.values))


class _Constants:
    """The slots behind the registers, one for each constant that the function mentions."""

    def __init__(self, executable: Executable, register_count: int) -> None:
        self.executable = executable
        self.register_count = register_count
        self.values: list[Value] = []
        self.slot_of: dict[Argument | int, int] = {}

    def slot(self, argument: Argument) -> int:
        if isinstance(argument, Register):
            return argument.index
        # Most are integers, which are found sooner by themselves.
        key = argument.value if isinstance(argument, Immediate) else argument
        found = self.slot_of.get(key)
        if found is None:
            found = self.slot_of[key] = self.register_count + len(self.values)
            self.values.append(_constant(self.executable, argument))
        return found


def _constant(executable: Executable, argument: Argument) -> Value:
    match argument:
        case Immediate(value=value):
            return value
        case ConstantRef(index=index):
            return pool_value(executable.constants[index])
        case FunctionRef(index=index):
            return Closure(index, executable.functions[index].name)
        case Special(name=name):
            return None if name == "void" else MACHINE
        case Register():
            raise AssertionError("a register is no constant")
        case _:
            assert_never(argument)


def pool_value(constant: PoolConstant) -> Value:
    """Return the run-time value of a constant of the pool."""
    match constant:
        case ShapeConstant(values=values):
            return ShapeValue(values)
        case DTypeConstant(name=name):
            return DTypeValue(name)
        case _:
            return constant


def _step(executable: Executable, constants: _Constants, instruction: Instruction, pc: int) -> Step:
    match instruction:
        case CallInstruction(function=function, args=args, dst=dst):
            fetch = _fetch(tuple(map(constants.slot, args)))
            what, target = _target(executable, function)
            return what, target, fetch, dst.index if isinstance(dst, Register) else -1
        case ReturnInstruction(result=result):
            return RETURN, None, _fetch(()), constants.slot(result)
        case GotoInstruction(offset=offset):
            return GOTO, pc + offset, _fetch(()), -1
        case IfInstruction(condition=condition, false_offset=offset):
            return IF, pc + offset, _fetch(()), condition.index
        case _:
            assert_never(instruction)


def _target(executable: Executable, function: int) -> tuple[int, Any]:
    entry = executable.functions[function]
    match entry.kind:
        case "vm":
            return FUNCTION, function
        case "kernel":
            return KERNEL, function
        case "packed" if entry.name == "vm.builtin.invoke_closure":
            return CLOSURE, function
        case "packed" if entry.name in BUILTINS:
            return BUILTIN, BUILTINS[entry.name]
        case "packed":
            return PACKED, function
        case _:
            assert_never(entry.kind)


def _fetch(slots: tuple[int, ...]) -> Fetch:
    match slots:
        case ():
            return lambda registers: ()
        case (slot,):
            return lambda registers: (registers[slot],)
        case _:
            return cast("Fetch", itemgetter(*slots))
