"""The Devices page's models: marks, chains, copies and visits, through the engine's session and the command line."""

import json
from pathlib import Path

import msgspec
import pytest

from relax_core.cli import main
from relax_core.engine.protocol import AnyRequest, DevicesOf, Failure, GraphOf, Program, WhyDeviceOf
from relax_core.engine.request import reply_type
from relax_core.engine.session import Session
from relax_core.present.device_models import DeviceOptions, DevicesView

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
REPORTED = DeviceOptions("cuda", as_in="reported")


def program(name: str) -> Program:
    return Program((SAMPLES / f"{name}.relay").read_text(encoding="utf-8"), f"{name}.relay")


def view(name: str, options: DeviceOptions) -> DevicesView:
    found = Session().request(DevicesOf(program(name), options))
    assert isinstance(found, DevicesView), found
    again = msgspec.json.decode(msgspec.json.encode(found), type=reply_type(DevicesOf(program(name))))
    assert again == found
    return found


def test_every_node_of_the_graph_has_a_mark() -> None:
    found = view("relay/devices", DeviceOptions())
    devices = {item.node: item.device for item in found.marks}
    graph = Session().request(GraphOf(program("relay/devices"), 0, "main"))
    assert not isinstance(graph, Failure)
    shown = [item.id for item in graph.nodes]
    assert shown
    assert {devices.get(item, "") for item in shown} <= {"cpu(0)", "cuda(0)", ""}
    assert set(devices.values()) == {"cpu(0)", "cuda(0)"}


def test_a_function_that_was_not_visited_is_grey() -> None:
    found = view("relay/tensor_array", REPORTED)
    grey = {item.node.split("/")[1] for item in found.marks if not item.device}
    assert grey == {"tensor_expand_dims_float32_2_4"}
    assert [item.code for item in found.problems] == ["DV002"]
    hidden = found.report.function("tensor_expand_dims_float32_2_4")
    assert hidden is not None
    hit = found.report.visits[hidden.hidden_at]
    assert (hit.kind, hit.function, hit.passed, hit.line) == ("memo hit", "map", (hidden.name,), 27)
    assert found.pipeline == "PlanDevices(default='cuda', as_in='reported')"


def test_the_debug_print_is_that_of_the_thread() -> None:
    text = view("relay/context_analysis_log", DeviceOptions()).code.text
    assert "  }<cpu(0)>;\n  %x45<cpu(0)>\n}" in text
    assert "  }<cpu(0)>;\n  %x48<cpu(0)>\n}" in text


def test_a_chain_ends_at_what_decides() -> None:
    found = view("relay/devices", DeviceOptions())
    rows = found.report.functions[0].rows
    for row in rows:
        why = Session().request(WhyDeviceOf(program("relay/devices"), row.node))
        assert not isinstance(why, Failure)
        assert why.device == row.device
        assert why.why[-1].words == row.why[-1].words
        assert why.why[-1].words == f"annotated with {row.device}"
        assert len(why.why) == row.link_count
        assert why.why[-1].node in why.path


def test_a_conflict_is_a_part_of_the_view() -> None:
    found = view("errors/dv_two_devices", DeviceOptions("cuda"))
    assert len(found.report.conflicts) == 1
    assert [item.code for item in found.problems] == ["DV001"]
    assert view("errors/dv_two_devices", DeviceOptions("cuda", clone=True)).report.conflicts == ()


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (WhyDeviceOf(program("relay/devices"), "0/main/999"), "EN005"),
        (DevicesOf(program("relay/devices"), DeviceOptions("moon")), "PS002"),
        (DevicesOf(Program("@R.function\ndef f(x: R.Tensor((2,), 'float32')):\n    return x\n")), "PS010"),
    ],
    ids=["no such node", "no such device", "not Relay"],
)
def test_what_cannot_be_answered_is_a_diagnosis(message: AnyRequest, code: str) -> None:
    found = Session().answer(message)
    assert isinstance(found, Failure)
    assert [item.code for item in found.problems] == [code]


def test_the_command_prints_a_table_an_object_and_the_module(capsys: pytest.CaptureFixture[str]) -> None:
    devices, seed = (str(SAMPLES / "relay" / f"{name}.relay") for name in ("devices", "tensor_array"))
    assert main(["devices", devices, "--in-process"]) == 0
    assert "1 copy, 140 bytes known before the run" in capsys.readouterr().out
    assert main(["devices", devices, "--json", "--in-process"]) == 0
    assert json.loads(capsys.readouterr().out)["copies"][0]["size_bytes"] == 140
    assert main(["devices", seed, "--as-in", "reported", "--visit-limit", "2", "--in-process"]) == 0
    assert "no device" not in capsys.readouterr().out
    assert main(["devices", seed, "--as-in", "reported", "--visits", "args_first", "--in-process"]) == 0
    assert "never visited: memo hit at the call of %f" in capsys.readouterr().out
    assert main(["devices", str(SAMPLES / "errors" / "dv_two_devices.relay"), "--in-process"]) == 1
    assert "conflict, line 12" in capsys.readouterr().out
    assert main(["devices", devices, "--debug-print", "--in-process"]) == 0
    assert "<cuda(0)>" in capsys.readouterr().out
