"""Texts as tensors of integers: the bytes of UTF-8, or the tokens of a vocabulary."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Final

import msgspec
import numpy as np

from relax_core.diagnostics import plural
from relax_core.engine.archives import escaped
from relax_core.engine.input_files.images import Given
from relax_core.engine.input_files.misfits import known_dims, misfit, refuse
from relax_core.engine.npy import Array
from relax_core.ir.expr import TensorType, Var

TEXT_LIMIT: Final = 100_000
"""Characters of one text, or bytes of it where these are the tokens."""
_TOKEN_LIMIT: Final = 128
_MOST_TOKENS: Final = 1_000_000
_UNKNOWN: Final = ("<unk>", "[UNK]", "<UNK>")
"""What vocabularies have for all that is not in them."""


class _Model(msgspec.Struct):
    vocab: dict[str, int]


class _Tokenizer(msgspec.Struct):
    """What is read of a `tokenizer.json`."""

    model: _Model


def vocabulary_of(content: bytes, param: Var) -> Mapping[str, int]:
    """Read a vocabulary: a JSON object of numbers by token, a `tokenizer.json`, or a token a line, numbered from 0.

    Raises:
        RunError: EN036 if it is none.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        refuse(f"the vocabulary is no text in UTF-8: {error.reason} at byte {error.start}", param)
    try:
        found = _from_json(text) if text.lstrip().startswith("{") else _numbered(text)
    except msgspec.MsgspecError as error:
        refuse(f"the vocabulary is no JSON object of numbers by token: {error}", param)
    known = {token: number for token, number in found.items() if token}
    if not known or len(known) > _MOST_TOKENS:
        refuse(f"the vocabulary has {plural(len(known), 'token')}, expected 1 to {_MOST_TOKENS:,}", param)
    return known


def _numbered(text: str) -> dict[str, int]:
    return {token: number for number, token in enumerate(text.removesuffix("\n").split("\n"))}


def _from_json(text: str) -> dict[str, int]:
    with suppress(msgspec.ValidationError):
        return msgspec.json.decode(text, type=_Tokenizer).model.vocab
    return msgspec.json.decode(text, type=dict[str, int])


def text_array(title: str, content: bytes, vocabulary: bytes, type_: TensorType, param: Var) -> Given:
    """Turn a text into integers for a parameter of `type_`; a line break at its end is left out.

    Without a vocabulary these are the bytes of UTF-8. With one, they are the numbers of the longest tokens from left to
    right; whitespace that begins no token is left out, and what else begins none is `<unk>`, if there is one. What is
    left of an axis of a known size is 0.

    Raises:
        RunError: EN036 if a file cannot be read, EN037 if the parameter cannot hold the text.
    """
    dtype = np.dtype(type_.dtype or "int64")
    if dtype.kind not in "iu":
        misfit(f"the text {title}", param, "a text becomes integers; an array or a picture can be floats")
    try:
        text = content.decode().removesuffix("\n")
    except UnicodeDecodeError as error:
        refuse(f"{title} is no array, no picture and no text in UTF-8: {error.reason} at byte {error.start}", param)
    known = vocabulary_of(vocabulary, param) if vocabulary else None
    if len(text) > TEXT_LIMIT:
        refuse(f"the text {title} has {len(text):,} characters, at most {TEXT_LIMIT:,} are read", param)
    numbers = list(text.encode()) if known is None else list(_tokens(title, text, known, param))
    said = (
        f"{plural(len(numbers), 'byte')} of UTF-8"
        if known is None
        else f"{plural(len(numbers), 'token')} of the vocabulary"
    )
    bounds = np.iinfo(dtype)
    if numbers and not (bounds.min <= min(numbers) and max(numbers) <= bounds.max):
        words = f"the text {title}, with numbers from {min(numbers)} to {max(numbers)},"
        misfit(words, param, f"{dtype} holds {bounds.min} to {bounds.max}")
    padded = _fitted(f"the text {title}, {said},", numbers, type_, param)
    zeros = padded.size - len(numbers)
    return Given(padded.astype(dtype), f"{said}, then {plural(zeros, 'zero')}" if zeros else said)


def _tokens(title: str, text: str, number_of: Mapping[str, int], param: Var) -> Iterator[int]:
    lengths = sorted({len(token) for token in number_of if len(token) <= _TOKEN_LIMIT}, reverse=True)
    unknown = next((number_of[word] for word in _UNKNOWN if word in number_of), None)
    at = 0
    while at < len(text):
        length = next(
            (length for length in lengths if at + length <= len(text) and text[at : at + length] in number_of), 0
        )
        if length:
            yield number_of[text[at : at + length]]
        elif not text[at].isspace():
            if unknown is None:
                line, column = text.count("\n", 0, at) + 1, at - (text.rfind("\n", 0, at) + 1) + 1
                words = f"`{escaped(text[at])}` in line {line}, column {column} of the text {title} begins no token"
                refuse(words, param, "put it into the vocabulary, or `<unk>` for all that is not in it")
            yield unknown
        at += length or 1


def _fitted(found: str, numbers: list[int], type_: TensorType, param: Var) -> Array:
    """Return numbers in the shape of a parameter: along the last axis, the others being 1."""
    dims = known_dims(type_) or (None,) * (1 if type_.ndim is None else type_.ndim)
    if not dims or any(dim not in (None, 1) for dim in dims[:-1]):
        misfit(found, param, "a text fills the last axis; the others are to be 1")
    length = len(numbers) if dims[-1] is None else dims[-1]
    if len(numbers) > length:
        misfit(found, param, f"its last axis holds {length}")
    row = np.array([*numbers, *(0,) * (length - len(numbers))], np.int64)
    return row.reshape((1,) * (len(dims) - 1) + (length,))
