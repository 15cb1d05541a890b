"""Runs as files: steps, values and memory are those of the recorded run, bit for bit; what is damaged is refused."""

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import relax_core as rc
from relax_core.engine.debug.requests import DumpOf, MemoryOf, ProfileOf
from relax_core.engine.pipelines.run_files.host import RunRecording
from relax_core.engine.pipelines.trace.arrays import array_bytes, array_digest, digest_of
from relax_core.engine.programs.program import ChangeAt, Program, StandInFor
from relax_core.engine.programs.program_source import ProgramSource
from relax_core.engine.protocol import Execute, Failure, OpenedRunOf, RunOf, SavedRunOf
from relax_core.engine.replies import OpenedRun
from relax_core.engine.session import Session
from relax_core.frontend.parse import parse_text
from relax_core.present.running.run_models import Run
from relax_core.vm.machine import Machine
from relax_core.vm.objects.values import RefValue, Value, fields_of, root_of
from relax_core.vm.recording.trace import Trace
from tests.engine.asking import ask
from tests.engine.programs import sample
from tests.strategies import inputs, programs

# Closures with captures, writes in place, storage that is taken again, devices, PrimValues, tuples, printed lines,
# algebraic data, references, an error of the machine, an error in a kernel.
SAMPLES = (
    "relax/closure_captures.py",
    "relax/closure_returned.py",
    "relax/callback.py",
    "relax/inplace_update.py",
    "relax/storage_reused.py",
    "relax/virtual_devices.py",
    "prim/prim_make_closure.py",
    "prim/prim_tuple.py",
    "prim/prim_string.py",
    "prim/prim_loop.py",
    "relay/map_three_times.relay",
    "relay/tensor_array.relay",
    "errors/jt_out_of_range.py",
    "errors/vm_storage_outside.py",
    "tir/stencil.py",
)


def saved(session: Session, program: Program) -> bytes:
    return ask(session, SavedRunOf(program)).content


def opened(session: Session, content: bytes) -> Program:
    found: OpenedRun = ask(session, OpenedRunOf("run.rxt", content))
    return found.program


def window(session: Session, program: Program, event: int = 0) -> Run:
    """Return a window without the name of its run."""
    return msgspec.structs.replace(ask(session, RunOf(program, event)), revision="")


def content(value: Value) -> object:
    """Return what is equal for values with the same bits, in memory at the same place."""
    match value:
        case np.ndarray():
            root = root_of(value)
            start = value.ctypes.data - root.ctypes.data if value.nbytes else 0
            return value.dtype.name, value.shape, value.tobytes(), start, root.tobytes()
        case RefValue(versions=versions):
            return [(event, content(held)) for event, held in versions]
        case float():
            return np.float64(value).tobytes()
        case _ if fields := fields_of(value, into_captures=True):
            return type(value).__name__, *map(content, fields)
        case _:
            return repr(value)


def moments(trace: Trace) -> Iterator[object]:
    """Yield what every register of the stack holds, at every time of a short run."""
    for at in range(len(trace) + 1):
        for frame in trace.frames_at(at):
            yield frame, [content(value) for value in trace.registers_at(at, frame.frame)]


def are_alike(one: Trace, other: Trace) -> bool:
    """Tell whether two runs agree in each event, register and line, and in how they share memory."""
    same = one.pcs.tolist() == other.pcs.tolist() and one.frame_ids.tolist() == other.frame_ids.tolist()
    ends = [(item.outcome, item.output, item.error and item.error.render(), item.stand_ins) for item in (one, other)]
    shared = [{len(ranges) for ranges in item.memory_changes().values()} for item in (one, other)]
    return same and ends[0] == ends[1] and shared[0] == shared[1] and list(moments(one)) == list(moments(other))


