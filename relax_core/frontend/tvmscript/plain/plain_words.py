"""The words of types and of operator calls in their plainest spelling, see `plain_patterns`."""

import re
from collections.abc import Mapping
from keyword import kwlist
from types import MappingProxyType

NAME = r"[A-Za-z_]\w*+"
WORD = re.compile(r"\w+", re.ASCII)
LITERAL_WORDS: Mapping[str, bool | None] = MappingProxyType({"None": None, "True": True, "False": False})
_RESERVED = frozenset(kwlist)
_RESERVED_IN_CALLS = _RESERVED.difference(LITERAL_WORDS)


def is_type_spelt(words: str) -> bool:
    """Tell whether no name in a plain type is a keyword of Python."""
    return _RESERVED.isdisjoint(WORD.findall(words))


def is_call_spelt(words: str) -> bool:
    """Tell whether no name in a plain call is a keyword of Python but a literal."""
    return _RESERVED_IN_CALLS.isdisjoint(WORD.findall(words))
