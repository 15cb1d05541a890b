"""Answers the request to simulate a launch."""

from relax_core.diagnostics import CompileError, Diagnostic, RunError, plural
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.debug.requests import SimulateOf
from relax_core.engine.inputs import write_archive
from relax_core.engine.programs import prim_entry
from relax_core.engine.programs.program_source import ProgramSource
from relax_core.engine.protocol import Progress
from relax_core.engine.replies import AccessRow, SimulatedBuffer, Simulation
from relax_core.ir.module import IRModule
from relax_core.ir.tir import PrimFunc
from relax_core.present.problems import problems_of
from relax_core.simt.findings import text_of
from relax_core.simt.kernels import Simulated, simulate
from relax_core.simt.lanes import Grid
from relax_core.simt.signature import entries, with_buffers
from relax_core.simt.traffic import AccessCost
from relax_core.vm.objects.values import show


def simulated(message: SimulateOf, context: RequestContext) -> Simulation:
    """Simulate the entry of a program, on the inputs that it has or on made-up ones.

    Raises:
        CompileError: the text has errors.
        RunError: nothing there launches threads, the inputs do not fit, or something is not simulated.
    """
    source = context.opened_by(message.program).source
    errors = tuple(item for item in source.parsed.diagnostics if item.severity == "error")
    if errors:
        raise CompileError(errors)
    module, name = source.module, entry_of(source)
    context.report(Progress(f"Simulating `{name}`"))
    function = _prim_func(module, name)
    program = message.program
    args = prim_entry.arguments(
        with_buffers(function), program.inputs, program.seed, dict(program.sizes), is_signed=True
    )
    return _shown(simulate(module, name, args, context.is_cancelled))


def entry_of(source: ProgramSource) -> str:
    """Return the function that is simulated: the program's entry, or the first that launches threads.

    Raises:
        RunError: EN005, EN009 if there is none.
    """
    module, wanted = source.module, source.program.entry
    if wanted:
        if wanted not in module:
            hint = f"functions: {', '.join(module.names)}"
            raise RunError((Diagnostic("EN005", f"there is no function `{wanted}`", hint=hint),))
        return wanted
    found = next(entries(module), None)
    if found is None:
        message = "no prim func of the module launches threads, nor has loops that are bound to them"
        raise RunError((Diagnostic("EN009", message, hint="run it without --simulate"),))
    return found


def _prim_func(module: IRModule, name: str) -> PrimFunc:
    function = module[name]
    if not isinstance(function, PrimFunc):
        message = f"`{name}` is no prim func, and only prim funcs launch threads"
        raise RunError((Diagnostic("EN005", message, function.span, f"they are: {', '.join(entries(module))}"),))
    return function


def _shown(found: Simulated) -> Simulation:
    values = tuple(item.value for item in found.outputs)
    return Simulation(
        found.entry,
        tuple(map(grid_words, found.grids)),
        tuple(SimulatedBuffer(item.name, show(item.value), item.undefined) for item in found.outputs),
        write_archive(values) if values else b"",
        problems_of(found.diagnostics),
        tuple(item.render() for item in found.diagnostics),
        found.is_clean,
        tuple(_row(item) for item in found.accesses),
    )


def _row(cost: AccessCost) -> AccessRow:
    span = cost.node.span
    sectors = cost.sectors / cost.warps if cost.warps else 0
    return AccessRow(
        text_of(cost.node), span.line if span else 0, cost.way, cost.kind, cost.worst, sectors, cost.efficiency
    )


def grid_words(grid: Grid) -> str:
    """Return how many blocks and threads a launch has."""
    return f"{plural(grid.block_count, 'block')} of {plural(grid.thread_count, 'thread')}"
