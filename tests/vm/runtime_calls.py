"""Programs that are a list of calls of runtime functions, made as Relax text and run here, or call by call in TVM."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from relax_core.bytecode.build import build
from relax_core.frontend.parse import parse_text
from relax_core.ir.module import IRModule
from tests.narrow import is_tuple

Argument = Any
"""A name of an earlier result or of an input, a number, a string, or a list for a shape."""

_HEAD = """
from tvm.script import ir as I
from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def main({params}):
{lines}
        return ({results})
"""


@dataclass(frozen=True, slots=True)
class Step:
    """`result = name(*args)`; with `out` the shapes of outputs that the call writes, the first one being the result."""

    result: str
    name: str
    args: tuple[Argument, ...] = ()
    out: tuple[tuple[int, ...], ...] = ()


def text_of(steps: Sequence[Step], inputs: Mapping[str, np.ndarray[Any, Any]], results: Sequence[str]) -> str:
    """Return a function `main` that makes the calls and returns the named results."""
    params = ", ".join(f'{name}: R.Tensor({array.shape}, "{array.dtype}")' for name, array in inputs.items())
    lines = "\n".join(f"        {step.result} = {_call(step)}" for step in steps)
    return _HEAD.format(params=params, lines=lines, results="".join(f"{name}, " for name in results))


def _call(step: Step) -> str:
    args = ", ".join(map(_shown, step.args))
    if not step.out:
        return f'R.call_packed("{step.name}", {args + ", " if args else ""}sinfo_args=(R.Object,))'
    types = [f'R.Tensor({shape}, "float32")' for shape in step.out]
    comma = "," if len(step.args) == 1 else ""
    return f'R.call_dps_packed("{step.name}", ({args}{comma}), out_sinfo=[{", ".join(types)}])'


def _shown(item: Argument) -> str:
    match item:
        case list():
            return f"R.shape({item})"
        case _ if is_tuple(item):
            return f"({', '.join(map(_shown, item))}{',' if len(item) == 1 else ''})"
        case bool() | int() | float():
            return f"R.prim_value({item})"
        case _:
            return str(item)


def module_of(steps: Sequence[Step], inputs: Mapping[str, np.ndarray[Any, Any]], results: Sequence[str]) -> IRModule:
    """Return the program as a module."""
    return parse_text(text_of(steps, inputs, results), "calls.py").modules[0]


def run(steps: Sequence[Step], inputs: Mapping[str, np.ndarray[Any, Any]], results: Sequence[str]) -> tuple[Any, ...]:
    """Run the program here."""
    from relax_core.vm.virtual_machine import VirtualMachine

    return VirtualMachine(build(module_of(steps, inputs, results)))["main"](*inputs.values())
