"""`rc.simulate`: a launch of threads on a simulated GPU, from Python."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from relax_core.diagnostics import Diagnostic, RunError
from relax_core.engine.programs import prim_entry
from relax_core.ir.module import IRModule
from relax_core.ir.tir import PrimFunc
from relax_core.simt.kernels import Simulated
from relax_core.simt.kernels import simulate as run_simulated
from relax_core.simt.signature import entries, with_buffers

__all__ = ["Simulated", "simulate"]


def simulate(
    module: IRModule, entry: str = "", *args: Any, seed: int = 0, sizes: Mapping[str, int] = MappingProxyType({})
) -> Simulated:
    """Run a prim func that launches threads on a simulated GPU, and find what is wrong with what it does to memory.

    Args:
        module: it holds the function, and the kernels that the function calls.
        entry: by default the first function that launches threads.
        args: arrays and scalars, one for each parameter; made up with `seed` and `sizes` if there are none.
        seed: of made-up arguments.
        sizes: of symbolic dimensions of made-up arguments, by name; small ones by default.

    Raises:
        RunError: EN009 if nothing launches threads, GP010 for what is not simulated.
    """
    name = entry or next(entries(module), "")
    found = module.find(name)
    function = None if found is None else found.function
    if not isinstance(function, PrimFunc):
        message = f"there is no prim func `{name}`" if name else "no prim func of the module launches threads"
        raise RunError((Diagnostic("EN009", message),))
    given = args or prim_entry.arguments(with_buffers(function), None, seed, sizes, is_signed=True)
    return run_simulated(module, name, given)
