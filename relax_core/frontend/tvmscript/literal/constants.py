"""Read tensor constants: `R.const(1.5, "float32")`, lists, and arrays that the text makes with NumPy.

`np.zeros((2, 3), "float32")` is read as data, without calling what it names.
"""

import ast
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from relax_core.frontend.tvmscript.context import Context, source_of
from relax_core.frontend.tvmscript.literal.numbers import number_of
from relax_core.frontend.tvmscript.names import qualified
from relax_core.frontend.tvmscript.scalar.scalar_calls import is_dtype
from relax_core.frontend.tvmscript.unread import tell_repeated
from relax_core.ir.expr import Constant
from relax_core.source import Span

_MAX_RANK = 32


Array: TypeAlias = npt.NDArray[Any]
MAX_ELEMENTS = 1 << 24
_MAX_DEPTH = 40
_DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
)  # fmt: skip


def read_array(context: Context, node: ast.expr) -> Array | None:
    """Read an array; `None` if `node` is no call of NumPy. Errors are diagnosed, and so are more than 2^24 elements."""
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr="astype" | "reshape" as method)) if isinstance(
            inner, ast.Call
        ):
            base = read_array(context, inner)
            return None if base is None else _method(context, node, base, method)
        case ast.Call(func=func):
            name = qualified(func, context.aliases) or ""
            if name in _TENSORS and len(node.args) == 1:
                return np.asarray(_plain(context, node.args[0]))
            short = name.removeprefix("numpy.")
            if short == name or (short not in _DTYPES and number_of(context, node) is not None):
                return None
            return _made(context, node, short)
        case _:
            return None


def _made(context: Context, node: ast.Call, name: str) -> Array:
    if name in _DTYPES and len(node.args) == 1:
        return np.array(_plain(context, node.args[0]), dtype=name)
    make = _MAKERS.get(name)
    if make is None:
        hint = f"NumPy's {', '.join(_MAKERS)} are read as data; write the values: R.const([...])"
        raise context.unsupported(node.func, f"`{source_of(node.func)}` in a constant", hint)
    dtype = next((_array_dtype(context, item.value) for item in node.keywords if item.arg == "dtype"), None)
    args = list(node.args)
    if len(args) > 1 and (found := _named_dtype(context, args[-1])) is not None:
        dtype = found
        args.pop()
    values = [_plain(context, item) for item in args]
    named = {item.arg: _plain(context, item.value) for item in node.keywords if item.arg not in ("dtype", None)}
    try:
        count = _count(name, values, named)
        if count > MAX_ELEMENTS:
            raise context.fail("PA010", node, f"a constant of more than {MAX_ELEMENTS} elements")
        return make(*values, **named) if dtype is None else make(*values, dtype=dtype, **named)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError) as error:
        raise context.fail("PA010", node, f"not a constant: {error}") from None


_TENSORS = ("nd.array", "runtime.tensor", "runtime.ndarray.array", "runtime.nd.array")
"""What makes a tensor of TVM of an array: `tvm.nd.array(np.zeros(2))`."""
_MAKERS: Mapping[str, Callable[..., Array]] = MappingProxyType(
    {"zeros": np.zeros, "ones": np.ones, "eye": np.eye, "arange": np.arange, "array": np.array, "full": np.full}
)


def _count(name: str, values: list[Any], named: Mapping[str, Any]) -> int:
    """Return how many elements the array will have."""
    match name:
        case "zeros" | "ones" | "full":
            shape = values[0] if values else named.get("shape", 0)
            sizes: list[Any] = shape if isinstance(shape, list) else [shape]  # pyright: ignore[reportUnknownVariableType]  # of numbers, or int() fails
            count = 1
            for size in sizes:
                count *= int(size)
            return count
        case "eye":
            return int(values[0]) * int(values[1] if len(values) > 1 and values[1] is not None else values[0])
        case "arange":
            start, stop, step = (0, values[0], 1) if len(values) == 1 else (*values, 1)[:3]
            return int(abs((stop - start) / step)) + 1
        case _:
            return 0


def _method(context: Context, node: ast.Call, base: Array, method: str) -> Array:
    try:
        if method == "astype":
            if len(node.args) + len(node.keywords) != 1:
                raise context.fail("PA006", node, "`astype` takes a dtype")
            return base.astype(_array_dtype(context, node.args[0] if node.args else node.keywords[0].value))
        sizes = [_plain(context, item) for item in node.args]
        return base.reshape(*sizes)
    except (TypeError, ValueError) as error:
        raise context.fail("PA010", node, f"not a constant: {error}") from None


