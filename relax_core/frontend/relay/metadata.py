"""The `#[metadata]` section: a JSON graph of nodes, as TVM writes it, with tensors in base64."""

import json
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, cast

import numpy.typing as npt

from relax_core.frontend.tensors import MalformedTensor, dtype_of_base64, tensor_of_base64
from relax_core.ir.attrs import Attrs, AttrValue
from relax_core.ir.prim import AnyDim, IntImm, PrimExpr, PrimVar

_MAX_DEPTH = 50
# Source positions, and fields that inference computes again.
_SKIPPED = frozenset(("span", "_checked_type_", "virtual_device_", "checked_type"))
# Fields whose numbers are the numbers of nodes.
_OBJECT_FIELDS = frozenset(
    (
        *("strides", "padding", "dilation", "kernel_size", "channels", "newshape", "axes", "begin", "end", "shape"),
        *("target", "memory_scope", "virtual_device", "src_virtual_device", "dst_virtual_device", "pool_size", "host"),
        *("output_size", "kind", "keys", "attrs", "dict", "__dict__", "block_shape", "crops", "paddings", "pad_width"),
        *("reps", "size"),
    )
)
_RENAMED = MappingProxyType({"device_type_int": "device_type"})


class MalformedMetadata(Exception):
    """The section is not what TVM writes; the message says why."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """The tables by name: `tables["relay.Constant"]` lists the numbers of nodes."""

    nodes: tuple[dict[str, Any], ...] = ()
    tables: dict[str, tuple[int, ...]] = field(default_factory=dict[str, "tuple[int, ...]"])
    tensors: tuple[str, ...] = ()
    is_there: bool = False
    _read: dict[str, npt.NDArray[Any]] = field(default_factory=dict[str, "npt.NDArray[Any]"])

    def constant(self, index: int) -> npt.NDArray[Any] | None:
        """Return the tensor `meta[relay.Constant][index]`, `None` if it is not there or cannot be read."""
        node = self._node("relay.Constant", index)
        if node is None:
            return None
        try:
            number = int(_fields(node).get("data", "0"))
            if number < 0:
                return None
            text = self.tensors[number]
            if text not in self._read:
                self._read[text] = tensor_of_base64(text)
            return self._read[text]
        except (IndexError, ValueError, MalformedTensor):
            return None

    def constant_dtype(self, index: int) -> str:
        """Return the dtype of a tensor that `constant` gives; it is wider than that of the array for a bfloat16."""
        node = self._node("relay.Constant", index)
        return "" if node is None else dtype_of_base64(self.tensors[int(_fields(node).get("data", "0"))])

    def dimension(self, name: str, index: int) -> PrimExpr | None:
        """Return a size that stands in a type as `meta[tir.SizeVar][0]`, `None` if it is not there."""
        node = self._node(name, index)
        if node is None:
            return None
        match (name.rsplit(".", 1)[-1], self._decoded(node, 0)):
            case ("Any", _):
                return AnyDim()
            case ("Var" | "SizeVar", _):
                # A name is a node of its own, or stands here.
                label = self._at(_fields(node).get("name", ""), 0)
                return PrimVar(label) if isinstance(label, str) and label else None
            case (_, int(number)):
                return IntImm(number)
            case _:
                return None

    def attribute(self, name: str, index: int) -> AttrValue:
        """Return an entry as plain data, `None` if it is not there."""
        node = self._node(name, index)
        if node is None:
            return None
        tensor = self.constant(index) if name == "relay.Constant" else None
        return self._decoded(node, 0) if tensor is None else _plain_elements(tensor.tolist())

    def _node(self, name: str, index: int) -> dict[str, Any] | None:
        table = self.tables.get(name, ())
        return self.nodes[table[index]] if index < len(table) else None

    def _at(self, text: object, depth: int) -> AttrValue:
        try:
            number = int(cast("str", text))
        except (TypeError, ValueError):
            return str(text)
        return self._decoded(self.nodes[number], depth + 1) if 0 <= number < len(self.nodes) else number

    def _decoded(self, node: dict[str, Any], depth: int) -> AttrValue:
        if depth > _MAX_DEPTH:
            return None
        data = _list(node, "data") or []
        fields = _fields(node)
        match node.get("type_key", ""):
            case "":
                return None
            case "Array" | "ffi.Array":
                return tuple(self._at(item, depth) for item in data)
            case "Map" | "StrMap" | "ffi.Map":
                keys = _list(node, "keys") or []
                return tuple((str(key), self._at(item, depth)) for key, item in zip(keys, data, strict=False))
            case "runtime.String" | "ffi.String":
                return str(node.get("repr_str", node.get("repr_bytes", "")))
            case "IntImm" | "FloatImm" | "tir.StringImm":
                return _scalar(fields.get("value", "0"))
            case "DictAttrs":
                inner = fields.get("__dict__")
                return self._at(inner, depth) if inner is not None else _plain(fields)
            case str(name):
                found = [("__class__", cast("AttrValue", name))]
                for key, text in fields.items():
                    if key not in _SKIPPED:
                        value = self._at(text, depth) if key in _OBJECT_FIELDS else _scalar(text)
                        found.append((_RENAMED.get(key, key), value))
                return tuple(found)
            case _:
                return None


def meta_parts(text: str) -> tuple[str, int]:
    """Return the name and the number in `meta[relay.Constant][0]`."""
    name, index = text[5:-1].split("][")
    return name, int(index[:18])


def meta_reference(name: str, index: int) -> Attrs:
    """Return the attribute value that stands for an entry that is not there."""
    return (("__class__", "meta"), ("name", name), ("index", index))


def read_metadata(text: str) -> Metadata:
    """Read the JSON behind `#[metadata]`.

    Raises:
        MalformedMetadata: it is no JSON, or not a graph of nodes.
    """
    try:
        graph: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MalformedMetadata(f"it is not JSON: {error}") from None
    items = _list(graph, "nodes")
    if items is None:
        raise MalformedMetadata('it has no list "nodes"')
    nodes = tuple(_dictionary(item) for item in items)
    root = _dictionary(graph).get("root")
    if not isinstance(root, int) or not 0 <= root < len(nodes):
        raise MalformedMetadata('"root" is not the number of a node')
    tables: dict[str, tuple[int, ...]] = {}
    for key, place in zip(_list(nodes[root], "keys") or [], _list(nodes[root], "data") or [], strict=False):
        is_node = isinstance(place, int) and 0 <= place < len(nodes)
        entries = (_list(nodes[place], "data") or []) if is_node else []
        numbers = tuple(item for item in entries if isinstance(item, int) and 0 <= item < len(nodes))
        if len(numbers) != len(entries):
            raise MalformedMetadata(f"an entry of {key} is not the number of a node")
        tables[str(key)] = numbers
    tensors = tuple(str(item) for item in _list(graph, "b64ndarrays") or [])
    return Metadata(nodes, tables, tensors, is_there=True)


def _dictionary(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: Any, key: str) -> list[Any] | None:
    found = _dictionary(value).get(key)
    return cast("list[Any]", found) if isinstance(found, list) else None


def _plain_elements(value: Any) -> AttrValue:
    return (
        tuple(map(_plain_elements, cast("list[Any]", value))) if isinstance(value, list) else cast("AttrValue", value)
    )


def _fields(node: dict[str, Any]) -> dict[str, Any]:
    return _dictionary(node.get("attrs"))


def _plain(fields: dict[str, Any]) -> AttrValue:
    return tuple((key, _scalar(text)) for key, text in fields.items() if key not in _SKIPPED)


def _scalar(text: object) -> AttrValue:
    for convert in (int, float):
        try:
            return convert(cast("str", text))
        except (TypeError, ValueError, OverflowError):
            continue
    return str(text)
