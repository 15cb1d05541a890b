"""Executables from a listing, without the compiler: each line of the listing is the source line of its instruction.

    @main(x) 4                           a function, its parameters, its number of registers
      call vm.builtin.copy(%0) -> %1     -> may be left out: the result is dropped
      if %1 +3 | goto +2 | ret %1        jumps are relative
    @kernel add_one                      a prim func of the `kernels` mapping

Arguments: `%0`, `i5`, `void`, `vm`, `f[name]`, `c[0]` of the given constants.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from relax_core.bytecode.executable import Executable, FunctionEntry, PoolConstant
from relax_core.bytecode.isa import (
    VM,
    VOID,
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
)
from relax_core.ir.expr import Null
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.ir.tir import PrimFunc
from relax_core.source import Source, Span
from relax_core.vm.recording.trace import Trace

_HEAD = re.compile(r"@(\w+)\((.*)\) (\d+)")
_CALL = re.compile(r"call ([\w.]+)\((.*)\)(?: -> %(\d+))?")


class Assembler:
    """Collects the functions of one listing."""

    def __init__(self, listing: str, constants: Sequence[PoolConstant], kernels: Mapping[str, PrimFunc]) -> None:
        self.source = Source("listing", listing)
        self.constants = tuple(constants)
        self.kernels = kernels
        self.entries: list[FunctionEntry] = []
        self.index_of: dict[str, int] = {}
        self.instructions: list[Instruction] = []
        self.nodes: list[Node] = []

    def assemble(self) -> Executable:
        lines = self.source.text.splitlines()
        heads = [match for line in lines if (match := _HEAD.fullmatch(line.strip()))]
        for name, params, count in (head.groups() for head in heads):
            names = tuple(item.strip() for item in params.split(",") if item.strip())
            self._add(FunctionEntry("vm", name, 0, 0, len(names), int(count), names, (None,) * int(count), True))
        current, start = "", 0
        for number, line in enumerate(lines, 1):
            if head := _HEAD.fullmatch(line.strip()):
                self._close(current, start)
                current, start = head[1], len(self.instructions)
            elif line.strip():
                self.instructions.append(self._instruction(line.strip()))
                offset = self.source.offset(number, 1)
                self.nodes.append(Null(span=Span(self.source, offset, offset + len(line))))
        self._close(current, start)
        return Executable(
            tuple(self.entries),
            tuple(self.instructions),
            tuple(self.nodes),
            self.constants,
            self.kernels,
            IRModule(),
            RewriteLog(),
            self.index_of,
        )

    def _close(self, name: str, start: int) -> None:
        if name:
            entry = self.entries[self.index_of[name]]
            self.entries[self.index_of[name]] = FunctionEntry(
                "vm", name, start, len(self.instructions), entry.param_count, entry.register_count,
                entry.param_names, entry.register_vars, True,
            )  # fmt: skip

    def _add(self, entry: FunctionEntry) -> int:
        self.index_of[entry.name] = len(self.entries)
        self.entries.append(entry)
        return self.index_of[entry.name]

    def _function(self, name: str) -> int:
        if name in self.index_of:
            return self.index_of[name]
        return self._add(FunctionEntry("kernel" if name in self.kernels else "packed", name))

    def _instruction(self, text: str) -> Instruction:
        if call := _CALL.fullmatch(text):
            args = tuple(self._argument(item.strip()) for item in call[2].split(",") if item.strip())
            return CallInstruction(self._function(call[1]), args, Register(int(call[3])) if call[3] else VOID)
        word, _, rest = text.partition(" ")
        match word:
            case "ret":
                return ReturnInstruction(self._argument(rest))
            case "goto":
                return GotoInstruction(int(rest))
            case _:
                register, offset = rest.split()
                return IfInstruction(Register(int(register[1:])), int(offset))

    def _argument(self, text: str) -> Argument:
        match text[0]:
            case "%":
                return Register(int(text[1:]))
            case "i":
                return Immediate(int(text[1:]))
            case "c":
                return ConstantRef(int(text[2:-1]))
            case "f":
                return FunctionRef(self._function(text[2:-1]))
            case _:
                return VOID if text == "void" else VM


def assemble(
    listing: str, constants: Sequence[PoolConstant] = (), kernels: Mapping[str, PrimFunc] | None = None
) -> Executable:
    """Make an executable from a listing."""
    return Assembler(listing, constants, kernels or {}).assemble()


def result_of(trace: Trace) -> Any:
    """Return the result of a run that did not fail."""
    assert trace.error is None, trace.error.render()
    return trace.result
