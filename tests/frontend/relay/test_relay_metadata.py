"""The metadata section: tensors and attributes as TVM writes them, and texts that lack it."""

import base64
import json
import struct
from typing import Any

import numpy as np
import pytest

from relax_core.diagnostics import has_errors
from relax_core.frontend.parse import parse_text
from relax_core.frontend.relay.metadata import MalformedMetadata, base64_of_tensor, read_metadata, tensor_of_base64
from relax_core.ir.expr import Call, Constant, Function
from relax_core.ir.node import postorder

DTYPES = ("bool", "int8", "uint8", "int16", "int32", "int64", "uint64", "float16", "float32", "float64")


def graph(*nodes: dict[str, Any], tensors: tuple[str, ...] = ()) -> str:
    return json.dumps({"root": 1, "nodes": [{"type_key": ""}, *nodes], "b64ndarrays": list(tensors)})


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3, 1)])
def test_a_tensor_survives(dtype: str, shape: tuple[int, ...]) -> None:
    data = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    again = tensor_of_base64(base64_of_tensor(data))
    assert again.dtype == data.dtype
    assert again.shape == shape
    np.testing.assert_array_equal(again, data)


def test_a_tensor_is_what_tvm_saves() -> None:
    # Magic and reserved words, CPU 0, rank 1, float 32 bits 1 lane, shape, bytes, content.
    head = struct.pack("<QQiiiBBHqq", 0xDD5E40F096B4A13F, 0, 1, 0, 1, 2, 32, 1, 2, 8)
    saved = base64.b64encode(head + struct.pack("<2f", 1.5, -2.0)).decode()
    assert saved.startswith("P6G0lvBAXt0AAAAAAAAAAAEAAAA")
    assert base64_of_tensor(np.array([1.5, -2.0], "float32")) == saved


@pytest.mark.parametrize("text", ["", "!", "AAAA", base64_of_tensor(np.arange(3))[:-8], "P6G0lvBAXt0AAAAA"])
def test_a_malformed_tensor_is_told(text: str) -> None:
    with pytest.raises(MalformedMetadata):
        tensor_of_base64(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"nodes": []}',
        '{"nodes": [1], "root": 5}',
        graph({"keys": ["a"], "data": [0]})[:-5],
        graph({"keys": ["a"], "data": [2]}, {"data": [99]}),
        "[" * 100_000,
    ],
)
def test_a_malformed_section_is_told(text: str) -> None:
    with pytest.raises(MalformedMetadata):
        read_metadata(text)
    parsed = parse_text(f"def @main() {{ 1 }}\n#[metadata]\n{text}", "m.relay")
    assert [item.code for item in parsed.diagnostics] == ["RL021"]


def test_a_placeholder_has_the_type_of_the_comment() -> None:
    text = "def @main() { add(meta[relay.Constant][0] /* ty=Tensor[(2, 3), int64] */, meta[relay.Constant][1]) }"
    parsed = parse_text(text, "m.relay")
    assert not has_errors(parsed.diagnostics)
    assert [item.code for item in parsed.diagnostics] == ["RL010"]
    first, second = (node for node in postorder(*parsed.modules) if isinstance(node, Constant))
    assert (first.data.shape, first.data.dtype) == ((2, 3), np.int64)
    assert (second.data.shape, second.data.dtype) == ((), np.float32)


def test_attributes_come_from_the_section() -> None:
    nodes = (
        {"type_key": "Map", "keys": ["Map", "relay.attrs.X", "VirtualDevice"], "data": [2, 3, 4]},
        {"type_key": "Array", "data": [5]},
        {"type_key": "Array", "data": [6]},
        {"type_key": "Array", "data": [8]},
        {"type_key": "StrMap", "keys": ["key", "flags"], "data": [7, 9]},
        {"type_key": "relay.attrs.X", "attrs": {"compiler": "dnnl", "padding": "9", "span": "0", "groups": "2"}},
        {"type_key": "runtime.String", "repr_str": "words"},
        {"type_key": "VirtualDevice", "attrs": {"device_type_int": "2", "virtual_device_id": "0", "memory_scope": "7"}},
        {"type_key": "Array", "data": [10, 11]},
        {"type_key": "IntImm", "attrs": {"dtype": "int32", "span": "0", "value": "3"}},
        {"type_key": "FloatImm", "attrs": {"dtype": "float32", "span": "0", "value": "0.5"}},
    )
    text = (
        "def @main(%x: int32) {\n  %0 = annotation.compiler_begin(%x, meta[relay.attrs.X][0]);\n"
        "  %1 = abs(%0, __dict__=meta[Map][0]);\n  on_device(%1, virtual_device=meta[VirtualDevice][0])\n}\n"
        f"#[metadata]\n{graph(*nodes)}"
    )
    function = parse_text(text, "m.relay").modules[0]["main"]
    assert isinstance(function, Function)
    begin, call, device = (node for node in postorder(function) if isinstance(node, Call))
    assert begin.attrs == (("compiler", "dnnl"), ("padding", (3, 0.5)), ("groups", 2))
    assert call.attrs == (("key", "words"), ("flags", (3, 0.5)))
    fields = (("__class__", "VirtualDevice"), ("device_type", 2), ("virtual_device_id", 0), ("memory_scope", "words"))
    assert device.attrs == (("virtual_device", fields),)
