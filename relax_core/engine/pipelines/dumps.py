"""Numbered dumps, one file per pass, as TVM's DumpIR writes them; and modules in files of any names, in order."""

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from relax_core.diagnostics import Diagnostic, plural
from relax_core.engine.pipelines.entries import Entry, Room
from relax_core.engine.pipelines.pipeline import RecordedStage, numbered

_NUMBERED: Final = re.compile(r"(\d{1,9})_(.*)\.(?:py|txt|relay|rly|tvmscript)", re.DOTALL)
_MODULE: Final = re.compile(r".*\.(?:py|txt|relay|rly|tvmscript)", re.DOTALL)
_GAPS_SHOWN: Final = 8
_DIGITS: Final = re.compile(r"(\d+)")


def numbered_dumps(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Return the files that are numbered dumps, in the order of their numbers."""
    found = [(int(match[1]), entry) for entry in entries if (match := _NUMBERED.fullmatch(entry.file_name))]
    return tuple(entry for _, entry in sorted(found, key=lambda item: (item[0], item[1].name)))


def module_files(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Return the files that may hold modules, in the order of their names, where numbers count as such."""
    found = [entry for entry in entries if _MODULE.fullmatch(entry.file_name)]
    return tuple(sorted(found, key=lambda entry: _natural(entry.name)))


def _natural(name: str) -> tuple[tuple[int, int, str], ...]:
    parts = _DIGITS.split(name)
    return tuple((0, int(part[:18]), part) if part.isdecimal() else (1, 0, part) for part in parts)


def stages_of_dumps(entries: Iterable[Entry], room: Room) -> tuple[tuple[RecordedStage, ...], tuple[Diagnostic, ...]]:
    """Read numbered dumps. Missing numbers are usual: TVM counts a module that it cannot print, too."""
    stages: list[RecordedStage] = []
    for entry in entries:
        match = _NUMBERED.fullmatch(entry.file_name)
        assert match is not None, "only numbered files are given"
        stages.append(RecordedStage(int(match[1]), match[2], room.text(entry), entry.name))
    numbers = [stage.number for stage in stages]
    if len(set(numbers)) < len(numbers):
        words = "several files have one number: they are of more than one recording, in the order of their names"
        return numbered(stages), (Diagnostic("PL008", words, severity="warning"),)
    count = numbers[-1] - numbers[0] + 1 - len(numbers)
    if not count:
        return tuple(stages), ()
    gaps = [f"{a + 1}" if b == a + 2 else f"{a + 1} to {b - 1}" for a, b in pairwise(numbers) if b > a + 1]
    more = ", ..." if len(gaps) > _GAPS_SHOWN else ""
    words = f"{plural(count, 'number')} without a file: {', '.join(gaps[:_GAPS_SHOWN])}{more}"
    hint = "TVM counts a stage that it cannot print"
    return tuple(stages), (Diagnostic("PL008", words, hint=hint, severity="note"),)


def stages_of_files(entries: Iterable[Entry], room: Room) -> tuple[RecordedStage, ...]:
    """Read files that hold a module each, in order; the name of a file stands for the pass."""
    return numbered(
        RecordedStage(0, entry.file_name.rpartition(".")[0] or entry.file_name, room.text(entry), entry.name)
        for entry in entries
    )