@pytest.mark.parametrize("path", SAMPLES)
def test_a_run_from_a_file_is_shown_as_it_was_recorded(session: Session, path: str) -> None:
    program = sample(path)
    recorded = opened(session, saved(session, program))
    first = window(session, program)
    assert window(session, recorded) == first
    assert window(session, recorded, first.total) == window(session, program, first.total)
    assert ask(session, MemoryOf(recorded)) == ask(session, MemoryOf(program))
    assert ask(session, DumpOf(recorded)).archive == ask(session, DumpOf(program)).archive
    # A run that records nothing counts no events.
    assert msgspec.structs.replace(ask(session, Execute(recorded)), events=0) == ask(session, Execute(program))


@pytest.mark.parametrize("path", ["relax/closure_captures.py", "relax/storage_reused.py", "errors/jt_out_of_range.py"])
def test_every_register_holds_the_same_bits_at_every_time(path: str, tmp_path: Path) -> None:
    parsed = parse_text(sample(path).text, "m.py")
    entry, args = ProgramSource(sample(path), parsed).call()
    recorded = rc.record_run(parsed.modules[0], *args, entry=entry)
    recorded.write(tmp_path / "run.rxt")
    assert are_alike(rc.open_run(tmp_path / "run.rxt").trace, recorded.trace)


@settings(max_examples=12, deadline=None)
@given(programs(), st.integers(0, 3))
def test_any_program_is_written_and_read_alike(tmp_path_factory: pytest.TempPathFactory, made: Any, seed: int) -> None:
    recorded = rc.record_run(made.module, *inputs(made.shape, seed))
    path = tmp_path_factory.mktemp("run") / "run.rxt"
    recorded.write(path)
    found = rc.open_run(path)
    assert are_alike(found.trace, recorded.trace)
    assert found.to_bytes() == path.read_bytes()
    assert _unnamed(found) == _unnamed(recorded)


def _unnamed(recording: RunRecording) -> Run:
    return msgspec.structs.replace(recording.window(), revision="")


