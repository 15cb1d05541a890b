"""Frames on a socket: four bytes of length, then a msgpack message."""

import socket
import struct

HEADER = struct.Struct(">I")


class FrameTooLargeError(Exception):
    """A frame is larger than the reader accepts."""


def write_frame(channel: socket.socket, body: bytes) -> None:
    """Send one frame; raises `OSError` when the other side is gone."""
    channel.sendall(HEADER.pack(len(body)) + body)


def read_frame(channel: socket.socket, limit_bytes: int) -> bytes | None:
    """Receive one frame, or None at the end of the stream.

    Raises:
        FrameTooLargeError: the frame announces more than `limit_bytes`; nothing of it was read.
    """
    header = _read_exactly(channel, HEADER.size)
    if header is None:
        return None
    (length,) = HEADER.unpack(header)
    if length > limit_bytes:
        raise FrameTooLargeError(f"a frame of {length} bytes, at most {limit_bytes}")
    return _read_exactly(channel, length)


def _read_exactly(channel: socket.socket, count: int) -> bytes | None:
    parts: list[bytes] = []
    while count > 0:
        try:
            part = channel.recv(min(count, 1 << 20))
        except ConnectionError:
            return None
        if not part:
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
