"""What passes make of the samples is stepped through as well: flat buffers, views, vectors, loops over threads."""

from pathlib import Path
from random import Random

import numpy as np
import pytest

import relax_core as rc
from relax_core.engine.programs.prim_entry import arguments
from relax_core.inside.heat import HeatCounter
from relax_core.inside.stepper import Kernel, Stepper
from relax_core.ir.module import IRModule
from relax_core.jit.engine import Engine

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "tir"
FLAT = (
    "LowerInitBlock, PlanAndUpdateBufferAllocationLocation, ConvertBlocksToOpaque, CompactBufferAllocation, "
    "LowerMatchBuffer, LowerOpaqueBlock, FlattenBuffer"
)
PIPELINES = {
    "in blocks without init": "LowerInitBlock",
    "flat": FLAT,
    "flat, with vectors and shared memory": f"{FLAT}, VectorizeLoop, StorageRewrite, CommonSubexprElim",
    "unrolled": f"{FLAT}, UnrollLoop",
    "over threads": "DefaultGPUSchedule",
}
VECTORS = """# from tvm.script import tirx as T

@T.prim_func
def lanes(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    M = T.alloc_buffer((8,), "float32")
    V = T.decl_buffer((2, 4), "float32", data=M.data)
    for i in range(2):
        M[T.Ramp(i * 4, 1, 4)] = A[T.Ramp(i * 4, 1, 4)] * T.Broadcast(T.float32(2), 4)
        for j in T.vectorized(4):
            B[i * 4 + j] = V[i, 3 - j]
"""


def assert_steps_alike(module: IRModule) -> int:
    """Compare a run with stops with the plain kernel, and return how many statements there are."""
    functions = {var.name: function for var, function in module.prim_funcs}
    engine, random, count = Engine(), Random(3), 0
    for name, function in functions.items():
        buffers = [function.buffer_of(param) is not None for param in function.params]
        made = arguments(function, None, 1, {}, is_signed=False)
        args = [np.array(item) if is_buffer else item for item, is_buffer in zip(made, buffers, strict=True)]
        plain = [item.copy() if hasattr(item, "copy") else item for item in args]
        engine.kernel(function, name, None, functions)(*plain)
        stepper = Stepper(Kernel(function, name, engine, functions=functions), args)
        stepper.explore()
        assert stepper.total is not None
        for _ in range(5):
            stepper.move_to(random.randrange(stepper.total + 1))
        assert int(HeatCounter(stepper).count(stepper.total).runs.sum()) == stepper.total
        stepper.move_to(stepper.total)
        found = [np.asarray(item).tobytes() for item in stepper.memory.args]
        assert found == [np.asarray(item).tobytes() for item in plain]
        count += stepper.total
    return count


@pytest.mark.parametrize("name", PIPELINES)
def test_a_lowered_sample_has_the_bits_of_its_kernel(name: str) -> None:
    counts: list[int] = []
    # The indices of `gather` are made up, and not within its table.
    for path in sorted(path for path in SAMPLES.glob("*.py") if path.stem != "gather"):
        module = rc.parse(path.read_text(encoding="utf-8"), path.name)
        counts.append(assert_steps_alike(rc.run_pipeline(module, PIPELINES[name])[-1].after))
    assert all(counts)


def test_vectors_touch_each_of_their_lanes() -> None:
    module = rc.parse(VECTORS, "m.py")
    assert assert_steps_alike(module) == 2 + 8
    it = rc.inside(module, "lanes", np.arange(8, dtype="float32"), np.zeros(8, "float32"))
    first = it.view
    assert [item.cell for item in first.accesses] == [f"A[{at}]" for at in range(4)] + [f"M[{at}]" for at in range(4)]
    assert [item.after for item in first.accesses[4:]] == ["0", "2", "4", "6"]
    # A view is told as the memory that it is of.
    assert [item.cell for item in it.go("i=1, j=0").accesses] == ["M[7]", "B[4]"]
    assert it.heat("M", is_write=True, whole=True).tolist() == [1] * 8
    assert it.heat("M", is_write=False, whole=True).tolist() == [1] * 8
