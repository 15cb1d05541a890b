"""Logs of PrintAfterAll and PrintBeforeAll: where a stage begins, what does not belong to it, what did not return."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from relax_core.diagnostics import Diagnostic, plural
from relax_core.engine.pipelines.entries import FILE_LIMIT, fail
from relax_core.engine.pipelines.pipeline import INPUT, RecordedStage, numbered
from relax_core.engine.pipelines.recognize import LOG_HEADER

_NAME: Final = re.compile(r'\bname="([^"]*)"')
_OLD_NAME: Final = re.compile(r"\bpass name: *([^,\s]+)")
_WARNING: Final = re.compile(r"^\[\d\d:\d\d:\d\d\] .*:\d+: .*$")
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
_OF_MODULE: Final = re.compile(r"[ \t#@)\]}]|class |def |from |import |metadata\b|\w+ = |\"\"\"|$")
_TRACEBACK: Final = "Traceback (most recent call last):"
_NOT_RETURNED: Final = "the log has no module behind it: the pass raised an exception, or the process ended in it"


@dataclass(frozen=True, slots=True)
class _Chunk:
    """The text between two headers."""

    is_after: bool
    pass_name: str
    text: str
    line: int
    """Of the text's first line in the log."""
    dropped: int
    """How many lines did not belong to the module."""
    exception: str
    """The last line of a traceback behind the module."""


def stages_of_log(name: str, text: str) -> tuple[tuple[RecordedStage, ...], tuple[Diagnostic, ...]]:
    """Split a log into stages.

    Where it has both kinds of header, the nesting of passes and what did not return are known; where it has Before
    alone, a stage is what the next pass was given, and that behind the last pass is not known.
    """
    chunks = tuple(_chunks(_COLOUR.sub("", text) if "\x1b" in text else text))
    has_before, has_after = (any(item.is_after is kind for item in chunks) for kind in (False, True))
    notes: list[Diagnostic] = []
    dropped = sum(item.dropped for item in chunks)
    if dropped:
        were = "was" if dropped == 1 else "were"
        words = f"{name}: {plural(dropped, 'line')} between the modules did not belong to them, and {were} left out"
        notes.append(Diagnostic("PL008", words, severity="note"))
    if has_before and has_after:
        builder = _Nesting(name)
        for chunk in chunks:
            builder.add(chunk)
        stages = builder.end(chunks[-1].exception if chunks else "")
    elif has_before:
        names = (INPUT, *(item.pass_name for item in chunks))
        stages = [
            RecordedStage(0, pass_, item.text, name, item.line) for pass_, item in zip(names, chunks, strict=False)
        ]
        words = f"{name} has modules before passes only, so that the one behind {names[-1]} is not known"
        notes.append(Diagnostic("PL008", words, hint="print with PrintAfterAll, or with both", severity="note"))
    else:
        stages = [RecordedStage(0, item.pass_name, item.text, name, item.line) for item in chunks]
    return numbered(stages), tuple(notes)


def _chunks(text: str) -> Iterator[_Chunk]:
    headers = list(islice(LOG_HEADER.finditer(text), FILE_LIMIT + 1))
    if len(headers) > FILE_LIMIT:
        fail("PL002", f"the log holds too many modules: at most {FILE_LIMIT:,} are read")
    line, counted = 1, 0
    for number, header in enumerate(headers):
        end = headers[number + 1].start() if number + 1 < len(headers) else len(text)
        start = min(header.end() + 1, end)
        line += text.count("\n", counted, start)
        counted = start
        module, dropped, exception = _module_text(text[start:end])
        yield _Chunk(header[1] == "After", _pass_name(header[2]), module, line, dropped, exception)


def _pass_name(rest: str) -> str:
    found = _NAME.search(rest) or _OLD_NAME.search(rest)
    return found[1] if found is not None else rest.strip() or "a pass without a name"


def _module_text(chunk: str) -> tuple[str, int, str]:
    """Return the module in a part of a log, how many lines do not belong to it, and the exception that followed it.

    Warnings of C++ may stand anywhere; what else the program printed is seen behind the class only.
    """
    kept: list[str] = []
    dropped, has_class, exception = 0, False, ""
    lines = chunk.split("\n")
    for number, line in enumerate(lines):
        if line.startswith("[") and _WARNING.match(line):
            dropped += 1
        elif line == _TRACEBACK:
            rest = [item for item in lines[number:] if item.strip()]
            dropped += len(rest)
            exception = rest[-1].strip()[:300]
            break
        elif has_class and not _OF_MODULE.match(line):
            dropped += 1
        else:
            has_class = has_class or line.startswith("class ")
            kept.append(line)
    return "\n".join(kept).rstrip("\n") + "\n", dropped, exception


@dataclass(slots=True)
class _Nesting:
    """Puts the modules before and after passes in order: passes that are open stand on a stack."""

    file: str
    stages: list[RecordedStage] = field(default_factory=list[RecordedStage])
    open: list[_Chunk] = field(default_factory=list[_Chunk])

    def add(self, chunk: _Chunk) -> None:
        if chunk.is_after:
            self._close(chunk)
            return
        # What a pass is given is news if it is not what the last one left: the input, a part, a change by hand.
        last = next((item.text for item in reversed(self.stages) if item.text is not None), None)
        if chunk.text != last:
            pass_name = f"(before {chunk.pass_name})" if self.stages else INPUT
            self.stages.append(RecordedStage(0, pass_name, chunk.text, self.file, chunk.line, len(self.open)))
        self.open.append(chunk)

    def _close(self, chunk: _Chunk) -> None:
        if any(item.pass_name == chunk.pass_name for item in self.open):
            while self.open[-1].pass_name != chunk.pass_name:
                self._not_returned(self.open.pop(), "")
            self.open.pop()
        depth = len(self.open)
        self.stages.append(RecordedStage(0, chunk.pass_name, chunk.text, self.file, chunk.line, depth))

    def _not_returned(self, chunk: _Chunk, exception: str) -> None:
        why = f"it raised {exception}" if exception else _NOT_RETURNED
        depth = len(self.open)
        self.stages.append(RecordedStage(0, chunk.pass_name, None, self.file, chunk.line, depth, error=why))

    def end(self, exception: str) -> list[RecordedStage]:
        """Say of the passes that are open that they did not return, the innermost one first."""
        while self.open:
            self._not_returned(self.open.pop(), exception)
            exception = ""
        return self.stages
