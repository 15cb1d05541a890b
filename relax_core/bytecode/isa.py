"""The instruction set of the Relax VM: four opcodes over registers, immediates, constants and functions."""

from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Register:
    """Register `index` of the running frame; parameters are the first ones."""

    index: int


@dataclass(frozen=True, slots=True)
class Special:
    """`void`: no value; as a destination the result is dropped. `vm`: the machine itself."""

    name: Literal["void", "vm"]


@dataclass(frozen=True, slots=True)
class Immediate:
    """An integer in the instruction."""

    value: int


@dataclass(frozen=True, slots=True)
class ConstantRef:
    """Entry `index` of the constant pool."""

    index: int


@dataclass(frozen=True, slots=True)
class FunctionRef:
    """Entry `index` of the function table, as a value: a closure with no captures."""

    index: int


Argument: TypeAlias = Register | Special | Immediate | ConstantRef | FunctionRef
Destination: TypeAlias = Register | Special

VOID = Special("void")
VM = Special("vm")


@dataclass(frozen=True, slots=True)
class CallInstruction:
    """`dst = function(args)`; `function` is an index into the function table."""

    function: int
    args: tuple[Argument, ...]
    dst: Destination


@dataclass(frozen=True, slots=True)
class ReturnInstruction:
    """Return the value of `result` to the caller's destination."""

    result: Argument


@dataclass(frozen=True, slots=True)
class GotoInstruction:
    """Jump by `offset` instructions."""

    offset: int


@dataclass(frozen=True, slots=True)
class IfInstruction:
    """Go on with the next instruction if `condition` is not zero, else jump by `false_offset`."""

    condition: Register
    false_offset: int


Instruction: TypeAlias = CallInstruction | ReturnInstruction | GotoInstruction | IfInstruction