def _plain(context: Context, node: ast.expr, depth: int = 0) -> Any:
    match node:
        case ast.Constant(value=None):
            return None
        case ast.List(elts=items) | ast.Tuple(elts=items) if depth < _MAX_DEPTH:
            return [_plain(context, item, depth + 1) for item in items]
        case ast.Call() if depth < _MAX_DEPTH and (made := read_array(context, node)) is not None:
            return made
        case _ if (number := number_of(context, node)) is not None:
            return number
        case _:
            raise context.fail("PA010", node, f"expected numbers, got `{source_of(node)}`")


def _named_dtype(context: Context, node: ast.expr) -> str | None:
    match node:
        case ast.Constant(value=str(text)):
            return text if text in _DTYPES else None
        case ast.Attribute() | ast.Name():
            name = (qualified(node, context.aliases) or "").removeprefix("numpy.").removesuffix("_")
            return {"float": "float64", "int": "int64"}.get(name, name if name in _DTYPES else None)
        case _:
            return None


def _array_dtype(context: Context, node: ast.expr) -> str:
    found = _named_dtype(context, node)
    if found is None:
        raise context.fail("PA010", node, f"no constant has the dtype `{source_of(node)}`")
    return found


def read_constant(context: Context, node: ast.Call) -> Constant:
    """Read `const(value, dtype, shape=)`; `shape` tells the size of a constant without elements."""
    given: dict[str, ast.expr] = dict(zip(("value", "dtype"), node.args, strict=False))
    named = {item.arg: item.value for item in node.keywords}
    tell_repeated(context, node, given, named)
    given.update((name or "**", value) for name, value in named.items())
    if "value" not in given or not set(given) <= {"value", "dtype", "shape"} or len(node.args) > 2:
        raise context.fail("PA006", node, '`const` takes a number or nested lists, and a dtype: R.const(1, "float32")')
    dtype = _dtype(context, given["dtype"]) if "dtype" in given else None
    made = read_array(context, given["value"])
    value = made if made is not None else _number(context, given["value"], 0)
    try:
        data = np.array(value, dtype=dtype or (str(made.dtype) if made is not None else _default_dtype(value)))
        if "shape" in given:
            data = data.reshape(_shape(context, given["shape"]))
    except (ValueError, OverflowError, TypeError) as error:
        is_ragged = "inhomogeneous" in str(error)
        what = "the lists have different lengths" if is_ragged else str(error).removeprefix("Python ")
        raise context.fail("PA010", node, f"not a constant: {what}") from None
    if data.dtype.kind == "O":
        raise context.fail("PA010", node, "not a constant: an integer does not fit 64 bits")
    data.flags.writeable = False
    return Constant(data, span=context.span(node))


def scalar_constant(value: int | float, dtype: str, span: Span) -> Constant | None:
    """Make `const(value, dtype)`; `None` if there is no such number."""
    if not is_dtype(dtype) or not _is_numpy(dtype):
        return None
    try:
        data = np.array(value, dtype=dtype)
    except (ValueError, OverflowError, TypeError):
        return None
    data.flags.writeable = False
    return Constant(data, span=span)


def _number(context: Context, node: ast.expr, depth: int) -> Any:
    match node:
        case ast.Constant(value="nan" | "inf" | "-inf" as text):
            return float(text)
        case ast.List(elts=items) | ast.Tuple(elts=items) if depth < _MAX_RANK:
            return [_number(context, item, depth + 1) for item in items]
        case _ if (number := number_of(context, node)) is not None:
            return number
        case _:
            raise context.fail("PA010", node, f"expected numbers, got `{source_of(node)}`")


def _default_dtype(value: Any) -> str | None:
    """Return the dtype of a Python number: int32, float32 or bool, as in TVM."""
    found: npt.NDArray[Any] = np.array(value)
    return {"i": "int32", "u": "uint64", "f": "float32", "b": "bool"}.get(found.dtype.kind)


def _dtype(context: Context, node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(text)) if is_dtype(text) and _is_numpy(text):
            return text
        case _:
            raise context.fail("PA010", node, f"no constant has the dtype `{source_of(node)}`")


def _is_numpy(dtype: str) -> bool:
    try:
        np.dtype(dtype)
    except TypeError:
        return False
    return True


def _shape(context: Context, node: ast.expr) -> tuple[int, ...]:
    match node:
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return tuple(int(_number(context, item, _MAX_RANK)) for item in items)
        case _:
            raise context.fail("PA010", node, f"expected a shape, got `{source_of(node)}`")
