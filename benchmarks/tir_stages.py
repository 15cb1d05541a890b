"""Run prim funcs at every stage of apache-tvm's lowering:  python -m benchmarks.tir_stages [COUNT] [--gpu].

TVM lowers each function pass by pass. What it prints behind a pass is read and run here on the same arguments; the
values have to be those of the first stage, and those of TVM's own machine code. With --gpu the functions are those that
TVM schedules for GPUs: in the order of their loops up to ThreadSync, on the simulated GPU from there on, where nothing
may be found. COUNT limits the number of operators.
"""

import argparse
import importlib
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from benchmarks.tir_corpus import REFUSALS, Case, attempt, gpu_lowering, lowering
from relax_core.diagnostics import DiagnosedError, has_errors
from relax_core.engine.simulation.host import simulate
from relax_core.frontend.parse import parse_text
from relax_core.ir.expr import GlobalVar
from relax_core.ir.integer.evaluate import evaluate
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import postorder, preorder
from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.ir.tir import LaunchThread, PrimFunc
from relax_core.jit.engine import Engine

Array = npt.NDArray[Any]
FUEL = 1 << 33
# Intrinsics of C's library and of LLVM differ in the last place; sums are in the order of the text.
TOLERANCE = 1e-5
OPERATOR_COUNT = 20
SYMBOL = 12
_SYNC = "ThreadSync"
_MISTAKE, _FINDING = "mistake: ", "finding: "
# On the simulated GPU, and where loops run in their order.
_OUTSIDE = ("GP007", "JT010")
_NOT_INSIDE = "GP007 out of range, as in the order of the loops"


