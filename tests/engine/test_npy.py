"""Archives and .npy files that claim more than they hold, or are none: each has a message and costs no worker."""

import io
import struct
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relax_core.diagnostics import RunError
from relax_core.engine import npy
from relax_core.engine.npy import read_npy, read_npz
from relax_core.engine.process.client import Client
from relax_core.engine.programs.program import ChangeAt
from relax_core.engine.protocol import Execute, Failure, Samples
from tests.engine.programs import SMALL, program


def npy_file(header: str, content: bytes = b"", version: int = 1) -> bytes:
    text = header.encode("latin-1")
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes((version, 0)) + length + text + content


def header(descr: object, shape: object) -> str:
    return repr({"descr": descr, "fortran_order": False, "shape": shape})


def archive(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as made:
        for name, content in members.items():
            made.writestr(name, content)
    return buffer.getvalue()


def saved(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def encrypted() -> bytes:
    made = bytearray(archive({"in_0.npy": npy_file(header("<f4", (1,)), b"abcd")}))
    made[made.index(b"PK\x01\x02") + 8] |= 1
    made[6] |= 1
    return bytes(made)


@cache
def gigabyte() -> bytes:
    """Return an archive of a member of a gigabyte, which is never in memory as a whole."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made, made.open("in_0.npy", "w") as to:
        to.write(npy_file(header("|u1", (1 << 30,))))
        zeros = bytes(1 << 16)
        for _ in range(1 << 14):
            to.write(zeros)
    return buffer.getvalue()


ZEROS = npy_file(header("<f4", (6,)), bytes(24))
FOUR_TERABYTES = npy_file(header("<f4", (1 << 40,)), bytes(24))
OBJECTS = io.BytesIO()
np.save(OBJECTS, np.array([{}, []], object), allow_pickle=True)
REFUSED: dict[str, tuple[bytes | Callable[[], bytes], str, str]] = {
    "a header of 4 TB": (
        archive({"in_0.npy": FOUR_TERABYTES}),
        "EN016",
        "`in_0.npy` in the archive claims 4,398,046,511",
    ),
    "more than it holds": (archive({"in_0.npy": npy_file(header("<f4", (99,)))}), "EN004", "claims 396 bytes of data"),
    "a gigabyte of zeros": (gigabyte, "EN016", "`in_0.npy` in the archive claims 1,073,741,8"),
    "a text": (archive({"in_0": b"hello"}), "EN004", "`in_0` in the archive is no .npy array"),
    "an archive in the archive": (
        lambda: archive({"in_0.npy": gigabyte()}),
        "EN004",
        "`in_0.npy` in the archive is no .npy array",
    ),
    "a folder": (archive({"in_0/": b""}), "EN004", "is no .npy array"),
    "pickled objects": (archive({"in_0.npy": OBJECTS.getvalue()}), "EN004", "Python objects"),
    "many members": (archive({f"in_{at}.npy": b"" for at in range(20_001)}, 0), "EN004", "of 20,001 members"),
    "dims below zero": (archive({"in_0.npy": npy_file(header("<f4", (-1,)))}), "EN004", "its shape is none"),
    "dims that are no numbers": (archive({"in_0.npy": npy_file(header("<f4", (True,)))}), "EN004", "its shape is none"),
    "a thousand dims": (archive({"in_0.npy": npy_file(header("<f4", (1,) * 1000), bytes(4))}), "EN004", "in_0.npy"),
    "no dtype": (archive({"in_0.npy": npy_file(header("nothing", (1,)))}), "EN004", "in_0.npy"),
    "brackets without end": (archive({"in_0.npy": npy_file("(" * 9000)}), "EN004", "in_0.npy"),
    "elements of no size": (archive({"in_0.npy": npy_file(header("<U0", (1 << 50,)))}), "EN016", "claims"),
    "an unknown version": (archive({"in_0.npy": b"\x93NUMPY\x09\x00"}), "EN004", "version 9"),
    "an encrypted member": (encrypted(), "EN004", "encrypted"),
    "a name of many letters": (archive({"x" * 60_000: b""}), "EN004", "xxx… in the archive".replace("…", "…`")),
}


def made(content: bytes | Callable[[], bytes]) -> bytes:
    """Make what is too large to be made before a test asks for it."""
    return content() if callable(content) else content


def code_of(read: Any) -> tuple[str, str]:
    with pytest.raises(RunError) as caught:
        read()
    (diagnostic,) = caught.value.diagnostics
    return diagnostic.code, diagnostic.message


@pytest.mark.parametrize(("content", "code", "words"), REFUSED.values(), ids=REFUSED)
def test_an_archive_that_is_none_is_refused(content: bytes | Callable[[], bytes], code: str, words: str) -> None:
    found = code_of(lambda: read_npz(made(content)))
    assert found[0] == code
    assert words in found[1]


def test_a_huge_directory_is_refused_before_it_is_read() -> None:
    content = archive({f"{at}{'x' * 60_000}": b"" for at in range(150)}, 0)
    assert code_of(lambda: read_npz(content)) == (
        "EN004",
        "the archive has too many members: at most 20,000 members are read",
    )


def test_arrays_together_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npy, "LIMIT_BYTES", 300)
    one = np.zeros(20, np.float32)
    assert list(read_npz(saved(a=one, b=one))) == ["a", "b"]
    assert code_of(lambda: read_npz(saved(a=one, b=one, c=one)))[0] == "EN016"


def test_memory_that_is_used_up_is_a_diagnostic(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(np, "empty", refuse)
    assert code_of(lambda: read_npz(saved(a=np.zeros(2))))[0] == "EN016"


ARRAYS = (
    np.arange(6, dtype=np.float32).reshape(2, 3),
    np.asfortranarray(np.arange(6, dtype=np.int64).reshape(2, 3)),
    np.zeros((0, 4), np.float16),
    np.array(3.5),
    np.array("text"),
    np.array([[True], [False]]),
    np.arange(3, dtype=">i4"),
)


@pytest.mark.parametrize("array", ARRAYS, ids=lambda item: f"{item.dtype} {item.shape}")
def test_what_numpy_wrote_is_read(array: Any) -> None:
    buffer = io.BytesIO()
    np.save(buffer, array)
    for found in (read_npy(buffer.getvalue()), read_npz(saved(x=array))["x"]):
        np.testing.assert_array_equal(found, array)
        assert (found.dtype, found.shape) == (array.dtype, array.shape)
        assert found.flags.writeable


def outcome(read: Any) -> str:
    """Return the code of the diagnostic, empty if there is none."""
    try:
        read()
    except RunError as error:
        return error.diagnostics[0].code
    return ""


@given(st.data())
def test_damaged_bytes_are_an_array_or_a_diagnostic(data: st.DataObject) -> None:
    is_archive = data.draw(st.booleans())
    whole = bytearray(saved(x=ARRAYS[0], y=ARRAYS[2]) if is_archive else npy_file(header("<f4", (2, 3)), bytes(24)))
    for _ in range(data.draw(st.integers(0, 6))):
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at] = data.draw(st.integers(0, 255))
    whole = whole[: data.draw(st.integers(0, len(whole)))]
    assert outcome(lambda: read_npz(bytes(whole)) if is_archive else read_npy(bytes(whole))) in ("", "EN004", "EN016")


PARTS = st.recursive(
    st.integers() | st.text(max_size=4) | st.booleans() | st.sampled_from(["<f4", "O", "<U3", "|V0", "<M8[s]"]),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.lists(inner, max_size=3),
    max_leaves=5,
)


@given(PARTS, PARTS, PARTS)
def test_any_header_is_an_array_or_a_diagnostic(descr: object, order: object, shape: object) -> None:
    text = repr({"descr": descr, "fortran_order": order, "shape": shape})
    content = npy_file(text.encode("ascii", "backslashreplace").decode(), bytes(64))
    assert outcome(lambda: read_npy(content)) in ("", "EN004", "EN016")


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with Client() as made:
        yield made


@pytest.mark.parametrize(("content", "code"), [item[:2] for item in REFUSED.values()], ids=REFUSED)
def test_no_archive_costs_a_worker(client: Client, content: bytes | Callable[[], bytes], code: str) -> None:
    client.request(Samples())
    process = client.status().pid
    failure = client.request(Execute(program(SMALL, inputs=made(content))))
    assert isinstance(failure, Failure)
    assert [item.code for item in failure.problems] == [code]
    assert client.status().pid == process


def test_a_file_for_a_changed_value_is_looked_at_first(client: Client) -> None:
    change = ChangeAt(0, "x = file()", content=FOUR_TERABYTES)
    failure = client.request(Execute(program(SMALL, changes=(change,))))
    assert isinstance(failure, Failure)
    assert [item.code for item in failure.problems] == ["EN016"]
