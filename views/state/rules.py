"""Rules for the parameters of an address: each reads a text, or says what was expected.

A record of state declares its fields by them: `time: int = number(-1, 100, -1)`.
"""

import re
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

_WHOLE: Final = re.compile("-?[0-9]{1,18}")
_HALF: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number in a range, written in ASCII digits."""

    least: int
    most: int

    @property
    def expected(self) -> str:
        """What a user should write."""
        return f"a whole number from {self.least:,} to {self.most:,}"

    def read(self, given: str) -> int | None:
        """Return the number, None if `given` is none or out of range."""
        return self.within(int(given)) if _WHOLE.fullmatch(given) else None

    def within(self, value: int) -> int | None:
        """Return `value`, None if it is out of range."""
        return value if self.least <= value <= self.most else None


@dataclass(frozen=True, slots=True)
class Text:
    """A text of at most so many characters, of a form if one is given."""

    longest: int
    form: str = ""
    words: str = ""

    @property
    def expected(self) -> str:
        """What a user should write."""
        return self.words or f"a text of at most {self.longest:,} characters"

    def read(self, given: str) -> str | None:
        """Return the text, None if it is too long, of another form or no text."""
        if len(given) > self.longest or _HALF.search(given):
            return None
        return given if not self.form or re.fullmatch(self.form, given) else None


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]

    @property
    def expected(self) -> str:
        """What a user should write."""
        return f"one of {', '.join(self.words)}"

    def read(self, given: str) -> str | None:
        """Return the word, None if it is not one of them."""
        return given if given in self.words else None


@dataclass(frozen=True, slots=True)
class Packed:
    """A text that stands in the address compressed, under a name of its own."""

    name: str
    longest: int
    expected: str = "a compressed text, as this app writes it, that was not cut"


Rule: TypeAlias = Number | Text | Choice | Packed
KEY: Final = "rule"
KEPT: Final = "kept"
LONGEST_TEXT: Final = 4_000_000
LONGEST_LIST: Final = 10_000
LONGEST_NAME: Final = 1_000
MOST_STEPS: Final = 10**12
_SIZE: Final = r"\s*[^=,\s]{1,200}\s*=\s*[0-9]{1,12}\s*"

Kept: TypeAlias = Literal["never", "edit", "always"]
"""Whether a field stays as it is when another text is opened, and when another sample is, too."""


def number(least: int, most: int, default: int = 0, *, kept: Kept = "never") -> Any:
    """Declare a field that is a number."""
    return _field(Number(least, most), default, kept)


def switch(*, kept: Kept = "never") -> Any:
    """Declare a field that is 1 for on and 0 for off."""
    return number(0, 1, kept=kept)


def text(longest: int = LONGEST_NAME, default: str = "", *, kept: Kept = "never") -> Any:
    """Declare a field that is a text."""
    return _field(Text(longest), default, kept)


def sizes(*, kept: Kept = "never") -> Any:
    """Declare a field of sizes with commas between, such as `n=64,m=8`."""
    words = "sizes such as n=64,m=8, of at most 12 digits"
    return _field(Text(LONGEST_LIST, f"{_SIZE}(,{_SIZE})*", words), "", kept)


def choice(*words: str, kept: Kept = "never") -> Any:
    """Declare a field that is one of `words`, or empty."""
    return _field(Choice(words), "", kept)


def packed(name: str, *, kept: Kept = "never") -> Any:
    """Declare a field for a long text, which stands in the address compressed, as `name`."""
    return _field(Packed(name, LONGEST_TEXT), "", kept)


def _field(rule: Rule, default: str | int, kept: Kept) -> Any:
    return field(default=default, metadata={KEY: rule, KEPT: kept})


def whole(given: str) -> str:
    """Replace lone surrogates, which no message can hold, by U+FFFD."""
    return _HALF.sub("\ufffd", given)
