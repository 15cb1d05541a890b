"""Requests about a recorded pipeline that is sent as a whole: stages, faults, texts, where a name occurs."""

import io
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from relax_core.diagnostics import CompileError
from relax_core.engine.debug.replies import Bisection
from relax_core.engine.debug.requests import (
    AppearancesOf,
    BisectRecordedOf,
    Parcel,
    RecordedFaultsOf,
    RecordedFilesOf,
    RecordedOf,
    RecordedTextsOf,
)
from relax_core.engine.pipelines import parcel
from relax_core.engine.pipelines.parcel import parcel_at, parcel_of
from relax_core.engine.protocol import (
    Failure,
    Program,
    Request,
)
from relax_core.engine.samples import SAMPLES, list_recordings
from relax_core.engine.session import Session
from relax_core.present.models import Stage
from tests.engine.pipelines.stage_texts import ADD, EMPTY, SCALED, TWICE, UNREADABLE, WRONG, after, dump

ILL = WRONG.replace("return y", "return z")
LOG = after("First", ADD) + after("Same", ADD) + after("Second", TWICE) + after("Third", ILL) + after("Fourth", ILL)


def refused(request: Request[Any]) -> Failure:
    reply = Session().request(request)
    assert isinstance(reply, Failure)
    return reply


def log(text: str = LOG) -> Parcel:
    return parcel_of((("build.log", text.encode()),))


def stage_rows(given: Parcel) -> tuple[Stage, ...]:
    reply = Session().request(RecordedOf(given))
    assert not isinstance(reply, Failure), reply
    return reply.pipeline.stages


def test_a_log_is_a_list_of_stages_in_which_equal_ones_are_told() -> None:
    rows = stage_rows(log())
    assert [(row.name, row.is_changed, row.label) for row in rows] == [
        ("First", False, "000"), ("Same", False, "001"), ("Second", True, "002"), ("Third", True, "003"),
        ("Fourth", False, "004"),
    ]  # fmt: skip
    assert (rows[2].added_count, rows[2].removed_count) == (1, 1)


def test_files_are_packed_to_what_a_zip_of_them_is() -> None:
    files = (("001_Second.py", TWICE.encode()), ("000_First.py", ADD.encode()))
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as made:
        for name, content in files:
            made.writestr(name, content)
    assert [row.name for row in stage_rows(parcel_of(files))] == ["First", "Second"]
    assert stage_rows(parcel_of((("build.zip", target.getvalue()),))) == stage_rows(parcel_of(files))


@pytest.mark.parametrize("name", ["\0", "../../x", "a" * 70_000, "\ud800", "/", "<b>"])
def test_any_name_of_a_file_can_be_packed(name: str) -> None:
    assert len(stage_rows(parcel_of(((name, LOG.encode()),)))) == 5
    assert len(stage_rows(parcel_of(((f"{name}.py", ADD.encode()), (f"{name}.py", TWICE.encode()))))) == 2


def test_a_folder_is_packed_with_its_name(tmp_path: Path) -> None:
    folder = dump(tmp_path / "ir", _000_First=ADD, _002_Second=TWICE)
    made = parcel_at(str(folder))
    assert made.name == "ir"
    assert [row.label for row in stage_rows(made)] == ["000", "002"]
    with pytest.raises(CompileError, match="cannot read"):
        parcel_at(str(folder / "missing"))
    (folder / "empty").mkdir()
    with pytest.raises(CompileError, match="is empty"):
        parcel_at(str(folder / "empty"))


def test_what_is_too_large_is_refused_before_it_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parcel, "PARCEL_LIMIT_BYTES", 100)
    with pytest.raises(CompileError) as caught:
        log()
    assert caught.value.diagnostics[0].code == "PL002"
    monkeypatch.setattr(parcel, "TEXT_LIMIT_BYTES", 10)
    with pytest.raises(CompileError, match="too large"):
        log()
    with pytest.raises(CompileError, match="no file"):
        parcel_of(())


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.zip", b"PK\x03\x04 and nothing more", "PL003"),
        ("a.rxt", b"{}", "PL003"),
        ("a.log", b"", "PL001"),
        ("a.bin", b"\x7fELF", "PL001"),
    ],
)
def test_what_is_no_recording_is_a_diagnostic(name: str, content: bytes, code: str) -> None:
    failure = refused(RecordedOf(parcel_of(((name, content),))))
    assert [item.code for item in failure.problems] == [code]


