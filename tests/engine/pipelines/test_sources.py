"""What holds stages is opened as a pipeline: folders, logs, zips, files; order, names, nesting and what is missing."""

import os
import zipfile
from pathlib import Path

import pytest

import relax_core as rc
from relax_core.engine.pipelines.entries import Room, given_entry, zip_entries
from relax_core.engine.pipelines.pipeline import Pipeline
from relax_core.engine.pipelines.recognize import is_log, is_pipeline
from relax_core.engine.pipelines.sources import open_given
from tests.engine.pipelines.stage_texts import ADD, EMPTY, FOLDED, TWICE, UNREADABLE, WRONG, after, before, dump

GOLDEN = Path(__file__).parents[2] / "golden" / "pipelines" / "print_all.txt"


def names(pipeline: Pipeline) -> list[str]:
    return [f"{stage.number} {stage.pass_name}" for stage in pipeline.stages]


def code(files: list[tuple[str, bytes]]) -> str:
    with pytest.raises(rc.CompileError) as caught:
        open_given(files)
    return caught.value.diagnostics[0].code


def log(text: str) -> Pipeline:
    return open_given([("log.txt", text.encode())])


def test_dumps_are_ordered_by_number_and_may_have_holes(tmp_path: Path) -> None:
    folder = dump(tmp_path, _1000_Last=WRONG, _999_tirx__B=TWICE, _002__pipeline=ADD, _000_A=ADD, notes="none")
    pipeline = rc.open_pipeline(folder)
    assert names(pipeline) == ["0 A", "2 _pipeline", "999 tirx__B", "1000 Last"]
    assert [stage.number for stage in pipeline.forms()] == [0, 999, 1000]
    assert [item.code for item in pipeline.diagnostics] == ["PL008"]
    assert pipeline.stages[0].file == "000_A.py"
    assert rc.structural_equal(pipeline.module(2), rc.parse(ADD))


def test_a_stage_that_does_not_parse_is_kept_with_its_errors(tmp_path: Path) -> None:
    pipeline = rc.open_pipeline(dump(tmp_path, _000_A=ADD, _001_B=UNREADABLE, _002_C=ADD))
    assert [stage.number for stage in pipeline.forms()] == [0, 1, 2]
    assert {item.code for item in pipeline.parsed(pipeline.stage(1)).diagnostics} == {"PA001"}
    with pytest.raises(rc.CompileError):
        pipeline.module(1)


def test_a_helpers_module_is_no_form_of_the_program() -> None:
    texts = (("A", ADD), ("NormalizeGlobalVar", EMPTY), ("tirx.BindTarget", FOLDED), ("FoldConstant", TWICE))
    pipeline = log("".join(after(*item) for item in texts))
    assert [stage.pass_name for stage in pipeline.forms()] == ["A", "FoldConstant"]
    alone = log(after("tirx.BindTarget", FOLDED))
    assert len(alone.forms()) == 1, "a lone prim func of that name is a program"


def test_the_log_that_tvm_prints_gives_nesting_and_the_pass_that_did_not_return() -> None:
    pipeline = rc.open_pipeline(GOLDEN)
    depths = {stage.pass_name: stage.depth for stage in pipeline.stages}
    assert depths["LegalizeOps"] == 2
    assert depths["NormalizeGlobalVar"] == 3
    assert [stage.pass_name for stage in pipeline.forms()] == ["(input)", "LegalizeOps"]
    unreturned = [stage.pass_name for stage in pipeline.stages if stage.text is None]
    assert unreturned == ["RewriteDataflowReshape", "sequential", "_pipeline"]
    assert not any(
        item.severity == "error" for stage in pipeline.forms() for item in pipeline.parsed(stage).diagnostics
    )


def test_after_alone_before_alone_and_both() -> None:
    both = before("Outer", ADD) + before("In", ADD) + after("In", TWICE) + after("Outer", TWICE)
    assert names(log(both)) == ["0 (input)", "1 In", "2 Outer"]
    assert [stage.depth for stage in log(both).stages] == [0, 1, 0]
    alone = log(before("A", ADD) + before("B", TWICE))
    assert names(alone) == ["0 (input)", "1 A"]
    assert [item.code for item in alone.diagnostics] == ["PL008"]
    assert names(log(after("A", ADD) + after("B", TWICE))) == ["0 A", "1 B"]
    changed = before("A", ADD) + after("A", ADD) + before("B", WRONG) + after("B", WRONG)
    assert names(log(changed)) == ["0 (input)", "1 A", "2 (before B)", "3 B"]


def test_what_does_not_belong_to_a_module_is_left_out() -> None:
    noise = "[12:00:01] /tvm/src/x.cc:12: Warning: something\n"
    ended = "built in 3 s\nTraceback (most recent call last):\n  File 'x'\nValueError: no such thing\n"
    text = "loading\n" + before("A", ADD) + after("A", noise + ADD) + before("B", ADD) + noise + ended
    pipeline = log("\x1b[1m\x1b[0m" + text.replace("\n", "\r\n"))
    assert [stage.text for stage in pipeline.stages[:2]] == [ADD, ADD]
    assert pipeline.stages[2].error == "it raised ValueError: no such thing"
    assert "6 lines" in pipeline.diagnostics[0].message


def test_the_words_of_older_releases_are_read() -> None:
    line = "After Running Pass: The meta data of the pass - pass name: FuseOps, opt_level: 0, required passes: []\n"
    assert names(log(line + ADD)) == ["0 FuseOps"]
    assert names(log("After Running Pass: \n" + ADD)) == ["0 a pass without a name"]


