"""The words of `docs/glossary.md` with what they mean, and those of them that a text uses."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from relax_core.engine.documents.guides import FOLDER

_ROW: Final = re.compile(r"^\| (?!Word\b|---)(.+?) \| (.+?) \| .*\|$", re.MULTILINE)
_SECTION: Final = re.compile(r"^## (.+)$", re.MULTILINE)
_INTERNAL: Final = "The engine"
"""The section of words that only those use who work on RelaxScope itself."""
_FENCE: Final = re.compile(r"```.*?```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Term:
    """A row of the glossary: the words, and what they mean."""

    words: tuple[str, ...]
    meaning: str
    is_internal: bool = False
    """Whether a program that is looked at has nothing to do with it."""
    is_everyday: bool = False
    """Whether it is a word of everyday English as well, so that a text means the term only where it emphasises it."""

    @property
    def title(self) -> str:
        """The words as one text."""
        return ", ".join(self.words)


@lru_cache(maxsize=1)
def terms() -> tuple[Term, ...]:
    """Return the rows of the glossary in their order."""
    text = (FOLDER / "glossary.md").read_text(encoding="utf-8")
    _, *parts = _SECTION.split(text)
    return tuple(
        Term(
            tuple(word.strip(" `*") for word in words.split(",")),
            meaning,
            is_internal=section == _INTERNAL,
            is_everyday=words.startswith("*"),
        )
        for section, part in zip(parts[::2], parts[1::2], strict=True)
        for words, meaning in _ROW.findall(part)
    )


def terms_in(text: str) -> tuple[tuple[str, Term], ...]:
    """Return the words of the glossary that a text uses, with their rows, in the order in which they stand there."""
    plain = _FENCE.sub(" ", text)
    found: list[tuple[int, str, Term]] = []
    for term in (term for term in terms() if not term.is_internal):
        mark = "*" if term.is_everyday else ""
        places = [(use.start(), word) for word in term.words if (use := _use(word, plain, mark)) is not None]
        if places:
            found.append((*min(places), term))
    return tuple((word, term) for _, word, term in sorted(found, key=lambda item: item[0]))


def _use(word: str, text: str, mark: str) -> re.Match[str] | None:
    around = re.escape(mark)
    return re.search(rf"(?<![\w`]){around}{re.escape(word)}(?:e?s)?{around}(?![\w`])", text, re.IGNORECASE)
