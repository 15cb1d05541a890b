"""What the compiler hands to the machine: functions, constants, kernels and the line table, and how they are listed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, assert_never

import numpy as np
import numpy.typing as npt

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
from relax_core.ir.expr import Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.ir.tir import PrimFunc
from relax_core.source import Span


@dataclass(frozen=True, slots=True)
class DTypeConstant:
    """A dtype in the constant pool."""

    name: str


@dataclass(frozen=True, slots=True)
class ShapeConstant:
    """A static shape in the constant pool."""

    values: tuple[int, ...]


PoolConstant: TypeAlias = "npt.NDArray[Any] | ShapeConstant | DTypeConstant | str | float | int | bool"


@dataclass(frozen=True, slots=True)
class FunctionEntry:
    """One entry of the function table.

    kind "vm": bytecode `[start, end)` of the executable's instructions; "kernel": a prim func of the executable;
    "packed": found by name when it is called (builtins `vm.builtin.*`, operators `relax.*` that were not
    lowered, the registry of packed functions).
    `register_vars` tells for each register the variable that it holds, `None` for a temporary.
    """

    kind: Literal["vm", "kernel", "packed"]
    name: str
    start: int = 0
    end: int = 0
    param_count: int = 0
    register_count: int = 0
    param_names: tuple[str, ...] = ()
    register_vars: tuple[Var | None, ...] = ()
    is_entry: bool = False
    node: Node | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Executable:
    """A compiled module.

    `nodes[pc]` is the IR node that the instruction at `pc` was made from; `span_of(pc)` leads it back through
    all passes to the user's text. `module` is the module that was compiled, after the pipeline.
    """

    functions: tuple[FunctionEntry, ...]
    instructions: tuple[Instruction, ...]
    nodes: tuple[Node, ...]
    constants: tuple[PoolConstant, ...]
    kernels: Mapping[str, PrimFunc]
    module: IRModule
    log: RewriteLog
    index_of: Mapping[str, int] = field(default_factory=dict[str, int])

    def span_of(self, pc: int) -> Span | None:
        """Return the place in the user's text that the instruction at `pc` stems from."""
        return self.log.locate(self.nodes[pc])

    def function_at(self, pc: int) -> FunctionEntry:
        """Return the VM function that holds the instruction at `pc`."""
        return next(f for f in self.functions if f.kind == "vm" and f.start <= pc < f.end)

    def kernel_at(self, pc: int) -> str:
        """Return the kernel that the instruction at `pc` calls, "" for any other instruction."""
        match self.instructions[pc]:
            case CallInstruction(function=function) if self.functions[function].kind == "kernel":
                return self.functions[function].name
            case _:
                return ""

    def instructions_calling(self, function: int) -> tuple[int, ...]:
        """Return the instructions that call a function of the table by its index."""
        return tuple(
            pc
            for pc, item in enumerate(self.instructions)
            if isinstance(item, CallInstruction) and item.function == function
        )

    @property
    def runs_each_once(self) -> bool:
        """Tell whether a run comes to no instruction twice: no function calls another or hands one on."""
        return not any(self.functions[index].kind == "vm" for index in self._referred())

    def _referred(self) -> Iterator[int]:
        for instruction in self.instructions:
            if isinstance(instruction, CallInstruction):
                yield instruction.function
                yield from (item.index for item in instruction.args if isinstance(item, FunctionRef))

    def as_text(self) -> str:
        """Return the listing of all functions in the order of the function table, in the format of TVM's `as_text()`.

        See: tvm/src/runtime/vm/executable.cc
        """
        return "".join(f"{_function(self, entry)}\n\n" for entry in self.functions)


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a read-only copy of `array`."""
    copy = np.array(array, order="C")
    copy.flags.writeable = False
    return copy


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