def test_a_log_in_utf_16_is_read() -> None:
    pipeline = open_given([("log.txt", after("A", ADD).encode("utf-16"))])
    assert names(pipeline) == ["0 A"]


def test_a_zip_holds_a_folder_or_a_log(tmp_path: Path) -> None:
    path = tmp_path / "dumps.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("run/000_A.py", ADD)
        archive.writestr("run/001_B.py", TWICE)
        archive.writestr("other/000_X.py", WRONG)
        archive.writestr("__MACOSX/run/._000_A.py", b"\0")
    assert names(rc.open_pipeline(path)) == ["0 A", "1 B"]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("out.log", after("A", ADD))
        archive.writestr("README.txt", "nothing")
    assert names(rc.open_pipeline(path)) == ["0 A"]


def test_files_are_taken_in_the_given_order_and_a_folder_by_name(tmp_path: Path) -> None:
    for name in ("step10.py", "step9.py"):
        (tmp_path / name).write_text(ADD)
    assert names(rc.open_pipeline([tmp_path / "step10.py", tmp_path / "step9.py"])) == ["0 step10", "1 step9"]
    assert names(rc.open_pipeline(tmp_path)) == ["0 step9", "1 step10"]
    assert names(open_given([("b.py", ADD.encode()), ("a.py", ADD.encode())])) == ["0 a", "1 b"]
    assert names(rc.open_pipeline(tmp_path / "step9.py")) == ["0 step9"]


def test_two_recordings_in_one_folder_are_said(tmp_path: Path) -> None:
    pipeline = rc.open_pipeline(dump(tmp_path, _000_A=ADD, _000_B=TWICE, _001_C=ADD))
    assert names(pipeline) == ["0 A", "1 B", "2 C"]
    assert pipeline.diagnostics[0].severity == "warning"


def bomb(size: int) -> bytes:
    import io

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("000_A.py", "w") as file:
        for _ in range(size >> 20):
            file.write(bytes(1 << 20))
    return buffer.getvalue()


def test_hostile_sources_are_refused_with_a_code(tmp_path: Path) -> None:
    assert code([("empty.txt", b" \n")]) == "PL001"
    assert code([("x.zip", b"PK")]) == "PL003"
    assert code([("bomb.zip", bomb(300 << 20))]) == "PL002"
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("000_A.py", ADD * 100)
    content = (tmp_path / "a.zip").read_bytes()
    for cut in range(4, len(content), 37):
        assert code([("a.zip", content[:cut])]) == "PL003"
    damaged = bytearray(content)
    damaged[60] ^= 0xFF
    assert code([("a.zip", bytes(damaged))]) == "PL003"
    many = content[:-22] + content[-22:-10] + (100 << 20).to_bytes(4, "little") + content[-6:]
    assert code([("a.zip", many)]) in ("PL002", "PL003")
    for path in ("/dev/zero", "/dev/null", str(tmp_path / "none"), "a\0b", str(tmp_path / "empty")):
        (tmp_path / "empty").mkdir(exist_ok=True)
        with pytest.raises(rc.CompileError) as caught:
            rc.open_pipeline(path)
        assert caught.value.diagnostics[0].code == "PL001", path
        assert not is_pipeline(path) or path.endswith("empty")
    os.mkfifo(tmp_path / "empty" / "000_A.py")
    with pytest.raises(rc.CompileError):
        rc.open_pipeline(tmp_path / "empty")


def test_what_is_read_is_bounded_over_all_files() -> None:
    room = Room(text_bytes=10)
    assert room.text(given_entry("a", b"123456")) == "123456"
    with pytest.raises(rc.CompileError) as caught:
        room.text(given_entry("b", b"123456"))
    assert caught.value.diagnostics[0].code == "PL002"


def test_a_name_of_a_member_is_shown_and_never_used_as_a_path(tmp_path: Path) -> None:
    path = tmp_path / "evil.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../000_A\u202e<b>.py", ADD)
    pipeline = open_given([("evil.zip", path.read_bytes())])
    assert pipeline.stages[0].name == "000_A__b_.py"
    assert zip_entries("evil.zip", path.read_bytes())


def test_a_log_is_told_from_a_program() -> None:
    assert not is_log(ADD)
    assert not is_log('x = "After Running Pass:"')
    assert is_log("noise\nAfter Running Pass: x\n")


def test_there_is_no_stage_of_another_number() -> None:
    with pytest.raises(rc.CompileError) as caught:
        log(after("A", ADD)).module(1)
    assert caught.value.diagnostics[0].code == "PL013"
    pipeline = log(before("A", ADD) + after("A", ADD) + before("B", ADD))
    with pytest.raises(rc.CompileError) as caught:
        pipeline.module(2)
    assert caught.value.diagnostics[0].code == "PL009"


def test_very_many_stages_are_refused_or_listed_in_time() -> None:
    many = "".join(after(f"P{number}", EMPTY) for number in range(20_001))
    assert code([("log.txt", many.encode())]) == "PL002"
    folded = "".join(after(f"P{number}", FOLDED) for number in range(5_000))
    assert len(log(folded).forms()) == 1
    assert log(folded).to_text().endswith("1 different form of the program")


def test_a_file_of_another_tool_does_not_make_a_folder_a_trace(tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_text('{"traceEvents": []}')
    assert names(rc.open_pipeline(dump(tmp_path, _000_A=ADD))) == ["0 A"]
