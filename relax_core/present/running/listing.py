"""The instruction listing of an executable."""

from relax_core.bytecode.executable import Executable
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
from relax_core.present.measures import columns, cut
from relax_core.present.models import Syntax
from relax_core.present.running.run_models import InstructionLine
from relax_core.vm.recording.lines import LineTable

_NAME_COLUMNS = 30
_ARGUMENT_COLUMNS = 22


def instruction_lines(executable: Executable) -> tuple[InstructionLine, ...]:
    """Return the functions of `executable`, each with a header line, separated by empty lines."""
    lines: list[InstructionLine] = []
    line_of = LineTable.of(executable).line_of.tolist()
    for entry in executable.functions:
        if entry.kind != "vm":
            continue
        if lines:
            lines.append(InstructionLine(""))
        lines.append(InstructionLine(f"@{entry.name}:"))
        for pc in range(entry.start, entry.end):
            lines.append(InstructionLine(_text(executable, executable.instructions[pc], pc), pc, line_of[pc]))
    return tuple(lines)


def _text(executable: Executable, instruction: Instruction, pc: int) -> str:
    match instruction:
        case CallInstruction(function=function, args=args, dst=dst):
            name = _padded(cut(executable.functions[function].name, 60), _NAME_COLUMNS)
            written = _padded(", ".join(argument_text(executable, item)[0] for item in args), _ARGUMENT_COLUMNS)
            return f"call  {name}in: {written}dst: {argument_text(executable, dst)[0]}"
        case ReturnInstruction(result=result):
            return f"ret   {argument_text(executable, result)[0]}"
        case GotoInstruction(offset=offset):
            return f"goto  {pc + offset}"
        case IfInstruction(condition=condition, false_offset=offset):
            return f"if    {argument_text(executable, condition)[0]}  else: {pc + offset}"


def _padded(text: str, width: int) -> str:
    """Return `text` with at least two spaces behind it."""
    return text + " " * max(2, width - columns(text))


def argument_text(executable: Executable, item: Argument) -> tuple[str, Syntax]:
    """Print an operand as TVM's listing does: `%0`, `i2`, `c[0]`, `f[name]`, `%void`, `%vm`."""
    match item:
        case Register(index=index):
            return f"%{index}", "synType"
        case Special(name=name):
            return f"%{name}", "synType"
        case Immediate(value=value):
            return f"i{value}", "synNumber"
        case ConstantRef(index=index):
            return f"c[{index}]", "synNumber"
        case FunctionRef(index=index):
            return f"f[{executable.functions[index].name}]", "synName"
