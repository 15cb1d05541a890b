"""What a file is, by its first bytes: names of files are their owners' business."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["npz", "npy", "safetensors", "picture", "text"]

PICTURES: Final[Mapping[str, bytes]] = MappingProxyType({"PNG": b"\x89PNG\r\n\x1a\n", "JPEG": b"\xff\xd8\xff"})
"""The formats of pictures that are read, with what a file of each begins with."""
_LENGTH_BYTES: Final = 8


def kind_of(content: bytes) -> Kind:
    """Return what a file is; what is nothing else is taken for a text."""
    # A safetensors file begins with the length of its header, in JSON.
    header_bytes = int.from_bytes(content[:_LENGTH_BYTES], "little")
    if content[_LENGTH_BYTES : _LENGTH_BYTES + 1] == b"{" and header_bytes <= len(content) - _LENGTH_BYTES:
        return "safetensors"
    if content.startswith(b"PK"):
        return "npz"
    if content.startswith(b"\x93NUMPY"):
        return "npy"
    return "picture" if content.startswith(tuple(PICTURES.values())) else "text"
