"""Kernels to step through, and how."""

from collections.abc import Mapping, Sequence
from typing import Any

from relax_core.frontend.parse import parse_text
from relax_core.inside.stepper import Kernel, Stepper
from relax_core.ir.tir import PrimFunc
from relax_core.jit.engine import Engine

MATMUL = """# from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def matmul(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4, 4), "float32"), C: T.Buffer((4, 4), "float32")):
    for i, j, k in T.grid(4, 4, 4):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
INIT_LINE, UPDATE_LINE = 9, 10


def function_of(text: str) -> tuple[str, PrimFunc, Mapping[str, PrimFunc]]:
    """Return the first prim func of a text, its name, and all of them."""
    parsed = parse_text(text, "kernel.py")
    assert not [item for item in parsed.diagnostics if item.severity == "error"], parsed.diagnostics
    functions = {var.name: function for var, function in parsed.modules[0].prim_funcs}
    name = next(iter(functions))
    return name, functions[name], functions


def stepper_of(text: str, args: Sequence[Any], engine: Engine | None = None) -> Stepper:
    """Step into the first prim func of a text."""
    name, function, functions = function_of(text)
    stepper = Stepper(Kernel(function, name, engine or Engine(), functions=functions), args)
    stepper.explore()
    return stepper


def values_here(stepper: Stepper) -> tuple[int, ...]:
    """Return the values of the loops around the statement that runs next."""
    assert stepper.site is not None
    found = [stepper.value_of(level) for level in stepper.site.loops]
    return tuple(value for value in found if value is not None)
