"""Read arrays that a text makes with NumPy, such as `np.zeros((2, 3), "float32") + 1`, as data.

No name of the text is called: what the tables below know is computed here, after a bound on its size is checked.
"""

import ast
from collections.abc import Callable, Mapping, Sequence
from math import prod
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from relax_core.frontend.tvmscript.context import Context, source_of
from relax_core.frontend.tvmscript.literal.numbers import number_of
from relax_core.frontend.tvmscript.names import qualified

Array: TypeAlias = npt.NDArray[Any]
Size: TypeAlias = Callable[..., int]
MAX_ELEMENTS: Final = 1 << 24
_MAX_DEPTH: Final = 40
_DTYPES: Final = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
)  # fmt: skip
_TENSORS: Final = (
    "nd.array", "runtime.tensor", "runtime.ndarray.array", "runtime.nd.array", "runtime.from_dlpack",
)  # fmt: skip
"""What makes a tensor of TVM of an array: `tvm.nd.array(np.zeros(2))`."""


def _shape_size(shape: Any, *_: Any, **__: Any) -> int:
    return prod(abs(int(item)) for item in (shape if isinstance(shape, list | tuple) else (shape,)))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # of numbers, or int() fails


def _eye_size(n: Any, m: Any = None, *_: Any, **named: Any) -> int:
    columns = named.get("M", m)
    return abs(int(n) * int(n if columns is None else columns))


def _arange_size(start: Any, stop: Any = None, step: Any = 1) -> int:
    low, high = (0, start) if stop is None else (start, stop)
    return int(abs((high - low) / step)) + 1


def _linspace_size(start: Any, stop: Any, num: Any = 50, **_: Any) -> int:
    return abs(int(num)) * max(np.size(start), np.size(stop))


def _own_size(*values: Any, **_: Any) -> int:
    """The size of what takes its elements from its arguments."""
    return sum(_size_of(item) for item in values)


def _size_of(value: Any) -> int:
    if isinstance(value, list):
        return sum(_size_of(item) for item in value)  # pyright: ignore[reportUnknownVariableType]  # of numbers and arrays
    return int(np.size(value))


def _joint_size(*values: Any, **_: Any) -> int:
    return prod(np.broadcast_shapes(*(np.shape(item) for item in values)))


def _product_size(a: Any, b: Any) -> int:
    """A bound on the multiplications of a product: larger than what it makes."""
    return int(np.size(a)) * max(1, np.shape(b)[-1] if np.ndim(b) > 1 else 1)


def _outer_size(a: Any, b: Any) -> int:
    return int(np.size(a)) * int(np.size(b))


def _repeated_size(a: Any, repeats: Any, **_: Any) -> int:
    return int(np.size(a)) * prod(abs(int(item)) for item in np.ravel(repeats))


def _broadcast_size(_: Any, shape: Any) -> int:
    return _shape_size(shape)


