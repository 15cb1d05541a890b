"""Write a trace as one file, `.rxt`: a zip of JSON, texts and .npy members."""

import io
import math
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

import msgspec
import numpy as np

from relax_core.engine.pipelines.pipeline import Array, ConstantEntry, Pipeline, RecordedStage, Recording
from relax_core.engine.pipelines.recorded_run import Omitted, RecordedRun, RecordedShape, RecordedValue
from relax_core.engine.pipelines.trace.arrays import array_bytes, array_digest, array_value, digest_of
from relax_core.engine.pipelines.trace.events import (
    EVENTS_NAME,
    FORMAT,
    HEADER_NAME,
    PLAIN_VERSION,
    VERSION,
    AfterEvent,
    ArrayValue,
    BeforeEvent,
    CallEvent,
    Constant,
    Event,
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

_LONG_AGO: Final = (1980, 1, 1, 0, 0, 0)
_PRODUCER: Final = "relaxscope"


def write_trace(pipeline: Pipeline) -> bytes:
    """Return a pipeline as the bytes of an `.rxt` file; equal pipelines give equal bytes."""
    writer = _Writer()
    return writer.written(pipeline.recording)


def without_runs(pipeline: Pipeline) -> Pipeline:
    """Return a pipeline without its runs and their arrays: what is needed to run its stages here."""
    recording = pipeline.recording
    used = {entry.key for stage in recording.stages for entry in stage.constants}
    arrays = {key: array for key, array in recording.arrays.items() if key in used}
    return Pipeline(replace(recording, runs=(), arrays=arrays))


def zipped(
    events: Iterable[Event],
    members: Mapping[str, bytes],
    producer: str = _PRODUCER,
    facts: Mapping[str, str] = MappingProxyType({}),
) -> bytes:
    """Return a trace of these events, and of the texts and arrays that they name, as one file."""
    events = tuple(events)
    is_plain = not any(isinstance(event, MachineRunEvent) for event in events)
    header = Header(FORMAT, PLAIN_VERSION if is_plain else VERSION, producer, dict(facts))
    lines = b"".join(msgspec.json.encode(event) + b"\n" for event in events)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, content in {HEADER_NAME: msgspec.json.encode(header), EVENTS_NAME: lines, **members}.items():
            info = zipfile.ZipInfo(name, _LONG_AGO)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return buffer.getvalue()


class _Writer:
    def __init__(self) -> None:
        self._members: dict[str, bytes] = {}

    def written(self, recording: Recording) -> bytes:
        facts = dict(recording.facts)
        producer = facts.pop("producer", _PRODUCER)
        events = tuple(self._events(recording))
        return zipped(events, self._members, producer, facts)

    def _events(self, recording: Recording) -> Iterator[Event]:
        for position, stage in enumerate(recording.stages):
            yield from self._of_stage(position, stage, recording)
        for number, run in enumerate(recording.runs):
            yield from self._of_run(number, run)
        for item in recording.diagnostics:
            yield NoteEvent(item.message)

    def _of_stage(self, position: int, stage: RecordedStage, recording: Recording) -> Iterator[Event]:
        depth = stage.depth or 0
        constants = tuple(self._constant(entry, recording) for entry in stage.constants)
        text = self._text(stage.text) if stage.text is not None else ""
        if stage.pass_name.startswith("(") and not stage.has_stopped:
            yield ModuleEvent(stage.pass_name, depth, text, constants, stage.digest, stage.number)
            return
        yield BeforeEvent(position, stage.pass_name, depth)
        if stage.text is None and not stage.digest:
            yield RaisedEvent(position, stage.error, stage.number)
        else:
            yield AfterEvent(position, stage.seconds, text, constants, stage.digest, stage.number)

    def _of_run(self, number: int, run: RecordedRun) -> Iterator[Event]:
        yield RunEvent(number, run.entry, tuple(map(self._value, run.inputs)))
        for call in run.calls:
            yield CallEvent(number, call.number, call.name, tuple(map(self._value, call.args)))
            if call.is_finished:
                yield ReturnEvent(number, call.number, self._value(call.result))
        if run.is_finished:
            yield ResultEvent(number, self._value(run.result), run.error)

    def _constant(self, entry: ConstantEntry, recording: Recording) -> Constant:
        array = recording.arrays.get(entry.key) if entry.key else None
        return OmittedValue("not kept", entry.shape, entry.dtype) if array is None else self._array(array)

    def _text(self, text: str) -> str:
        content = text.encode("utf-8", "replace")
        digest = digest_of(content)
        self._members[f"texts/{digest}.py"] = content
        return digest

    def _array(self, array: Array) -> ArrayValue:
        name = f"arrays/{array_digest(array)}.npy"
        if name not in self._members:
            self._members[name] = array_bytes(array)
        return array_value(array)

    def _value(self, value: RecordedValue) -> Value:
        match value:
            case np.ndarray():
                return self._array(value)
            case tuple():
                return TupleItem(tuple(map(self._value, value)))
            case Omitted(what=what, shape=shape, dtype=dtype):
                return OmittedValue(what, shape, dtype)
            case RecordedShape(sizes=sizes):
                return ShapeItem(sizes)
            case float() if not math.isfinite(value):
                return ScalarItem(special=str(value))
            case _:
                return ScalarItem(value)
