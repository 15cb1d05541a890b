"""Relay text: what is printed reads back as an equal module, and every range shows its node."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from relax_core.diagnostics import CompileError, has_errors
from relax_core.frontend.parse import parse_text
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import Call
from relax_core.ir.module import IRModule
from relax_core.ir.node import postorder
from relax_core.printer.relay_text.module import print_relay
from tests.golden_text import Golden
from tests.relay_strategies import relay_modules

SAMPLES = sorted((Path(__file__).parents[3] / "samples" / "relay").glob("*.relay"))
CHAIN = 20_000


def read(text: str) -> IRModule:
    parsed = parse_text(text, "m.relay")
    assert not has_errors(parsed.diagnostics), [item.render() for item in parsed.diagnostics]
    (module,) = parsed.modules
    return module


def assert_round_trip(module: IRModule) -> str:
    text = print_relay(module).text
    again = read(text)
    assert first_difference(module, again, strict=True) is None
    assert first_difference(again, module, strict=True) is None
    assert print_relay(again).text == text
    return text


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_reads_back(path: Path, golden: Golden) -> None:
    text = assert_round_trip(read(path.read_text(encoding="utf-8")))
    golden.check(f"printer/relay/{path.stem}.txt", text)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(relay_modules())
def test_any_module_reads_back(module: IRModule) -> None:
    assert_round_trip(module)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(relay_modules())
def test_ranges_lie_in_each_other(module: IRModule) -> None:
    printed = print_relay(module)
    open_ends: list[int] = []
    for item in printed.ranges:
        while open_ends and open_ends[-1] <= item.start:
            open_ends.pop()
        assert item.start < item.end <= (open_ends[-1] if open_ends else len(printed.text))
        open_ends.append(item.end)
    shown = {item.node for item in printed.ranges}
    missing = [node for node in postorder(*(item.function for item in module)) if node not in shown]
    assert {type(node).__name__ for node in missing} <= {"Constructor"}


def test_a_range_shows_its_node() -> None:
    module = read("def @main(%x: int32) -> int32 {\n  %0 = add(%x, 1);\n  multiply(%0, %0)\n}\n")
    printed = print_relay(module)
    texts: dict[str, list[str]] = {}
    for item in printed.ranges:
        texts.setdefault(type(item.node).__name__, []).append(printed.text[item.start : item.end])
    assert texts["Var"] == ["%x: int32", "%x"]
    assert texts["Call"] == ["%0 = add(%x, 1);", "multiply(%0, %0)", "%0", "%0"]
    assert texts["Constant"] == ["1"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("%0 = exp(%x); (%0, %0)", "  %0 = exp(%x);\n  (%0, %0)"),
        ("if (True) { exp(%x) } else { exp(%x) }", "exp(%x)\n  } else {\n    exp(%x)"),
        (
            "%0 = exp(%x); if (True) { %0 } else { %0 }",
            "  %0 = exp(%x);\n  if (True) {\n    %0\n  } else {\n    %0\n  }",
        ),
        ("%0 = exp(%x); let %y = %0; add(%y, %0)", "  %0 = exp(%x);\n  let %y = %0;\n  add(%y, %0)"),
        ("let %x = 1; let %x = 2; %x", "  let %x1 = 1;\n  let %x2 = 2;\n  %x2"),
        ("%x; %x", "  let %_ = %x;\n  %x"),
    ],
)
def test_shared_nodes_are_bound_where_all_uses_see_them(body: str, expected: str) -> None:
    assert expected in assert_round_trip(read(f"def @main(%x: float32) {{ {body} }}"))


def test_a_long_chain_of_lets_and_of_calls() -> None:
    lets = "".join(f"  let %v{index} = add(%v{index - 1}, 1);\n" for index in range(1, CHAIN))
    calls = "".join(f"  %{index} = add(%{index - 1}, 1);\n" for index in range(1, CHAIN))
    text = (
        f"def @lets(%v0: int32) {{\n{lets}  %v{CHAIN - 1}\n}}\n"
        f"def @calls(%x: int32) {{\n  %0 = add(%x, 1);\n{calls}  %{CHAIN - 1}\n}}\n"
    )
    assert_round_trip(read(text))


def test_shared_nodes_cost_no_more_than_once() -> None:
    lines = "".join(f"  %{index} = add(%{index - 1}, %{index - 1});\n" for index in range(1, 100))
    text = print_relay(read(f"def @main(%x: int32) {{\n  %0 = add(%x, %x);\n{lines}  %99\n}}")).text
    assert text.count("\n") < 110


def test_types_are_shown_as_comments() -> None:
    parsed = parse_text(
        "def @main(%x: int32) {\n  %0 = exp(%x) /* ty=int32 */;\n  add(%0, %0) /* ty=int32 */\n}", "m.relay"
    )
    text = print_relay(parsed.modules[0], types=parsed.noted_types).text
    assert "  %0 = exp(%x) /* ty=int32 */;\n  add(%0, %0) /* ty=int32 */\n" in text
    again = parse_text(text, "m.relay")
    calls = [node for node in again.noted_types if isinstance(node, Call)]
    assert len(calls) == 2


def test_a_relax_module_is_refused() -> None:
    function = "  @R.function\n  def main(x: R.Tensor((2,), 'float32')):\n    y = R.exp(x)\n    return y\n"
    text = f"@I.ir_module\nclass M:\n{function}"
    with pytest.raises(CompileError, match="RL022"):
        print_relay(parse_text(text, "m.py").modules[0])


def test_a_device_of_a_parameter_is_printed_behind_it() -> None:
    device = "meta[VirtualDevice][0]"
    text = assert_round_trip(read(f"def @main(%x {{virtual_device={device}}}: int32, %y: int32, a=1) {{ %x }}"))
    assert f"def @main(%x {{virtual_device={device}}}: int32, %y: int32, a=1) {{" in text


@pytest.mark.parametrize(
    "attribute",
    ["callee=@main", "dtype=float32", "what=Tensor[(1, 2), float32]", "device=VirtualDevice(device_type=1)"],
)
def test_an_attribute_that_is_no_plain_value_survives(attribute: str) -> None:
    text = assert_round_trip(read(f"def @main(%x: int32, {attribute}) {{ %x }}"))
    assert attribute.replace("float32", '"float32"' if attribute.startswith("dtype") else "float32") in text