def test_nothing_is_run_when_a_run_is_opened(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = opened(session, saved(session, sample("relax/loop.py")))

    def never(*_: object) -> None:
        pytest.fail("the machine was started")

    monkeypatch.setattr(Machine, "run", never)
    assert window(session, recorded).total > 100
    assert ask(session, MemoryOf(recorded)).rows


def test_a_run_with_changes_and_stand_ins_is_kept_with_them(session: Session) -> None:
    plain = sample("relax/inplace_update.py")
    changed = msgspec.structs.replace(plain, changes=(ChangeAt(8, "y[0] = 2.0", is_in_place=True),))
    found = opened(session, saved(session, changed))
    assert window(session, found) == window(session, changed) != window(session, plain)
    missing = sample("errors/vm_missing_packed.py")
    answered = msgspec.structs.replace(missing, stand_ins=(StandInFor("custom_ad"),))
    reply: OpenedRun = ask(session, OpenedRunOf("run.rxt", saved(session, answered)))
    assert ask(session, Execute(reply.program)).stand_ins == reply.stand_ins != ""


def test_what_would_run_again_is_refused(session: Session) -> None:
    recorded = opened(session, saved(session, sample("relax/loop.py")))
    changed = msgspec.structs.replace(recorded, changes=(ChangeAt(3, "n = 2"),))
    other = msgspec.structs.replace(recorded, seed=7)
    for message in (ProfileOf(recorded), RunOf(changed), RunOf(other), Execute(other)):
        assert code_of(session.request(message)) == "PL018"


def code_of(reply: object) -> str:
    """Return the code of a refusal, which is none of our mistakes."""
    assert isinstance(reply, Failure)
    assert reply.kind == "diagnosed", reply.rendered
    return reply.problems[0].code


def members_of(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, item in members.items():
            archive.writestr(name, item)
    return buffer.getvalue()


def rewritten(content: bytes, change: Callable[[dict[str, Any], dict[str, bytes]], None]) -> bytes:
    """Return a file whose record was changed by one who knows how its digests are made."""
    members = members_of(content)
    name = next(item for item in members if item.startswith("runs/"))
    record = json.loads(members.pop(name))
    change(record, members)
    encoded = json.dumps(record).encode()
    digest = digest_of(encoded)
    members["events.jsonl"] = members["events.jsonl"].replace(name[5:-5].encode(), digest.encode())
    return zipped({**members, f"runs/{digest}.json": encoded})


def with_column(record: dict[str, Any], members: dict[str, bytes], column: str, index: int, number: int) -> None:
    """Change a number of a column."""
    value = record["columns"][column]
    array = np.load(io.BytesIO(members[f"arrays/{value['array']}.npy"])).copy()
    if array.size:
        array.reshape(-1)[index % array.size] = np.int64(number).astype(array.dtype)
    value["array"] = array_digest(array)
    members[f"arrays/{value['array']}.npy"] = array_bytes(array)


@pytest.fixture(scope="module")
def small(session: Session) -> bytes:
    return saved(session, sample("relax/closure_captures.py"))


def test_a_file_that_was_cut_short_is_refused(session: Session, small: bytes) -> None:
    for length in range(0, len(small), 97):
        assert code_of(session.request(OpenedRunOf("run.rxt", small[:length]))) in ("PL003", "PL005")
    for name in members_of(small):
        left = {key: item for key, item in members_of(small).items() if key != name}
        code = code_of(_reopened(session, zipped(left)))
        assert code in ("PL003", "PL016"), name


def _reopened(session: Session, content: bytes) -> object:
    """Open a file and look at its run; the first refusal, or the run."""
    found = session.request(OpenedRunOf("run.rxt", content))
    if isinstance(found, Failure):
        return found
    for message in (RunOf(found.program), MemoryOf(found.program), DumpOf(found.program), RunOf(found.program, 10**9)):
        reply = session.request(message)
        if isinstance(reply, Failure):
            return reply
    return found


def test_a_file_of_another_version_program_or_compiler_is_refused(session: Session, small: bytes) -> None:
    members = members_of(small)
    newer = {**members, "trace.json": members["trace.json"].replace(b'"version":2', b'"version":3')}
    assert code_of(_reopened(session, zipped(newer))) == "PL004"
    assert code_of(_reopened(session, rewritten(small, lambda record, _: record.update(compiled="0" * 32)))) == "PL017"
    plain = {key: item for key, item in members.items() if not key.startswith("runs/")}
    events = members["events.jsonl"].splitlines(keepends=True)[0]
    assert code_of(_reopened(session, zipped({**plain, "events.jsonl": events}))) == "PL016"
    huge = rewritten(small, lambda record, _: record["memories"][0].update(shape=[1 << 40, 1 << 40]))
    assert code_of(_reopened(session, huge)) == "PL005"


COLUMNS = ("pcs", "frame_ids", "values", "frames", "args", "undos", "bytes")


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(COLUMNS), st.integers(0, 5000), st.integers(-2, 60) | st.sampled_from([1 << 31, -(1 << 62)]))
def test_a_log_that_makes_no_sense_is_refused_or_shown(
    session: Session, small: bytes, column: str, index: int, number: int
) -> None:
    made = rewritten(small, lambda record, members: with_column(record, members, column, index, number))
    reply = _reopened(session, made)
    if isinstance(reply, Failure):
        assert code_of(reply) == "PL005"


def test_a_run_of_a_module_without_a_text_is_recorded(tmp_path: Path) -> None:
    text = sample("relax/mlp.py").text
    module = rc.parse(text, name="mlp.py")
    stage = rc.run_pipeline(module, "LegalizeOps")[-1].after
    entry, args = ProgramSource(Program(text), parse_text(text, "mlp.py")).call()
    recorded = rc.record_run(stage, *args, entry=entry, passes=["FuseOps"])
    recorded.write(tmp_path / "run.rxt")
    assert "R.call_tir" in recorded.program.text
    assert are_alike(rc.open_run(tmp_path / "run.rxt").trace, recorded.trace)
    assert rc.record_run(module, *args, entry=entry).program.text == text