@dataclass(slots=True)
class Stage:
    """What came of the functions behind one pass."""

    equal: int = 0
    different: list[str] = field(default_factory=list[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    """What it needs that it is not given."""
    mistakes: list[str] = field(default_factory=list[str])
    """Where RelaxScope itself fails."""


@dataclass(slots=True)
class Report:
    """The stages in the order of the passes; how many functions equal TVM's results, and which do not."""

    stages: dict[str, Stage] = field(default_factory=lambda: defaultdict(Stage))
    equal_to_tvm: int = 0
    unlike_tvm: list[str] = field(default_factory=list[str])
    not_run_by_tvm: list[str] = field(default_factory=list[str])


def grouped(cases: Iterable[Case]) -> Iterator[tuple[str, list[tuple[str, Any]]]]:
    """Join the stages of each function: its name, and its passes with their modules. The first pass runs but once."""
    name, stages = "", list[tuple[str, Any]]()
    for case in cases:
        head, _, stage = case.name.rpartition(" after ")
        if stages and (head != name or stage == stages[0][0]):
            yield name, stages
            stages = []
        name = head
        stages.append((stage, case.module))
    if stages:
        yield name, stages


def compare(name: str, stages: list[tuple[str, Any]], report: Report, *, is_gpu: bool = False) -> None:
    """Run one function at all of its stages; a stage that changes no text is counted by the result of the last."""
    first = read(stages[0][1])
    if not isinstance(first, PrimFunc):
        report.stages[stages[0][0]].refused[first if isinstance(first, str) else "several functions"] += 1
        return
    inputs = arguments(first)
    expected: list[Array] | None = None
    results: dict[tuple[str, bool], list[Array] | str] = {}
    is_synced = is_outside = False
    for stage, module in stages:
        is_synced = is_synced or stage.endswith(_SYNC)
        key = str(module.script()), is_synced
        if key not in results:
            results[key] = _result(module, inputs, is_synced=is_synced)
        found, row = results[key], report.stages[stage]
        # The text itself goes out of range on these arguments: so it does on the simulated GPU.
        is_outside = is_outside or (isinstance(found, str) and found.startswith(_OUTSIDE[1]))
        if isinstance(found, str):
            if found.startswith(_MISTAKE):
                row.mistakes.append(f"{name}: {found}")
            elif found.startswith(f"{_FINDING}{_OUTSIDE[0]}") and is_outside:
                row.refused[_NOT_INSIDE] += 1
            elif found.startswith(_FINDING):
                row.different.append(f"{name}: {found}")
            else:
                row.refused[found] += 1
        elif expected is None or are_equal(found, expected):
            row.equal += 1
            expected = expected or found
        else:
            row.different.append(name)
    if expected is not None and not is_gpu:
        beside_tvm(name, stages[0][1], (inputs, expected), report)


def _result(module: Any, inputs: list[Array | int], *, is_synced: bool) -> list[Array] | str:
    """Run what TVM prints, with its threads side by side behind their barriers; a text says why it does not run."""
    try:
        function = read(module)
        if isinstance(function, str):
            return function
        if (
            isinstance(function, PrimFunc)
            and is_synced
            and any(isinstance(i, LaunchThread) for i in preorder(function))
        ):
            function = IRModule((Definition(GlobalVar("main"), function),))
        return run(function, inputs)
    except REFUSALS as error:
        return f"{_MISTAKE}{type(error).__name__} {error}"


def read(module: Any) -> PrimFunc | IRModule | str:
    """Read the function that TVM prints, or the module of one that launches others; a text says why it cannot be."""
    text = attempt(lambda: module.script())
    if text is None:
        return "TVM cannot print it"
    parsed = parse_text(text, "stage.py")
    if has_errors(parsed.diagnostics) or not parsed.modules:
        return f"{parsed.diagnostics[0].code} {parsed.diagnostics[0].message}"
    functions = [function for _, function in parsed.modules[0].prim_funcs]
    if len(functions) == 1:
        return functions[0]
    return parsed.modules[0] if functions else "no function"


def arguments(function: PrimFunc) -> list[Array | int]:
    """Make arguments that every stage takes; numbers stay small, so that integers of them are indices."""
    random = np.random.default_rng(0)
    made: list[Array | int] = []
    for param in function.params:
        buffer = function.buffer_of(param)
        if buffer is None:
            made.append(SYMBOL)
            continue
        shape = [size(dim) for dim in buffer.shape]
        # No integer is 0, by which none divides, and none is behind the end of a dimension.
        values = random.random(shape) if "float" in buffer.dtype else random.integers(1, 3, shape)
        made.append(np.asarray(values).astype(buffer.dtype))
    return made


def size(dim: PrimExpr) -> int:
    """Return a dimension, in which each symbol is 12."""
    symbols = {node: SYMBOL for node in postorder(dim) if isinstance(node, PrimVar)}
    return int(evaluate(dim, symbols))


def run(function: PrimFunc | IRModule, inputs: list[Array | int]) -> list[Array] | str:
    """Run a function on copies of `inputs`; return what they hold then, or why it does not run."""
    given = [item.copy() if isinstance(item, np.ndarray) else item for item in inputs]
    arrays = [item for item in given if isinstance(item, np.ndarray)]
    try:
        if isinstance(function, PrimFunc):
            if len(function.params) != len(given):
                return f"takes {len(function.params)} arguments"
            Engine(fuel=FUEL).kernel(function, "main")(*given)
        else:
            simulated = simulate(function, "main", *given)
            if wrong := [item for item in simulated.diagnostics if item.severity == "error"]:
                return f"{_FINDING}{wrong[0].code} {wrong[0].message}"
            outputs = {output.name: output.value for output in simulated.outputs}
            names = [item.buffer.name for item in cast("PrimFunc", function["main"]).buffers]
            arrays = [outputs.get(name, array) for name, array in zip(names, arrays, strict=True)]
    except DiagnosedError as error:
        return f"{error.diagnostics[0].code} {error.diagnostics[0].message}"
    return arrays


def are_equal(found: list[Array], expected: list[Array]) -> bool:
    """Tell whether all arrays are equal, up to the last places."""
    return all(
        np.allclose(a.astype("float64"), b.astype("float64"), rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
        for a, b in zip(found, expected, strict=True)
    )


def beside_tvm(name: str, module: Any, values: tuple[list[Array | int], list[Array]], report: Report) -> None:
    """Compile the function with TVM and compare what it computes."""
    tvm = importlib.import_module("tvm")
    inputs, expected = values
    try:
        compiled = tvm.compile(module, target="llvm")
        given = [tvm.runtime.tensor(item) if isinstance(item, np.ndarray) else item for item in inputs]
        compiled(*given)
        found = [item.numpy() for item in given if not isinstance(item, int)]
    except REFUSALS as error:
        report.not_run_by_tvm.append(f"{name}: {' '.join(str(error).split())[-100:]}")
        return
    if are_equal(found, expected):
        report.equal_to_tvm += 1
    else:
        report.unlike_tvm.append(name)


def show(report: Report) -> str:
    """Print a line for each pass, and why functions do not run behind it."""
    lines = [f"{'behind the pass':44}{'equal':>7}{'different':>11}{'refused':>9}{'mistakes':>10}"]
    for name, stage in [*report.stages.items(), ("all", _total(report.stages.values()))]:
        counts = f"{stage.equal:>7}{len(stage.different):>11}{stage.refused.total():>9}{len(stage.mistakes):>10}"
        lines.append(f"{name:44}{counts}")
    lines.append(f"equal to TVM's machine code: {report.equal_to_tvm}")
    lines += [f"unlike TVM's: {name}" for name in report.unlike_tvm]
    lines += [f"not run by TVM: {name}" for name in report.not_run_by_tvm]
    causes = Counter[str]()
    for stage in report.stages.values():
        causes.update(stage.refused)
    lines += [f"{count:5} x {cause[:150]}" for cause, count in causes.most_common(30)]
    lines += [f"mistake behind {stage}: {name}" for stage, row in report.stages.items() for name in row.mistakes]
    lines += [f"different: {name} behind {stage}" for stage, row in report.stages.items() for name in row.different]
    return "\n".join(lines)


def _total(stages: Iterable[Stage]) -> Stage:
    total = Stage()
    for stage in stages:
        total.equal += stage.equal
        total.different += stage.different
        total.refused += stage.refused
        total.mistakes += stage.mistakes
    return total


def main() -> int:
    """Run all and print; the status is 1 if a stage computes something else, or RelaxScope fails."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tir_stages")
    parser.add_argument("count", nargs="?", type=int, default=OPERATOR_COUNT)
    parser.add_argument("--gpu", action="store_true")
    options = parser.parse_args()
    report = Report()
    cases = gpu_lowering(options.count) if options.gpu else lowering(options.count)
    for name, stages in grouped(cases):
        compare(name, stages, report, is_gpu=options.gpu)
    sys.stdout.write(show(report) + "\n")
    total = _total(report.stages.values())
    return 1 if report.unlike_tvm or total.different or total.mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
