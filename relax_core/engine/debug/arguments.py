"""The arguments on which forms of a program are compared."""

from typing import Any

import numpy as np

from relax_core.diagnostics import DiagnosedError
from relax_core.engine.debug.compared import machine_for
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.inputs import members_of
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.vm.virtual_machine import entry_arguments


def compared_call(opened: OpenProgram, context: RequestContext) -> tuple[str, tuple[Any, ...]]:
    """Return the function that runs and its arguments: given ones, or made-up ones that tell forms apart.

    Made-up floats have both signs, because on positive numbers alone a ReLU that is lost changes nothing. Where the
    program stops or makes NaN of them, as a logarithm does, they are those of a run: from 0 to 1.
    """
    source = opened.source
    if source.program.inputs is not None:
        return source.call()
    entry, args = source.call(is_signed=True)
    try:
        executable = opened.compilation.executable(context.report, context.is_cancelled)
        held = entry_arguments(executable, entry, args)
    except DiagnosedError:
        # The comparison says why.
        return entry, args
    trace = opened.runs.run_machine(machine_for(executable, opened, context), entry, held, context.is_cancelled)
    if trace.error is not None or any(map(_has_nan, members_of("out", trace.result).values())):
        return source.call()
    return entry, args


def _has_nan(array: "np.ndarray[Any, Any]") -> bool:
    return array.dtype.kind in "fV" and bool(np.isnan(array.astype(np.float32)).any())
