"""What this machine does at most, measured: operations by a product of matrices, bytes by a copy of large arrays."""

from dataclasses import dataclass, replace
from time import perf_counter
from typing import Final

import numpy as np

from relax_core.frontend.parse import parse_text
from relax_core.jit.engine import Engine
from relax_core.jit.kernel import Kernel

_SIDE: Final = 256
_COPIED: Final = 1 << 22
"""Elements: more than the caches of most processors hold, with the copy."""
_ROUNDS: Final = 7
_PRODUCT: Final = f"""
@T.prim_func(s_tir=True)
def product(A: T.Buffer(({_SIDE}, {_SIDE}), "float32"), B: T.Buffer(({_SIDE}, {_SIDE}), "float32"),
            C: T.Buffer(({_SIDE}, {_SIDE}), "float32")):
    for i, j, k in T.grid({_SIDE}, {_SIDE}, {_SIDE}):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
_COPY: Final = f"""
@T.prim_func(s_tir=True)
def copy(A: T.Buffer(({_COPIED},), "float32"), B: T.Buffer(({_COPIED},), "float32")):
    for i in range({_COPIED}):
        B[i] = A[i]
"""


@dataclass(frozen=True, slots=True)
class Peaks:
    """Operations and bytes a second; memory is that behind the caches, and both are of all threads."""

    operations: float
    memory_bytes: float


def measured_peaks(engine: Engine) -> Peaks:
    """Run both kernels some times, and take the shortest time of each: some ten milliseconds behind compiling."""
    random = np.random.default_rng(0)
    square = [random.random((_SIDE, _SIDE), np.float32) for _ in range(3)]
    long = [np.zeros(_COPIED, np.float32) for _ in range(2)]
    product, copy = _seconds(engine, _PRODUCT, square), _seconds(engine, _COPY, long)
    return Peaks(2 * _SIDE**3 / product, sum(item.nbytes for item in long) / copy)


def _seconds(engine: Engine, text: str, args: list[np.ndarray[tuple[int, ...], np.dtype[np.float32]]]) -> float:
    ((var, function),) = parse_text(f"# from tvm.script import tirx as T\n{text}", "peak.py").modules[0].prim_funcs
    # What the processor can: with a multiplication and an addition at once, and no statement traced.
    call = Kernel(engine.variation(replace(engine.options, mode="fast")), function, var.name, None, {}).caller()
    call(*args)
    taken: list[float] = []
    for _ in range(_ROUNDS):
        began = perf_counter()
        call(*args)
        taken.append(perf_counter() - began)
    return min(taken)
