"""The mends that diagnostics know, applied as far as that is safe: there are fewer errors then, and no others.

Which words are meant is a guess, so each mend is tried, and the text is checked.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from relax_core.cli.terminal import Engine
from relax_core.engine.protocol import Check, Failure, Program
from relax_core.frontend.layout import given_column, with_spaces
from relax_core.present.models import Mend, Problem
from relax_core.source import Source

_ROUNDS: Final = 8
"""A mend may show errors that were hidden before it."""
_TRIED: Final = 64
"""Mends that are tried one by one."""


@dataclass(frozen=True, slots=True)
class Mended:
    """A text with its mends, and what is left to say of it."""

    text: str
    count: int
    """Of the mends that were made."""
    problems: tuple[Problem, ...]


def mended(engine: Engine, asked: Check) -> Mended | Failure:
    """Apply the mends of a text that are safe, all at once if that is, else one after the other."""
    found = _problems(engine, asked, asked.program.text)
    if isinstance(found, Failure):
        return found
    made = Mended(asked.program.text, 0, found)
    for _ in range(_ROUNDS):
        known = _apart(made.problems)
        better = _tried(engine, asked, made, known) or _one_by_one(engine, asked, made, known[:_TRIED])
        if better is None:
            break
        made = better
    return made


def _one_by_one(engine: Engine, asked: Check, made: Mended, known: Sequence[Problem]) -> Mended | None:
    """Apply those of several mends that are safe; from behind, so that the places of the others stay."""
    better = None
    for item in reversed(known) if len(known) > 1 else ():
        better = _tried(engine, asked, better or made, (item,)) or better
    return better


def _tried(engine: Engine, asked: Check, made: Mended, known: Sequence[Problem]) -> Mended | None:
    """Apply mends, and those of errors that were hidden before; `None` if that is not safe."""
    before = _errors(made.problems)
    text, count, problems = made.text, made.count, made.problems
    for _ in range(_ROUNDS):
        if not known:
            break
        text, count = applied(text, known), count + len(known)
        found = _problems(engine, asked, text)
        if isinstance(found, Failure):
            return None
        problems, known = found, [item for item in _apart(found) if (item.code, item.message) not in before]
    after = _errors(problems)
    return Mended(text, count, problems) if after.total() < before.total() and not after - before else None


def applied(text: str, known: Sequence[Problem]) -> str:
    """Return a text with the mends of problems that do not overlap."""
    source = Source("", text)
    lines = text.split("\n")
    given = (mend_as_given(item.mend, lines) for item in known if item.mend is not None)
    ordered = sorted(given, key=lambda item: (item.line, item.column))
    for item in reversed(ordered):
        start, end = source.offset(item.line, item.column), source.offset(item.end_line, item.end_column)
        text = text[:start] + item.text + text[end:]
    return text


def mend_as_given(mend: Mend, lines: Sequence[str]) -> Mend:
    """Return a mend with the columns, and the tabs at their start, of the lines as they were given."""
    line = lines[mend.line - 1]
    margin = line[: len(line) - len(line.lstrip())]
    return replace(
        mend,
        text=mend.text.replace(f"\n{with_spaces(margin)}", f"\n{margin}"),
        column=given_column(line, mend.column),
        end_column=given_column(lines[mend.end_line - 1], mend.end_column),
    )


def _apart(problems: Sequence[Problem]) -> list[Problem]:
    """Return the problems that know their mend, in the order of the text, without those that overlap one before.

    Several problems may have one mend, such as a declaration.
    """
    found: dict[Mend, Problem] = {}
    end = (0, 0)
    known = ((item.mend, item) for item in problems if item.mend is not None and item.severity == "error")
    for mend, item in sorted(known, key=lambda pair: (pair[0].line, pair[0].column)):
        if end <= (mend.line, mend.column):
            found.setdefault(mend, item)
            end = mend.end_line, mend.end_column
    return list(found.values())


def _errors(problems: Sequence[Problem]) -> Counter[tuple[str, str]]:
    """Count the errors by what they say: their lines may move."""
    return Counter((item.code, item.message) for item in problems if item.severity == "error")


def _problems(engine: Engine, asked: Check, text: str) -> tuple[Problem, ...] | Failure:
    program: Program = replace(asked.program, text=text)
    found = engine.request(replace(asked, program=program))
    return found if isinstance(found, Failure) else found.problems
