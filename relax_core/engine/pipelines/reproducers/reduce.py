"""The text of a module with some of its functions only, in the words of the compiler that printed it."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

_DECORATOR: Final = re.compile(r"[ \t]*@(?:R\.function|T\.prim_func|[\w.]*\.(?:function|prim_func))\b")
_DEFINITION: Final = re.compile(r"\s*def\s+(\w+)\s*\(")
_WORD: Final = re.compile(r"\w+")
_QUOTES: Final = ('"""', "'''")


def functions_in(text: str) -> Mapping[str, str]:
    """Return the functions of a module by name, each with its decorator; none where they cannot be told apart."""
    return MappingProxyType({name: "\n".join(lines) for name, lines in _blocks(text)[1].items()})


def reached(text: str, entry: str) -> frozenset[str]:
    """Return the functions that a function names, and that these name, itself among them; all if it is not there.

    A name counts wherever it stands: that may be too many, and never too few.
    """
    functions = functions_in(text)
    if entry not in functions:
        return frozenset(functions)
    found, queue = {entry}, [entry]
    for name in queue:
        fresh = frozenset(_WORD.findall(functions[name])) & functions.keys() - found
        found |= fresh
        queue += fresh
    return frozenset(found)


def only(text: str, names: Iterable[str], *added: str) -> str:
    """Return the text without the functions that are not in `names`, and with the texts `added` as further ones."""
    kept = frozenset(names)
    head, functions, tail = _blocks(text)
    if not functions or (kept.issuperset(functions) and not added):
        return text
    blocks = ["\n".join(lines).rstrip() for name, lines in functions.items() if name in kept]
    return "\n".join(("\n".join(head).rstrip(), "\n\n".join((*blocks, *added)), *tail)).rstrip() + "\n"


def _blocks(text: str) -> tuple[list[str], dict[str, list[str]], list[str]]:
    """Return the lines before the first function, those of each function, and those behind the last."""
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if _DECORATOR.match(line)]
    starts = [number for number in starts if _indent(lines[number]) == _indent(lines[starts[0]])]
    if not starts or any(quotes in text for quotes in _QUOTES):
        return lines, {}, []
    indent = _indent(lines[starts[0]])
    behind = (at for at in range(starts[-1], len(lines)) if lines[at].strip() and _indent(lines[at]) < indent)
    end = next(behind, len(lines))
    found: dict[str, list[str]] = {}
    for start, stop in zip(starts, (*starts[1:], end), strict=True):
        head = next((named for line in lines[start + 1 : stop] if (named := _DEFINITION.match(line))), None)
        if head is None or head[1] in found:
            return lines, {}, []
        found[head[1]] = lines[start:stop]
    return lines[: starts[0]], found, lines[end:]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
