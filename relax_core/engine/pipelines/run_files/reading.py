"""Read a recorded run of this machine from a trace. Its program is compiled and not run: the log says what it did."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import msgspec
import numpy as np

from relax_core.bytecode.executable import Executable
from relax_core.bytecode.isa import (
    CallInstruction,
    GotoInstruction,
    IfInstruction,
    Instruction,
    ReturnInstruction,
)
from relax_core.codes import CODES
from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.engine.pipelines.entries import Entry, Room, fail, shown, zip_entries
from relax_core.engine.pipelines.run_files.model import Columns, KeptPlace, RunRecord
from relax_core.engine.pipelines.run_files.values_read import NonsenseError, ValueReader, require
from relax_core.engine.pipelines.run_files.writing import (
    BYTES,
    FRAME_WIDTH,
    GIVEN_UP,
    NOTHING,
    UNDO_WIDTH,
    compiled_digest,
)
from relax_core.engine.pipelines.trace import reader
from relax_core.engine.pipelines.trace.arrays import digest_of, read_array
from relax_core.engine.pipelines.trace.events import ArrayValue, MachineRunEvent
from relax_core.engine.programs.program import ChangeAt, Program
from relax_core.source import Source, Span
from relax_core.vm.changes.interventions import is_told
from relax_core.vm.external.stand_ins import StandInCall
from relax_core.vm.objects.values import NOT_KEPT, Array
from relax_core.vm.recording.liveness import written
from relax_core.vm.recording.recorder import NO_WRITE, FrameRecord, Injection, MemoryLog, Recorder, Undo
from relax_core.vm.recording.trace import OutputLine, Trace

_ZIP: Final = b"PK"
_CUT_SHORT: Final = "it may have been cut short; copy it again"
_NO_RUN_HINT: Final = "write one with: python -m relax_core run FILE --trace RUN.rxt"
_OTHER_CODE: Final = "the program is compiled to other instructions here than when the run was recorded"
_OTHER_HINT: Final = "open it with the RelaxScope that wrote it, or record the run again"
_WIDTHS: Final = (0, 0, 0, FRAME_WIDTH, 0, UNDO_WIDTH, 0)


@dataclass(frozen=True, slots=True)
class RunFile:
    """What a file says of a run, before the program is compiled: the record, and its columns."""

    name: str
    entry: str
    record: RunRecord
    columns: tuple[Array, ...]
    text: str

    @property
    def program(self) -> Program:
        """The program that ran, with the changes that were made to it."""
        return msgspec.structs.replace(self.record.program, text=self.text)


@dataclass(frozen=True, slots=True)
class _Recorded:
    """A change that was made while a run was recorded: the file holds how it was written, and what came of it."""

    time: int
    text: str

    def words_for(self, trace: Trace) -> str:
        """Say what was done to the run when it was recorded."""
        return f"`{self.text}` was done at time {self.time}, when it was recorded"


def is_run_file(name: str, content: bytes) -> bool:
    """Tell whether a file is a trace that holds a run of this machine; a damaged one is none."""
    try:
        return content.startswith(_ZIP) and _Members(name, content).event is not None
    except CompileError:
        return False


def read_run_file(name: str, content: bytes) -> RunFile:
    """Read a run without its values.

    Raises:
        CompileError: PL002 to PL005: it is too large, damaged, of a newer version, or no trace. PL016: it holds no run.
    """
    members = _Members(name, content)
    if members.event is None:
        fail("PL016", f"{shown(name)} holds no run of this machine", _NO_RUN_HINT)
    record = members.record(members.event)
    columns = tuple(map(members.array, _arrays(record.columns)))
    for column, width in zip(columns, _WIDTHS, strict=True):
        is_sound = column.dtype.kind in "iu" and column.ndim == (2 if width else 1)
        if not is_sound or (width and column.shape[1] != width):
            fail("PL005", f"the run in {shown(name)} has a column of another type")
    if record.program.run_file or record.program.text:
        fail("PL005", f"the program of the run in {shown(name)} has a text or a run of its own")
    return RunFile(name, members.event.entry, record, columns, members.text(record.text))


def program_of_file(name: str, content: bytes) -> Program:
    """Return the program of a recorded run with the file that shows that run.

    Raises:
        CompileError: as `read_run_file` does.
    """
    program = read_run_file(name, content).program
    return msgspec.structs.replace(program, changes=(), run_file=content)


def _told(record: RunRecord) -> Iterator[ChangeAt]:
    return (item for item in record.program.changes if is_told(item.text))


def stand_ins_of(record: RunRecord) -> tuple[StandInCall, ...]:
    """Return the calls that stand-ins answered."""
    return tuple(StandInCall(item.name, item.how, item.number, item.event, item.pc) for item in record.stand_ins)


def trace_of_file(file: RunFile, executable: Executable, source: Source) -> Trace:
    """Return the run that a file holds as it was recorded, on the program as it is compiled here.

    Raises:
        CompileError: PL017: it is compiled to other instructions. PL005: the log makes no sense.
    """
    if compiled_digest(executable) != file.record.compiled:
        fail("PL017", f"{shown(file.name)}: {_OTHER_CODE}", _OTHER_HINT)
    try:
        return _RunReader(file, executable, source).trace()
    except (NonsenseError, OverflowError, MemoryError) as error:
        what = str(error) or "it is larger than this process may be"
        fail("PL005", f"the run in {shown(file.name)} makes no sense: {what}")


class _Members:
    """The members of a trace, each read once it is asked for and held against its digest."""

    def __init__(self, name: str, content: bytes) -> None:
        self._name = name
        self._room = Room()
        if not content.startswith(_ZIP):
            fail("PL005", f"{shown(name)} is no trace: a run is a file ending in .rxt, which is a zip")
        members = zip_entries(name, content)
        folder = reader.folder_of_trace(members)
        if folder is None:
            fail("PL003", f"{shown(name)} has no trace.json beside events.jsonl", _CUT_SHORT)
        self._entry_of = reader.members_of(name, members, folder, self._room)[1]
        events = reader.events_of(name, self._entry_of, self._room, [])
        self.event = next((event for event in events if isinstance(event, MachineRunEvent)), None)

    def record(self, event: MachineRunEvent) -> RunRecord:
        """Read what is said of the run."""
        content = self._content(f"runs/{event.record}.json", event.record)
        return reader.decoded(content, RunRecord, f"the run in {shown(self._name)}")

    def text(self, digest: str) -> str:
        """Read a text."""
        try:
            return self._content(f"texts/{digest}.py", digest).decode()
        except UnicodeDecodeError:
            fail("PL003", f"the text {shown(digest)} of {shown(self._name)} is not UTF-8")

    def array(self, value: ArrayValue) -> Array:
        """Read an array."""
        return read_array(value, self._entry(f"arrays/{value.array}.npy"), self._room)

    def _content(self, name: str, digest: str) -> bytes:
        content = self._room.bytes_of(self._entry(name))
        if digest_of(content) != digest:
            fail("PL003", f"{shown(name)} of {shown(self._name)} is not what was recorded")
        return content

    def _entry(self, name: str) -> Entry:
        entry = self._entry_of.get(name)
        if entry is None:
            fail("PL003", f"{shown(self._name)} has no {shown(name)}", _CUT_SHORT)
        return entry


def _arrays(columns: Columns) -> tuple[ArrayValue, ...]:
    return tuple(getattr(columns, name) for name in Columns.__struct_fields__)


def _follow(executable: Executable, pcs: Array, ids: Array, starts: Array) -> "np.bool_":
    """Tell whether each event of a frame is at an instruction that the one before it leads to."""
    nexts = np.array([_nexts(item, pc) for pc, item in enumerate(executable.instructions)], np.int64)
    order = np.argsort(ids, kind="stable")
    one, other = order[:-1], order[1:]
    is_inside = ids[one] == ids[other]
    is_led = (nexts[pcs[one]] == pcs[other][:, None]).any(axis=1)
    firsts = np.concatenate((order[:1], other[~is_inside]))
    return (is_led | ~is_inside).all() & (pcs[firsts] == starts[ids[firsts]]).all()


def _nexts(instruction: Instruction, pc: int) -> tuple[int, int]:
    """Return where an instruction leads to; one that calls back is an event each time."""
    match instruction:
        case CallInstruction():
            return pc, pc + 1
        case GotoInstruction(offset=offset):
            return pc + offset, pc + offset
        case IfInstruction(false_offset=offset):
            return pc + 1, pc + offset
        case ReturnInstruction():
            return -1, -1


class _RunReader:
    """Puts a log together again, each row held against the program."""

    def __init__(self, file: RunFile, executable: Executable, source: Source) -> None:
        self._record = file.record
        self._executable = executable
        self._sources = (source, *(Source(name, text) for name, text in file.record.sources))
        self._pcs, self._frame_ids, self._values, self._frames, self._args, self._undos, column = file.columns
        self._count = len(self._pcs)
        self._reader = ValueReader(executable, file.record.memories, column)

    def trace(self) -> Trace:
        """Return the run."""
        record, reader_ = self._record, self._reader
        reader_.read(record.values, self._count)
        recorder = Recorder(0)
        self._add_frames(recorder)
        self._add_events(recorder)
        self._add_memories(recorder)
        self._add_injections(recorder)
        instruction_count = len(self._executable.instructions)
        is_stop = -1 <= record.stop[0] < len(self._frames) and -1 <= record.stop[1] < instruction_count
        require(
            is_stop and (record.stop[0] < 0 or record.stop[1] >= 0), "it stops where the program has no instruction"
        )
        return Trace(
            self._executable,
            recorder,
            result=reader_.at(record.result),
            error=self._error(),
            outcome=record.outcome,
            output=self._output(),
            stop=record.stop,
            seconds=record.seconds,
            stand_ins=self._stand_ins(),
            interventions=tuple(_Recorded(item.time, item.text) for item in _told(record)),
        )

    def _add_frames(self, recorder: Recorder) -> None:
        functions, first, entered = self._executable.functions, 0, -1
        rows: list[list[int]] = self._frames.tolist()
        for number, row in enumerate(rows):
            function, parent, depth, enter, leave, end = row
            is_known = 0 <= function < len(functions) and functions[function].kind == "vm"
            require(is_known, "a call of what is no function")
            is_called = -1 <= parent < number and entered <= enter < self._count and 0 <= depth <= number
            require(is_called and (parent >= 0) == (enter >= 0), "a call has no caller")
            require(leave == -1 or max(enter, 0) <= leave < self._count, "a call ends before it begins")
            require(first <= end <= len(self._args), "a call has arguments that are not there")
            args = tuple(map(self._reader.at, self._args[first:end].tolist()))
            require(len(args) <= functions[function].register_count, "a call has more arguments than registers")
            recorder.frames.append(FrameRecord(function, parent, depth, enter, args, leave))
            first, entered = end, enter

    def _add_events(self, recorder: Recorder) -> None:
        """Add the events, each within its frame: between its call and its return, in the code of its function."""
        count = len(self._frame_ids)
        require(count == self._count == len(self._values), "it has more of one column than of another")
        if not count:
            return
        pcs, ids = self._pcs.astype(np.int64), self._frame_ids.astype(np.int64)
        require((ids.min() >= 0) & (ids.max() < len(self._frames)), "an event has no frame")
        entries = self._executable.functions
        functions: list[int] = self._frames[:, 0].tolist()
        starts = np.array([entries[function].start for function in functions])
        ends = np.array([entries[function].end for function in functions])
        is_inside = (starts[ids] <= pcs) & (pcs < ends[ids])
        require(is_inside.all(), "an event is outside of the code of its function")
        times = np.arange(count)
        leaves = np.where(self._frames[:, 4] < 0, count, self._frames[:, 4])
        is_open = (self._frames[ids, 3] < times) & (times <= leaves[ids])
        require(is_open.all(), "an event is outside of its call")
        require(_follow(self._executable, pcs, ids, starts), "an instruction does not follow the one before it")
        recorder.pcs.extend(pcs.tolist())
        recorder.frame_ids.extend(ids.tolist())
        recorder.values.extend(map(self._reader.at, self._values.tolist()))
        self._check_writes(recorder)

    def _check_writes(self, recorder: Recorder) -> None:
        """Hold values against instructions: what writes no register has none, and only a return leaves a call."""
        instructions = self._executable.instructions
        returns = np.array([isinstance(item, ReturnInstruction) for item in instructions])
        calls = np.array([isinstance(item, CallInstruction) for item in instructions])
        writes = np.array([written(item) is not None for item in instructions])
        leaves, enters = (self._frames[:, column] for column in (4, 3))
        pcs = self._pcs.astype(np.int64)
        is_left = returns[pcs[leaves[leaves >= 0]]].sum() == returns[pcs].sum() == (leaves >= 0).sum()
        is_entered = calls[pcs[enters[enters >= 0]]].all()
        require(is_left and is_entered, "a call begins or ends at another instruction")
        silent = np.flatnonzero(~(returns | writes)[pcs])
        require(all(recorder.values[at] is NO_WRITE for at in silent.tolist()), "an instruction writes no register")

    def _add_memories(self, recorder: Recorder) -> None:
        logs: list[MemoryLog | None] = []
        for number, kept in enumerate(self._record.memories):
            root = self._reader.root(number)
            log = MemoryLog(root, kept.fresh, kept.fill, kept.uses) if kept.is_logged else None
            if log is not None:
                recorder.memories[id(root)] = log
            logs.append(log)
        rows: list[list[int]] = self._undos.tolist()
        for memory, event, start, stop, kind, offset in rows:
            log = logs[memory] if 0 <= memory < len(logs) else None
            if log is None:
                raise NonsenseError("a memory is changed that is not there")
            is_inside = 0 <= start <= stop <= log.root.nbytes and -1 <= event <= self._count
            require(is_inside and kind in (BYTES, NOTHING, GIVEN_UP), "a change lies beyond the end of its memory")
            before = self._reader.bytes_at(offset, stop - start) if kind == BYTES else None
            log.undos.append(Undo(event, start, stop, NOT_KEPT if kind == GIVEN_UP else before))
        for log in recorder.memories.values():
            is_ordered = all(one.event <= other.event for one, other in pairwise(log.undos))
            require(is_ordered, "the changes of a memory are out of order")

    def _add_injections(self, recorder: Recorder) -> None:
        latest = 0
        for item in self._record.injections:
            is_known = 0 <= item.frame < len(recorder.frames) and latest <= item.time <= self._count
            require(is_known, "a value was put where there is no frame")
            entry = self._executable.functions[recorder.frames[item.frame].function]
            require(0 <= item.register < entry.register_count, "a value was put where there is no register")
            latest = item.time
            recorder.injections.append(Injection(item.time, item.frame, item.register, self._reader.at(item.value)))

    def _output(self) -> tuple[OutputLine, ...]:
        count = len(self._executable.instructions)
        is_sound = all(0 <= time <= self._count and 0 <= pc < count for time, _, pc in self._record.output)
        require(is_sound, "a line was printed by no instruction")
        return tuple(OutputLine(*item) for item in self._record.output)

    def _stand_ins(self) -> tuple[StandInCall, ...]:
        calls = self._record.stand_ins
        count = len(self._executable.instructions)
        is_sound = all(-1 <= item.event <= self._count and -1 <= item.pc < count for item in calls)
        require(is_sound, "a stand-in answered at no instruction")
        return stand_ins_of(self._record)

    def _error(self) -> Diagnostic | None:
        kept = self._record.error
        require((kept is None) == (self._record.outcome == "returned"), "it returned and failed")
        if kept is None:
            return None
        require(kept.code in CODES, "it ended with an unknown code")
        related = tuple((words, self._span(place)) for words, place in kept.related)
        span = self._span(kept.place) if kept.place is not None else None
        return Diagnostic(kept.code, kept.message, span, kept.hint, related=related)

    def _span(self, place: KeptPlace) -> Span:
        is_known = 0 <= place.source < len(self._sources)
        source = self._sources[place.source] if is_known else self._sources[0]
        require(is_known and 0 <= place.start <= place.end <= len(source.text), "the error has a place in no text")
        return Span(source, place.start, place.end)
