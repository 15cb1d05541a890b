"""Run prim funcs at every stage of apache-tvm's lowering for the CPU:  python -m benchmarks.tir_stages [COUNT].

TVM lowers each function pass by pass. What it prints behind a pass is read and run here on the same arguments; the
values have to be those of the first stage, and those of TVM's own machine code. COUNT limits the number of operators.
"""

import importlib
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.tir_corpus import REFUSALS, Case, attempt, lowering
from relax_core.diagnostics import DiagnosedError, has_errors
from relax_core.frontend.parse import parse_text
from relax_core.ir.prim import IntImm, PrimExpr
from relax_core.ir.tir import PrimFunc
from relax_core.jit.engine import Engine

Array = npt.NDArray[Any]
FUEL = 1 << 33
# Intrinsics of C's library and of LLVM differ in the last place; sums are in the order of the text.
TOLERANCE = 1e-5
OPERATOR_COUNT = 20


@dataclass(slots=True)
class Stage:
    """What came of the functions behind one pass."""

    equal: int = 0
    different: list[str] = field(default_factory=list[str])
    refused: Counter[str] = field(default_factory=Counter[str])


@dataclass(slots=True)
class Report:
    """The stages in the order of the passes; how many functions equal TVM's results, and which do not."""

    stages: dict[str, Stage] = field(default_factory=lambda: defaultdict(Stage))
    equal_to_tvm: int = 0
    unlike_tvm: list[str] = field(default_factory=list[str])
    not_run_by_tvm: list[str] = field(default_factory=list[str])


def grouped(cases: Iterable[Case]) -> Iterator[tuple[str, list[tuple[str, Any]]]]:
    """Join the stages of each function: its name, and its passes with their modules."""
    name, stages = "", list[tuple[str, Any]]()
    for case in cases:
        head, _, stage = case.name.rpartition(" after ")
        if head != name and stages:
            yield name, stages
            stages = []
        name = head
        stages.append((stage, case.module))
    if stages:
        yield name, stages


def compare(name: str, stages: list[tuple[str, Any]], report: Report) -> None:
    """Run one function at all of its stages; a stage that changes no text is counted by the result of the last."""
    first = read(stages[0][1])
    if isinstance(first, str):
        report.stages[stages[0][0]].refused[first] += 1
        return
    inputs = arguments(first)
    expected: list[Array] | None = None
    results: dict[str, list[Array] | str] = {}
    for stage, module in stages:
        text = str(module.script())
        if text not in results:
            function = read(module)
            results[text] = function if isinstance(function, str) else run(function, inputs)
        found, row = results[text], report.stages[stage]
        if isinstance(found, str):
            row.refused[found] += 1
        elif expected is None or are_equal(found, expected):
            row.equal += 1
            expected = expected or found
        else:
            row.different.append(name)
    if expected is not None:
        beside_tvm(name, stages[0][1], (inputs, expected), report)


def read(module: Any) -> PrimFunc | str:
    """Read the function that TVM prints; a text says why it cannot be."""
    text = attempt(lambda: module.script())
    if text is None:
        return "TVM cannot print it"
    parsed = parse_text(text, "stage.py")
    if has_errors(parsed.diagnostics) or not parsed.modules:
        return f"{parsed.diagnostics[0].code} {parsed.diagnostics[0].message}"
    functions = [function for _, function in parsed.modules[0].prim_funcs]
    return functions[0] if len(functions) == 1 else f"{len(functions)} functions"


def arguments(function: PrimFunc) -> list[Array]:
    """Make arguments that every stage takes; numbers stay small, so that integers of them are indices."""
    random = np.random.default_rng(0)
    made: list[Array] = []
    for param in function.params:
        buffer = function.buffer_of(param)
        shape = [size(dim) for dim in buffer.shape] if buffer is not None else []
        dtype = param.dtype if buffer is None else buffer.dtype
        # No integer is 0, by which none divides, and none is behind the end of a dimension.
        values = random.random(shape) if "float" in dtype else random.integers(1, 3, shape)
        made.append(np.asarray(values).astype(dtype))
    return made


def size(dim: PrimExpr) -> int:
    """Return a dimension; 12 for one that is a symbol."""
    return dim.value if isinstance(dim, IntImm) else 12


def run(function: PrimFunc, inputs: list[Array]) -> list[Array] | str:
    """Run a function on copies of `inputs`; return what they hold then, or why it does not run."""
    arrays = [array.copy() for array in inputs]
    if len(function.params) != len(arrays):
        return f"takes {len(function.params)} arguments"
    try:
        Engine(fuel=FUEL).kernel(function, "main")(*(array if array.ndim else array.item() for array in arrays))
    except DiagnosedError as error:
        return f"{error.diagnostics[0].code} {error.diagnostics[0].message}"
    return arrays


def are_equal(found: list[Array], expected: list[Array]) -> bool:
    """Tell whether all arrays are equal, up to the last places."""
    return all(
        np.allclose(a.astype("float64"), b.astype("float64"), rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
        for a, b in zip(found, expected, strict=True)
    )


def beside_tvm(name: str, module: Any, values: tuple[list[Array], list[Array]], report: Report) -> None:
    """Compile the function with TVM and compare what it computes."""
    tvm = importlib.import_module("tvm")
    inputs, expected = values
    try:
        compiled = tvm.compile(module, target="llvm")
        tensors = [tvm.runtime.tensor(array) if array.ndim else array.item() for array in inputs]
        compiled(*tensors)
        found = [item.numpy() if hasattr(item, "numpy") else np.asarray(item) for item in tensors]
    except REFUSALS as error:
        report.not_run_by_tvm.append(f"{name}: {' '.join(str(error).split())[-100:]}")
        return
    if are_equal(found, expected):
        report.equal_to_tvm += 1
    else:
        report.unlike_tvm.append(name)


def show(report: Report) -> str:
    """Print a line for each pass, and why functions do not run behind it."""
    lines = [f"{'behind the pass':44}{'equal':>7}{'different':>11}{'refused':>9}"]
    for name, stage in report.stages.items():
        lines.append(f"{name:44}{stage.equal:>7}{len(stage.different):>11}{stage.refused.total():>9}")
    lines.append(f"equal to TVM's machine code: {report.equal_to_tvm}")
    lines += [f"unlike TVM's: {name}" for name in report.unlike_tvm]
    lines += [f"not run by TVM: {name}" for name in report.not_run_by_tvm]
    causes = Counter[str]()
    for stage in report.stages.values():
        causes.update(stage.refused)
    lines += [f"{count:5} x {cause[:150]}" for cause, count in causes.most_common(30)]
    lines += [f"different: {name} behind {stage}" for stage, row in report.stages.items() for name in row.different]
    return "\n".join(lines)


def main() -> int:
    """Run all and print; the status is 1 if a stage computes something else."""
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else OPERATOR_COUNT
    report = Report()
    for name, stages in grouped(lowering(limit)):
        compare(name, stages, report)
    sys.stdout.write(show(report) + "\n")
    return 1 if report.unlike_tvm or any(stage.different for stage in report.stages.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
