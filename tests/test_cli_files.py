"""Files that commands are given: what has no end, is no file or is too large is refused with the reason."""

import os
import socket
from pathlib import Path

import pytest

from relax_core.cli.terminal import UsageError, read_bytes, read_text


def words(path: str) -> str:
    with pytest.raises(UsageError) as caught:
        read_text(path)
    return str(caught.value)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/urandom"])
def test_a_device_is_not_read(device: str) -> None:
    assert words(device) == f"cannot read {device}: it is a device, not a file"


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    pipe, end = tmp_path / "pipe", tmp_path / "end"
    os.mkfifo(pipe)
    assert "it is a pipe" in words(str(pipe))
    assert "it is a directory" in words(str(tmp_path))
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(end))
        assert words(str(end)).startswith("cannot read")
    for name in ("", "nosuch", "a\0b", "\udcff.py"):
        assert words(name).startswith("cannot read")
        words(name).encode()


def test_no_more_than_the_limit_is_read(tmp_path: Path) -> None:
    large = tmp_path / "large.py"
    with large.open("wb") as file:
        file.truncate(3 << 30)
    assert "is too large: at most 16.8 MB are read" in words(str(large))
    small = tmp_path / "small.py"
    small.write_bytes(b"abc")
    assert read_bytes(str(small), 3) == b"abc"
    with pytest.raises(UsageError):
        read_bytes(str(small), 2)


def test_a_pipe_of_the_shell_is_read() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"abc")
    os.close(writing)
    assert read_text(f"/dev/fd/{reading}") == "abc"
    os.close(reading)
