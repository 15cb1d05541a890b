"""Functions that stand word for word in the text that was read before are not read again.

What a compiler prints after each of its passes repeats most prim funcs of the text before, and often all functions.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from relax_core.frontend.tvmscript.purity import is_of_2022, says_no_purity
from relax_core.frontend.tvmscript.scope import ModuleScope
from relax_core.ir.expr import GlobalVar, Type
from relax_core.ir.module import Definition
from relax_core.source import Source, Span

_MARK: Final = re.compile(r"^    @", re.MULTILINE)
_RELAX, _PRIM = "    @R.function", "    @T.prim_func"
_HEADER: Final = re.compile(r"^    def (\w+)\(.*?:\n", re.MULTILINE | re.DOTALL)
_ELSEWHERE: Final = re.compile(r"^[^\s#]", re.MULTILINE)
_TENSORS: Final = re.compile(r'metadata\["(?!ir\.StringImm")')


@dataclass(frozen=True, slots=True)
class _Chunk:
    """The words of a function of a module, from its decorator on, and where they begin in the text."""

    name: str
    words: str
    header: str
    start: int

    @property
    def is_prim(self) -> bool:
        return self.words.startswith(_PRIM)


@dataclass(frozen=True, slots=True)
class _Known:
    """A function that was read, its words, and what calls of it take its literals to be."""

    chunk: _Chunk
    definition: Definition
    parameters: tuple[Type | None, ...]
    result: Type | None

    def moved(self, source: Source, chunk: _Chunk) -> "_Known":
        """Return it as one of another text; spans inside of it are still those of the text in which it was read."""
        found, by = self.definition, chunk.start - self.chunk.start
        function = replace(found.function, span=_moved(found.function.span, source, by))
        return replace(
            self, chunk=chunk, definition=Definition(found.var, function, span=_moved(found.span, source, by))
        )


def _moved(span: Span | None, source: Source, by: int) -> Span | None:
    return None if span is None else Span(source, span.start + by, span.end + by)


@dataclass(slots=True)
class KnownFunctions:
    """The functions of the text that was read last, for the next one; only texts that a compiler printed are like it.

    `reused` are those of the text that is being read. A function of Relax calls others, so that it is the same only if
    their headers are.
    """

    reused: Mapping[str, _Known] = field(default_factory=dict[str, _Known])
    _known: Mapping[str, _Known] = field(default_factory=dict[str, _Known])
    _vars: Mapping[str, GlobalVar] = field(default_factory=dict[str, GlobalVar])
    _head: str = ""
    _chunks: tuple[_Chunk, ...] = ()

    def begin(self, source: Source) -> str:
        """Return what is left to be read of a text: those functions that are known are blank."""
        head, chunks = _cut(source.text)
        is_like = bool(chunks) and head == self._head
        headers = [item.header for item in chunks]
        calls_alike = is_like and headers == [item.header for item in self._chunks]
        self._head, self._chunks = head, chunks
        self.reused = {
            item.name: found.moved(source, item)
            for item in chunks
            if is_like and (item.is_prim or calls_alike)
            and (found := self._known.get(item.name)) is not None and found.chunk.words == item.words
        }  # fmt: skip
        parts = (_blank(item.words) if item.name in self.reused else item.words for item in chunks)
        return "".join((head, *parts)) if self.reused else source.text

    def var(self, name: str, span: Span) -> GlobalVar:
        """Return the variable of a function: that by which functions that are known call it."""
        return self._vars.get(name) or GlobalVar(name, span=span)

    def in_scope(self, scope: ModuleScope) -> ModuleScope:
        """Return the scope of a module with the functions that are reused besides those that are read."""
        reused = self.reused
        return replace(
            scope,
            functions={name: item.definition.var for name, item in reused.items()} | dict(scope.functions),
            parameters={name: item.parameters for name, item in reused.items()} | dict(scope.parameters),
            results={name: item.result for name, item in reused.items()} | dict(scope.results),
        )

    def complete(self, read: Iterable[Definition], scope: ModuleScope) -> tuple[Definition, ...]:
        """Return the functions of the text in order, of which some were read, and know them from now on."""
        found = {item.var.name: item for item in read}
        known = {
            item.name: self.reused.get(item.name)
            or _Known(item, found[item.name], scope.parameters[item.name], scope.results[item.name])
            for item in self._chunks
            if item.name in self.reused or item.name in found
        }
        self._known = {name: item for name, item in known.items() if not _leans(item.chunk)}
        self._vars = scope.functions
        others = (item for name, item in found.items() if name not in known)
        return (*(item.definition for item in known.values()), *others)

    def forget(self) -> None:
        """Know nothing."""
        self.reused, self._known, self._vars, self._head, self._chunks = {}, {}, {}, "", ()


def _leans(chunk: _Chunk) -> bool:
    """Tell whether a function leans on more than its own words and the other functions' headers, such as on tensors."""
    words = chunk.words
    makes_others = "\n        @" in words or "emit_te(" in words
    return makes_others or "check_well_formed" in words or _TENSORS.search(words) is not None


def _blank(words: str) -> str:
    """Return as many lines of the same lengths, which do nothing."""
    first, *others = words.split("\n")
    return "\n".join(("    pass".ljust(len(first)), *(" " * len(line) for line in others)))


def _cut(text: str) -> tuple[str, tuple[_Chunk, ...]]:
    """Cut the text of a module into its head and its functions; a text that is not laid out so is all head."""
    starts = [found.start() for found in _MARK.finditer(text)]
    if not starts or _ELSEWHERE.search(text, starts[0]) is not None:
        return text, ()
    chunks: dict[str, _Chunk] = {}
    for start, end in zip(starts, (*starts[1:], len(text)), strict=True):
        words = text[start:end]
        found = _HEADER.search(words)
        if found is None or not words.startswith((_RELAX, _PRIM)) or found[1] in chunks:
            return text, ()
        chunks[found[1]] = _Chunk(found[1], words, found[0], start)
    if _RELAX in text and (is_of_2022(text) or says_no_purity(text)):
        # What such a function is pure of is told by all functions together.
        return text, ()
    return text[: starts[0]], tuple(chunks.values())
