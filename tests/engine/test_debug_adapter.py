"""The debug adapter, asked over its standard input and output, as an editor asks it."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from relax_core.cli.integration.debugging.adapter import HANDLERS
from tests.code_rules import REPOSITORY
from tests.engine.adapter_client import Editor, Json, Refused

SAMPLES = REPOSITORY / "samples"
LOOP = SAMPLES / "relax/loop.py"
IN_PLACE = SAMPLES / "relax/inplace_update.py"
ZERO_DIVISOR = SAMPLES / "errors/jt_zero_divisor.py"
ENDLESS = SAMPLES / "errors/jt_endless_loop.py"
PAIR = """\
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("m", 3), "float32")) -> R.Tensor(("m", 3), "float32"):
        pair = (x, R.str("left"))
        y = R.negative(R.abs(pair[0]))
        R.print(y, format="y is {}")
        z = R.log(y)
        w = R.add(z, x)
        return w
"""
CALLS = """\
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def half(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = R.multiply(x, R.const(0.5, "float32"))
        return y

    @R.function
    def tenth(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = R.multiply(x, R.const(0.1, "float32"))
        return y

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        a = cls.half(x)
        b = cls.half(a)
        return b
"""
VM030 = (21 * 26 + 12) * 1000 + 30
VM032, VM051, TY002 = VM030 + 2, VM030 + 21, (19 * 26 + 24) * 1000 + 2


def line_of(path: Path, words: str) -> int:
    return next(number for number, line in enumerate(path.read_text().split("\n"), 1) if words in line)


FOLLOWING, CALL, RESULT = (line_of(LOOP, words) for words in ("following =", "r = loop(", "result = loop("))


@pytest.fixture
def editor() -> Iterator[Editor]:
    with Editor() as held:
        yield held


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    path = tmp_path / "pair.py"
    path.write_text(PAIR)
    return path


def outputs(editor: Editor, category: str) -> list[str]:
    """Return what was written so far, and take it."""
    found = [item for item in editor.events if item["event"] == "output" and item["body"]["category"] == category]
    for item in found:
        editor.events.remove(item)
    return [item["body"]["output"] for item in found]


def test_a_run_is_stepped_through_forwards_and_back(editor: Editor) -> None:
    stop = editor.start(LOOP, FOLLOWING)
    assert (stop["reason"], stop["hitBreakpointIds"]) == ("breakpoint", [1])
    assert editor.ask("threads") == {"threads": [{"id": 1, "name": "main"}]}
    assert editor.frames() == [("main_loop", FOLLOWING), ("main", RESULT)]
    assert (editor.value("i"), editor.value("n"), editor.scope("Locals")["i"]["value"]) == ("0", "8", "0")
    assert editor.go("next")["reason"] == "step"
    assert editor.frames()[0] == ("main_loop", FOLLOWING + 1)
    assert editor.value("following") == "1"
    editor.go("next")
    editor.go("stepIn")
    assert len(editor.frames()) == 3
    assert editor.value("i") == "1"
    editor.go("stepBack")
    assert editor.frames() == [("main_loop", CALL), ("main", RESULT)]
    assert editor.go("continue")["reason"] == "breakpoint"
    assert editor.value("i") == "1"
    assert editor.go("reverseContinue")["reason"] == "breakpoint"
    assert editor.value("i") == "0"
    assert editor.set_lines(LOOP) == []
    editor.go("stepOut")
    assert editor.frames() == [("main", RESULT + 1)]
    assert editor.go("reverseContinue")["reason"] == "entry"


def test_a_step_by_instructions_is_shorter_and_one_over_a_call_stops_at_a_breakpoint_in_it(editor: Editor) -> None:
    editor.start(LOOP, CALL, stopOnEntry=True)

    def address() -> str:
        return editor.ask("stackTrace", threadId=1)["stackFrames"][0]["instructionPointerReference"]

    assert address() == "0x0000"
    editor.go("next", granularity="instruction")
    assert address() == "0x0001"
    editor.go("stepBack", granularity="instruction")
    assert address() == "0x0000"
    while editor.frames()[0] != ("main", RESULT):
        editor.go("next")
    assert editor.go("next")["reason"] == "breakpoint"
    assert editor.frames()[0] == ("main_loop", CALL)


def test_conditions_hit_counts_and_logpoints(editor: Editor) -> None:
    points = (
        {"line": FOLLOWING, "condition": "i >= 2", "hitCondition": "% 3"},
        {"line": CALL, "hitCondition": "2"},
        {"line": CALL, "logMessage": "next is {following}, {nothing}"},
        {"line": CALL, "hitCondition": "often"},
        {"line": CALL, "condition": "i >"},
        {"line": CALL, "condition": "i[7] == 1"},
    )
    editor.start(LOOP, stopOnEntry=True)
    shown = editor.set_lines(LOOP, *points)
    assert [item["verified"] for item in shown] == [True, True, True, False, False, True]
    assert ["often" in shown[3]["message"], *(item["message"][:5] for item in shown[4:])] == [True, "VM030", "VM032"]
    editor.go("continue")
    assert (editor.frames()[0][1], editor.value("i")) == (CALL, "1")
    words = "next is {}, <there is no `nothing` in the function that runs>\n"
    assert outputs(editor, "console") == [words.format(1), words.format(2)]
    assert [(editor.go("continue"), editor.frames()[0][1], editor.value("i"))[1:] for _ in range(2)] == [
        (FOLLOWING, "4"),
        (FOLLOWING, "7"),
    ]
    assert outputs(editor, "console") == [words.format(number) for number in range(3, 8)]


def test_breakpoints_at_functions_instructions_and_lines_without_code(editor: Editor) -> None:
    editor.start(LOOP, stopOnEntry=True)
    shown = editor.ask("setFunctionBreakpoints", breakpoints=[{"name": "main_loop"}, {"name": "other"}])["breakpoints"]
    assert [item["verified"] for item in shown] == [True, False]
    assert "no function `other`" in shown[1]["message"]
    assert editor.go("continue")["reason"] == "function breakpoint"
    pointer = editor.ask("stackTrace", threadId=1)["stackFrames"][0]["instructionPointerReference"]
    editor.ask("setFunctionBreakpoints", breakpoints=[])
    editor.ask("setInstructionBreakpoints", breakpoints=[{"instructionReference": pointer, "hitCondition": "> 1"}])
    assert (editor.go("continue")["reason"], editor.value("i")) == ("breakpoint", "1")
    first, beyond = editor.set_lines(LOOP, 2, 1_000)
    assert (first["verified"], first["line"]) == (True, line_of(LOOP, "def main"))
    assert (beyond["verified"], beyond["message"]) == (False, "no code stands here or below")
    (elsewhere,) = editor.set_lines(IN_PLACE, 9)
    assert (elsewhere["verified"], elsewhere["message"]) == (False, f"only {LOOP} is run")
    found = editor.ask("breakpointLocations", source={"path": str(LOOP)}, line=FOLLOWING, endLine=FOLLOWING + 1)
    assert found == {"breakpoints": [{"line": FOLLOWING}, {"line": FOLLOWING + 1}]}


def test_a_data_breakpoint_stops_behind_each_write_also_in_place(editor: Editor) -> None:
    editor.start(IN_PLACE, line_of(IN_PLACE, "a = R.print"))
    scopes = editor.ask("scopes", frameId=1)["scopes"]
    info = editor.ask("dataBreakpointInfo", variablesReference=scopes[0]["variablesReference"], name="y")
    assert info["accessTypes"] == ["write"]
    assert info["dataId"].startswith("main%")
    assert editor.ask("dataBreakpointInfo", frameId=1, name="y") == info
    row = editor.scope("Locals")["y"]
    assert editor.ask("dataBreakpointInfo", variablesReference=row["variablesReference"], name="[0]")["dataId"] is None
    editor.go("reverseContinue")
    editor.set_lines(IN_PLACE)
    wanted = [{"dataId": info["dataId"]}, {"dataId": "main%x"}]
    shown = editor.ask("setDataBreakpoints", breakpoints=wanted)["breakpoints"]
    assert [item["verified"] for item in shown] == [True, False]
    values = list[float]()
    for _ in range(3):
        assert editor.go("continue")["reason"] == "data breakpoint"
        values.append(float(editor.value("y[0, 0]")))
    assert np.diff(values) == pytest.approx([1, 1])
    wanted = [{"dataId": info["dataId"], "condition": f"y[0, 0] > {values[0] + 1.5}"}]
    editor.ask("setDataBreakpoints", breakpoints=wanted)
    editor.go("reverseContinue")
    editor.go("continue")
    assert float(editor.value("y[0, 0]")) == values[2]


def test_an_error_of_the_run_stops_it_at_its_place(editor: Editor) -> None:
    editor.launch(ZERO_DIVISOR)
    editor.ask("configurationDone")
    stop = editor.event("stopped")
    assert (stop["reason"], stop["text"][:6]) == ("exception", "JT011:")
    info = editor.ask("exceptionInfo", threadId=1)
    assert (info["exceptionId"], info["breakMode"]) == ("JT011", "unhandled")
    assert editor.frames() == [("main", line_of(ZERO_DIVISOR, "R.call_tir"))]
    editor.go("stepBack")
    with pytest.raises(Refused, match="not stopped at an error"):
        editor.ask("exceptionInfo", threadId=1)
    editor.ask("setExceptionBreakpoints", filters=[])
    editor.ask("continue", threadId=1)
    assert editor.event("exited") == {"exitCode": 1}
    editor.event("terminated")
    assert outputs(editor, "stderr")[0].startswith("JT011: Division by zero")


def test_the_first_nan_stops_the_run(editor: Editor, pair: Path) -> None:
    editor.launch(pair)
    editor.ask("setExceptionBreakpoints", filters=["error", "nan"])
    editor.ask("configurationDone")
    assert editor.event("stopped")["reason"] == "exception"
    assert editor.ask("exceptionInfo", threadId=1)["exceptionId"] == "NaN"
    assert "nan" in editor.value("z")


def test_values_open_into_rows_fields_and_captures(editor: Editor, pair: Path) -> None:
    editor.start(pair, line_of(pair, "z = "), sizes={"m": 300})
    assert outputs(editor, "stdout")[0].startswith("y is [[-")
    names = editor.scope("Locals")
    assert (names["x"]["type"], names["x"]["indexedVariables"]) == ("(300, 3) f32", 300)
    assert editor.scope("Dimensions")["m"]["value"] == "300"
    rows = editor.parts(names["x"], start=298, count=2)
    assert list(rows) == ["[298]", "[299]"]
    (element,) = editor.parts(rows["[299]"], start=2, count=1).values()
    assert element["evaluateName"] == "x[299, 2]"
    assert editor.value("x[299, 2]") == element["value"]
    whole = editor.parts(names["x"])
    assert (len(whole), whole["…"]["value"]) == (201, "100 more")
    editor.go("next")
    with pytest.raises(Refused, match="of another time"):
        editor.parts(names["x"])


def test_tuples_and_closures_open_as_well(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "kept.py"
    path.write_text(PAIR.replace("return w", "return (pair, w)").replace(' -> R.Tensor(("m", 3), "float32")', ""))
    editor.start(path, stopOnEntry=True, stopAtEnd=True, passes="")
    while "pair" not in editor.scope("Locals"):
        editor.go("next")
    fields = editor.parts(editor.scope("Locals")["pair"])
    assert (list(fields), fields[".1"]["value"]) == ([".0", ".1"], "'left'")
    assert fields[".0"]["evaluateName"] == "pair[0]"
    assert editor.go("continue")["description"].startswith("Time ")
    ended = editor.ask("stackTrace", threadId=1)["stackFrames"][0]
    assert (ended["presentationHint"], "returned" in ended["name"]) == ("label", True)
    assert editor.ask("scopes", frameId=ended["id"]) == {"scopes": []}
    with pytest.raises(Refused, match="has ended"):
        editor.value("w")


def test_a_closure_opens_into_what_it_captured(editor: Editor) -> None:
    editor.start(LOOP, RESULT)
    closure = editor.scope("Locals")["loop"]
    captured = editor.parts(closure)
    assert (list(captured), captured["n"]["value"]) == (["n", "x"], "8")
    reference = closure["variablesReference"]
    with pytest.raises(Refused, match="cannot be set"):
        editor.ask("setVariable", variablesReference=reference, name="n", value="2")


def test_what_is_evaluated_depends_on_frame_and_context(editor: Editor) -> None:
    editor.start(LOOP, {"line": FOLLOWING, "condition": "i == 2"})
    ids = [item["id"] for item in editor.ask("stackTrace", threadId=1)["stackFrames"]]
    assert [editor.value("i", frameId=number) for number in ids[:3]] == ["2", "1", "0"]
    assert editor.ask("stackTrace", threadId=1, startFrame=1, levels=1)["stackFrames"][0]["id"] == ids[1]
    assert editor.value("x").startswith("(2, 2) f32 [[")
    assert editor.value("x", context="repl").count("\n") == 2
    assert editor.value("x.shape[0] + 1 == 3", context="watch") == "True"
    refused = list[tuple[int, bool]]()
    for expression, context in (("i +", "repl"), ("r", "hover"), ("none", "watch")):
        with pytest.raises(Refused) as error:
            editor.value(expression, context=context)
        refused.append((error.value.code, error.value.is_shown))
    assert refused == [(VM030, True), (VM032, False), (VM032, False)]


def test_a_value_is_set_and_the_run_goes_on_with_it(editor: Editor) -> None:
    editor.start(LOOP, {"line": FOLLOWING, "condition": "i == 2"}, stopAtEnd=True)

    def set_local(name: str, value: str) -> Json:
        scope = editor.ask("scopes", frameId=editor.ask("stackTrace", threadId=1)["stackFrames"][0]["id"])["scopes"][0]
        return editor.ask("setVariable", variablesReference=scope["variablesReference"], name=name, value=value)

    assert set_local("i", "7")["value"] == "7"
    assert editor.event("invalidated") == {"areas": ["all"]}
    assert (editor.value("i"), len(editor.frames())) == ("7", 4)
    row = editor.parts(editor.scope("Locals")["total"])["[1]"]
    found = editor.ask("setVariable", variablesReference=row["variablesReference"], name="[0]", value="nan")
    assert (found["value"], editor.value("total[1, 0]")) == ("nan", "nan")
    assert editor.ask("setExpression", expression="total[0, 0]", value="100")["value"] == "100.0"
    assert editor.value("total[0, 1] = 0.5", context="repl") == "0.5"
    with pytest.raises(Refused, match="holds float32 numbers") as error:
        set_local("total", "'text'")
    assert error.value.code == VM051
    with pytest.raises(Refused, match="cannot be set"):
        set_local("nothing", "1")
    editor.go("stepOut")
    assert editor.value("following", frameId=1 + 2) == "2"
    # A change before others makes a run without them.
    editor.set_lines(LOOP, {"line": FOLLOWING, "condition": "i == 1"})
    assert editor.go("reverseContinue")["reason"] == "breakpoint"
    set_local("i", "6")
    editor.set_lines(LOOP, FOLLOWING)
    editor.go("continue")
    assert (editor.value("i"), "nan" in editor.value("total", context="repl")) == ("7", False)


@pytest.mark.parametrize("is_launched", [True, False], ids=["at the launch", "at the prompt"])
def test_a_call_is_skipped_and_a_function_replaced(editor: Editor, tmp_path: Path, *, is_launched: bool) -> None:
    path = tmp_path / "calls.py"
    path.write_text(CALLS)
    first, second, last = (line_of(path, words) for words in ("a = ", "b = ", "return b"))
    if is_launched:
        editor.start(path, last, skip=[f"{first}: ones()"], replace=["half by tenth"])
        said = outputs(editor, "console")
    else:
        editor.start(path, first)
        editor.value("skip: ones()", context="repl")
        assert editor.event("invalidated") == {"areas": ["all"]}
        assert editor.frames() == [("main", first)]
        with pytest.raises(Refused, match="`skip`, or `replace f by g`"):
            editor.value("replace half with tenth", context="repl")
        editor.go("next")
        assert editor.frames() == [("main", second)]
        said = editor.value("replace half by tenth", context="repl").split("\n")
        editor.go("next")
    skipped = "`half` was not called at time N: `ones()`, as it was given, is its result"
    replaced = "`half` was replaced by `tenth` from time N on: 1 call"
    assert sorted(re.sub(r"time \d+", "time N", words.strip()) for words in said) == [skipped, replaced]
    assert editor.value("a").endswith("[1.00 1.00 1.00 1.00]")
    assert float(editor.value("b[3]")) == pytest.approx(0.1)


def test_a_run_ends_with_what_it_printed_and_its_status(editor: Editor, pair: Path) -> None:
    editor.launch(pair, noDebug=True)
    editor.set_lines(pair, line_of(pair, "z = "))
    editor.ask("configurationDone")
    assert editor.event("exited") == {"exitCode": 0}
    editor.event("terminated")
    assert outputs(editor, "stdout")[0].startswith("y is")
    assert outputs(editor, "console")[0].startswith("`main` returned")
    editor.ask("terminate")
    editor.event("terminated")
    assert editor.ask("disconnect") is None


def test_a_restart_reads_the_program_again(editor: Editor, pair: Path) -> None:
    line = line_of(pair, "w = ")
    editor.start(pair, line)
    assert editor.event("process")["startMethod"] == "launch"
    pair.write_text(PAIR.replace("R.log(y)", "R.exp(y)"))
    editor.ask("restart")
    assert editor.event("stopped")["reason"] == "breakpoint"
    assert "nan" not in editor.value("z")
    pair.write_text(PAIR.replace("        w = R.add(z, x)\n        return w\n", "        return z\n"))
    editor.ask("restart", arguments={"program": str(pair), "stopOnEntry": True})
    assert editor.event("stopped")["reason"] == "entry"


def test_the_bytecode_is_shown_around_an_instruction(editor: Editor) -> None:
    editor.start(LOOP, stopOnEntry=True)
    asked = {"memoryReference": "0x0000", "instructionOffset": -2, "instructionCount": 8}
    rows = editor.ask("disassemble", **asked)["instructions"]
    assert [item.get("presentationHint") for item in rows] == ["invalid"] * 2 + [None] * 6
    assert [item["address"] for item in rows[:2]] == ["-2", "-1"]
    assert (rows[2]["address"], rows[2]["symbol"], rows[2]["line"]) == ("0x0000", "main", line_of(LOOP, "def main"))
    assert rows[2]["instruction"].startswith("call")
    with pytest.raises(Refused, match="no instruction"):
        editor.ask("disassemble", memoryReference="here", instructionCount=1)


def test_a_program_in_no_file_of_its_own_is_asked_for(editor: Editor, tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"{number}_stage.py").write_text(LOOP.read_text())
    editor.launch(f"{tmp_path}@2", stopOnEntry=True)
    editor.ask("configurationDone")
    source = editor.ask("stackTrace", threadId=1)["stackFrames"][0]["source"]
    assert source["sourceReference"] > 0
    text = editor.ask("source", sourceReference=source["sourceReference"], source=source)
    assert "def loop" in text["content"]
    shown = editor.ask("setBreakpoints", source=source, breakpoints=[{"line": FOLLOWING}])["breakpoints"]
    assert shown[0]["verified"]


def test_inputs_and_sizes_are_those_of_the_configuration(editor: Editor, pair: Path, tmp_path: Path) -> None:
    archive = tmp_path / "in.npz"
    np.savez(archive, in_0=np.full((2, 3), 7, np.float32))
    editor.start(pair, stopOnEntry=True, inputs=str(archive))
    assert (editor.value("x[1, 2]"), editor.value("x.shape[0]")) == ("7.0", "2")


def test_a_program_with_errors_is_not_launched(pair: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(PAIR.replace("R.add(z, x)", "R.add(z)"))
    refused = list[str]()
    for options in (
        {"program": str(tmp_path / "none.py")},
        {"program": str(wrong)},
        {"program": str(pair), "inputs": "in.npz", "sizes": {"m": 2}},
        {"program": 7},
    ):
        with Editor() as editor:
            with pytest.raises(Refused) as error:
                editor.ask("launch", **options)
            refused.append(str(error.value))
            with pytest.raises(Refused, match="no program is launched"):
                editor.frames()
    assert "cannot read" in refused[0]
    assert "wrong.py:13:" in refused[1]
    assert "do not go together" in refused[2]
    assert "`launch` are not understood" in refused[3]


def test_a_long_recording_is_cancelled(editor: Editor) -> None:
    editor.ask("initialize", adapterID="relaxscope", supportsProgressReporting=True)
    launched = editor.send("launch", program=str(ENDLESS))
    begun = editor.event("progressStart")
    assert (begun["title"], begun["cancellable"], begun["requestId"]) == ("Recording the run", True, launched)
    waiting = editor.send("threads")
    while "Running" not in editor.event("progressUpdate")["message"]:
        pass
    editor.ask("cancel", requestId=waiting)
    editor.ask("cancel", progressId=begun["progressId"])
    for number in (launched, waiting):
        with pytest.raises(Refused) as error:
            editor.answer(number)
        assert (error.value.message, error.value.is_shown) == ("cancelled", False)
    editor.event("progressEnd")


@pytest.mark.parametrize("is_said", [True, False], ids=["disconnected", "gone"])
def test_an_editor_may_leave_while_a_run_is_recorded(*, is_said: bool) -> None:
    with Editor() as editor:
        editor.ask("initialize", adapterID="relaxscope", supportsProgressReporting=True)
        launched = editor.send("launch", program=str(ENDLESS))
        while "Running" not in editor.event("progressUpdate")["message"]:
            pass
        if is_said:
            editor.ask("disconnect")
            with pytest.raises(Refused, match="Stopped as asked"):
                editor.answer(launched)


def test_a_recorded_run_is_looked_at_but_not_changed(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "run.rxt"
    command = (sys.executable, "-m", "relax_core", "run", str(LOOP), "--trace", str(path))
    subprocess.run(command, cwd=REPOSITORY, capture_output=True, check=True, timeout=120)
    editor.launch(path, stopOnEntry=True)
    editor.ask("configurationDone")
    editor.event("stopped")
    editor.ask("setFunctionBreakpoints", breakpoints=[{"name": "main_loop", "condition": "i == 3"}])
    editor.go("continue")
    assert editor.value("i") == "3"
    with pytest.raises(Refused, match="this run comes from a file"):
        editor.value("i = 4", context="repl")


def test_a_relay_program_is_stepped_through(editor: Editor) -> None:
    path = SAMPLES / "relay/closures.relay"
    editor.start(path, stopOnEntry=True)
    start = editor.frames()
    editor.go("next")
    assert editor.frames()[0][1] > start[0][1] > 0
    editor.go("stepBack")
    assert editor.frames() == start


def test_a_pause_before_the_run_begins_stops_it_at_its_start(editor: Editor) -> None:
    editor.launch(LOOP)
    editor.ask("pause", threadId=1)
    editor.ask("configurationDone")
    assert editor.event("stopped")["reason"] == "entry"
    assert editor.go("pause")["reason"] == "pause"


def test_an_editor_that_counts_from_zero_is_understood(editor: Editor) -> None:
    editor.ask("initialize", adapterID="relaxscope", linesStartAt1=False, columnsStartAt1=False)
    editor.ask("launch", program=str(LOOP))
    (shown,) = editor.set_lines(LOOP, FOLLOWING - 1)
    assert shown["line"] == FOLLOWING - 1
    editor.ask("configurationDone")
    assert editor.event("stopped")["reason"] == "breakpoint"
    frame = editor.ask("stackTrace", threadId=1)["stackFrames"][0]
    assert (frame["line"], frame["column"]) == (FOLLOWING - 1, 0)


EVERY: tuple[tuple[str, Json], ...] = (
    ("setFunctionBreakpoints", {"breakpoints": []}),
    ("setInstructionBreakpoints", {"breakpoints": []}),
    ("setExceptionBreakpoints", {"filters": []}),
    ("breakpointLocations", {"source": {"path": str(ZERO_DIVISOR)}, "line": 1}),
    ("configurationDone", {}),
    ("threads", {}),
    ("pause", {"threadId": 1}),
    ("scopes", {"frameId": 1}),
    ("variables", {"variablesReference": 1}),
    ("evaluate", {"expression": "x"}),
    ("dataBreakpointInfo", {"name": "x", "frameId": 1}),
    ("setDataBreakpoints", {"breakpoints": []}),
    ("setExpression", {"expression": "x[0]", "value": "5"}),
    ("setVariable", {"variablesReference": 1, "name": "x", "value": "x * 2"}),
    ("stepIn", {"threadId": 1}),
    ("stepBack", {"threadId": 1}),
    ("next", {"threadId": 1}),
    ("reverseContinue", {"threadId": 1}),
    ("setExceptionBreakpoints", {"filters": ["error"]}),
    ("stepOut", {"threadId": 1}),
    ("exceptionInfo", {"threadId": 1}),
    ("stackTrace", {"threadId": 1}),
    ("disassemble", {"memoryReference": "0x0", "instructionCount": 1}),
    ("source", {"sourceReference": 1}),
    ("cancel", {"requestId": 1}),
    ("continue", {"threadId": 1}),
    ("restart", {}),
    ("terminate", {}),
    ("disconnect", {}),
)


def test_every_request_is_answered_as_the_protocol_has_it(editor: Editor) -> None:
    editor.launch(ZERO_DIVISOR, stopOnEntry=True)
    editor.set_lines(ZERO_DIVISOR)
    for command, arguments in EVERY:
        editor.ask(command, **arguments)
    assert editor.answered == {*HANDLERS, "cancel"}


def test_what_is_no_request_is_refused(editor: Editor) -> None:
    with pytest.raises(Refused, match="`attach` is not supported"):
        editor.ask("attach")


@pytest.mark.node
def test_the_client_that_tests_the_adapters_of_vs_code_holds_a_session() -> None:
    command = ("node", "tests/engine/debug_client.mjs", sys.executable, str(LOOP), str(FOLLOWING))
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=120)
    assert (done.stdout, done.returncode) == ("held\n", 0), done.stderr


def test_what_is_not_the_protocol_ends_the_adapter() -> None:
    command = (sys.executable, "-m", "relax_core", "dap")
    for content in (b"hello\r\n\r\n", b"Content-Length: 2\r\n\r\n{}"):
        done = subprocess.run(command, input=content, capture_output=True, cwd=REPOSITORY, check=False, timeout=120)
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.startswith(b"error: ")
