"""Open what holds the stages of a pipeline: a folder, a zip, a log, files, a trace; which it is, its content says."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from relax_core.engine.files import printable
from relax_core.engine.pipelines import dumps, logs
from relax_core.engine.pipelines.entries import (
    TEXT_LIMIT_BYTES,
    Entry,
    Room,
    fail,
    file_entry,
    folder_entries,
    given_entry,
    shown,
    zip_entries,
)
from relax_core.engine.pipelines.pipeline import Pipeline, Recording
from relax_core.engine.pipelines.recognize import ARCHIVE_LIMIT_BYTES, ZIP, decoded, is_log
from relax_core.engine.pipelines.trace import reader
from relax_core.engine.pipelines.trace.events import EVENTS_NAME, HEADER_NAME

PathLike: TypeAlias = str | os.PathLike[str]

_HINT: Final = (
    "a pipeline is a folder or a zip of numbered dumps (DumpIR), a log of PrintAfterAll, module files in order, "
    "or a trace of the recorder"
)


def open_pipeline(path: PathLike | Iterable[PathLike]) -> Pipeline:
    """Open the stages that another compiler printed: nothing of them is run, and a text is parsed when it is asked for.

    `path` is a folder of numbered dumps as TVM's `DumpIR` writes them, a log of `PrintAfterAll` or `PrintBeforeAll`, a
    zip of either, a trace that the recorder wrote, as folder or `.rxt`, or several files with a module each, in order.
    A stage whose text has errors is kept; `pipeline.parsed(stage).diagnostics` are these.

    Raises:
        CompileError: PL001 to PL005: there are no stages, or they cannot be read.
    """
    if not isinstance(path, str | os.PathLike):
        paths = tuple(os.fspath(item) for item in path)
        return _opened(" ".join(map(printable, paths)), tuple(map(file_entry, paths)), is_ordered=True)
    name = os.fspath(path)
    if Path(name).is_dir() if "\0" not in name else False:
        return _opened(printable(name), folder_entries(name))
    entry = file_entry(name)
    return open_given(((entry.name, entry.read(ARCHIVE_LIMIT_BYTES)),))


def open_given(files: Sequence[tuple[str, bytes]]) -> Pipeline:
    """Open files whose contents are at hand, such as uploads: one zip, trace or log, or several files.

    Raises:
        CompileError: as `open_pipeline` does.
    """
    name = f"{len(files)} files"
    if len(files) == 1:
        name, content = files[0]
        if content.startswith(ZIP):
            return _opened(name, zip_entries(name, content))
        if not content.strip():
            fail("PL001", f"{shown(name)} is empty: it holds no stages", _HINT)
    entries = tuple(given_entry(title, content) for title, content in files)
    return _opened(name, entries, is_ordered=len(files) == 1)


def _opened(name: str, entries: tuple[Entry, ...], *, is_ordered: bool = False) -> Pipeline:
    """Open the files of a source; with `is_ordered`, they are modules in the order that they are given in."""
    room = Room()
    trace = reader.folder_of_trace(entries)
    if trace is not None:
        return Pipeline(reader.read_trace(name, entries, trace, room))
    if any(entry.file_name == EVENTS_NAME for entry in entries) or name.endswith(".rxt"):
        missing = f"{HEADER_NAME} beside {EVENTS_NAME}"
        fail("PL003", f"{shown(name)} has no {missing}", "it may have been cut short; copy it again")
    if len(entries) == 1:
        text = room.text(entries[0])
        if is_log(text):
            stages, notes = logs.stages_of_log(entries[0].name, text)
            return Pipeline(Recording(name, "log", stages, diagnostics=notes))
    if not is_ordered:
        numbered = dumps.numbered_dumps(_of_one_folder(entries))
        if numbered:
            stages, notes = dumps.stages_of_dumps(numbered, room)
            return Pipeline(Recording(name, "dumps", stages, diagnostics=notes))
        log = _only_log(entries)
        if log is not None:
            stages, notes = logs.stages_of_log(log.name, room.text(log))
            return Pipeline(Recording(name, "log", stages, diagnostics=notes))
    files = entries if is_ordered else dumps.module_files(_of_one_folder(entries))
    if not files:
        what = "is empty" if not entries else "holds no stages"
        fail("PL001", f"{shown(name)} {what}", _HINT)
    return Pipeline(Recording(name, "files", dumps.stages_of_files(files, Room())))


def _of_one_folder(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Return the files of the folder that holds the most dumps: those of other folders are other recordings."""
    counts: dict[str, int] = {}
    for entry in dumps.numbered_dumps(entries) or dumps.module_files(entries):
        counts[entry.folder] = counts.get(entry.folder, 0) + 1
    best = max(counts, key=lambda folder: (counts[folder], -len(folder)), default="")
    return tuple(entry for entry in entries if entry.folder == best)


def _only_log(entries: tuple[Entry, ...]) -> Entry | None:
    """Return the only file of a source that is a log."""
    texts = [entry for entry in entries if entry.file_name.endswith((".txt", ".log", ".out", ".py"))]
    found = [entry for entry in texts[:100] if is_log(decoded(entry.read(TEXT_LIMIT_BYTES)))]
    return found[0] if len(found) == 1 else None
