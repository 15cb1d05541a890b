"""A run inside a kernel with all that is asked about it, and which kernel of a program is meant."""

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any, cast

import numpy as np

from relax_core.bytecode.executable import Executable
from relax_core.bytecode.isa import Argument, CallInstruction, ConstantRef, Immediate, Register
from relax_core.diagnostics import CompileError, Diagnostic, RunError
from relax_core.inside.conditions import Translator
from relax_core.inside.heat import HeatCounter
from relax_core.inside.moves import move
from relax_core.inside.owners import Owners
from relax_core.inside.reading import Reader, values_of
from relax_core.inside.stepper import Kernel, Stepper
from relax_core.ir.expr import GlobalVar
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node
from relax_core.ir.tir import PrimFunc
from relax_core.present.code import without_header
from relax_core.present.running.inside import LARGEST_WINDOW, Listing, present_inside, with_watches, with_window
from relax_core.present.running.inside_models import InsideView
from relax_core.printer.printed import Printed
from relax_core.printer.tvmscript import print_module
from relax_core.source import Source
from relax_core.vm.objects.values import Uninitialised
from relax_core.vm.recording.trace import Trace


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """A run inside a kernel, its text, and its counters."""

    stepper: Stepper
    listing: Listing
    counter: HeatCounter

    def look(self, clock: int, moves: tuple[str, ...], window: int = 0, watches: tuple[str, ...] = ()) -> InsideView:
        """Go before statement `clock`, make the moves while they find what they look for, and present what is there.

        Raises:
            CompileError: a move is none, or names what there is not.
        """
        begun = perf_counter()
        self.stepper.move_to(clock)
        is_found = all(move(self.stepper, item) for item in moves)
        seconds = perf_counter() - begun
        view = present_inside(self.stepper, self.listing, is_found=is_found, seconds=seconds)
        if window:
            view = with_window(view, self.stepper, self.listing, min(window, LARGEST_WINDOW))
        return with_watches(view, self.stepper, watches, self.value_of) if watches else view

    def value_of(self, text: str) -> Any:
        """Return the value of an expression where the run stands, `None` where one of its names says nothing.

        Raises:
            CompileError: VM030, VM031: it cannot be read, or names what there is not.
        """
        stepper = self.stepper
        expressions = Translator(stepper.layout, text)
        if stepper.site is None or (expr := expressions.value(stepper.site)) is None:
            return None
        reader = Reader(values_of(stepper.site, stepper.memory), stepper.memory, Owners(stepper.function))
        return reader.value(expr)


def walk(kernel: Kernel, args: tuple[Any, ...], listing: Listing) -> Walk:
    """Begin a run inside a kernel, and follow it to its end if that does not take long.

    Raises:
        DiagnosedError: it cannot be stepped through.
    """
    stepper = Stepper(kernel, args)
    stepper.explore()
    return Walk(stepper, listing, HeatCounter(stepper))


def own_listing(source: Source) -> Listing:
    """Return the text of the user, in which the nodes of a function stand that no pass has changed."""

    def range_of(node: Node) -> tuple[int, int]:
        return (0, 0) if node.span is None else (node.span.start, node.span.end)

    return Listing(source.text, lambda node: 0 if node.span is None else node.span.line, range_of)


def printed_listing(name: str, function: PrimFunc, spelling: Any) -> Listing:
    """Return the text of a function that passes made."""
    alone = IRModule((Definition(GlobalVar(name), function),))
    printed: Printed = without_header(print_module(alone, spelling=spelling))
    places: dict[Node, tuple[int, int]] = {}
    for item in printed.ranges:
        places.setdefault(item.node, (item.start, item.end))
    text = printed.text

    def line_of(node: Node) -> int:
        return text.count("\n", 0, places[node][0]) + 1 if node in places else 0

    return Listing(text, line_of, lambda node: places.get(node, (0, 0)))


def kernel_calls(trace: Trace, executable: Executable) -> Iterator[tuple[int, str]]:
    """Yield the times before calls of kernels, with the kernels' names; the last may be the one that fails."""
    name_of = {
        pc: executable.functions[item.function].name
        for pc, item in enumerate(executable.instructions)
        if isinstance(item, CallInstruction) and executable.functions[item.function].kind == "kernel"
    }
    for time in np.flatnonzero(np.isin(trace.pcs, tuple(name_of))).tolist():
        yield time, name_of[int(trace.pcs[time])]
    last = trace.pc_at(len(trace))
    if last in name_of:
        yield len(trace), name_of[last]


def call_at(trace: Trace, executable: Executable, time: int) -> tuple[str, tuple[Any, ...]]:
    """Return the kernel that is about to run, and its arguments.

    Raises:
        CompileError: TI004, something else runs then.
    """
    pc, frame = trace.pc_at(time), trace.frame_at(time)
    instruction = None if pc is None else executable.instructions[pc]
    entry = executable.functions[instruction.function] if isinstance(instruction, CallInstruction) else None
    if frame is None or entry is None or entry.kind != "kernel" or not isinstance(instruction, CallInstruction):
        times = ", ".join(str(at) for at, _ in first_of(kernel_calls(trace, executable)))
        hint = f"kernels are called at times {times}" if times else "this run calls no kernel"
        raise CompileError((Diagnostic("TI004", f"no kernel is about to run at time {time}", hint=hint),))
    registers = trace.registers_at(time, frame)
    args = tuple(_argument(item, registers, executable) for item in instruction.args)
    return entry.name, args


def first_of(items: Iterator[tuple[int, str]], count: int = 12) -> list[tuple[int, str]]:
    """Return the first of some items."""
    return [item for item, _ in zip(items, range(count), strict=False)]


def _argument(item: Argument, registers: tuple[Any, ...], executable: Executable) -> Any:
    value: Any
    match item:
        case Register(index=index):
            value = registers[index]
        case Immediate(value=value):
            pass
        case ConstantRef(index=index):
            value = cast("Any", executable.constants[index])
            value = getattr(value, "value", value)
        case _:
            value = None
    if isinstance(value, Uninitialised):
        # Nothing was written to it: what it holds does not matter to a kernel that writes it.
        value = np.zeros(value.shape, value.dtype)
    if not isinstance(value, np.ndarray | int | float | np.generic):
        message = f"an argument of the kernel is no tensor or number: {type(value).__name__}"
        raise RunError((Diagnostic("TI004", message),))
    return cast("Any", value)
