"""Prim funcs with known semantics and an engine that runs them as Python functions."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from relax_core.ir.prim import Binary, FloatImm, IntImm, PrimVar
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.ir.tir import Buffer, BufferLoad, BufferParam, BufferStore, PrimFunc


def add_one() -> PrimFunc:
    """`B[0] = A[0] + 1`, for its declaration: the first parameter is read, the second written."""
    size = IntImm(1)
    a, b = Buffer("A", (size,)), Buffer("B", (size,))
    first, second = PrimVar("a", "handle"), PrimVar("b", "handle")
    value = Binary("+", BufferLoad(a, (IntImm(0),)), FloatImm(1.0), "float32")
    return PrimFunc(
        (first, second), (BufferParam(first, a), BufferParam(second, b)), BufferStore(b, (IntImm(0),), value)
    )


class PythonEngine:
    """Runs `add_one` and fails in `fails`."""

    def __init__(self) -> None:
        self.compiled: list[str] = []

    def kernel(
        self, prim_func: PrimFunc, name: str, log: RewriteLog | None, functions: Mapping[str, PrimFunc]
    ) -> "PythonKernel":
        assert functions[name] is prim_func
        self.compiled.append(name)
        return PythonKernel()

    def cancel(self) -> None:
        pass


class PythonKernel:
    """`add_one` as a Python function."""

    def __call__(self, *args: Any, call_host: object = None) -> None:
        a, b = args
        b[...] = a + 1

    def caller(self, call_host: object = None) -> Callable[..., object]:
        return self

    def allocating_caller(self, shape: tuple[int, ...], dtype: str) -> Callable[..., object]:
        def make(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
            b = np.zeros(shape, dtype)
            self(a, b)
            return b

        return make
