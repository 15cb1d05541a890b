"""Numbers of Relay text: `1`, `2i8`, `1f`, `1.5f16`, `1e-05f64`, `inff`, `True`."""

import re
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

_NUMBER = re.compile(r"(-?)(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|inf|nan)(bf16|[fiu]\d*)?")
_BITS = MappingProxyType({"f": ("16", "32", "64"), "i": ("8", "16", "32", "64"), "u": ("8", "16", "32", "64")})
_KIND = MappingProxyType({"f": "float", "i": "int", "u": "uint"})
_MAX_DIGITS = 1000


class MalformedNumber(Exception):
    """The text is no number of its type; the message says why."""


@lru_cache(maxsize=4096)
def read_number(text: str) -> npt.NDArray[Any]:
    """Return a rank-0 array that is never written.

    A number without a suffix is int32, or int64 if it is too large for that; with a point or an exponent it is
    float32 (TVM wants an `f` behind it; see `lacks_suffix`).

    Raises:
        MalformedNumber: the type is unknown, or cannot hold the number.
    """
    match = _NUMBER.fullmatch(text)
    if match is None or len(text) > _MAX_DIGITS:
        raise MalformedNumber("this is not a number")
    sign, digits, suffix = match.groups()
    is_float = not digits.isdigit()
    letter, bits = (suffix[0], suffix[1:]) if suffix and suffix != "bf16" else ("f" if is_float else "i", "")
    if suffix == "bf16":
        raise MalformedNumber("bfloat16 numbers are not read")
    if bits and bits not in _BITS[letter]:
        raise MalformedNumber(f"there is no type {_KIND[letter]}{bits}")
    if letter == "f":
        with np.errstate(over="ignore"):
            data = np.array(float(sign + digits), dtype=f"float{bits or 32}")
    else:
        data = _integer(sign, digits, letter, bits)
    data.flags.writeable = False
    return data


def _integer(sign: str, digits: str, letter: str, bits: str) -> npt.NDArray[Any]:
    if not digits.isdigit():
        raise MalformedNumber("an integer has no point and no exponent")
    value = int(sign + digits)
    if not bits and letter == "i":
        bits = "32" if -(2**31) <= value < 2**31 else "64"
    dtype = np.dtype(f"{_KIND[letter]}{bits or 32}")
    limits = np.iinfo(dtype)
    if not limits.min <= value <= limits.max:
        raise MalformedNumber(f"{sign}{digits} does not fit {dtype}")
    return np.array(value, dtype=dtype)


def lacks_suffix(text: str) -> bool:
    """Tell whether a number is a float only by its point or exponent."""
    return text[-1] not in "f" and not re.search(r"[fiu]\d*$", text) and not text.lstrip("-").isdigit()
