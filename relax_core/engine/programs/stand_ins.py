"""Stand-ins that a program asks for: zeros, recorded results, or functions of files that the environment names.

As for files of passes, the paths come from the environment of the process, which its starter sets and no browser
reaches: a program says of a function that Python stands in for it, and never which file.
"""

import os
import sys
from collections.abc import Mapping
from typing import Final

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.engine.pipelines.calls.results import results_in
from relax_core.engine.programs.pass_files import imported
from relax_core.engine.programs.program import Program
from relax_core.vm.builtin.builtins import BUILTINS
from relax_core.vm.external.packed import HostFunction
from relax_core.vm.external.stand_ins import OWN_FUNCTIONS, StandIn

STAND_INS_VARIABLE: Final = "RELAXSCOPE_STAND_INS"
"""A line for each function: `NAME=FILE.py:FUNCTION`."""
_MODULE_NAME: Final = "relaxscope_stand_in"


def stand_ins_of(program: Program) -> Mapping[str, StandIn]:
    """Return what stands in for packed functions.

    Raises:
        CompileError: PL015: a stand-in cannot be made; PL003: the recorded results are damaged.
    """
    if not program.stand_ins:
        return {}
    recorded = results_in(program.recorded) if program.recorded else {}
    functions = _python_functions() if any(item.how == "python" for item in program.stand_ins) else {}
    found: dict[str, StandIn] = {}
    for item in program.stand_ins:
        if item.name in BUILTINS:
            raise _refused(f"`{item.name}` is part of the machine, which needs it")
        of_kind: Mapping[str, StandIn] = recorded if item.how == "recorded" else functions
        stand_in = "zeros" if item.how == "zeros" else of_kind.get(item.name)
        if stand_in is None:
            what = "recorded result" if item.how == "recorded" else "Python function"
            raise _refused(f"there is no {what} that stands in for `{item.name}`")
        found[item.name] = stand_in
    return found


def _python_functions() -> dict[str, HostFunction]:
    found = dict(OWN_FUNCTIONS.all())
    for number, line in enumerate(os.environ.get(STAND_INS_VARIABLE, "").splitlines()):
        name, _, place = line.partition("=")
        path, _, function = place.rpartition(":")
        module_name = f"{_MODULE_NAME}_{number}"
        module = sys.modules.get(module_name) or imported(path, module_name)
        value = getattr(module, function, None)
        if not callable(value):
            raise _refused(f"{path} has no function `{function}`, which stands in for `{name}`")
        found[name] = value
    return found


def _refused(words: str) -> CompileError:
    return CompileError((Diagnostic("PL015", words),))
