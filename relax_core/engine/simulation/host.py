"""`rc.simulate`: a launch of threads on a simulated GPU, from Python."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from relax_core.diagnostics import Diagnostic, RunError
from relax_core.engine.programs import prim_entry
from relax_core.ir.module import IRModule
from relax_core.ir.tir import PrimFunc
from relax_core.simt.kernels import Simulated
from relax_core.simt.kernels import simulate as run_simulated
from relax_core.simt.signature import entries, with_buffers

__all__ = ["Simulated", "entry_of", "simulate"]


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
        RunError: EN005, EN009 if there is no such function, GP010 for what is not simulated.
    """
    name, function = entry_of(module, entry)
    given = args or prim_entry.arguments(with_buffers(function), None, seed, sizes, is_signed=True)
    return run_simulated(module, name, given)


def entry_of(module: IRModule, wanted: str) -> tuple[str, PrimFunc]:
    """Return the function that is simulated: the one that is wanted, or the first that launches threads.

    Raises:
        RunError: EN005 if it is not there or is no prim func, EN009 if nothing launches threads.
    """
    name = wanted or next(entries(module), "")
    if not name:
        message = "no prim func of the module launches threads, nor has loops that are bound to them"
        raise RunError((Diagnostic("EN009", message, hint="run it without --simulate"),))
    found = module.find(name)
    if found is None:
        raise RunError((Diagnostic("EN005", f"there is no function `{name}`", hint=_functions(module.names)),))
    if not isinstance(found.function, PrimFunc):
        message = f"`{name}` is no prim func, and only prim funcs launch threads"
        raise RunError((Diagnostic("EN005", message, found.function.span, _functions(entries(module))),))
    return name, found.function


def _functions(names: Iterable[str]) -> str:
    return f"functions: {', '.join(names)}"