def test_forms_with_errors_are_told_in_order() -> None:
    faults = Session().request(RecordedFaultsOf(log()))
    assert not isinstance(faults, Failure)
    assert [(item.position, item.problems[0].code) for item in faults.stages] == [(3, "RS001")]
    assert faults.checked == 3
    unreadable = Session().request(RecordedFaultsOf(log(after("First", ADD) + after("Cut", UNREADABLE))))
    assert not isinstance(unreadable, Failure)
    assert [item.position for item in unreadable.stages] == [1]


def test_any_two_texts_stand_side_by_side_with_lines_to_select() -> None:
    given = log()
    texts = Session().request(RecordedTextsOf(given, 2, 0))
    assert not isinstance(texts, Failure)
    assert (texts.diff.before_title, texts.diff.after_title) == ("A · 002 Second", "B · 000 First")
    changed = next(row for row in texts.diff.rows if row.after is not None and row.after.mark == "changed")
    assert changed.after is not None
    assert changed.after.node == f"b/{changed.after.number}"
    files = Session().request(RecordedFilesOf(given, 2, 0))
    assert not isinstance(files, Failure)
    assert files.text.strip() == ADD.strip()
    assert files.patch.startswith("--- a/")
    for left, right in ((0, 5), (-1, 0)):
        for request in (RecordedTextsOf(given, left, right), RecordedFilesOf(given, left, right)):
            assert [item.code for item in refused(request).problems] == ["PL013"]


@pytest.mark.parametrize(
    ("text", "rows", "words"),
    [
        ("multiply", [(2, "appears", 1)], "it is there at the end"),
        ("R.add", [(0, "appears", 1), (2, "goes", 0)], "it is gone from 002 Second on"),
        ("mul", [], "in no form"),
        ("R.multiply(x, R.const(3.0", [(3, "appears", 1)], "in 1 of 3 forms"),
        ("", [], "in no form"),
        ("(", [(0, "appears", 10), (2, "more often", 11)], "in 3 of 3 forms"),
    ],
)
def test_a_name_is_found_where_it_comes_and_goes(text: str, rows: list[tuple[int, str, int]], words: str) -> None:
    found = Session().request(AppearancesOf(log(), text))
    assert not isinstance(found, Failure)
    assert [(row.position, row.change, row.count) for row in found.rows] == rows
    assert words in found.conclusion


def test_a_stage_that_is_no_form_is_named_so() -> None:
    rows = stage_rows(log(after("First", ADD) + after("Inner", EMPTY) + after("Second", TWICE)))
    assert [(row.change, row.is_changed) for row in rows] == [("", False), ("sub-module", False), ("", True)]


def test_constants_that_are_missing_can_be_given() -> None:
    given = log(after("First", SCALED) + after("Second", SCALED.replace("y:", "z:").replace("(y)", "(z)")))
    reply = Session().request(RecordedOf(given))
    assert not isinstance(reply, Failure)
    assert len(reply.missing) == 1
    target = io.BytesIO()
    np.savez(target, const_0=np.float32(2.0))
    full = msgspec.structs.replace(given, constants=target.getvalue())
    reply = Session().request(RecordedOf(full))
    assert not isinstance(reply, Failure)
    assert reply.missing == ()
    assert refused(RecordedOf(msgspec.structs.replace(given, constants=b"no archive"))).problems


@pytest.mark.parametrize(("name", "culprit"), [("head", ""), ("head_wrong", "001_ScaleEarly.py")])
def test_the_samples_show_what_they_say(name: str, culprit: str) -> None:
    path = SAMPLES / "recordings" / f"{name}.rxt"
    assert f"recordings/{name}.rxt" in [sample.path for sample in list_recordings()]
    given = parcel_at(str(path))
    assert len(given.content) < 100_000
    found = Session().request(BisectRecordedOf(given.content, Program("")))
    assert isinstance(found, Bisection), found
    assert [found.stages[at].name for at in found.suspects] == ([culprit] if culprit else [])
    assert found.verdict == ("different" if culprit else "same")
