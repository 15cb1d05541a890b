"""Read tensor constants: `R.const(1.5, "float32")`, lists, and arrays that the text makes with NumPy."""

import ast
from typing import Any

import numpy as np
import numpy.typing as npt

from relax_core.frontend.tvmscript.context import Context, source_of
from relax_core.frontend.tvmscript.literal.arrays import MAX_ELEMENTS, Array, is_tensor, read_array
from relax_core.frontend.tvmscript.literal.numbers import number_of
from relax_core.frontend.tvmscript.scalar.scalar_calls import is_dtype
from relax_core.frontend.tvmscript.unread import tell_repeated
from relax_core.ir.expr import Constant
from relax_core.source import Span

_MAX_RANK = 32


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
        data = np.array(value, dtype=dtype or (_kept_dtype(context, given["value"], made) or _default_dtype(value)))
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
        case (
            ast.BinOp(left=ast.List() as items, op=ast.Mult(), right=times)
            | ast.BinOp(left=times, op=ast.Mult(), right=ast.List() as items)
        ) if depth < _MAX_RANK and isinstance(count := number_of(context, times), int):
            return _repeated(context, node, _number(context, items, depth), count)
        case _ if (number := number_of(context, node)) is not None:
            return number
        case _:
            raise context.fail("PA010", node, f"expected numbers, got `{source_of(node)}`")


def _repeated(context: Context, node: ast.expr, items: Any, count: int) -> Any:
    """Return `[...] * count`, if it is not too much to be written down."""
    if np.size(items) * count > MAX_ELEMENTS:
        raise context.fail("PA010", node, f"a constant of more than {MAX_ELEMENTS} elements")
    return items * count


def _default_dtype(value: Any) -> str | None:
    """Return the dtype of a Python number: int32, float32 or bool, as in TVM."""
    found: npt.NDArray[Any] = np.array(value)
    return {"i": "int32", "u": "uint64", "f": "float32", "b": "bool"}.get(found.dtype.kind)


def _kept_dtype(context: Context, node: ast.expr, made: Array | None) -> str | None:
    """Return the dtype of an array: as in TVM, 64 bits become 32 unless the text makes a tensor of it."""
    if made is None:
        return None
    dtype = str(made.dtype)
    return dtype if is_tensor(context, node) else {"int64": "int32", "float64": "float32"}.get(dtype, dtype)


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
