"""Builtins that check the kind, rank and dtype of a value against its declared type."""

from typing import NoReturn

import numpy as np

from relax_core.vm.context import Context, context_words, fail, place_words
from relax_core.vm.values import Closure, DTypeValue, ShapeValue, Value, describe, dtype_name


def check_tensor_info(context: Context, value: Value, ndim: int, dtype: DTypeValue | None, err: str = "") -> None:
    """`check_tensor_info(value, ndim, dtype, err)`: -1 and `%void` stand for any rank and any dtype."""
    if not isinstance(value, np.ndarray):
        _mismatch(err, "a tensor", value)
    if ndim >= 0 and value.ndim != ndim:
        _mismatch(err, f"a tensor with {ndim} dimension{'' if ndim == 1 else 's'}", value)
    if dtype is not None and value.dtype != dtype.name:
        _mismatch(err, f"a tensor of {dtype.name}", value)


def check_shape_info(context: Context, value: Value, ndim: int, err: str = "") -> None:
    """`check_shape_info(value, ndim, err)`: -1 stands for any rank."""
    if not isinstance(value, ShapeValue):
        _mismatch(err, "a shape", value)
    if ndim >= 0 and len(value) != ndim:
        _mismatch(err, f"a shape with {ndim} dimension{'' if ndim == 1 else 's'}", value)


def check_prim_value_info(context: Context, value: Value, dtype: DTypeValue, err: str = "") -> None:
    """`check_prim_value_info(value, dtype, err)`: integers pass for each other and for truth values, as in TVM."""
    if dtype.name == "string":
        is_right = isinstance(value, str)
    elif dtype.name.startswith(("float", "bfloat")):
        is_right = isinstance(value, float | np.floating)
    else:
        is_right = isinstance(value, bool | int | np.integer | np.bool_)
    if not is_right:
        _mismatch(err, f"a scalar {dtype.name}", value)


def check_tuple_info(context: Context, value: Value, size: int, err: str = "") -> None:
    """`check_tuple_info(value, size, err)`: a tuple of `size` fields; void is the tuple of none."""
    fields = () if value is None else value
    if not isinstance(fields, tuple) or isinstance(fields, ShapeValue) or len(fields) != size:
        _mismatch(err, f"a tuple of {size} field{'' if size == 1 else 's'}", value)


def check_func_info(context: Context, value: Value, err: str = "") -> None:
    """`check_func_info(value, err)`: a function value."""
    if not isinstance(value, Closure):
        _mismatch(err, "a function", value)


def _mismatch(err: str, expected: str, value: Value) -> NoReturn:
    declared = context_words(err)["annotation"]
    found = describe(value)
    hint = ""
    if expected.startswith("a scalar") and isinstance(value, np.ndarray) and value.ndim == 0:
        hint = "a scalar on the host is a Python number: `value.item()`"
    elif isinstance(value, np.ndarray) and dtype_name(value) == "float64" and "float32" in expected:
        hint = "NumPy makes float64 by default; convert with `.astype('float32')`"
    elif expected.startswith("a tensor") and isinstance(value, tuple | int | float):
        hint = "a Python number or list is no tensor; give an array of NumPy, such as `numpy.array(value, dtype)`"
    tail = f" (declared {declared})" if declared else ""
    # The words are TVM's, which are those of the whole parameter for each of its fields.
    is_field = declared.startswith("R.Tuple(") and not expected.startswith("a tuple")
    part = "a field of " if is_field else ""
    fail("VM011", f"{part}{place_words(err)} must be {expected}{tail}, got {found}", hint)
