"""Answers the requests about a run inside a kernel; the latest run of each program is kept."""

from dataclasses import replace
from typing import Any

import msgspec

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.engine.debug.changed import trace_of
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.debug.requests import HeatOf, InsideOf, InsideReportOf, KernelCall
from relax_core.engine.inside.peaks import measured_peaks
from relax_core.engine.inside.threads import ThreadWalk, thread_walk
from relax_core.engine.inside.walk import (
    Walk,
    call_at,
    first_of,
    kernel_calls,
    own_listing,
    printed_listing,
    walk,
)
from relax_core.engine.programs import prim_entry
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.protocol import Progress
from relax_core.inside.stepper import Kernel
from relax_core.inside.threads.block import is_step
from relax_core.ir.attrs import has_attr
from relax_core.ir.expr import GlobalVar
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import preorder
from relax_core.ir.tir import HOST_FUNCTION, PrimFunc, Stmt
from relax_core.present.running.inside_heat import present_heat
from relax_core.present.running.inside_models import HeatView, InsideReport, InsideView
from relax_core.present.running.inside_report import present_report, report_of_launches
from relax_core.simt.roofline import machine_of
from relax_core.simt.signature import entries, launches, with_buffers
from relax_core.source import Source
from relax_core.vm.changes.replace import called_in


def inside(message: InsideOf, context: RequestContext) -> InsideView:
    """Go to a statement of a kernel, make moves, and show what stands there.

    Raises:
        DiagnosedError: there is no such kernel, it cannot be stepped through, or a move is none.
    """
    found = _walk(message.kernel, context)
    if isinstance(found, ThreadWalk):
        return found.look(message.clock, message.moves, message.window, message.kernel.threads, message.watches)
    return found.look(message.clock, message.moves, message.window, message.watches)


def heat(message: HeatOf, context: RequestContext) -> HeatView:
    """Show a window of a buffer.

    Raises:
        DiagnosedError: there is no such buffer or loop.
    """
    found = _walk(message.kernel, context)
    return found.heat(message) if isinstance(found, ThreadWalk) else present_heat(found, message)


def report(message: InsideReportOf, context: RequestContext) -> InsideReport:
    """Count what a kernel does to memory.

    Raises:
        DiagnosedError: there is no such kernel, or it cannot be stepped through.
    """
    opened = context.opened_by(message.kernel.program)

    def made() -> InsideReport:
        found = _walk(message.kernel, context)
        if isinstance(found, ThreadWalk):
            return report_of_launches(found.report(machine_of(message.machine), context.is_cancelled))
        peaks = measured_peaks(context.engine_of(opened))
        return present_report(found.counter, found.listing, (peaks.operations, peaks.memory_bytes))

    return opened.remembered(message, made)


def _walk(kernel: KernelCall, context: RequestContext) -> Walk | ThreadWalk:
    opened = context.opened_by(kernel.program)
    # Another thread of the block is another look at the same run.
    key = (kernel.name, kernel.time, kernel.program.changes, msgspec.structs.replace(kernel.threads, thread=0))
    if opened.inside is None or opened.inside[0] != key:
        opened.inside = key, _begun(kernel, opened, context)
    return opened.inside[1]


def _begun(kernel: KernelCall, opened: OpenProgram, context: RequestContext) -> Walk | ThreadWalk:
    source = opened.source
    source.require_sound()
    engine = context.engine_of(opened)
    lone = None if kernel.time >= 0 else _lone(kernel, opened)
    if lone is not None:
        name, function = lone
        program, is_of_threads = source.program, launches(function, source.module)
        taken = with_buffers(function) if is_of_threads else function
        args = prim_entry.arguments(taken, program.inputs, program.seed, dict(program.sizes), is_signed=is_of_threads)
        context.report(Progress(f"Stepping into `{name}`"))
        functions = {var.name: item for var, item in source.module.prim_funcs}
        return _walk_of(Kernel(function, name, engine, functions=functions), args, kernel, opened)
    trace = trace_of(opened, kernel.program.changes, context)
    executable = opened.compilation.executable(context.report, context.is_cancelled)
    time = kernel.time if kernel.time >= 0 else _first_call(kernel, trace, executable)
    name, args = call_at(trace, executable, time)
    name = called_in(trace, time, name)
    function = executable.kernels.get(name)
    if function is None:
        raise CompileError((Diagnostic("TI004", f"`{name}` is called at time {time}, which is no kernel"),))
    context.report(Progress(f"Stepping into `{name}`"))
    return _walk_of(Kernel(function, name, engine, executable.log, executable.kernels), args, kernel, opened)


def _walk_of(kernel: Kernel, args: tuple[Any, ...], asked: KernelCall, opened: OpenProgram) -> Walk | ThreadWalk:
    """Step through statements, or through those of the threads that a function launches."""
    listing = _listing(kernel.name, kernel.function, opened)
    module = IRModule(tuple(Definition(GlobalVar(name), item) for name, item in kernel.functions.items()))
    if launches(kernel.function, module):
        return thread_walk(module, kernel.name, args, asked.threads, listing)
    return walk(replace(kernel, line_of=listing.line_of), args, listing)


def _lone(kernel: KernelCall, opened: OpenProgram) -> tuple[str, PrimFunc] | None:
    """Return the prim func that is stepped through on arguments of its own, `None` if a run calls it."""
    source = opened.source
    functions = [function for _, function in source.module.prim_funcs]
    name = kernel.name or source.program.entry
    if not name and not any(map(prim_entry.can_run, functions)):
        name = next(entries(source.module), "")
    if not name:
        return source.prim_entry()
    definition = source.module.find(name) if name else None
    if definition is None or not isinstance(definition.function, PrimFunc):
        return None
    is_called = bool(kernel.name) and bool(source.module.relax_functions)
    if is_called or not prim_entry.can_run(with_buffers(definition.function)):
        return None
    return name, definition.function


def _first_call(kernel: KernelCall, trace: Any, executable: Any) -> int:
    """Return the time before the first call of a kernel, of any if it has no name."""
    own = {name for name, function in executable.kernels.items() if not has_attr(function.attrs, HOST_FUNCTION)}
    wanted = {kernel.name} if kernel.name else own
    calls = ((time, name) for time, name in kernel_calls(trace, executable) if name in wanted)
    found = first_of(calls, 1)
    if not found:
        called = dict.fromkeys(name for _, name in kernel_calls(trace, executable))
        what = f"the kernel `{kernel.name}` is not called" if kernel.name else "no kernel is called"
        hint = f"called are {', '.join(called)}" if called else ""
        raise CompileError((Diagnostic("TI004", f"{what} in this run", hint=hint),))
    return found[0][0]


def _listing(name: str, function: PrimFunc, opened: OpenProgram) -> Any:
    """Return the text of the user if the function stands there as it is, else the function as it is printed."""
    source: Source = opened.source.parsed.source
    steps = [node for node in preorder(function.body) if isinstance(node, Stmt) and is_step(node)]
    is_own = all(node.span is not None and node.span.source is source for node in steps)
    return own_listing(source) if is_own and steps else printed_listing(name, function, opened.source.spelling)
