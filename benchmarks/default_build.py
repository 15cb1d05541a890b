"""TVM's pipeline `default_build` by TVM's passes and by ours: `python -m benchmarks.default_build [names]`.

The exported models go through both, in turns. What each leaves is built and run by its own machine on the same inputs,
and has to give the same; the table has the median time of the passes alone, without reading and without building.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false, reportAttributeAccessIssue=false
# pyright: reportArgumentType=false

import gc
import sys
import time
from collections.abc import Collection
from statistics import median
from typing import Any

import numpy as np
import tvm
from tvm import relax

import relax_core as rc
from benchmarks.relax_models import models
from benchmarks.relax_stages import text_of
from benchmarks.run_relax_stages import LENGTH
from benchmarks.table import duration
from relax_core.engine.process.worker import tune_collector

ROUNDS = 7
LAYERS = (1, 4, 32)
NAME = "default_build"
TOLERANCE = 1e-5
"""Of float32: TVM's kernels and ours add in another order."""


def theirs(module: Any) -> tuple[Any, float]:
    """Return what TVM's passes make, and their seconds."""
    start = time.perf_counter()
    with tvm.target.Target("llvm"):
        made = relax.get_pipeline(NAME)(module)
    return made, time.perf_counter() - start


def ours(text: str) -> tuple[Any, float]:
    """Return the last module that our passes make of a text, and their seconds.

    It is read anew each time, since types that were found are kept with a module.

    Raises:
        SystemExit: a pass failed.
    """
    module = rc.parse(text)
    gc.collect()
    start = time.perf_counter()
    last = rc.run_pipeline(module, NAME)[-1]
    if last.is_failed:
        raise SystemExit(f"{last.pass_name} failed: {last.diagnostics[0].message}")
    return last.after, time.perf_counter() - start


def inputs_of(module: Any) -> list[Any]:
    """Make up inputs of `forward`: what is symbolic is `LENGTH`, integers are token numbers below 2."""
    generator = np.random.default_rng(7)
    made: list[Any] = []
    for param in module["forward"].params:
        shape = [int(item) if isinstance(item, tvm.tirx.IntImm) else LENGTH for item in param.ty.shape]
        is_float = str(param.ty.dtype).startswith("float")
        values = generator.standard_normal(shape) if is_float else generator.integers(0, 2, shape)
        made.append(np.asarray(values, str(param.ty.dtype)))
    return made


def difference(made: Any, own: Any, given: list[Any]) -> float:
    """Return the largest difference of a result, as a share of the largest number in it."""
    machine = relax.VirtualMachine(tvm.compile(made, "llvm", relax_pipeline=None), tvm.cpu())
    expected = machine["forward"](*map(tvm.runtime.tensor, given)).numpy()
    found = np.asarray(rc.VirtualMachine(rc.build(own, passes=""))["forward"](*given))
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return float("inf")
    return float(np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-30))


def report(chosen: Collection[str]) -> int:
    """Print a line for each model; the status is 1 if one differs."""
    # As a worker does.
    tune_collector()
    print("| model | TVM's passes | ours | ratio | largest difference |\n| --- | --- | --- | --- | --- |")
    status = 0
    for name, module in models(LAYERS):
        if chosen and name not in chosen:
            continue
        text = text_of(module)
        rounds = [(theirs(module), ours(text)) for _ in range(ROUNDS)]
        (made, _), (own, _) = rounds[-1]
        apart = difference(made, own, inputs_of(module))
        status |= apart > TOLERANCE
        their_time, our_time = (median(taken[side][1] for taken in rounds) for side in (0, 1))
        ratio = f"{our_time / their_time:.2f}"
        print(f"| {name} | {duration(their_time)} | {duration(our_time)} | {ratio} | {apart:.1e} |", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(report(sys.argv[1:]))
