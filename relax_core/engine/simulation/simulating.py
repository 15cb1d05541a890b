"""Answers the request to simulate a launch."""

from collections.abc import Mapping

from relax_core.diagnostics import CompileError
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.debug.requests import SimulateOf
from relax_core.engine.inputs import write_archive
from relax_core.engine.programs import prim_entry
from relax_core.engine.programs.program import Program
from relax_core.engine.protocol import Progress
from relax_core.engine.replies import AccessRow, SimulatedBuffer, Simulation
from relax_core.engine.simulation.host import entry_of
from relax_core.ir.module import IRModule
from relax_core.jit.lowering.known.symbols import shape_symbols
from relax_core.present.problems import problems_of
from relax_core.present.running.threads.report import grid_words, present_roofline
from relax_core.simt.findings import text_of
from relax_core.simt.kernels import Simulated, simulate
from relax_core.simt.roofline import Machine, machine_of, roofline
from relax_core.simt.signature import hosts, with_buffers
from relax_core.simt.traffic import AccessCost, Traffic
from relax_core.vm.objects.values import show


def simulated(message: SimulateOf, context: RequestContext) -> Simulation:
    """Simulate the entry of a program, on the inputs that it has or on made-up ones; without an entry all that launch.

    Raises:
        CompileError: the text has errors.
        RunError: nothing there launches threads, the inputs do not fit, or something is not simulated.
    """
    source = context.opened_by(message.program).source
    errors = tuple(item for item in source.parsed.diagnostics if item.severity == "error")
    if errors:
        raise CompileError(errors)
    machine, names = machine_of(message.machine), _names(source.module, message.program)
    sizes_of = _sizes_of(source.module, names, dict(message.program.sizes))
    found = tuple(_run(name, source.module, sizes_of[name], message.program, context) for name in names)
    return _shown(found[0], machine) if len(found) == 1 else _together(found, machine)


def _names(module: IRModule, program: Program) -> tuple[str, ...]:
    """Return what is simulated: the entry, or all that no other function calls; given inputs are those of one."""
    if program.entry or program.inputs is not None:
        return (entry_of(module, program.entry)[0],)
    return hosts(module) or (entry_of(module, "")[0],)


def _sizes_of(module: IRModule, names: tuple[str, ...], sizes: Mapping[str, int]) -> Mapping[str, dict[str, int]]:
    """Return which sizes are whose; one that no function has is the first one's, which refuses it."""
    own = {name: {item.name for item in shape_symbols(with_buffers(entry_of(module, name)[1]))} for name in names}
    strange = {*sizes}.difference(*own.values())
    own[names[0]] |= strange
    return {name: {size: value for size, value in sizes.items() if size in own[name]} for name in names}


def _run(name: str, module: IRModule, sizes: Mapping[str, int], program: Program, context: RequestContext) -> Simulated:
    context.report(Progress(f"Simulating `{name}`"))
    function = with_buffers(entry_of(module, name)[1])
    args = prim_entry.arguments(function, program.inputs, program.seed, sizes, is_signed=True)
    return simulate(module, name, args, context.is_cancelled)


def _together(found: tuple[Simulated, ...], machine: Machine) -> Simulation:
    """Show what came of several functions, each on arguments of its own, as one: clean if all are."""
    shown = tuple(_shown(item, machine) for item in found)
    traffic = Traffic()
    for item in found:
        traffic.rows.update(item.traffic.rows)
        traffic.operations += item.traffic.operations
    values = tuple(output.value for item in found for output in item.outputs)
    return Simulation(
        ", ".join(item.entry for item in shown),
        tuple(f"{grid} by `{item.entry}`" for item in shown for grid in item.launches),
        tuple(
            SimulatedBuffer(f"{item.entry}.{output.name}", output.text, output.undefined)
            for item in shown
            for output in item.written
        ),
        write_archive(values) if values else b"",
        tuple(problem for item in shown for problem in item.problems),
        tuple(text for item in shown for text in item.rendered),
        all(item.is_clean for item in shown),
        tuple(row for item in shown for row in item.accesses),
        present_roofline(roofline(traffic, machine)) if any(item.grids for item in found) else None,
    )


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
