"""Tensors of safetensors files are arguments; a damaged file is a diagnostic."""

import io
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save

from relax_core.diagnostics import RunError
from relax_core.engine.inputs import read_archive, read_members, write_members
from relax_core.frontend.parse import parse_text
from relax_core.ir.expr import Function

TEXT = '@R.function\ndef main(x: R.Tensor((2, 3), "DTYPE"), w: R.Tensor((1,), "int64")):\n    return x\n'
NAMES = (("BF16", "bfloat16"), ("F8_E4M3", "float8_e4m3fn"), ("F8_E5M2", "float8_e5m2"), ("F16", "float16"))


def function(dtype: str) -> Function:
    found = parse_text(TEXT.replace("DTYPE", dtype), "m.py").modules[0]["main"]
    assert isinstance(found, Function)
    return found


def file_of(header: object, data: bytes = b"") -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def tensor(dtype: str, shape: list[int], size: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [0, size]}


def test_tensors_are_arguments_by_the_names_of_the_parameters() -> None:
    values = {"w": np.array([7]), "x": np.arange(6, dtype=np.float32).reshape(2, 3)}
    x, w = read_archive(save(values), function("float32"))
    assert (x.tolist(), x.dtype, w.tolist()) == (values["x"].tolist(), "float32", [7])


@pytest.mark.parametrize(("spelled", "dtype"), NAMES, ids=[dtype for _, dtype in NAMES])
def test_a_narrow_dtype_is_held_as_it_is(spelled: str, dtype: str) -> None:
    narrow = np.array([0.5, -1.5, 2], np.float32).astype(dtype)
    content = file_of({"x": tensor(spelled, [3], narrow.nbytes)}, narrow.tobytes())
    (found,) = read_members(content).values()
    assert (found.dtype.name, found.tolist()) == (dtype, [0.5, -1.5, 2])
    # An archive of NumPy has no such dtype, and float32 in its place.
    both = {"in_0": np.resize(narrow, (2, 3)), "in_1": np.array([7])}
    x, _ = read_archive(write_members(both), function(dtype))
    assert (x.dtype.name, x[0].tolist()) == (dtype, [0.5, -1.5, 2])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (file_of({"x": tensor("F32", [2], 8)}, b"\0" * 4), "not fully covered"),
        (file_of({"x": tensor("F32", [1 << 62, 4], 0)}), "overflow"),
        (file_of({"x": tensor("F32", [3], 8)}, b"\0" * 8), "cannot be read"),
        (file_of({"x": tensor("C64", [1], 8)}, b"\0" * 8), "`x` in the safetensors file is of C64"),
        (file_of({"x": 1}), "cannot be read"),
        (len(b"{").to_bytes(8, "little") + b"{", "cannot be read"),
    ],
    ids=["cut short", "a claim of exabytes", "a wrong length", "complex numbers", "no tensor", "no JSON"],
)
def test_a_damaged_file_is_told(content: bytes, words: str) -> None:
    with pytest.raises(RunError, match=words) as caught:
        read_members(content)
    assert [item.code for item in caught.value.diagnostics] == ["EN004"]


@given(st.data())
def test_damaged_bytes_are_tensors_or_a_diagnostic(data: st.DataObject) -> None:
    content = bytearray(save({"x": np.arange(3, dtype=np.int16), "w": np.ones((2, 1))}))
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    codes: set[str] = set()
    try:
        read_members(bytes(content))
    except RunError as error:
        codes = {item.code for item in error.diagnostics}
    assert codes <= {"EN004", "EN016"}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_lone_array_is_the_only_argument(dtype: str) -> None:
    text = f'@R.function\ndef main(x: R.Tensor((2,), "{dtype}")):\n    return x\n'
    found = parse_text(text, "m.py").modules[0]["main"]
    assert isinstance(found, Function)
    file = io.BytesIO()
    np.save(file, np.array([0.5, 1], np.float32))
    (x,) = read_archive(file.getvalue(), found)
    assert (x.dtype.name, x.tolist()) == (dtype, [0.5, 1])
