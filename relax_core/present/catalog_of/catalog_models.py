"""View models of the Operators page: the list, the sheet of what is selected, a run of its example; and of words."""

from textwrap import fill
from typing import Final, Literal

import msgspec

from relax_core.present.models import Code, Kind, Problem

Form = Literal["tir", "llvm"]
TermKind = Literal["operator", "type", "dtype", "device", "keyword"]


class Entry(msgspec.Struct, frozen=True):
    """A line of the list; `id` names it in the address."""

    id: str
    name: str
    summary: str
    relay_name: str = ""
    realized_by: str = ""


class Family(msgspec.Struct, frozen=True):
    """Entries of one subject."""

    title: str
    entries: tuple[Entry, ...]


class Catalog(msgspec.Struct, frozen=True):
    """All operators, and all packed functions that have a schema."""

    operators: tuple[Family, ...]
    packed: tuple[Family, ...]


class SchemaRow(msgspec.Struct, frozen=True):
    """A parameter: type, default as text (empty: none), and further constraints."""

    name: str
    type: str
    default: str = ""
    notes: tuple[str, ...] = ()


class FactRow(msgspec.Struct, frozen=True):
    """A label and its text; parts between backticks are code."""

    label: str
    text: str


class Sheet(msgspec.Struct, frozen=True):
    """All that is known of an operator or a packed function."""

    id: str
    name: str
    summary: str
    call: Code
    chips: tuple[str, ...] = ()
    params: tuple[SchemaRow, ...] = ()
    facts: tuple[FactRow, ...] = ()
    example: Code | None = None
    sample: str = ""
    """Path of the sample that `example` is; empty if it is made for the operator."""
    has_listing: bool = False
    listing: Code | None = None
    """What the example is lowered to; without one, `listing_note` says why."""
    listing_note: str = ""


class Shown(msgspec.Struct, frozen=True):
    """A value as text."""

    name: str
    kind: Kind
    type: str
    text: str


class Tried(msgspec.Struct, frozen=True):
    """The inputs and the result of a run of an example."""

    inputs: tuple[Shown, ...] = ()
    results: tuple[Shown, ...] = ()
    output: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


class CatalogPage(msgspec.Struct, frozen=True):
    """The page: the list, the sheet of what is selected, and the last run of its example."""

    catalog: Catalog
    sheet: Sheet | None = None
    tried: Tried | None = None
    unknown: str = ""
    """The name that was asked for and does not exist."""


class Term(msgspec.Struct, frozen=True):
    """A word: how it is written, and what it means."""

    name: str
    kind: TermKind
    signature: str = ""
    """Of an operator: how it is called."""
    summary: str = ""
    """Parts between backticks are code."""
    keywords: tuple[str, ...] = ()
    """What a call may give by name, each with its default (`axis=-1`)."""


class Vocabulary(msgspec.Struct, frozen=True):
    """The words of a language. Operators of TVMScript stand behind `R.` or `relax.`."""

    terms: tuple[Term, ...]


GLOSSARY: Final = "word of the glossary"
"""The kind of what `docs/glossary.md` explains."""

_WIDTH: Final = 100
_INDENT: Final = "  "


class Explanation(msgspec.Struct, frozen=True):
    """A name and what it means; `kind` says what it is a name of, such as `pass on Relax`."""

    name: str
    kind: str
    text: str
    """Paragraphs with empty lines between; code stands between backticks."""
    facts: tuple[tuple[str, str], ...] = ()
    """Such as what a pass needs, each with its label."""

    def to_text(self) -> str:
        """Return it for a terminal."""
        texts = (*self.text.split("\n\n"), *(f"{label}: {fact}" for label, fact in self.facts))
        wrapped = (fill(text, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT) for text in texts)
        return "\n".join((f"{self.name}: {self.kind}", *wrapped))


class Explanations(msgspec.Struct, frozen=True):
    """All that some names mean: one may be that of a pass on Relax and of another one on Relay."""

    found: tuple[Explanation, ...]

    def to_text(self) -> str:
        """Return them for a terminal, with an empty line between."""
        return "\n\n".join(item.to_text() for item in self.found)

    def to_json(self) -> str:
        """Return them as one JSON object."""
        return msgspec.json.encode(self).decode()
