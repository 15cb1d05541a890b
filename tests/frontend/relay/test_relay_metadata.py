"""The metadata section: tensors and attributes as TVM writes them, and texts that lack it."""

import base64
import json
import struct
from typing import Any

import numpy as np
import pytest

from relax_core.diagnostics import has_errors
from relax_core.frontend.parse import parse_text
from relax_core.frontend.relay.metadata import MalformedMetadata, read_metadata
from relax_core.frontend.tensors import MAGIC, MalformedTensor, base64_of_tensor, tensor_of_base64
from relax_core.ir.expr import Call, Constant, Function
from relax_core.ir.node import postorder
from relax_core.printer.relay_text.module import print_relay

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
    with pytest.raises(MalformedTensor):
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


def saved_bfloat16(*values: float) -> str:
    """Return a vector of bfloat16 as TVM saves it: the upper halves of the float32 numbers."""
    halves = (np.array(values, np.float32).view(np.uint32) >> 16).astype("<u2").tobytes()
    head = struct.pack("<QQiiiBBHqq", MAGIC, 0, 1, 0, 1, 4, 16, 1, len(values), len(halves))
    return base64.b64encode(head + halves).decode()


def test_a_bfloat16_is_a_cast_of_the_float32_that_is_equal() -> None:
    data = tensor_of_base64(saved_bfloat16(1.5, -2.0))
    assert (data.dtype, data.tolist()) == (np.float32, [1.5, -2.0])
    section = graph(
        {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
        {"type_key": "Array", "data": [3]},
        {"type_key": "relay.Constant", "attrs": {"data": "0"}},
        tensors=(saved_bfloat16(1.5, -2.0),),
    )
    parsed = parse_text(f"def @main() {{ (meta[relay.Constant][0], 0.1bf16) }}\n#[metadata]\n{section}", "m.relay")
    assert not has_errors(parsed.diagnostics)
    casts = [item for item in postorder(parsed.modules[0]["main"]) if isinstance(item, Call)]
    assert [dict(item.attrs) for item in casts] == [{"dtype": "bfloat16"}] * 2
    values = [item.args[0].data.tolist() for item in casts if isinstance(item.args[0], Constant)]
    assert values == [[1.5, -2.0], 0.10009765625]


def test_a_size_may_stand_in_the_metadata_section() -> None:
    section = graph(
        {"type_key": "Map", "keys": ["tir.SizeVar", "Any"], "data": [2, 3]},
        {"type_key": "Array", "data": [4]},
        {"type_key": "Array", "data": [6]},
        {"type_key": "tir.SizeVar", "attrs": {"dtype": "int32", "name": "5", "span": "0"}},
        {"type_key": "runtime.String", "repr_str": "batch"},
        {"type_key": "tir.Any", "attrs": {"dtype": "int32", "span": "0"}},
    )
    dims = "(meta[tir.SizeVar][0], meta[Any][0], meta[tir.SizeVar][0])"
    parsed = parse_text(f"def @main(%x: Tensor[{dims}, int8]) {{ %x }}\n#[metadata]\n{section}", "m.relay")
    assert parsed.diagnostics == ()
    text = print_relay(parsed.modules[0]).text
    assert "%x: Tensor[(batch, ?, batch), int8]" in text


def test_a_size_of_a_section_that_is_not_there_is_a_variable() -> None:
    parsed = parse_text("def @main(%x: Tensor[(meta[tir.SizeVar][0], meta[tir.SizeVar][0]), int8]) { %x }", "m.relay")
    assert [item.code for item in parsed.diagnostics] == ["RL010"]
    assert "Tensor[(n0, n0), int8]" in print_relay(parsed.modules[0]).text
