"""A text with what the engine found in it, and the questions of an editor that it answers.

Lines and columns are counted from 0, in characters; the engine counts them from 1.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Final, NamedTuple

from relax_core.frontend.layout import with_spaces
from relax_core.present.catalog_of.catalog_models import Term
from relax_core.present.models import Code, NameFact, Problem

_SCRIPT: Final = re.compile(
    r"\btvm\.script\b|^\s*@(?:I\.ir_module|R\.function|T\.prim_func|tvm\.script\.)", re.MULTILINE
)
_WORDS: Final = MappingProxyType(
    {
        "tvmscript": re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"),
        "relay": re.compile(r"[@%]?[\w.?]+"),
    }
)
_OPERATOR: Final = re.compile(r"(?<![\w.])(?:R|relax)\.((?:\w+\.)*\w*)$")
_NAME: Final = re.compile(r"(?<![\w.@%])[@%]?\w*$")
_QUOTED: Final = re.compile(r'^(?:[^"\\]|\\.|"(?:[^"\\]|\\.)*")*"([^"\\]*)$')
_LITERALS: Final = MappingProxyType(
    {
        "tvmscript": re.compile(
            r'"""[\s\S]*?"""|\'\'\'[\s\S]*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*'
        ),
        "relay": re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*[\s\S]*?\*/'),
    }
)
_HEADS: Final = re.compile(r"^([ \t]*)(?:@|class\b|def\b|for\b|with\b|if\b|else\b|while\b).*:\s*$")
_MODULES: Final = re.compile(r"^class (\w+)", re.MULTILINE)


class LineRange(NamedTuple):
    """Some characters of a line, from `start` to before `end`."""

    line: int
    start: int
    end: int


class Offer(NamedTuple):
    """What may stand in place of the characters from `start` to the caret."""

    label: str
    kind: str
    detail: str
    documentation: str
    start: int


@dataclass(frozen=True)
class Document:
    """A text and what is known of it; without `code` the engine could not answer, for the reasons in `problems`."""

    text: str
    code: Code | None
    problems: tuple[Problem, ...] = ()
    terms: tuple[Term, ...] = ()

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text, without their ends."""
        return self.text.split("\n")

    @property
    def language(self) -> str:
        """The key of the tables above."""
        return "relay" if self.code is not None and self.code.language == "relay" else "tvmscript"

    @property
    def names(self) -> tuple[NameFact, ...]:
        """What the text defines."""
        return () if self.code is None else self.code.names

    def word_at(self, line: int, column: int) -> str:
        """Return the word at a place, with its dots and signs; empty if there is none."""
        if line >= len(self.lines):
            return ""
        found = _WORDS[self.language].finditer(self.lines[line])
        return next((item[0] for item in found if item.start() <= column <= item.end()), "")

    def names_on(self, line: int) -> dict[str, NameFact]:
        """Return the names that are known on a line; of several of one name the one defined last before it."""
        found: dict[str, NameFact] = {}
        for fact in self.names:
            known = found.get(fact.name)
            is_nearer = known is None or (fact.line <= line + 1 and (fact.line > known.line or known.line > line + 1))
            if fact.first <= line + 1 <= fact.last and is_nearer:
                found[fact.name] = fact
        return found

    def fact_at(self, line: int, column: int) -> NameFact | None:
        """Return the definition of the name at a place: that of its last part, where it is `cls.f`."""
        return self.fact_of(self.word_at(line, column), line)

    def fact_of(self, word: str, line: int) -> NameFact | None:
        """Return the definition of a name that stands on a line."""
        names = self.names_on(line)
        if self.language == "relay":
            return names.get(word) or names.get(re.sub(r"\.\d+$", "", word))
        first, *others = word.split(".")
        if others and self._is_module(first):
            return names.get(others[-1])
        return names.get(first)

    def _is_module(self, name: str) -> bool:
        return name in ("cls", "self") or name in _MODULES.findall(self.text)

    def term_at(self, line: int, column: int) -> Term | None:
        """Return the operator, type or dtype at a place."""
        return self.term_of(self.word_at(line, column))

    def term_of(self, word: str) -> Term | None:
        """Return the operator, type or dtype that a word means."""
        name = word if self.language == "relay" else re.sub(r"^(?:R|relax)\.", "", word)
        is_operator = self.language == "relay" or name != word
        return next(
            (item for item in self.terms if item.name == name and (is_operator or item.kind != "operator")), None
        )

    def occurrences(self, fact: NameFact) -> tuple[LineRange, ...]:
        """Return every place that means a name, as far as its function reaches, its definitions included."""
        name = re.escape(fact.name)
        match self.language, fact.kind:
            case "tvmscript", "function":
                owner = "|".join(("cls", "self", *map(re.escape, _MODULES.findall(self.text))))
                pattern, owned = rf"(?<!\w){name}(?!\w)", re.compile(rf"(?<![\w.])(?:{owner})\.$")
            case "tvmscript", _:
                pattern, owned = rf"(?<![\w.]){name}(?!\w)", None
            case _:
                pattern, owned = rf"(?<![\w@%.]){name}(?!\w)", None
        return tuple(self._matches(re.compile(pattern), fact, owned))

    def _matches(self, pattern: re.Pattern[str], fact: NameFact, owned: re.Pattern[str] | None) -> Iterator[LineRange]:
        lines = self._code_lines(with_strings=fact.kind == "dimension")
        for number in range(fact.first - 1, min(fact.last, len(lines))):
            line = lines[number]
            for found in pattern.finditer(line):
                before, after = line[: found.start()], line[found.end() :]
                is_keyword = before.rstrip().endswith(("(", ",")) and re.match(r"\s*=(?!=)", after) is not None
                is_of_another = owned is not None and before.endswith(".") and owned.search(before) is None
                if not is_of_another and not (is_keyword and self.language == "tvmscript"):
                    yield LineRange(number, found.start(), found.end())

    def _code_lines(self, *, with_strings: bool) -> list[str]:
        """Return the lines with blanks for comments and, unless they are wanted, for strings."""

        def blank(found: re.Match[str]) -> str:
            is_string = found[0][0] in "\"'"
            return found[0] if is_string and with_strings else re.sub(r"[^\n]", " ", found[0])

        return _LITERALS[self.language].sub(blank, self.text).split("\n")

    def code_before(self, line: int, column: int) -> str:
        """Return the text before a place, with blanks for comments and strings, the one at the place included."""
        if line >= len(self.lines):
            return ""
        last = self.lines[line][:column]
        quoted = _QUOTED.match(last)
        last = last if quoted is None else last[: len(last) - len(quoted[1]) - 1]
        return "\n".join((*self._code_lines(with_strings=False)[:line], _LITERALS[self.language].sub("", last)))

    def offers(self, line: int, column: int) -> Iterator[Offer]:
        """Yield what may be written at a place."""
        before = self.lines[line][:column] if line < len(self.lines) else ""
        quoted = _QUOTED.match(before)
        operator = _OPERATOR.search(before)
        if quoted is not None:
            yield from self._terms(("dtype", "device"), column - len(quoted[1]), quoted[1])
        elif operator is not None and self.language == "tvmscript":
            yield from self._terms(("operator",), operator.start(1), operator[1])
        else:
            begun = _NAME.search(before)
            start = column if begun is None else begun.start()
            for fact in self.names_on(line).values():
                yield Offer(fact.name, fact.kind, fact.type, "", start)
            kinds = ("operator", "type", "keyword") if self.language == "relay" else ("keyword",)
            yield from self._terms(kinds, start, before[start:])

    def _terms(self, kinds: tuple[str, ...], start: int, begun: str) -> Iterator[Offer]:
        for term in self.terms:
            if term.kind in kinds and term.name.startswith(begun):
                yield Offer(term.name, term.kind, term.signature, term.summary, start)

    def untyped(self) -> Iterator[tuple[LineRange, str]]:
        """Yield the variables that are bound without an annotation, with their types."""
        for fact in self.names:
            start = fact.column - 1
            end = start + len(fact.name)
            line = self.lines[fact.line - 1] if 0 < fact.line <= len(self.lines) else ""
            is_here = line[start:end] == fact.name
            if fact.kind == "variable" and fact.type and is_here and re.match(r"\s*(?:=|,|$)", line[end:]):
                yield LineRange(fact.line - 1, start, end), fact.type

    def folds(self) -> Iterator[tuple[int, int]]:
        """Yield the first and the last line of each part that can be folded."""
        for number, line in enumerate(self.lines):
            head = _HEADS.match(line)
            if head is None:
                continue
            last = number
            for other in range(number + 1, len(self.lines)):
                text = self.lines[other]
                if text.strip() and _indent(text) <= _indent(line):
                    break
                last = other if text.strip() else last
            if last > number:
                yield number, last


def _indent(line: str) -> int:
    """Return how far a line is indented, as a text is read."""
    spaced = with_spaces(line)
    return len(spaced) - len(spaced.lstrip(" "))


def holds_program(text: str, path: str) -> bool:
    """Tell whether a file is of interest: a Python file may hold no TVMScript at all."""
    return not path.endswith(".py") or _SCRIPT.search(text) is not None
