"""Rules for the parameters of an address: each reads a text, or says what was expected."""

import re
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

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


def number(least: int, most: int, default: int = 0) -> Any:
    """Declare a field that is a number."""
    return field(default=default, metadata={KEY: Number(least, most)})


def text(longest: int, default: str = "", *, form: str = "", words: str = "") -> Any:
    """Declare a field that is a text."""
    return field(default=default, metadata={KEY: Text(longest, form, words)})


def choice(*words: str) -> Any:
    """Declare a field that is one of `words`, or empty."""
    return field(default="", metadata={KEY: Choice(words)})


def packed(name: str, longest: int) -> Any:
    """Declare a field that stands in the address compressed, as `name`."""
    return field(default="", metadata={KEY: Packed(name, longest)})


def whole(given: str) -> str:
    """Replace lone surrogates, which no message can hold, by U+FFFD."""
    return _HALF.sub("\ufffd", given)
