"""Read the tensors of a safetensors file: a header in JSON, and the bytes that it speaks of."""

from types import MappingProxyType
from typing import Any, Final, NoReturn, cast

import numpy as np
from safetensors import (
    SafetensorError,
    deserialize,  # pyright: ignore[reportUnknownVariableType]  # it is written in Rust, without types
)

from relax_core.diagnostics import Diagnostic, RunError
from relax_core.engine.archives import escaped, words_of
from relax_core.engine.npy import LIMIT_BYTES, Array
from relax_core.present.measures import bytes_text

_DTYPES: Final = MappingProxyType(
    {
        "BOOL": "bool",
        "U8": "uint8",
        "I8": "int8",
        "U16": "uint16",
        "I16": "int16",
        "U32": "uint32",
        "I32": "int32",
        "U64": "uint64",
        "I64": "int64",
        "F16": "float16",
        "F32": "float32",
        "F64": "float64",
        "BF16": "bfloat16",
        "F8_E4M3": "float8_e4m3fn",
        "F8_E5M2": "float8_e5m2",
        "F8_E4M3FNUZ": "float8_e4m3fnuz",
        "F8_E5M2FNUZ": "float8_e5m2fnuz",
        "F8_E8M0": "float8_e8m0fnu",
    }
)
"""NumPy's names; what has fewer than eight bits, or two parts, is not among them."""


def read_safetensors(content: bytes) -> dict[str, Array]:
    """Read the tensors of a safetensors file by name.

    Raises:
        RunError: EN004 if it is damaged or has a dtype that no tensor has here, EN016 if it is too large.
    """
    # The tensors are copied out of the file one beside the other, so that they have no more bytes than it.
    if len(content) > LIMIT_BYTES:
        words = f"the safetensors file has {len(content):,} bytes, at most {bytes_text(LIMIT_BYTES)} are read"
        _fail("EN016", words)
    try:
        tensors = cast("list[tuple[str, dict[str, Any]]]", deserialize(content))
    except SafetensorError as error:
        _fail("EN004", f"the safetensors file cannot be read: {words_of(error)}")
    except MemoryError:
        _fail("EN016", "the safetensors file takes more memory than the worker has left")
    return {name: _array(name, tensor) for name, tensor in tensors}


def _array(name: str, tensor: dict[str, Any]) -> Array:
    dtype = _DTYPES.get(tensor["dtype"])
    if dtype is None:
        words = f"`{escaped(name)}` in the safetensors file is of {tensor['dtype']}, which no array here can be"
        _fail("EN004", words, f"dtypes that can be read: {', '.join(_DTYPES)}")
    return np.frombuffer(tensor["data"], np.dtype(dtype)).reshape(tensor["shape"])


def _fail(code: str, message: str, hint: str = "") -> NoReturn:
    raise RunError((Diagnostic(code, message, None, hint),))