_MAKERS: Final[Mapping[str, tuple[Callable[..., Any], Size]]] = MappingProxyType(
    {
        "zeros": (np.zeros, _shape_size), "ones": (np.ones, _shape_size), "full": (np.full, _shape_size),
        "eye": (np.eye, _eye_size), "identity": (np.identity, _eye_size), "arange": (np.arange, _arange_size),
        "linspace": (np.linspace, _linspace_size),
        **{
            name: (getattr(np, name), _own_size)
            for name in ("array", "asarray", "ascontiguousarray", "zeros_like", "ones_like", "full_like")
        },
    }
)  # fmt: skip
"""What takes a dtype, by name or behind the other arguments."""
_FUNCTIONS: Final[Mapping[str, tuple[Callable[..., Any], Size]]] = MappingProxyType(
    {
        **{
            name: (getattr(np, name), _own_size)
            for name in (
                "concatenate", "stack", "hstack", "vstack", "expand_dims", "squeeze", "reshape", "ravel", "transpose",
                "swapaxes", "moveaxis", "flip", "roll", "sum", "prod", "mean", "max", "min", "amax", "amin", "argmax",
                "argmin", "cumsum", "sort", "argsort", "clip", "tril", "triu",
            )
        },
        **{
            name: (getattr(np, name), _joint_size)
            for name in (
                "abs", "absolute", "sqrt", "exp", "log", "sin", "cos", "tanh", "floor", "ceil", "negative", "sign",
                "square", "rint", "add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "mod",
                "where", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and",
                "logical_or", "logical_not",
            )
        },
        "tile": (np.tile, _repeated_size), "repeat": (np.repeat, _repeated_size),
        "broadcast_to": (np.broadcast_to, _broadcast_size), "matmul": (np.matmul, _product_size),
        "dot": (np.dot, _product_size), "outer": (np.outer, _outer_size),
    }
)  # fmt: skip
_METHODS: Final = (
    "reshape", "transpose", "flatten", "ravel", "squeeze", "sum", "mean", "max", "min", "prod", "copy", "numpy",
)  # fmt: skip
_OPERATORS: Final[Mapping[type[ast.AST], Callable[[Any, Any], Any]]] = MappingProxyType(
    {
        ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.true_divide,
        ast.FloorDiv: np.floor_divide, ast.Mod: np.mod, ast.Pow: np.power,
    }
)  # fmt: skip
_COMPARISONS: Final[Mapping[type[ast.AST], Callable[[Any, Any], Any]]] = MappingProxyType(
    {
        ast.Lt: np.less, ast.LtE: np.less_equal, ast.Gt: np.greater, ast.GtE: np.greater_equal, ast.Eq: np.equal,
        ast.NotEq: np.not_equal,
    }
)  # fmt: skip
_KEYWORDS: Final = (
    "axis", "axes", "shape", "newshape", "keepdims", "fill_value", "M", "N", "k", "num", "endpoint", "repeats", "reps",
    "start", "stop", "step", "ndmin", "object", "a_min", "a_max",
)  # fmt: skip


def read_array(context: Context, node: ast.expr, depth: int = 0) -> Array | None:
    """Read an array; `None` if `node` has nothing of NumPy. Errors are diagnosed, and so are more than 2^24 elements.

    Raises:
        Failed: PA004 for a function that is not known here, PA010 for what has no value.
    """
    if depth > _MAX_DEPTH:
        return None
    match node:
        case ast.Call():
            return _called(context, node, depth)
        case ast.Attribute(value=ast.Call() | ast.Attribute() | ast.BinOp() as inner, attr="T"):
            base = read_array(context, inner, depth + 1)
            return None if base is None else base.T
        case ast.BinOp(left=left, op=op, right=right):
            return _combined(context, node, (left, right), _OPERATORS.get(type(op)), depth)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _combined(context, node, (left, right), _COMPARISONS.get(type(op)), depth)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            base = read_array(context, operand, depth + 1)
            return base if base is None or isinstance(sign, ast.UAdd) else np.asarray(np.negative(base))
        case _:
            return None


def is_tensor(context: Context, node: ast.expr) -> bool:
    """Tell whether the text makes a tensor of TVM, `tvm.runtime.tensor(array)`, which keeps its dtype."""
    return isinstance(node, ast.Call) and qualified(node.func, context.aliases) in _TENSORS


def _called(context: Context, node: ast.Call, depth: int) -> Array | None:
    name = qualified(node.func, context.aliases) or ""
    if name in _TENSORS and node.args:
        return np.asarray(_plain(context, node.args[0], depth + 1))
    short = name.removeprefix("numpy.")
    if short != name:
        if short not in _DTYPES:
            return _made(context, node, short, depth) if number_of(context, node) is None else None
        return np.array(_plain(context, node.args[0], depth + 1), dtype=short) if len(node.args) == 1 else None
    match node.func:
        case ast.Attribute(value=ast.Call() | ast.BinOp() | ast.Attribute() | ast.UnaryOp() as inner, attr=method):
            base = read_array(context, inner, depth + 1)
            return None if base is None else _method(context, node, base, method)
        case _:
            return None


