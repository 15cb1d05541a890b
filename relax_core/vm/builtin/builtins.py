"""The builtins that compiled code calls, by name; `relax_core/bytecode/__init__.py` says how arguments are encoded."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NoReturn

import numpy as np

from relax_core.analysis.device.virtual_devices import device_table, numbered_device
from relax_core.vm.builtin.data_builtins import DATA_BUILTINS
from relax_core.vm.builtin.heap import alloc_shape_heap, make_prim_value, make_shape, match_prim_value, match_shape
from relax_core.vm.builtin.storage import check_place, storage_bytes, tensor_in
from relax_core.vm.context import Context, context_words, fail, place_words
from relax_core.vm.objects.devices import put
from relax_core.vm.objects.placed import plain
from relax_core.vm.objects.values import (
    Array,
    Closure,
    DTypeValue,
    Number,
    Sentinel,
    ShapeValue,
    StorageValue,
    Value,
    describe,
    dtype_name,
    shape_text,
    show,
)

_PLACE: Final = re.compile(r"\{\{|\}\}|\{(\d*)\}")


def fill(format_text: str, values: tuple[Value, ...]) -> str:
    """Replace `{}` by the next value and `{n}` by value `n`; `{{` and `}}` are braces."""
    following = iter(range(len(values)))
    return _PLACE.sub(lambda match: _part(match, values, following), format_text)


def _part(match: re.Match[str], values: tuple[Value, ...], following: Iterator[int]) -> str:
    if match[0] in ("{{", "}}"):
        return match[0][0]
    index = int(match[1]) if match[1] else next(following, len(values))
    if index >= len(values):
        fail("VM020", f"the format has a place for value {index}, but {len(values)} values are given")
    return show(values[index])


def check_tensor_info(context: Context, value: Value, ndim: int, dtype: DTypeValue | None, err: str = "") -> None:
    """`check_tensor_info(value, ndim, dtype, err)`: stop unless it is a tensor of that rank and dtype.

    -1 stands for any rank, `%void` for any dtype.
    """
    if not isinstance(value, np.ndarray):
        _mismatch(err, "a tensor", value)
    if ndim >= 0 and value.ndim != ndim:
        _mismatch(err, f"a tensor with {ndim} dimension{'' if ndim == 1 else 's'}", value)
    if dtype is not None and value.dtype != dtype.name:
        _mismatch(err, f"a tensor of {dtype.name}", value)


def check_shape_info(context: Context, value: Value, ndim: int, err: str = "") -> None:
    """`check_shape_info(value, ndim, err)`: stop unless it is a shape of that rank; -1 is any."""
    if not isinstance(value, ShapeValue):
        _mismatch(err, "a shape", value)
    if ndim >= 0 and len(value) != ndim:
        _mismatch(err, f"a shape with {ndim} dimension{'' if ndim == 1 else 's'}", value)


def check_prim_value_info(context: Context, value: Value, dtype: DTypeValue, err: str = "") -> None:
    """`check_prim_value_info(value, dtype, err)`: stop unless it is a host scalar of that dtype.

    Integers pass for each other and for truth values, as in TVM.
    """
    if dtype.name == "string":
        is_right = isinstance(value, str)
    elif dtype.name.startswith(("float", "bfloat")):
        is_right = isinstance(value, float | np.floating)
    else:
        is_right = isinstance(value, bool | int | np.integer | np.bool_)
    if not is_right:
        _mismatch(err, f"a scalar {dtype.name}", value)


def check_tuple_info(context: Context, value: Value, size: int, err: str = "") -> None:
    """`check_tuple_info(value, size, err)`: stop unless it is a tuple of `size` fields; void is the tuple of none."""
    fields = () if value is None else value
    if not isinstance(fields, tuple) or isinstance(fields, ShapeValue) or len(fields) != size:
        _mismatch(err, f"a tuple of {size} field{'' if size == 1 else 's'}", value)


def check_func_info(context: Context, value: Value, err: str = "") -> None:
    """`check_func_info(value, err)`: stop unless it is a function value."""
    if not isinstance(value, Closure):
        _mismatch(err, "a function", value)


def check_string_info(context: Context, value: Value, err: str = "") -> None:
    """`check_string_info(value, err)`: stop unless it is a string."""
    if not isinstance(value, str):
        _mismatch(err, "a string", value)


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


BuiltinFunction = Callable[..., Any]


def alloc_storage(
    context: Context, machine: Sentinel, shape: ShapeValue, device_index: int, dtype: DTypeValue, scope: str = "global"
) -> StorageValue:
    """`alloc_storage(%vm, shape, device_index, dtype, scope)`: the bytes of `shape` elements on a device."""
    size_bytes = storage_bytes(shape, dtype.name)
    context.reserve(size_bytes, "storage for a tensor")
    table = device_table(context.executable.module) if device_index else ()
    return StorageValue(size_bytes, table[device_index] if device_index < len(table) else None)


def alloc_tensor(context: Context, storage: StorageValue, offset: int, shape: ShapeValue, dtype: DTypeValue) -> Array:
    """`alloc_tensor(storage, offset, shape, dtype)`: a tensor that is the bytes of `storage` from byte `offset` on."""
    kind = check_place(storage, offset, shape, dtype.name)
    made = tensor_in(context.bytes_of(storage), offset, shape, kind)
    context.begin(made)
    return made if storage.device is None else put(context, made, storage.device)


def null_value(context: Context) -> None:
    """`null_value()`: no value; written over a register whose value is dead."""


def copy(context: Context, value: Value) -> Value:
    """`copy(value)`: the value itself."""
    return value


def read_if_cond(context: Context, condition: Value) -> int:
    """`read_if_cond(condition)`: 1 or 0, from a rank-0 tensor or a host scalar."""
    match condition:
        case np.ndarray() if condition.ndim == 0:
            return int(bool(condition[()]))
        case bool() | int() | float() | np.generic():
            return int(bool(condition))
        case _:
            fail("VM015", f"the condition of `if` must be a scalar, got {describe(condition)}")


def make_tuple(context: Context, *fields: Value) -> tuple[Value, ...]:
    """`make_tuple(*field)`: a tuple."""
    return fields


def tuple_getitem(context: Context, value: Value, index: int) -> Value:
    """`tuple_getitem(tuple, index)`: the field `index` from 0."""
    if not isinstance(value, tuple) or isinstance(value, ShapeValue):
        fail("VM011", f"expected a tuple to take field {index} of, got {describe(value)}")
    fields: tuple[Value, ...] = value
    if not 0 <= index < len(fields):
        fail("VM020", f"there is no field {index} in a {describe(fields)}")
    return fields[index]


def make_closure(context: Context, function: Closure, *captures: Value) -> Closure:
    """`make_closure(function, *capture)`: a closure; its captures are appended to the arguments of a call."""
    return Closure(function.function, function.name, function.captures + captures)


def invoke_closure(context: Context, machine: Value, closure: Value, *args: Value) -> Value:
    """`invoke_closure(%vm, closure, *argument)`: call a function value. The machine makes a frame where it can."""
    return context.invoke(callable_value(closure), args)


def callable_value(value: Value) -> Closure:
    """Return `value` if it is a closure; VM014 if not."""
    if not isinstance(value, Closure):
        fail("VM014", f"expected a function to call, got {describe(value)}")
    return value


def call_tir_dyn(context: Context, kernel: Closure, *args: Any) -> None:
    """`call_tir_dyn(kernel, *argument, tir_vars)`: call a prim func, a shape giving its last arguments."""
    context.invoke(kernel, (*args[:-1], *args[-1]))


def cached_alloc(context: Context, machine: Value, function: Value, index: int) -> Value:
    """`cuda_graph.get_cached_alloc(%vm, function, index)`: what `function` allocates, here anew for each call."""
    return context.invoke(callable_value(function), ())


def run_or_capture(
    context: Context, machine: Value, function: Value, args: tuple[Value, ...], index: int, key: Value = None
) -> Value:
    """`cuda_graph.run_or_capture(%vm, function, arguments, index, shape)`: call `function`; no graph is made."""
    return context.invoke(callable_value(function), args)


def box_prim(context: Context, value: Value, dtype: DTypeValue) -> Array:
    """`box_prim(value, dtype)`: a tensor of rank 0 that holds a host scalar."""
    if not isinstance(value, bool | int | float | np.generic):
        fail("VM011", f"expected a scalar to box, got {describe(value)}")
    tensor = context.allocate((), dtype.name)
    tensor[()] = value
    return tensor


def unbox_scalar(context: Context, tensor: Value) -> Number:
    """`unbox_scalar(tensor)`: the host scalar that a tensor of rank 0 holds."""
    if not isinstance(tensor, np.ndarray) or tensor.ndim:
        fail("VM011", f"expected a tensor of rank 0 to unbox, got {describe(tensor)}")
    return tensor.item()


def reshape(context: Context, tensor: Array, shape: ShapeValue) -> Array:
    """`reshape(tensor, shape)`: the same elements under another shape, in the same memory."""
    if math.prod(shape) != tensor.size:
        fail("VM020", f"a {describe(tensor)} has {tensor.size} elements, shape {shape_text(shape)} has others")
    return tensor.reshape(shape)


def shape_of(context: Context, tensor: Value) -> ShapeValue:
    """`shape_of(tensor)`: the shape of a tensor."""
    if not isinstance(tensor, np.ndarray):
        fail("VM011", f"expected a tensor to take the shape of, got {describe(tensor)}")
    return ShapeValue(tensor.shape)


def tensor_to_shape(context: Context, tensor: Array) -> ShapeValue:
    """`tensor_to_shape(tensor)`: a shape from a rank-1 integer tensor."""
    return ShapeValue(int(item) for item in tensor)


def to_device(context: Context, tensor: Array, device_type: int, device_index: int, scope: str = "global") -> Array:
    """`to_device(tensor, device_type, device_index, scope)`: a copy on another device."""
    context.reserve(tensor.nbytes, "a copy", tensor.shape, str(tensor.dtype))
    return put(context, plain(tensor).copy(), numbered_device(device_type, device_index, scope))


def run_print(context: Context, format_text: str, *values: Value) -> None:
    """`relax.run.print(format, *value)`: print a line: the values, or the format with `{}` filled in."""
    context.write_output(fill(format_text, values) if format_text else " ".join(map(show, values)))


def run_assert(context: Context, condition: Value, format_text: str = "", *values: Value) -> None:
    """`relax.run.assert_op(condition, format, *value)`: stop unless `condition` holds."""
    if not read_if_cond(context, condition):
        words = fill(format_text, values) if format_text else " ".join(map(show, values))
        fail("VM013", f"assertion failed{': ' if words else ''}{words}")


BUILTINS: Mapping[str, BuiltinFunction] = MappingProxyType(
    {
        "vm.builtin.alloc_shape_heap": alloc_shape_heap,
        "vm.builtin.check_tensor_info": check_tensor_info,
        "vm.builtin.check_shape_info": check_shape_info,
        "vm.builtin.check_prim_value_info": check_prim_value_info,
        "vm.builtin.check_tuple_info": check_tuple_info,
        "vm.builtin.check_func_info": check_func_info,
        "vm.builtin.check_string_info": check_string_info,
        "vm.builtin.match_shape": match_shape,
        "vm.builtin.match_prim_value": match_prim_value,
        "vm.builtin.make_shape": make_shape,
        "vm.builtin.make_prim_value": make_prim_value,
        "vm.builtin.alloc_storage": alloc_storage,
        "vm.builtin.alloc_tensor": alloc_tensor,
        "vm.builtin.null_value": null_value,
        "vm.builtin.copy": copy,
        "vm.builtin.read_if_cond": read_if_cond,
        "vm.builtin.make_tuple": make_tuple,
        "vm.builtin.tuple_getitem": tuple_getitem,
        "vm.builtin.make_closure": make_closure,
        "vm.builtin.invoke_closure": invoke_closure,
        "vm.builtin.cuda_graph.get_cached_alloc": cached_alloc,
        "vm.builtin.cuda_graph.run_or_capture": run_or_capture,
        "vm.builtin.box_prim": box_prim,
        "vm.builtin.unbox_scalar": unbox_scalar,
        "vm.builtin.reshape": reshape,
        "vm.builtin.shape_of": shape_of,
        "vm.builtin.tensor_to_shape": tensor_to_shape,
        "vm.builtin.to_device": to_device,
        "vm.builtin.call_tir_dyn": call_tir_dyn,
        **DATA_BUILTINS,
        "relax.run.print": run_print,
        "relax.run.assert_op": run_assert,
    }
)
