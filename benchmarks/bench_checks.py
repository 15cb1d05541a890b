"""What checks cost, kernel by kernel: the same code with and without them, for sizes known at the call and for any."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import quantiles
from time import perf_counter
from typing import Any

import numpy as np

import relax_core as rc
from benchmarks.table import Row, Table
from benchmarks.timing import Case, aligned
from relax_core.frontend.parse import parse_text
from relax_core.ir.tir import PrimFunc
from relax_core.jit.engine import Engine
from relax_core.jit.options import KernelOptions

DATA = Path(__file__).with_name("checked_kernels.toml")
SECONDS = 0.25
KNOWN, ANY = "known sizes", "any sizes"
HEAD = """@I.ir_module
class Module:
    @R.function
    def main({params}):
        y = {expression}
        return y
"""
_INPUT = re.compile(r"(?P<dtype>\w+)\[(?P<dims>[^]]*)\](?: < (?P<limit>\d+)| rising (?P<step>\d+))?")


@dataclass(frozen=True, slots=True)
class CheckedKernel:
    """A kernel of the data file, with its arguments."""

    name: str
    function: PrimFunc
    arrays: tuple[Any, ...]

    def case(self, *, is_checked: bool, is_generic: bool) -> Case:
        """Compile the kernel, for any sizes if it `is_generic`."""
        kernel = Engine(options=KernelOptions(is_checked=is_checked, threads=1)).kernel(self.function, "main")
        kernel.specialised_variants = 0 if is_generic else 1
        return partial(kernel.caller(), *map(aligned, self.arrays))


def kernels() -> tuple[CheckedKernel, ...]:
    """Read the data file."""
    return tuple(_read(entry) for entry in tomllib.loads(DATA.read_text("utf-8"))["kernel"])


def in_turns(kernel: CheckedKernel, *, is_generic: bool, seconds: float = SECONDS) -> tuple[Row, Row]:
    """Time single calls with checks and without, one after the other, so that a busy machine meets both alike."""
    checked, bare = (kernel.case(is_checked=is_checked, is_generic=is_generic) for is_checked in (True, False))
    times: tuple[list[float], list[float]] = ([], [])
    for case in (checked, bare) * 2:
        case()
    end = perf_counter() + seconds
    while perf_counter() < end:
        for case, found in zip((checked, bare), times, strict=True):
            start = perf_counter()
            case()
            found.append(perf_counter() - start)
    return Row(kernel.name, tuple(times[0])), Row(kernel.name, tuple(times[1]))


def run() -> Table:
    """Measure every kernel; a row is its time with checks."""
    rows: list[Row] = []
    found: list[str] = []
    for kernel in kernels():
        for kind in (KNOWN, ANY):
            checked, bare = in_turns(kernel, is_generic=kind == ANY)
            name = f"{kernel.name}, {kind}"
            # The tenth part that was the fastest: what the machine does besides is not in it.
            fast = tuple(quantiles(row.seconds, n=10)[0] for row in (checked, bare))
            rows.append(Row(name, checked.seconds))
            found.append(f"  {fast[0] / fast[1]:.2f}  {name}")
    return Table("Checks", tuple(rows), "\n".join(["checked over unchecked, of the fastest tenths:", *sorted(found)]))


def _read(entry: Mapping[str, Any]) -> CheckedKernel:
    random, dims = np.random.default_rng(0), entry["dims"]
    specs = [_spec(text) for text in entry["inputs"]]
    arrays = tuple(_array(random, spec, dims) for spec in specs)
    if "script" in entry:
        ((_, function),) = parse_text(entry["script"], entry["name"]).modules[0].prim_funcs
        return CheckedKernel(entry["name"], function, arrays)
    params = ", ".join(
        f'{name}: R.Tensor(({"".join(_quoted(dim) + ", " for dim in spec["dims"].split(", "))}), "{spec["dtype"]}")'
        for name, spec in zip("abcdefgh", specs, strict=False)
    )
    text = HEAD.format(params=params, expression=entry["expression"])
    module = rc.parse(text, entry["name"])
    result = rc.VirtualMachine(rc.build(module))["main"](*arrays)
    functions = [item.function for item in rc.run_pipeline(module, "LegalizeOps")[-1].after]
    (function,) = (item for item in functions if isinstance(item, PrimFunc))
    return CheckedKernel(entry["name"], function, (*arrays, np.empty_like(result)))


def _spec(text: str) -> Mapping[str, str]:
    found = _INPUT.fullmatch(text)
    assert found is not None, text
    return found.groupdict()


def _quoted(dim: str) -> str:
    return dim if dim.isdigit() else f'"{dim}"'


def _array(random: np.random.Generator, spec: Mapping[str, str], dims: Mapping[str, int]) -> Any:
    shape = tuple(sum(dims.get(term) or int(term) for term in dim.split(" + ")) for dim in spec["dims"].split(", "))
    if spec["step"]:
        return np.arange(shape[0], dtype=spec["dtype"]) * int(spec["step"])
    if spec["limit"]:
        return random.integers(0, int(spec["limit"]), shape, dtype=spec["dtype"])
    return random.random(shape, dtype="float32")
