"""Answers the request to simulate a launch."""

from relax_core.diagnostics import CompileError
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.debug.requests import SimulateOf
from relax_core.engine.inputs import write_archive
from relax_core.engine.programs import prim_entry
from relax_core.engine.protocol import Progress
from relax_core.engine.replies import AccessRow, SimulatedBuffer, Simulation
from relax_core.engine.simulation.host import entry_of
from relax_core.present.problems import problems_of
from relax_core.present.running.threads.report import grid_words, present_roofline
from relax_core.simt.findings import text_of
from relax_core.simt.kernels import Simulated, simulate
from relax_core.simt.roofline import Machine, machine_of
from relax_core.simt.signature import with_buffers
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
    module = source.module
    name, function = entry_of(module, source.program.entry)
    context.report(Progress(f"Simulating `{name}`"))
    program = message.program
    args = prim_entry.arguments(
        with_buffers(function), program.inputs, program.seed, dict(program.sizes), is_signed=True
    )
    return _shown(simulate(module, name, args, context.is_cancelled), machine_of(message.machine))


def _shown(found: Simulated, machine: Machine) -> Simulation:
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
        present_roofline(found.roofline(machine)) if found.grids else None,
    )


def _row(cost: AccessCost) -> AccessRow:
    span = cost.node.span
    sectors = cost.sectors / cost.warps if cost.warps else 0
    return AccessRow(
        text_of(cost.node), span.line if span else 0, cost.way, cost.kind, cost.worst, sectors, cost.efficiency
    )
