"""Measures of a launch on the simulated GPU: what is wrong with it, what it writes, what its accesses cost."""

from relax_core.diagnostics import Diagnostic
from relax_core.engine.programs import prim_entry
from relax_core.engine.properties.asked import Asked
from relax_core.engine.simulation.host import entry_of
from relax_core.simt.kernels import Simulated, simulate
from relax_core.simt.signature import with_buffers
from relax_core.vm.objects.values import show


def _simulated(asked: Asked) -> Simulated:
    opened = asked.opened

    def made() -> Simulated:
        opened.source.require_sound()
        program = opened.source.program
        name, function = entry_of(opened.source.module, program.entry)
        taken = with_buffers(function)
        args = prim_entry.arguments(taken, program.inputs, program.seed, dict(program.sizes), is_signed=True)
        return simulate(opened.source.module, name, args, asked.context.is_cancelled)

    return opened.remembered(("simulated launch", opened.source.program), made)


def finding_count(asked: Asked, code: str) -> str:
    """Return how many findings of a code there are."""
    return str(sum(item.code == code for item in _simulated(asked).diagnostics))


def _first(asked: Asked) -> Diagnostic | None:
    return next(iter(_simulated(asked).diagnostics), None)


def first_finding(asked: Asked) -> str:
    """Return the code of what is found first, errors before notes; `none` if nothing is."""
    found = _first(asked)
    return "none" if found is None else found.code


def finding_line(asked: Asked) -> str:
    """Return the line of what is found first, 0 if nothing is."""
    found = _first(asked)
    return str(0 if found is None or found.span is None else found.span.line)


def written(asked: Asked) -> str:
    """Return what the launch writes."""
    return "; ".join(f"{item.name} = {show(item.value)}" for item in _simulated(asked).outputs)


def worst_conflict(asked: Asked) -> str:
    """Return how often an access asks one bank of shared memory at once at most."""
    return str(max((item.worst for item in _simulated(asked).accesses if item.kind == "shared"), default=0))
