"""Runs legalized prim funcs in plain Python: the reference interpreter with scalar intrinsics and scalar parameters."""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from relax_core.ir.prim import Cast, Intrinsic, LetExpr, PrimExpr, PrimVar
from relax_core.ir.tir import PrimFunc
from tests.callables import Compute
from tests.jit.reference import Reference

Array = npt.NDArray[Any]


def _exp(value: float) -> float:
    return math.exp(value) if value < 709 else math.inf


INTRINSICS: Mapping[str, Compute[float, float]] = MappingProxyType(
    {
        "exp": _exp,
        "log": math.log,
        "sqrt": math.sqrt,
        "rsqrt": lambda x: 1.0 / math.sqrt(x),
        "sin": math.sin,
        "cos": math.cos,
        "tanh": math.tanh,
        "sigmoid": lambda x: 1.0 / (1.0 + _exp(-x)),
        "erf": math.erf,
        "floor": math.floor,
        "ceil": math.ceil,
        "nearbyint": round,
        "abs": abs,
        "pow": math.pow,
    }
)


class TirInterpreter(Reference):
    """Runs one call with arrays in the order of the handles, and scalars behind them."""

    def __init__(self, function: PrimFunc, arrays: Sequence[Array], scalars: Sequence[int] = ()) -> None:
        self.scalars = dict(zip(function.params[len(function.buffers) :], scalars, strict=True))
        named = {param.buffer.name: array for param, array in zip(function.buffers, arrays, strict=True)}
        super().__init__(function, named)

    def eval(self, expr: PrimExpr) -> Any:
        if isinstance(expr, PrimVar) and expr in self.scalars:
            return self.scalars[expr]
        if isinstance(expr, LetExpr):
            self.scalars[expr.var] = self.eval(expr.value)
            return self.eval(expr.body)
        if isinstance(expr, Intrinsic):
            args = [float(self.eval(arg)) for arg in expr.args]
            return self.fit(np.float64(INTRINSICS[expr.name](*args)), expr.dtype)
        if isinstance(expr, Cast):
            inner = self.eval(expr.value)
            return self.fit(inner if "float" in expr.dtype else math.trunc(float(inner)), expr.dtype)
        return super().eval(expr)


def run_prim_func(function: PrimFunc, inputs: Sequence[Array], out: Array, scalars: Sequence[int] = ()) -> Array:
    """Run `function` on `inputs` and return what it writes into `out`."""
    TirInterpreter(function, (*inputs, out), scalars)
    return out
