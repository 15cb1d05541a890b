"""Numbers, attributes and tensor constants of Relay text."""

import json
import math
import re
from types import MappingProxyType
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from relax_core.frontend.relay.attributes import (
    ALL_ATTRIBUTES,
    CLASS,
    EXPRESSION,
    PARAM_DEVICES,
    is_reference,
    pairs_of,
)
from relax_core.frontend.tensors import base64_of_tensor
from relax_core.ir.attrs import Attrs, AttrValue, attr
from relax_core.printer.literals import quoted

_SUFFIX = MappingProxyType(
    {
        "int64": "i64",
        "int32": "",
        "int16": "i16",
        "int8": "i8",
        "float64": "f64",
        "float32": "f",
        "float16": "f16",
    }
)
_NAME = re.compile(r"[^\W\d][\w?]*(?:\.[^\W\d][\w?]*)*")


def scalar(data: npt.NDArray[Any]) -> str | None:
    """Return a number as text that gives exactly it; `None` for a tensor, and where there is no such text."""
    if data.ndim > 0:
        return None
    dtype = data.dtype.name
    if dtype == "bool":
        return str(bool(data))
    suffix = _SUFFIX.get(dtype)
    if suffix is None:
        return None
    if data.dtype.kind == "i":
        return f"{data.item()}{suffix}"
    if not np.isfinite(data):
        name = str(data.item())
        is_usual = data.tobytes() == np.array(float(name), data.dtype).tobytes()
        return f"{name}{suffix}" if is_usual else None
    text = str(data[()])
    return f"{text.removesuffix('.0')}{suffix}"


def attribute(value: AttrValue) -> str:
    """Return an attribute value."""
    match value:
        case None | bool() | int():
            return str(value)
        case float():
            return f"{value!r}f" if math.isfinite(value) else f"{value}f64"
        case str():
            return quoted(value)
        case tuple():
            pairs = pairs_of(value)
            if pairs is not None and pairs[0][0] == CLASS:
                return _object(pairs)
            return f"[{', '.join(attribute(item) for item in cast('tuple[AttrValue, ...]', value))}]"


def _object(pairs: Attrs) -> str:
    """Show what carries the name of its class: `VirtualDevice(device_type=1)`, `meta[Map][0]`."""
    if is_reference(pairs):
        fields = dict(pairs)
        return f"meta[{fields['name']}][{fields['index']}]"
    if pairs[0][1] == EXPRESSION and len(pairs) == 2:
        return str(pairs[1][1])
    return f"{pairs[0][1]}({attributes(pairs[1:])})"


def attributes(attrs: Attrs) -> str:
    """Return `name=value, ...`."""
    return ", ".join(
        attribute(value) if name == ALL_ATTRIBUTES else f"{_key(name)}={attribute(value)}" for name, value in attrs
    )


def param_devices(attrs: Attrs, count: int) -> tuple[tuple[AttrValue, ...], Attrs]:
    """Return the virtual devices of a function's parameters, and its other attributes."""
    devices = attr(attrs, PARAM_DEVICES)
    if not isinstance(devices, tuple) or len(devices) != count:
        return (None,) * count, attrs
    return cast("tuple[AttrValue, ...]", devices), tuple(item for item in attrs if item[0] != PARAM_DEVICES)


def _key(name: str) -> str:
    return name if _NAME.fullmatch(name) else quoted(name)


def metadata_section(tensors: list[npt.NDArray[Any] | None]) -> str:
    """Return the JSON graph that holds the tensors, as TVM writes it; an entry without a tensor leads to none."""
    first = 3
    held = [data for data in tensors if data is not None]
    numbers = iter(range(len(held)))
    nodes: list[dict[str, Any]] = [
        {"type_key": ""},
        {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
        {"type_key": "Array", "data": list(range(first, first + len(tensors)))},
    ]
    for data in tensors:
        index = len(held) if data is None else next(numbers)
        fields = {"_checked_type_": "0", "data": str(index), "span": "0", "virtual_device_": "0"}
        nodes.append({"type_key": "relay.Constant", "attrs": fields})
    graph = {"root": 1, "nodes": nodes, "b64ndarrays": [base64_of_tensor(data) for data in held]}
    return json.dumps(graph, indent=2)
