"""Write a recorded run of this machine as a trace: the program, and every event with the values of that time."""

from hashlib import sha256
from typing import Final

import msgspec
import numpy as np

from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import Diagnostic
from relax_core.engine.pipelines.pipeline import INPUT
from relax_core.engine.pipelines.run_files.model import (
    Columns,
    KeptDiagnostic,
    KeptInjection,
    KeptPlace,
    KeptStandIn,
    RunRecord,
)
from relax_core.engine.pipelines.run_files.value_table import ByteColumn, ValueTable
from relax_core.engine.pipelines.trace.arrays import array_bytes, array_digest, array_value, digest_of
from relax_core.engine.pipelines.trace.events import ArrayValue, MachineRunEvent, ModuleEvent
from relax_core.engine.pipelines.trace.writer import zipped
from relax_core.engine.programs.program import Program
from relax_core.source import Source, Span
from relax_core.vm.objects.values import Array
from relax_core.vm.recording.lines import LineTable
from relax_core.vm.recording.recorder import Recorder
from relax_core.vm.recording.trace import Trace

BYTES, NOTHING, GIVEN_UP = 0, 1, 2
UNDO_WIDTH: Final = 6
FRAME_WIDTH: Final = 6


def write_run(trace: Trace, program: Program, source: Source) -> bytes:
    """Return a recorded run as the bytes of an `.rxt` file; `source` is the text of `program` that spans refer to."""
    return _RunWriter(trace, source).written(program)


def compiled_digest(executable: Executable) -> str:
    """Return a digest of what a log refers to: instructions, constants, registers and lines."""
    found = sha256(executable.as_text().encode("utf-8", "replace"))
    for item in executable.constants:
        text = array_digest(item) if isinstance(item, np.ndarray) else repr(item)
        found.update(f"{text}\n".encode("utf-8", "replace"))
    for entry in executable.functions:
        names = [var.name if var is not None else "" for var in entry.register_vars]
        parts = (entry.kind, entry.name, entry.start, entry.end, entry.param_count, entry.register_count, names)
        found.update(f"{parts}\n".encode("utf-8", "replace"))
    found.update(LineTable.of(executable).line_of.tobytes())
    return found.hexdigest()[:32]


class _RunWriter:
    def __init__(self, trace: Trace, source: Source) -> None:
        self._trace = trace
        self._source = source
        self._members: dict[str, bytes] = {}
        self._sources: list[Source] = []
        self._column = ByteColumn()
        recorder = trace.recorder
        self._table = ValueTable(trace.executable.constants, recorder.memories.values(), self._column)

    def written(self, program: Program) -> bytes:
        """Return the file."""
        text = program.text.encode("utf-8", "replace")
        digest = digest_of(text)
        self._members[f"texts/{digest}.py"] = text
        record = msgspec.json.encode(self._record(msgspec.structs.replace(program, text=""), digest))
        name = digest_of(record)
        self._members[f"runs/{name}.json"] = record
        entry = self._trace.frames[0].function if self._trace.frames else -1
        title = self._trace.executable.functions[entry].name if entry >= 0 else program.entry
        return zipped((ModuleEvent(INPUT, text=digest), MachineRunEvent(title, name)), self._members)

    def _record(self, program: Program, text: str) -> RunRecord:
        trace, recorder = self._trace, self._trace.recorder
        # Logged memories come first and in their order, in which changes of one event are shown.
        for log in recorder.memories.values():
            self._table.memory(log.root)
        values = np.fromiter(map(self._table.number, recorder.values), np.int32, len(recorder.values))
        frames, args = self._frames(recorder)
        injections = tuple(
            KeptInjection(item.time, item.frame, item.register, self._table.number(item.value))
            for item in recorder.injections
        )
        result = self._table.number(trace.result)
        undos = self._undos(recorder)
        error = self._diagnostic(trace.error) if trace.error is not None else None
        columns = Columns(
            self._array(np.array(recorder.pcs, np.uint32)),
            self._array(np.array(recorder.frame_ids, np.uint32)),
            self._array(values),
            self._array(frames),
            self._array(args),
            self._array(undos),
            self._array(self._column.whole()),
        )
        return RunRecord(
            program,
            text,
            compiled_digest(trace.executable),
            columns,
            self._table.values,
            self._table.memories,
            result,
            trace.outcome,
            trace.stop,
            trace.seconds,
            error,
            tuple((line.time, line.text, line.pc) for line in trace.output),
            injections,
            tuple(KeptStandIn(item.name, item.how, item.number, item.event, item.pc) for item in trace.stand_ins),
            tuple((item.name, item.text) for item in self._sources),
        )

    def _frames(self, recorder: Recorder) -> tuple[Array, Array]:
        rows = np.zeros((len(recorder.frames), FRAME_WIDTH), np.int64)
        args: list[int] = []
        for number, frame in enumerate(recorder.frames):
            args += map(self._table.number, frame.args)
            rows[number] = (frame.function, frame.parent, frame.depth, frame.enter, frame.leave, len(args))
        return rows, np.array(args, np.int32)

    def _undos(self, recorder: Recorder) -> Array:
        rows: list[tuple[int, ...]] = []
        for log in recorder.memories.values():
            memory = self._table.memory(log.root)
            for undo in log.undos:
                match undo.before:
                    case None:
                        kind, offset = NOTHING, 0
                    case np.ndarray():
                        kind, offset = BYTES, self._column.add(undo.before)
                    case _:
                        kind, offset = GIVEN_UP, 0
                rows.append((memory, undo.event, undo.start, undo.stop, kind, offset))
        return np.array(rows, np.int64).reshape(-1, UNDO_WIDTH)

    def _array(self, array: Array) -> ArrayValue:
        self._members[f"arrays/{array_digest(array)}.npy"] = array_bytes(array)
        return array_value(array)

    def _diagnostic(self, error: Diagnostic) -> KeptDiagnostic:
        place = self._place(error.span) if error.span is not None else None
        related = tuple((words, self._place(span)) for words, span in error.related)
        return KeptDiagnostic(error.code, error.message, place, error.hint, related)

    def _place(self, span: Span) -> KeptPlace:
        if span.source.text == self._source.text:
            return KeptPlace(0, span.start, span.end)
        if span.source not in self._sources:
            self._sources.append(span.source)
        return KeptPlace(self._sources.index(span.source) + 1, span.start, span.end)
