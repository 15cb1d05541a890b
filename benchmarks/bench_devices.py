"""PlanDevices: how its time grows with the number of operators, beside the time that parsing takes."""

from collections.abc import Callable

from benchmarks.bench_partition import network
from benchmarks.table import Table
from benchmarks.timing import measure
from relax_core.analysis.device.devices import HOST
from relax_core.analysis.device.plan import plan_devices
from relax_core.frontend.parse import parse_text
from relax_core.passes.core import PassContext
from relax_core.passes.relay.memory.plan_devices import PlanDevicesOptions
from relax_core.passes.relay.memory.plan_devices import run as run_pass

SIZES = (500, 1_000, 2_000, 4_000, 8_000)
COMPARED = 2_000


def text_of(count: int) -> str:
    """Return a program of `count` operators, every tenth on the other device."""
    lines = ['#[version = "0.0.5"]', "def @main(%x0: Tensor[(4, 8), float32], %y: Tensor[(4, 8), float32]) {"]
    for k in range(count):
        value = f"add(%x{k}, %y)" if k % 3 else f"nn.relu(%x{k})"
        shown = f"on_device({value}, device_type={1 + k // 10 % 2}, is_fixed=True)" if k % 10 == 0 else value
        lines.append(f"  let %x{k + 1} = {shown};")
    return "\n".join((*lines, f"  %x{count}", "}"))


def run() -> Table:
    """Plan programs of five sizes, and parse two of one size: one with lets and copies, and one on one device."""
    cases: dict[str, Callable[[], object]] = {}
    for count in SIZES:
        module = parse_text(text_of(count), "bench.relay").modules[0]
        cases[f"domains of {count} operators"] = lambda module=module: plan_devices(module, HOST)
    for name, text in (("lets", text_of(COMPARED)), ("network", network(COMPARED))):
        module = parse_text(text, "bench.relay").modules[0]
        cases[f"the whole pass, {name}"] = lambda module=module: run_pass(module, PlanDevicesOptions(), PassContext())
        cases[f"parsing, {name}"] = lambda text=text: parse_text(text, "bench.relay")
    rows = measure(cases, sample_count=5)
    seconds = {row.name: row.median_seconds for row in rows}
    notes: list[str] = []
    for name in ("lets", "network"):
        ratio = seconds[f"the whole pass, {name}"] / seconds[f"parsing, {name}"]
        notes.append(f"{name} of {COMPARED} operators: {ratio:.1f} times parsing")
    growth = seconds[f"domains of {SIZES[-1]} operators"] / seconds[f"domains of {SIZES[0]} operators"]
    notes.append(f"{SIZES[-1] // SIZES[0]} times the operators: {growth:.1f} times the time")
    return Table("Device planning", rows, "\n".join(notes))
