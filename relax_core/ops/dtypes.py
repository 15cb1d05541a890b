"""NumPy's side of the dtypes: bfloat16, which ml_dtypes adds, and the limits of all of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias, cast

import ml_dtypes
import numpy as np

from relax_core.ops.spec import Evaluate, OpSpec, Value
from relax_core.ops.steps import BFLOAT16, InSteps

Array: TypeAlias = "np.ndarray[Any, Any]"

_OF_BYTES = ("relax.inspect.", "relax.memory.")


def float_limits(dtype: str) -> tuple[float, float]:
    """Return the least and the greatest finite number of a floating-point dtype."""
    bounds = cast("Any", ml_dtypes.finfo(dtype))
    return float(bounds.min), float(bounds.max)


def limits(dtype: str) -> tuple[int | float, int | float]:
    """Return the least and the greatest finite value of a dtype."""
    if dtype == "bool":
        return 0, 1
    if "float" in dtype:
        return float_limits(dtype)
    found = np.iinfo(dtype)
    return int(found.min), int(found.max)


def with_all_dtypes(spec: OpSpec) -> OpSpec:
    """Return `spec` with an evaluation that computes bfloat16 in float32, and rounds the result once.

    One that computes `InSteps` rounds by itself.

    The dtype "void", which TVM prints where none is given, is none.
    """
    if spec.evaluate is None or spec.name.startswith(_OF_BYTES):
        return spec
    return replace(spec, evaluate=_prepared(spec, spec.evaluate))


def _prepared(spec: OpSpec, evaluate: Evaluate) -> Evaluate:
    places = tuple(k for k, param in enumerate(spec.params) if param.kind == "dtype")

    def compute(args: tuple[Value, ...]) -> Value:
        if places:
            args = tuple(None if k in places and item in ("", "void") else item for k, item in enumerate(args))
        if isinstance(evaluate, InSteps) or BFLOAT16 not in (array.dtype for arg in args for array in _arrays(arg)):
            return evaluate(args)
        found = evaluate(tuple(_mapped(arg, BFLOAT16, _widened) for arg in args))
        is_asked_for = any(args[k] == "float32" for k in places if k < len(args))
        return found if is_asked_for else _mapped(found, np.dtype(np.float32), _rounded)

    return compute


def _arrays(value: Value) -> tuple[Array, ...]:
    match value:
        case np.ndarray():
            return (cast("Array", value),)
        case tuple() | list():
            return tuple(array for item in cast("tuple[Value, ...]", value) for array in _arrays(item))
        case _:
            return ()


def _mapped(value: Value, dtype: "np.dtype[Any]", change: Callable[[Array], Array]) -> Value:
    """Return `value` with each array of `dtype` in it changed."""
    match value:
        case np.ndarray() | np.generic():
            array = np.asarray(cast("Array", value))
            return change(array) if array.dtype == dtype else cast("Value", value)
        case tuple() | list():
            return tuple(_mapped(item, dtype, change) for item in cast("tuple[Value, ...]", value))
        case _:
            return value


def _widened(array: Array) -> Array:
    return array.astype(np.float32)


def _rounded(array: Array) -> Array:
    return array.astype(BFLOAT16)
