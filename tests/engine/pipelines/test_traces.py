"""Traces: written and read back alike; what is damaged, newer or nonsense is refused with a code, never a traceback."""

import io
import json
import zipfile
from pathlib import Path
from types import MappingProxyType

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import relax_core as rc
from relax_core.engine.pipelines.pipeline import ConstantEntry, Pipeline, RecordedStage, Recording
from relax_core.engine.pipelines.recorded_run import Omitted, RecordedCall, RecordedRun, RecordedShape
from relax_core.engine.pipelines.sources import open_given
from relax_core.engine.pipelines.trace.events import VERSION
from relax_core.engine.pipelines.trace.writer import write_trace
from tests.engine.pipelines.stage_texts import SCALED, TWICE

SCALE = np.array([2, 2, 2], np.float32)
NARROW = np.array([[1.5]], ml_dtypes.bfloat16)
RUN = RecordedRun(
    "main",
    (SCALE, RecordedShape((2, 3)), (1, 2.5, True, "x", None, float("nan"))),
    NARROW,
    (RecordedCall(0, "add", (SCALE, Omitted("vm.Storage")), SCALE), RecordedCall(1, "mul", (), is_finished=False)),
)
RECORDED = Recording(
    "x",
    "trace",
    (
        RecordedStage(0, "(input)", SCALED, constants=(ConstantEntry("a", (3,), "float32"),)),
        RecordedStage(3, "FuseOps", TWICE, depth=2, seconds=0.25),
        RecordedStage(4, "Light", None, depth=1, digest="abc"),
        RecordedStage(5, "Crash", None, depth=1, error="it raised ValueError"),
    ),
    MappingProxyType({"a": SCALE}),
    MappingProxyType({"tvm": "0.27.0", "target": "llvm"}),
    (RUN,),
)


def trace() -> bytes:
    return write_trace(Pipeline(RECORDED))


def opened(content: bytes) -> Pipeline:
    return open_given([("x.rxt", content)])


def refusal(content: bytes) -> str:
    with pytest.raises(rc.CompileError) as caught:
        opened(content)
    assert "Traceback" not in str(caught.value)
    return caught.value.diagnostics[0].code


