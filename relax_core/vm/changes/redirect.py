"""Calls of some functions that go to others, in decoded instructions."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from relax_core.bytecode.executable import Executable
from relax_core.vm.decode import FUNCTION, KERNEL, PACKED, DecodedFunction
from relax_core.vm.stack import Step

_WHAT: Final = MappingProxyType({"vm": FUNCTION, "kernel": KERNEL, "packed": PACKED})


def redirected(code: DecodedFunction, executable: Executable, target_of: Mapping[int, int]) -> DecodedFunction:
    """Return decoded instructions that call other functions of the table in place of some."""

    def step_of(step: Step) -> Step:
        what, function, fetch, dst = step
        if what not in _WHAT.values() or function not in target_of:
            return step
        target = target_of[function]
        return _WHAT[executable.functions[target].kind], target, fetch, dst

    return DecodedFunction(tuple(map(step_of, code.steps)), code.template)
