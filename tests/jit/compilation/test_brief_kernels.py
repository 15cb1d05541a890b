"""Kernels that run for microseconds are compiled quickly, where that is asked for: plain loops, and the same bits."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relax_core.ir.tir import PrimFunc
from relax_core.jit.compilation.cache import ObjectCache
from relax_core.jit.compilation.compile_process import Connection
from relax_core.jit.compilation.compiler import Compiler
from relax_core.jit.compilation.pool import Pool
from relax_core.jit.compilation.target import Target
from relax_core.jit.engine import AHEAD_COUNT, Engine
from relax_core.jit.kernel import Kernel
from relax_core.jit.options import KernelOptions, Mode
from tests.jit.programs import parsed

PRODUCT = parsed("""def f(A: T.Buffer((7, 11), "float32"), B: T.Buffer((11, 16), "float32"),
                       C: T.Buffer((7, 16), "float32")):
    for i, j, k in T.grid(7, 16, 11):
        with T.block("c"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
""")
EXPONENTIAL = parsed("""def f(A: T.Buffer((3, 77), "float32"), B: T.Buffer((3, 77), "float32")):
    for i, j in T.grid(3, 77):
        B[i, j] = T.exp(A[i, j]) * A[i, j]
""")
SUMS = parsed("""def f(A: T.Buffer((9, 67), "float32"), B: T.Buffer((9,), "float32")):
    for i, k in T.grid(9, 67):
        with T.block("b"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk] * A[vi, vk]
""")
LONG = parsed("""def f(A: T.Buffer((300, 770), "float32"), B: T.Buffer((300, 770), "float32")):
    for i, j in T.grid(300, 770):
        B[i, j] = A[i, j] * A[i, j]
""")
BRIEF: dict[str, tuple[PrimFunc, Sequence[tuple[int, ...]]]] = {
    "a product": (PRODUCT, ((7, 11), (11, 16), (7, 16))),
    "an exponential": (EXPONENTIAL, ((3, 77), (3, 77))),
    "sums of rows": (SUMS, ((9, 67), (9,))),
}


def kernel_of(function: PrimFunc, mode: Mode, *, is_brief: bool) -> Kernel:
    return Engine(options=KernelOptions(mode=mode, threads=1, is_brief=is_brief)).kernel(function, "f")


def run(kernel: Kernel, shapes: Sequence[tuple[int, ...]]) -> tuple[bytes, str, int]:
    """Run a kernel; return its output, its pipeline, and how many transformations were applied."""
    random = np.random.default_rng(0)
    values: list[Any] = [random.uniform(-3, 3, shape).astype("float32") for shape in shapes]
    kernel(*values)
    _, variant = kernel.bind(values)
    applied = sum(remark.kind == "applied" for remark in kernel.remarks())
    return values[-1].tobytes(), kernel.lowered(variant).pipeline, applied


@pytest.mark.parametrize("mode", ["exact", "bitwise"])
@pytest.mark.parametrize("name", BRIEF)
def test_a_brief_kernel_gives_the_same_bits(name: str, mode: Mode) -> None:
    function, shapes = BRIEF[name]
    brief, pipeline, applied = run(kernel_of(function, mode, is_brief=True), shapes)
    assert (pipeline, applied) == ("brief", 0)
    good, pipeline, applied = run(kernel_of(function, mode, is_brief=False), shapes)
    assert pipeline != "brief"
    assert applied
    assert brief == good


def test_a_kernel_that_runs_longer_is_compiled_as_ever() -> None:
    found, as_ever = (run(kernel_of(LONG, "exact", is_brief=item), ((300, 770),) * 2) for item in (True, False))
    assert found == as_ever
    assert found[1] != "brief"


def test_brief_kernels_are_neither_kept_nor_made_ahead(tmp_path: Path) -> None:
    def connect() -> Connection:
        raise AssertionError("a process was asked for a brief kernel")

    cache = ObjectCache(tmp_path)
    target = Target()
    compiler = Compiler(target, cache, Pool(connect, 1, target, cache))
    engine = Engine(options=KernelOptions(threads=1, is_brief=True), compiler=compiler)
    functions = {f"f{number}": PRODUCT for number in range(AHEAD_COUNT)}
    function, shapes = BRIEF["a product"]
    run(engine.kernel(function, "f0", functions=functions), shapes)
    assert not [item for item in tmp_path.rglob("*") if item.is_file()]
    run(Engine(options=KernelOptions(threads=1), compiler=Compiler(target, cache)).kernel(function, "f"), shapes)
    assert [item for item in tmp_path.rglob("*") if item.is_file()]


def test_sums_in_a_tree_stay_one() -> None:
    function, shapes = BRIEF["sums of rows"]
    found, as_ever = (run(kernel_of(function, "fast", is_brief=item), shapes) for item in (True, False))
    assert found == as_ever


def test_sizes_that_are_not_known_make_no_kernel_brief() -> None:
    function = parsed("""def f(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        B[i] = A[i]
""")
    kernel = kernel_of(function, "exact", is_brief=True)
    kernel.specialised_variants = 0
    assert run(kernel, ((8,), (8,)))[1] != "brief"
    assert run(kernel_of(function, "exact", is_brief=True), ((8,), (8,)))[1] == "brief"
