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
    float32 (TVM wants an `f` behind it; see `lacks_suffix`). A bfloat16 is given as the float32 that is equal to it.

    Raises:
        MalformedNumber: the type is unknown, or cannot hold the number.
    """
    match = _NUMBER.fullmatch(text)
    if match is None or len(text) > _MAX_DIGITS:
        raise MalformedNumber("this is not a number")
    sign, digits, suffix = match.groups()
    is_float = not digits.isdigit()
    letter, bits = (suffix[0], suffix[1:]) if suffix and suffix != "bf16" else ("f" if is_float else "i", "")
    if bits and bits not in _BITS[letter]:
        raise MalformedNumber(f"there is no type {_KIND[letter]}{bits}")
    if suffix == "bf16":
        data = rounded_to_bfloat16(float(sign + digits))
    elif letter == "f":
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


def rounded_to_bfloat16(value: float) -> npt.NDArray[Any]:
    """Return the nearest number that a bfloat16 holds, as float32; of two as near the even one."""
    with np.errstate(over="ignore"):
        bits = int(np.array(value, np.float32).view(np.uint32))
    if bits & 0x7F800000 != 0x7F800000:
        bits += 0x7FFF + (bits >> 16 & 1)
    return np.array(bits & 0xFFFF0000, np.uint32).view(np.float32)


def is_bfloat16(text: str) -> bool:
    """Tell whether a number is read as float32 in place of bfloat16, for which NumPy has no dtype."""
    return text.endswith("bf16")


def lacks_suffix(text: str) -> bool:
    """Tell whether a number is a float only by its point or exponent."""
    return not re.search(r"[fiu]\d*$", text) and not text.lstrip("-").isdigit()
