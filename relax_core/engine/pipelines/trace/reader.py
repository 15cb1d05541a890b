"""Read a trace: a folder or a zip that holds what was recorded of a pipeline and of runs."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NoReturn, TypeVar, assert_never

import msgspec

from relax_core.diagnostics import Diagnostic
from relax_core.engine.pipelines.entries import Entry, Room, fail, shown, shown_error
from relax_core.engine.pipelines.pipeline import Array, ConstantEntry, RecordedStage, Recording, numbered
from relax_core.engine.pipelines.recorded_run import (
    Omitted,
    RecordedCall,
    RecordedRun,
    RecordedShape,
    RecordedValue,
)
from relax_core.engine.pipelines.trace.arrays import digest_of, read_array
from relax_core.engine.pipelines.trace.events import (
    EVENTS_NAME,
    FORMAT,
    HEADER_NAME,
    VERSION,
    AfterEvent,
    ArrayValue,
    BeforeEvent,
    CallEvent,
    Constant,
    EnterEvent,
    Event,
    ExitEvent,
    Header,
    MachineRunEvent,
    ModuleEvent,
    NoteEvent,
    OmittedValue,
    RaisedEvent,
    ResultEvent,
    ReturnEvent,
    RunEvent,
    ScalarItem,
    ShapeItem,
    TupleItem,
    Value,
)

S = TypeVar("S")

_ENDED: Final = "the recording ends in it: the process ended before the pass returned"
_DEPTH_LIMIT: Final = 50
_EVENT_LIMIT: Final = 500_000
_SPECIAL: Final = MappingProxyType({"nan": math.nan, "inf": math.inf, "-inf": -math.inf})
_UNREADABLE: Final = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError)


def folder_of_trace(entries: tuple[Entry, ...]) -> str | None:
    """Return the folder within a source that is a trace, `None` if there is none.

    Other tools write a `trace.json` as well, but not beside such events.
    """
    headers, events = (
        {entry.folder for entry in entries if entry.file_name == name} for name in (HEADER_NAME, EVENTS_NAME)
    )
    return min(headers & events, key=len, default=None)


def read_trace(name: str, entries: tuple[Entry, ...], folder: str, room: Room) -> Recording:
    """Read a trace.

    Raises:
        CompileError: PL002 to PL005: it is too large, damaged, of a newer version, or no trace.
    """
    header, entry_of = members_of(name, entries, folder, room)
    reader = _Reader(name, entry_of, room, dict(header.facts))
    if header.producer:
        reader.facts.setdefault("producer", header.producer)
    for event in events_of(name, entry_of, room, reader.notes):
        reader.add(event)
    recording = reader.recording()
    if not recording.stages and not recording.runs:
        fail("PL005" if recording.diagnostics else "PL001", f"{shown(name)} holds no stages")
    return recording


def members_of(name: str, entries: tuple[Entry, ...], folder: str, room: Room) -> tuple[Header, dict[str, Entry]]:
    """Return the header of a trace, which is one that is read here, and its members by their names.

    Raises:
        CompileError: PL004: it is newer. PL005: it is no trace.
    """
    entry_of = {entry.name.removeprefix(folder): entry for entry in entries if entry.name.startswith(folder)}
    header = decoded(room.bytes_of(entry_of[HEADER_NAME]), Header, f"{HEADER_NAME} of {shown(name)}")
    if header.format != FORMAT:
        fail("PL005", f"{shown(name)} is no trace: its format is {shown(header.format)!r}")
    if header.version > VERSION:
        hint = "open it with a newer RelaxScope, or record again"
        fail("PL004", f"{shown(name)} has version {header.version}; this RelaxScope reads up to {VERSION}", hint)
    return header, entry_of


def events_of(name: str, entry_of: Mapping[str, Entry], room: Room, notes: list[Diagnostic]) -> Iterator[Event]:
    """Yield the events of a trace; a last line that was cut short is left out, with a note.

    Raises:
        CompileError: PL002: they are too many. PL005: a line is no event.
    """
    return _events(room.bytes_of(entry_of[EVENTS_NAME]), name, notes)


def decoded(content: bytes, type_: type[S], what: str) -> S:
    """Return JSON as a value of a class.

    Raises:
        CompileError: PL005: it is no such value.
    """
    try:
        return msgspec.json.decode(content, type=type_)
    except _UNREADABLE as error:
        fail("PL005", f"{what} cannot be read: {' '.join(str(error).split())[:200]}")


def _events(content: bytes, name: str, notes: list[Diagnostic]) -> Iterator[Event]:
    decoder = msgspec.json.Decoder(Event)
    if content.count(b"\n") > _EVENT_LIMIT:
        fail("PL002", f"{shown(name)} holds too many events: at most {_EVENT_LIMIT:,} are read")
    lines = content.split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield decoder.decode(line)
        except _UNREADABLE as error:
            if number == len(lines):
                # Each line is written at once with its end, so that this one was being written as the process ended.
                notes.append(
                    Diagnostic("PL008", "the recording ends within a line, which is left out", severity="note")
                )
                return
            words = " ".join(str(error).split())[:200]
            fail("PL005", f"line {number} of {EVENTS_NAME} in {shown(name)} cannot be read: {words}")


@dataclass(slots=True)
class _RunSoFar:
    entry: str
    inputs: tuple[RecordedValue, ...]
    calls: dict[int, RecordedCall] = field(default_factory=dict[int, RecordedCall])
    result: RecordedValue = None
    error: str = ""
    is_finished: bool = False


class _Reader:
    """Puts events together; each text and array is read once."""

    def __init__(self, name: str, entry_of: dict[str, Entry], room: Room, facts: dict[str, str]) -> None:
        self.facts = facts
        self.notes: list[Diagnostic] = []
        self._name = name
        self._entry_of = entry_of
        self._room = room
        self._stages: list[RecordedStage] = []
        self._open: dict[int, BeforeEvent] = {}
        self._runs: dict[int, _RunSoFar] = {}
        self._machine_runs: list[str] = []
        self._texts: dict[str, str] = {}
        self._arrays: dict[str, Array] = {}

    def add(self, event: Event) -> None:
        match event:
            case EnterEvent(facts=facts):
                for key, value in facts.items():
                    self.facts.setdefault(key, value)
            case ExitEvent():
                pass
            case NoteEvent(words=words):
                self.notes.append(Diagnostic("PL008", shown(words), severity="note"))
            case ModuleEvent(name=name, depth=depth):
                self._stages.append(self._stage(event, name, depth, -1.0))
            case BeforeEvent(id=key):
                if key in self._open:
                    self._refuse(f"pass {key} begins twice")
                self._open[key] = event
            case AfterEvent(seconds=seconds):
                before = self._closed(event.id)
                self._stages.append(self._stage(event, before.name, before.depth, seconds))
            case RaisedEvent(words=words, number=number):
                self._not_returned(self._closed(event.id), shown_error(words) or _ENDED, number)
            case RunEvent() | CallEvent() | ReturnEvent() | ResultEvent():
                self._add_of_run(event)
            case MachineRunEvent(entry=entry):
                self._machine_runs.append(entry)
                words = f"a run of `{shown(entry)}` on this machine, which the Run page shows"
                self.notes.append(Diagnostic("PL008", words, severity="note"))
            case _:
                assert_never(event)

    def _add_of_run(self, event: RunEvent | CallEvent | ReturnEvent | ResultEvent) -> None:
        if isinstance(event, RunEvent):
            if event.run in self._runs:
                self._refuse(f"run {event.run} begins twice")
            self._runs[event.run] = _RunSoFar(event.entry, tuple(self._value(item) for item in event.inputs))
            return
        run = self._runs.get(event.run)
        if run is None:
            self._refuse(f"there is no run {event.run}")
        match event:
            case CallEvent(number=number, name=name, args=args):
                values = tuple(self._value(item) for item in args)
                run.calls[number] = RecordedCall(number, name, values, is_finished=False)
            case ReturnEvent(number=number, result=result):
                call = run.calls.get(number)
                if call is None:
                    self._refuse(f"call {number} of run {event.run} returns before it begins")
                run.calls[number] = RecordedCall(number, call.name, call.args, self._value(result))
            case ResultEvent(result=result, error=error):
                run.result = self._value(result) if result is not None else None
                run.error, run.is_finished = error, True

    def recording(self) -> Recording:
        """Return all of it; passes that are still open did not return, the innermost one first."""
        for before in sorted(self._open.values(), key=lambda item: -item.id):
            self._not_returned(before, _ENDED, -1)
        runs = tuple(
            RecordedRun(run.entry, run.inputs, run.result, tuple(run.calls.values()), run.error, run.is_finished)
            for run in self._runs.values()
        )
        arrays = MappingProxyType(self._arrays)
        facts = MappingProxyType(self.facts)
        notes, machine_runs = tuple(self.notes), tuple(self._machine_runs)
        return Recording(self._name, "trace", self._numbered(), arrays, facts, runs, notes, machine_runs)

    def _numbered(self) -> tuple[RecordedStage, ...]:
        """Return the stages with the numbers that they came with, or with their positions."""
        given = [stage.number for stage in self._stages]
        if len(set(given)) == len(given) and all(number >= 0 for number in given):
            return tuple(self._stages)
        return numbered(self._stages)

    def _stage(self, event: ModuleEvent | AfterEvent, name: str, depth: int, seconds: float) -> RecordedStage:
        text = self._text(event.text) if event.text else None
        file = f"{self._name}/texts/{event.text}.py" if event.text else ""
        constants = tuple(self._constant(item) for item in event.constants)
        error = "" if text is not None else "its text was not recorded"
        return RecordedStage(
            event.number, name, text, file, 1, max(depth, 0), seconds, error, constants, event.hash or event.text
        )

    def _not_returned(self, before: BeforeEvent, why: str, number: int) -> None:
        self._stages.append(RecordedStage(number, before.name, None, "", 1, max(before.depth, 0), error=why))

    def _closed(self, key: int) -> BeforeEvent:
        found = self._open.pop(key, None)
        if found is None:
            self._refuse(f"pass {key} ends and never began")
        return found

    def _text(self, digest: str) -> str:
        if digest not in self._texts:
            content = self._room.bytes_of(self._entry(f"texts/{digest}.py"))
            if digest_of(content) != digest:
                fail("PL003", f"the text {shown(digest)} of {shown(self._name)} is not the one that was recorded")
            try:
                self._texts[digest] = content.decode()
            except UnicodeDecodeError:
                fail("PL003", f"the text {shown(digest)} of {shown(self._name)} is not UTF-8")
        return self._texts[digest]

    def _constant(self, value: Constant) -> ConstantEntry:
        if isinstance(value, OmittedValue):
            return ConstantEntry("", value.shape, value.dtype)
        self._array(value)
        return ConstantEntry(value.array, value.shape, value.dtype)

    def _array(self, value: ArrayValue) -> Array:
        if value.array not in self._arrays:
            entry = self._entry(f"arrays/{value.array}.npy")
            self._arrays[value.array] = read_array(value, entry, self._room)
        return self._arrays[value.array]

    def _entry(self, name: str) -> Entry:
        entry = self._entry_of.get(name)
        if entry is None:
            fail("PL003", f"{shown(self._name)} has no {shown(name)}", "it may have been cut short; copy it again")
        return entry

    def _value(self, value: Value, depth: int = 0) -> RecordedValue:
        match value:
            case ArrayValue():
                return self._array(value)
            case OmittedValue(what=what, shape=shape, dtype=dtype):
                return Omitted(what, shape, dtype)
            case ShapeItem(sizes=sizes):
                return RecordedShape(sizes)
            case ScalarItem(value=scalar, special=special):
                return _SPECIAL.get(special, scalar) if special else scalar
            case TupleItem(fields=fields):
                if depth > _DEPTH_LIMIT:
                    self._refuse("a tuple is nested too deeply")
                return tuple(self._value(item, depth + 1) for item in fields)
            case _:
                assert_never(value)

    def _refuse(self, what: str) -> NoReturn:
        fail("PL005", f"{EVENTS_NAME} in {shown(self._name)} makes no sense: {what}")
