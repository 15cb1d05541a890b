"""Relay text: seconds per operator for reading and printing, over sizes, beside TVM reading TVMScript."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from benchmarks.table import Row, Table
from benchmarks.timing import measure
from relax_core.frontend.relay.module import read_relay
from relax_core.ir.module import IRModule
from relax_core.printer.relay_text.module import print_relay
from relax_core.source import Source

SIZES = (500, 1000, 2000, 4000, 8000)
SCRIPT_SIZE = 200
SAMPLES = 5
_TYPE = "Tensor[(1, 16, 8, 8), float32]"
_HEAD = f"def @main(%x: {_TYPE}, %w: Tensor[(16, 16, 3, 3), float32]) -> {_TYPE} {{\n"
_OPERATORS = ("nn.conv2d({}, %w, padding=[1, 1, 1, 1], channels=16, kernel_size=[3, 3])", "nn.relu({})", "add({}, %x)")


def relay_text(count: int, *, has_lets: bool) -> str:
    """Return a chain of `count` operators, as lets or as graph variables, with the types as TVM prints them."""
    lines = ['#[version = "0.0.5"]\n', _HEAD]
    before = "%x"
    for index in range(count):
        name = f"%v{index}" if has_lets else f"%{index}"
        head = f"let {name}: {_TYPE}" if has_lets else name
        lines.append(f"  {head} = {_OPERATORS[index % 3].format(before)} /* ty={_TYPE} */;\n")
        before = name
    lines.append(f"  nn.relu({before})\n}}\n")
    return "".join(lines)


def script_text(count: int) -> str:
    """Return the like in TVMScript."""
    tensor = 'R.Tensor((1, 16, 8, 8), dtype="float32")'
    lines = ["@I.ir_module\nclass M:\n"]
    lines.append(f"    @R.function\n    def main(x: {tensor}) -> {tensor}:\n")
    before = "x"
    for index in range(count):
        lines.append(f"        v{index}: {tensor} = R.add({before}, x)\n")
        before = f"v{index}"
    lines.append(f"        return {before}\n")
    return "".join(lines)


def run() -> Table:
    """Measure seconds per operator; a ratio of 1 in all sizes is linear."""
    cases: dict[str, Callable[[], object]] = {}
    counts: dict[str, int] = {}
    for has_lets, kind in ((False, "graph"), (True, "lets")):
        for count in SIZES:
            source = Source("m.relay", relay_text(count, has_lets=has_lets))
            (module,) = read_relay(source).modules
            for name, case in _cases(source, module).items():
                cases[f"{name} {kind}, {count}"] = case
                counts[f"{name} {kind}, {count}"] = count
    try:
        tvm: Any = import_module("tvm")
    except ImportError:
        sys.stderr.write("apache-tvm is not installed: no comparison\n")
    else:
        script = script_text(SCRIPT_SIZE)
        name = f"TVM reads TVMScript, {SCRIPT_SIZE}"
        cases[name] = lambda: tvm.script.from_source(script, check_well_formed=False)
        counts[name] = SCRIPT_SIZE
    rows = measure(cases, sample_count=SAMPLES)
    per_operator = tuple(Row(row.name, tuple(time / counts[row.name] for time in row.seconds)) for row in rows)
    return Table(
        "Relay text, per operator", per_operator, "Linear: the same in every size. TVM: at least 10 times as much."
    )


def _cases(source: Source, module: IRModule) -> Mapping[str, Callable[[], object]]:
    return {"read": lambda: read_relay(source), "print": lambda: print_relay(module)}
