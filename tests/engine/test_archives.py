"""Archives of inputs: whatever a member is, it is an argument or a diagnostic about its content."""

import io
import zipfile
from typing import Any

import numpy as np
import pytest

from relax_core.diagnostics import RunError
from relax_core.engine.inputs import read_archive
from relax_core.engine.protocol import Execute, Failure, Program
from relax_core.engine.session import Session
from relax_core.frontend.parse import parse_text
from relax_core.ir.expr import Function

PARAMS = (
    'x: R.Tensor((2, 3), "float32"), n: R.Prim("int64"), s: R.Shape(["a"]), b: R.Tensor((2,), "bfloat16"), o: R.Any'
)
TEXT = f"@R.function\ndef main({PARAMS}):\n    return x\n"
F = np.ones((2, 3), np.float32)
GOOD: dict[str, Any] = {
    "in_0": F,
    "in_1": np.int64(3),
    "in_2": np.array([4]),
    "in_3": np.ones(2, np.float32),
    "in_4": np.array("word"),
}
MISFITS = (
    ("strings for a tensor", "in_0", np.array(["a", "b"]), "EN030"),
    ("bytes for a tensor", "in_0", np.array([b"a"]), "EN030"),
    ("dates for a tensor", "in_0", np.zeros(2, "M8[s]"), "EN030"),
    ("records for a tensor", "in_0", np.zeros(2, "i4,f4"), "EN030"),
    ("strings for a narrow tensor", "in_3", np.array(["a"]), "EN030"),
    ("several numbers for a scalar", "in_1", np.ones(4), "EN030"),
    ("no number for a scalar", "in_1", np.ones(0), "EN030"),
    ("a string for a number", "in_1", np.array("x"), "EN030"),
    ("strings for a shape", "in_2", np.array(["a"]), "EN030"),
    ("NaN for a shape", "in_2", np.array([np.nan]), "EN030"),
    ("a negative size", "in_2", np.array([-4]), "EN030"),
    ("a size over int64", "in_2", np.array([2**63], np.uint64), "EN030"),
    ("a matrix of sizes", "in_2", np.ones((2, 2), np.int64), "EN030"),
    ("several strings for an object", "in_4", np.array(["a", "b"]), "EN030"),
)


def archive(**members: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **members)
    return buffer.getvalue()


def zipped(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    return buffer.getvalue()


def function() -> Function:
    found = parse_text(TEXT, "m.py").modules[0]["main"]
    assert isinstance(found, Function)
    return found


def code_of(content: bytes) -> str:
    with pytest.raises(RunError) as caught:
        read_archive(content, function())
    return caught.value.diagnostics[0].code


def test_members_that_fit_are_arguments() -> None:
    x, n, s, b, o = read_archive(archive(**GOOD), function())
    assert (x.tolist(), n, s, b.dtype.name, o) == (F.tolist(), 3, (4,), "bfloat16", "word")


@pytest.mark.parametrize(("name", "member", "code"), [item[1:] for item in MISFITS], ids=[item[0] for item in MISFITS])
def test_a_member_that_is_no_value_for_its_parameter_is_told(name: str, member: Any, code: str) -> None:
    assert code_of(archive(**{**GOOD, name: member})) == code


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (zipped(), "EN004"),
        (zipped(**{"in_0.npy": b"garbage"}), "EN004"),
        (zipped(in_0=b"garbage"), "EN004"),
        (zipped(**{"in_0.npy": b"\x93NUMPY\x01\x00v\x00{"}), "EN004"),
        (archive(**GOOD)[:-60], "EN004"),
        (b"garbage", "EN004"),
        (archive(**{**GOOD, "in_9": F}), "EN004"),
        (archive(**{**GOOD, "in_0" + "_0" * 3000: F}), "EN004"),
        (archive(x=F), "EN004"),
        (archive(in_0=np.array([None])), "EN004"),
    ],
    ids=[
        "empty",
        "garbage",
        "no array",
        "half a header",
        "cut",
        "no zip",
        "left over",
        "deep",
        "other names",
        "objects",
    ],
)
def test_an_archive_of_something_else_is_told(content: bytes, code: str) -> None:
    assert code_of(content) == code


def test_an_empty_archive_does_not_stand_for_made_up_inputs() -> None:
    reply = Session().request(Execute(Program(TEXT, inputs=b"")))
    assert isinstance(reply, Failure)
    assert [(item.code, item.message) for item in reply.problems] == [
        ("EN004", "the archive of inputs is empty: it has no bytes at all")
    ]