def changed(name: str, content: bytes | None) -> bytes:
    """Return the trace with a member replaced, or left out."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(trace())) as old, zipfile.ZipFile(buffer, "w") as new:
        for item in old.namelist():
            if item != name:
                new.writestr(item, old.read(item))
        if content is not None:
            new.writestr(name, content)
    return buffer.getvalue()


def members() -> list[str]:
    return zipfile.ZipFile(io.BytesIO(trace())).namelist()


def test_a_trace_is_read_as_it_was_written() -> None:
    pipeline = opened(trace())
    assert pipeline.facts["tvm"] == "0.27.0"
    shown = [(s.number, s.pass_name, s.text, s.depth, s.seconds, s.digest != "") for s in pipeline.stages]
    assert shown == [
        (0, "(input)", SCALED, 0, -1.0, True),
        (3, "FuseOps", TWICE, 2, 0.25, True),
        (4, "Light", None, 1, -1.0, True),
        (5, "Crash", None, 1, -1.0, False),
    ]
    assert pipeline.stages[3].error == "it raised ValueError"
    (run,) = pipeline.runs
    assert np.array_equal(np.asarray(run.inputs[0]), SCALE)
    assert run.inputs[1] == RecordedShape((2, 3))
    assert str(run.inputs[2]) == str(RUN.inputs[2])
    assert getattr(run.result, "dtype", None) == NARROW.dtype
    assert run.result == NARROW
    assert [(call.name, call.is_finished) for call in run.calls] == [("add", True), ("mul", False)]
    assert run.calls[0].args[1] == Omitted("vm.Storage")
    assert write_trace(pipeline) == write_trace(opened(trace()))
    assert not pipeline.missing_constants()
    found = rc.evaluate(pipeline.module(0), "main", np.ones((2, 3), np.float32))
    assert np.array_equal(found, np.full((2, 3), 2, np.float32))


def test_a_folder_is_read_as_its_zip_is(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(trace())) as archive:
        archive.extractall(tmp_path / "trace")
    pipeline = rc.open_pipeline(tmp_path / "trace")
    assert write_trace(pipeline) == write_trace(opened(trace()))
    events = tmp_path / "trace" / "events.jsonl"
    events.write_bytes(events.read_bytes()[:-30])
    cut = rc.open_pipeline(tmp_path / "trace")
    assert [item.code for item in cut.diagnostics] == ["PL008"]
    rc.write_trace(cut, tmp_path / "cut.rxt")
    assert len(rc.open_pipeline(tmp_path / "cut.rxt").stages) == 4


def test_a_newer_version_is_refused() -> None:
    newer = json.dumps({"format": "relaxscope-trace", "version": VERSION + 1}).encode()
    assert refusal(changed("trace.json", newer)) == "PL004"
    assert refusal(changed("trace.json", newer.replace(b"relaxscope", b"other"))) == "PL005"
    assert refusal(changed("trace.json", b"[" * 100_000)) == "PL005"
    assert refusal(changed("trace.json", b"{}")) == "PL005"


@pytest.mark.parametrize("name", [item for item in members() if item != "trace.json"])
def test_a_missing_or_exchanged_member_is_refused(name: str) -> None:
    assert refusal(changed(name, None)) == "PL003"
    other = b"nonsense" if name.startswith("texts") else b"\x93NUMPY\x01\x00v\x00"
    assert refusal(changed(name, other)) in ("PL003", "PL005")


def test_an_array_that_is_another_one_is_refused() -> None:
    name = next(item for item in members() if item.startswith("arrays"))
    for array in (np.zeros(3, np.float32), np.zeros((1, 1), np.uint16), np.array(["x"]), np.zeros((1 << 4, 5))):
        buffer = io.BytesIO()
        np.save(buffer, array)
        assert refusal(changed(name, buffer.getvalue())) == "PL003"
    huge = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little")
    huge += b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }".ljust(117) + b"\n"
    assert refusal(changed(name, huge)) == "PL003"


@pytest.mark.parametrize(
    "line",
    [
        '{"event":"after","id":7}',
        '{"event":"before","id":0,"pass":"A"}\n{"event":"before","id":0,"pass":"A"}',
        '{"event":"unknown"}',
        '{"event":"call","run":3,"number":0,"name":"x"}',
        '{"event":"run","run":0,"entry":"m"}\n{"event":"return","run":0,"number":0,"result":{"kind":"scalar"}}',
        '{"event":"run","run":0,"entry":"m"}\n{"event":"run","run":0,"entry":"m"}',
        '{"event":"module","name":3}',
        '{"event":"module","name":"x","text":"../../../etc/passwd"}',
        '{"event":"module","name":"x","constants":[{"kind":"array","array":"a","shape":[-1],"dtype":"evil"}]}',
        "[" * 5000,
        '{"event":"run","run":0,"entry":"m","inputs":[' + '{"kind":"tuple","fields":[' * 300 + "]}" * 300 + "]}",
        "\x00",
        "null",
    ],
)
def test_events_that_make_no_sense_are_refused(line: str) -> None:
    assert refusal(changed("events.jsonl", f"{line}\n\n".encode())) in ("PL003", "PL005")


def read_or_refused(name: str, content: bytes) -> Pipeline | str:
    """Return the pipeline, or the code of the refusal."""
    try:
        return open_given([(name, content)])
    except rc.CompileError as error:
        return error.diagnostics[0].code


@given(st.integers(0, len(trace()) - 1), st.integers(1, 255))
def test_a_trace_with_a_changed_byte_is_the_same_or_refused(at: int, mask: int) -> None:
    content = bytearray(trace())
    content[at] ^= mask
    found = read_or_refused("x.rxt", bytes(content))
    if not isinstance(found, str):
        assert [stage.text for stage in found.stages] == [stage.text for stage in RECORDED.stages]


@given(st.integers(0, len(trace()) - 1))
def test_a_trace_that_was_cut_short_is_refused(length: int) -> None:
    assert refusal(trace()[:length]) in ("PL001", "PL003")


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    for name in ("x.rxt", "log.txt"):
        for bytes_ in (content, b"PK\x03\x04" + content, b"After Running Pass: " + content):
            found = read_or_refused(name, bytes_)
            assert found.startswith("PL") if isinstance(found, str) else found.to_text()
