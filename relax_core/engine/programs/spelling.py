"""Guess which language and which year's spelling a text is written in, and how it spells types."""

import re
from collections import Counter

from relax_core.ir.expr import Type
from relax_core.present.words import type_text
from relax_core.printer.relay_text.types import NotRelay, RelayTypes
from relax_core.printer.spelling import Spelling

_NEWEST_FIRST: tuple[Spelling, ...] = ("2026", "2023", "2022")
_RELAY_VERSION = re.compile(r'\#\[\s*version\s*=\s*"([\d.]+)"\s*\]|^[ \t]*v(0\.0\.\d)[ \t]*$', re.MULTILINE)
_NEWEST_RELAY = "0.0.5"
_COMMENT = re.compile(r"#(?! from tvm\.script)[^\n]*")
"""A comment says nothing about the spelling, but for the imports that a printer writes as one."""


def _marks(*words: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(word) for word in words)


_MARKS: tuple[tuple[frozenset[Spelling], tuple[re.Pattern[str], ...]], ...] = (
    (
        frozenset(("2026",)),
        _marks(r"\bout_ty\b", r"\bty_args\b", r"\bR\.Any\b", r"\bTypeVar\b"),
    ),
    (
        frozenset(("2023",)),
        _marks(r"\bout_sinfo\b", r"\bsinfo_args\b", r"\bR\.Object\b"),
    ),
    (
        frozenset(("2022",)),
        _marks(
            r"tvm\.script\.ir_module",
            r"(?<![\w.])(Tensor|Shape|Object|Tuple|Callable)\s*[(\[:]|(?<![\w.])(:|->)\s*(Tensor|Shape|Object)\b",
            r"\b(R\.)?(Tensor|Tuple)\[",
            r"\bmatch_shape\b",
            r"(?<![\w.])relax\.(?!(VirtualMachine|build|vm|transform|get_pipeline)\b)\w",
            r"\bR\.outputs\b",
            r"\bR\.Shape\b(?!\()",
            r"\bcall_tir\([^\n]*\b(output_)?dtype=",
            r"\boutput_(shape|dtype)=",
            r"\bT\.var\(",
            r"\btype_args=",
        ),
    ),
    (
        frozenset(("2022", "2023")),
        _marks(r"\bT\.block\b", r"\bT\.alloc_buffer\b", r"\bT\.block_attr\b", r"import tir as T\b"),
    ),
    (
        frozenset(("2023", "2026")),
        _marks(
            r"\bI\.ir_module\b",
            r"\bR\.Tensor\(",
            r"\bR\.match_cast\b",
            r"\bT\.Buffer\(",
            r"=\s*T\.int(32|64)\(\)",
            r"\bpure=",
            r"\bcls\.",
            r"\bT\.sblock",
            r"\bs_tir\b",
            r"\btirx\b",
        ),
    ),
)


def guess_spelling(text: str) -> Spelling:
    """Return the year of whose distinctive words `text` has most; the newest on a tie.

    A word counts once however often it occurs, so that a long text is judged as a short one is.
    """
    words = _COMMENT.sub("", text)
    votes: Counter[Spelling] = Counter()
    for years, marks in _MARKS:
        count = sum(mark.search(words) is not None for mark in marks)
        votes.update(dict.fromkeys(years, count))
    return max(_NEWEST_FIRST, key=lambda year: votes[year])


def relay_version(text: str) -> str:
    """Return the version that a Relay text names, the newest one if it names none."""
    found = _RELAY_VERSION.search(text)
    return (found[1] or found[2]) if found else _NEWEST_RELAY


def relay_words(type_: Type) -> str:
    """Write a type as Relay does, or briefly if Relay has no words for it."""
    try:
        return RelayTypes().show(type_)
    except NotRelay:
        return type_text(type_)
