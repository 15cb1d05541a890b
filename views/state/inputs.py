"""Named sets of inputs: each is an archive for functions of one signature.

The address has them by content: a short archive as it is, a long one by the name under which this server keeps it. What
is long and not kept is in this session alone.
"""

import zlib
from typing import Final

import msgspec
import streamlit as st

from views.state.links import KeptScreen, LinkError, find, keep, links_place

LONGEST_NAME: Final = 40
SHORT_BYTES: Final = 3000
"""An archive that is not larger, compressed, stands in the address."""
_LARGEST_UNPACKED: Final = 16 << 20
_LARGEST_HELD: Final = 64 << 20
"""Bytes of all archives of a session; the oldest make room."""
# The archives of this session, by the sample and the name of their set.
_INPUTS: Final = "inputs"


class InputSet(msgspec.Struct, frozen=True, omit_defaults=True):
    """A named archive of inputs, without content or link if only this session has it."""

    name: str
    signature: str
    """Of the functions that it is for, see `SourceView`."""
    content: bytes = b""
    """The archive, compressed, if it is short."""
    link: str = ""
    """The name by which the server keeps it."""


def sets_in(text: str) -> tuple[InputSet, ...]:
    """Read the sets of an address; what is none is as if it were not there."""
    try:
        return msgspec.json.decode(text, type=tuple[InputSet, ...]) if text else ()
    except msgspec.MsgspecError:
        return ()


def text_of(sets: tuple[InputSet, ...]) -> str:
    """Write sets as an address has them."""
    return msgspec.json.encode(sets).decode() if sets else ""


def set_named(text: str, name: str) -> InputSet | None:
    """Return the set of an address that has a name."""
    return next((item for item in sets_in(text) if item.name == name), None)


def with_set(text: str, made: InputSet) -> str:
    """Return the sets with one more, in place of one of that name."""
    return text_of((*(item for item in sets_in(text) if item.name != made.name), made))


def without_set(text: str, name: str) -> str:
    """Return the sets without one of them."""
    return text_of(tuple(item for item in sets_in(text) if item.name != name))


def set_of(name: str, signature: str, sample: str, archive: bytes) -> InputSet:
    """Make a set; an archive that is too long for the address is kept in the session."""
    content = zlib.compress(archive, 9)
    is_short = len(content) <= SHORT_BYTES
    if not is_short:
        keep_inputs_for(sample, archive, name)
    return InputSet(name, signature, content if is_short else b"")


def kept_set(made: InputSet, archive: bytes) -> InputSet:
    """Have the server keep the archive of a set, as it keeps what short links lead to.

    Raises:
        LinkError: it cannot, or keeps nothing.
    """
    place = links_place()
    if place is None:
        raise LinkError("this server keeps no links")
    return msgspec.structs.replace(made, link=keep(KeptScreen({}, inputs=archive), place).name)


def archive_of(made: InputSet, sample: str) -> bytes | None:
    """Return the archive of a set; `None` if it is damaged, or neither this session nor the server has it any more."""
    if made.content:
        return _unpacked(made.content)
    held = inputs_for(sample, made.name)
    place = links_place()
    if held is not None or not made.link or place is None:
        return held
    try:
        found = find(made.link, place)
    except LinkError:
        return None
    if found is not None and found.inputs is not None:
        # So that the server looks for it once.
        keep_inputs_for(sample, found.inputs, made.name)
    return None if found is None else found.inputs


def inputs_for(sample: str, name: str = "") -> bytes | None:
    """Return the archive that this session has for a sample, None if there is none."""
    return _held().get((sample, name))


def keep_inputs_for(sample: str, archive: bytes | None, name: str = "") -> None:
    """Keep an archive for a sample in this session, or drop it if it is None."""
    held = {key: value for key, value in _held().items() if key != (sample, name)}
    if archive is not None:
        held[sample, name] = archive
    while sum(map(len, held.values())) > _LARGEST_HELD and len(held) > 1:
        del held[next(iter(held))]
    st.session_state[_INPUTS] = held


def _held() -> dict[tuple[str, str], bytes]:
    return st.session_state.get(_INPUTS, {})


def _unpacked(content: bytes) -> bytes | None:
    stream = zlib.decompressobj()
    try:
        found = stream.decompress(content, _LARGEST_UNPACKED)
    except zlib.error:
        return None
    return found if stream.eof else None
