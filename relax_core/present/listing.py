"""The instruction listing of an executable as tokens."""

from collections.abc import Iterator

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
from relax_core.present.models import Syntax, Token
from relax_core.present.run_models import InstructionLine
from relax_core.present.words import columns, cut
from relax_core.vm.lines import LineTable

_NAME_COLUMNS = 30
_ARGUMENT_COLUMNS = 22


def instruction_lines(executable: Executable) -> tuple[InstructionLine, ...]:
    """Return the functions of `executable`, each with a header line, separated by empty lines."""
    lines: list[InstructionLine] = []
    line_of = LineTable.of(executable).line_of
    for entry in executable.functions:
        if entry.kind != "vm":
            continue
        if lines:
            lines.append(InstructionLine(()))
        lines.append(InstructionLine((Token(f"@{entry.name}:", "synName"),), function=entry.name))
        for pc in range(entry.start, entry.end):
            tokens = tuple(_tokens(executable, executable.instructions[pc], pc))
            lines.append(InstructionLine(tokens, pc, int(line_of[pc]), entry.name))
    return tuple(lines)


def _tokens(executable: Executable, instruction: Instruction, pc: int) -> Iterator[Token]:
    match instruction:
        case CallInstruction(function=function, args=args, dst=dst):
            yield Token("call  ", "synKeyword")
            yield from _padded(Token(cut(executable.functions[function].name, 60)), _NAME_COLUMNS)
            yield Token("in: ", "text2")
            written = tuple(_arguments(executable, args))
            yield from written
            yield Token(" " * max(2, _ARGUMENT_COLUMNS - sum(columns(token.text) for token in written)))
            yield Token("dst: ", "text2")
            yield _argument(executable, dst)
        case ReturnInstruction(result=result):
            yield Token("ret   ", "synKeyword")
            yield _argument(executable, result)
        case GotoInstruction(offset=offset):
            yield Token("goto  ", "synKeyword")
            yield Token(str(pc + offset), "synNumber")
        case IfInstruction(condition=condition, false_offset=offset):
            yield Token("if    ", "synKeyword")
            yield _argument(executable, condition)
            yield Token("  else: ", "text2")
            yield Token(str(pc + offset), "synNumber")


def _padded(token: Token, width: int) -> Iterator[Token]:
    yield token
    yield Token(" " * max(2, width - columns(token.text)))


def _arguments(executable: Executable, args: tuple[Argument, ...]) -> Iterator[Token]:
    for number, item in enumerate(args):
        if number:
            yield Token(", ")
        yield _argument(executable, item)


def _argument(executable: Executable, item: Argument) -> Token:
    text, syntax = argument_text(executable, item)
    return Token(text, syntax)


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
