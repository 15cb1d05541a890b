"""The instruction listing, in the format of TVM's `as_text()`."""

from collections.abc import Iterator
from typing import assert_never

from relax_core.bytecode.executable import Executable, FunctionEntry
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


def disassemble(executable: Executable) -> str:
    """Return the listing of all functions in the order of the function table.

    See: tvm/src/runtime/vm/executable.cc
    """
    return "".join(f"{_function(executable, entry)}\n\n" for entry in executable.functions)


def instruction_text(executable: Executable, pc: int) -> str:
    """Return one line of the listing, without its indentation."""
    return _instruction(executable, executable.instructions[pc])


def argument_text(executable: Executable, argument: Argument) -> str:
    """Return an operand as the listing writes it."""
    match argument:
        case Register(index=index):
            return f"%{index}"
        case Special(name=name):
            return f"%{name}"
        case Immediate(value=value):
            return f"i{value}"
        case ConstantRef(index=index):
            return f"c[{index}]"
        case FunctionRef(index=index):
            return f"f[{executable.functions[index].name}]"
        case _:
            assert_never(argument)


def _function(executable: Executable, entry: FunctionEntry) -> str:
    return f"@{entry.name} packed_func;" if entry.kind != "vm" else "\n".join(_lines(executable, entry))


def _lines(executable: Executable, entry: FunctionEntry) -> Iterator[str]:
    yield f"@{entry.name}:"
    for instruction in executable.instructions[entry.start : entry.end]:
        yield f"  {_instruction(executable, instruction)}"


def _instruction(executable: Executable, instruction: Instruction) -> str:
    match instruction:
        case CallInstruction(function=function, args=args, dst=dst):
            name = executable.functions[function].name
            operands = ", ".join(argument_text(executable, item) for item in args)
            return f"{'call':<6}{name:<16} in: {operands:<12} dst: {argument_text(executable, dst)}"
        case ReturnInstruction(result=result):
            return f"{'ret':<6}{argument_text(executable, result)}"
        case GotoInstruction(offset=offset):
            return f"{'goto':<6}{offset}"
        case IfInstruction(condition=condition, false_offset=offset):
            return f"{'If':<6}{argument_text(executable, condition)}, {offset}"
        case _:
            assert_never(instruction)
