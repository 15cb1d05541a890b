"""Plain data as text: strings, numbers, attributes, tensor constants."""

import json
import math
import re
from functools import lru_cache
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from relax_core.frontend.tvmscript.literal.literals import MADE
from relax_core.ir.attrs import Attrs, AttrValue

_SURROGATE = re.compile("[\ud800-\udfff]")
_encoded = json.JSONEncoder(ensure_ascii=False).encode


def quoted(text: str) -> str:
    """Return a string literal in double quotes; a lone surrogate, which is no text, is an escape."""
    shown = _encoded(text)
    return shown if shown.isascii() else _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", shown)


def number(value: int | float) -> str:
    """Return a number as an expression that gives exactly it."""
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)


def attribute(value: AttrValue) -> str:
    """Return an attribute value: a list for a tuple, a dictionary for a tuple of pairs."""
    match value:
        case None | bool() | int() | float():
            return "None" if value is None else number(value)
        case str():
            return quoted(value)
        case ((str(maker), made),) if maker.startswith(MADE):
            return _made(maker.removeprefix(MADE), made)
        case tuple() if pairs := _pairs(value):
            return attributes(pairs)
        case tuple():
            return f"[{', '.join(attribute(item) for item in value)}]"  # pyright: ignore[reportArgumentType]  # a tuple that is not of pairs holds values


def _made(maker: str, made: Any) -> str:
    """Return an object that TVM makes of plain data, such as `T.target({...})`."""
    if maker == "lambda":
        return str(made)
    args, named = made
    parts = [attribute(item) for item in args] + [f"{key}={attribute(value)}" for key, value in named]
    return f"{maker}({', '.join(parts)})"


def attributes(attrs: Attrs) -> str:
    """Return attributes as a dictionary."""
    return "{" + ", ".join(f"{quoted(key)}: {attribute(value)}" for key, value in attrs) + "}"


def _pairs(value: tuple[Any, ...]) -> Attrs | None:
    """Return `value` as attributes if it is a tuple of pairs with different keys."""
    are_pairs = all(isinstance(item, tuple) and len(cast("tuple[Any, ...]", item)) == 2 for item in value)
    are_pairs = are_pairs and all(isinstance(item[0], str) for item in value)
    return value if value and are_pairs and len({item[0] for item in value}) == len(value) else None


def constant(data: npt.NDArray[Any]) -> str:
    """Return the arguments of `R.const`: numbers in nested lists and the dtype, exact for every element.

    A constant without elements says its shape, which the lists cannot.
    """
    dtype = _name(data.dtype)
    if data.size == 0:
        return f'[], "{dtype}", shape={data.shape}'
    return f'{_nested(data.tolist())}, "{dtype}"'


@lru_cache(maxsize=256)
def _name(dtype: np.dtype[Any]) -> str:
    """Return the name of a dtype, which NumPy takes long to make."""
    return str(dtype)


def _nested(value: Any) -> str:
    if isinstance(value, list):
        items: list[Any] = value  # pyright: ignore[reportUnknownVariableType]  # ndarray.tolist gives nested lists
        return f"[{', '.join(_nested(item) for item in items)}]"
    return number(value)
