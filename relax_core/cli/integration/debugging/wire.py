"""Frames of the Debug Adapter Protocol: a header with the length, then one message as JSON."""

import re
from typing import Any, BinaryIO, Final, Literal

import msgspec

_LENGTH: Final = re.compile(rb"Content-Length: *(\d{1,9})\r\n", re.IGNORECASE)
_MOST_BYTES: Final = 64 << 20


class WireError(Exception):
    """What was read is no frame: there is no telling where the next one begins."""


class Request(msgspec.Struct, frozen=True):
    """A message of the editor; its arguments are read by whoever carries it out."""

    seq: int
    command: str
    type: Literal["request"] = "request"
    arguments: msgspec.Raw = msgspec.Raw(b"{}")


class Response(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of a request; `message` says why there is nothing."""

    seq: int
    type: str
    request_seq: int
    success: bool
    command: str
    message: str = ""
    body: Any = None


class Event(msgspec.Struct, frozen=True, omit_defaults=True):
    """What happened."""

    seq: int
    type: str
    event: str
    body: Any = None


def read_frame(stream: BinaryIO) -> bytes | None:
    """Return the next message, `None` at the end of the stream.

    Raises:
        WireError: there is no length, or one beyond all bounds.
    """
    size = -1
    while (line := stream.readline(_MOST_BYTES)) not in (b"\r\n", b""):
        found = _LENGTH.fullmatch(line)
        size = int(found[1]) if found is not None else size
    if not line:
        return None
    if not 0 <= size <= _MOST_BYTES:
        raise WireError("a message has no header Content-Length, or it is too long")
    body = stream.read(size)
    return body if len(body) == size else None


def frame(message: Response | Event) -> bytes:
    """Return a message as it is sent."""
    body = msgspec.json.encode(message)
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