def _combined(
    context: Context,
    node: ast.expr,
    operands: tuple[ast.expr, ast.expr],
    compute: Callable[[Any, Any], Any] | None,
    depth: int,
) -> Array | None:
    """Compute an operator of which an operand is an array; `None` if none is."""
    found = [read_array(context, item, depth + 1) for item in operands]
    if compute is None or all(item is None for item in found):
        return None
    values = [
        _plain(context, item, depth + 1) if array is None else array
        for item, array in zip(operands, found, strict=True)
    ]
    return _computed(context, node, (compute, _joint_size), values, {})


def _computed(
    context: Context,
    node: ast.expr,
    function: tuple[Callable[..., Any], Size],
    values: Sequence[Any],
    named: Mapping[str, Any],
) -> Array:
    """Call a function of the tables when its result is small enough.

    Raises:
        Failed: PA010.
    """
    compute, size = function
    try:
        if size(*values, **{name: value for name, value in named.items() if name != "dtype"}) > MAX_ELEMENTS:
            raise context.fail("PA010", node, f"a constant of more than {MAX_ELEMENTS} elements")
        with np.errstate(all="ignore"):
            return np.asarray(compute(*values, **named))
    except (TypeError, ValueError, OverflowError, ZeroDivisionError, IndexError) as error:
        raise context.fail("PA010", node, f"not a constant: {error}") from None


def _made(context: Context, node: ast.Call, name: str, depth: int) -> Array:
    """Read a call of a function of NumPy."""
    if name.startswith("random"):
        hint = "write the values: R.const([...]), or take the tensor as a parameter"
        message = f"`{source_of(node.func)}` in a constant: its values are those of a generator, with or without a seed"
        raise context.unsupported(node.func, message, hint)
    function = _MAKERS.get(name) or _FUNCTIONS.get(name)
    if function is None:
        hint = f"NumPy's {', '.join(_MAKERS)} and such functions are read as data; write the values: R.const([...])"
        raise context.unsupported(node.func, f"`{source_of(node.func)}` in a constant", hint)
    args, named = list(node.args), dict[str, Any]()
    if len(args) > 1 and name in _MAKERS and (dtype := _named_dtype(context, args[-1])) is not None:
        named["dtype"] = dtype
        args.pop()
    for item in node.keywords:
        if item.arg == "dtype":
            named["dtype"] = _array_dtype(context, item.value)
        elif item.arg in _KEYWORDS:
            named[item.arg] = _plain(context, item.value, depth + 1)
        else:
            raise context.unsupported(item.value, f"`{item.arg}=` of `{source_of(node.func)}` in a constant")
    return _computed(context, node, function, [_plain(context, item, depth + 1) for item in args], named)


def _method(context: Context, node: ast.Call, base: Array, method: str) -> Array:
    """Read a call of a method of an array."""
    if method == "astype":
        if len(node.args) + len(node.keywords) != 1:
            raise context.fail("PA006", node, "`astype` takes a dtype")
        with np.errstate(all="ignore"):
            return base.astype(_array_dtype(context, node.args[0] if node.args else node.keywords[0].value))
    if method not in _METHODS:
        hint = f"astype, {', '.join(_METHODS)} are read; write the values: R.const([...])"
        raise context.unsupported(node.func, f"the method `{method}` of an array in a constant", hint)
    if method == "numpy":
        return base
    values = [_plain(context, item) for item in node.args]
    named = {item.arg or "**": _plain(context, item.value) for item in node.keywords}
    return _computed(context, node, (lambda *args, **more: getattr(base, method)(*args, **more), _none), values, named)


def _none(*_: Any, **__: Any) -> int:
    """No method of `_METHODS` makes more elements than it is given."""
    return 0


def _plain(context: Context, node: ast.expr, depth: int = 0) -> Any:
    """Read an argument: a number, an array, or lists of such.

    Raises:
        Failed: PA010.
    """
    match node:
        case ast.Constant(value=None):
            return None
        case ast.List(elts=items) | ast.Tuple(elts=items) if depth < _MAX_DEPTH:
            return [_plain(context, item, depth + 1) for item in items]
        case _ if (number := number_of(context, node)) is not None:
            return number
        case _ if (made := read_array(context, node, depth + 1)) is not None:
            return made
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
