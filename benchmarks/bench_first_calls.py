"""From prim funcs to first results: compiled, from the cache on disk, and beside apache-tvm; one kernel and many."""

import gc
import tempfile
from collections.abc import Mapping
from importlib import import_module
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.table import Row, Table
from relax_core.frontend.parse import parse_text
from relax_core.ir.tir import PrimFunc
from relax_core.jit.compilation.cache import ObjectCache
from relax_core.jit.compilation.compile_process import CompileProcess
from relax_core.jit.compilation.compiler import PROCESS_COUNT, Compiler
from relax_core.jit.compilation.pool import Pool
from relax_core.jit.compilation.target import Target
from relax_core.jit.engine import Engine

MANY, FEW, ROUND_COUNT, COLUMNS = 100, 9, 3, 24
COLD, CACHED = "one kernel, compiled", "one kernel, from the cache"
PRODUCT_COLD, PRODUCT_CACHED = "one matrix product, compiled", "one matrix product, from the cache"
ALONE, AHEAD, STORED, TVM = (
    f"{MANY} kernels, {how}" for how in ("compiled", "and two processes ahead", "from the cache", "apache-tvm")
)


def run() -> Table:
    """Measure from kernels that were never called to their first results; parsing is left out."""
    numbers = count(1)
    seconds: dict[str, list[float]] = {
        name: [] for name in (COLD, CACHED, PRODUCT_COLD, PRODUCT_CACHED, ALONE, AHEAD, STORED, TVM)
    }
    with tempfile.TemporaryDirectory() as folder:
        target, cache = Target(), ObjectCache(Path(folder))
        for _ in range(ROUND_COUNT):
            number = next(numbers)
            text = _module(number, MANY)
            functions = _functions(text)
            products = _functions(_products(number))
            for rows, some in (((COLD, CACHED), functions), ((PRODUCT_COLD, PRODUCT_CACHED), products)):
                for name in [*some][:FEW]:
                    for row in rows:
                        seconds[row].append(_first_results({name: some[name]}, Compiler(target, cache)))
            pool = Pool(lambda: CompileProcess(None), PROCESS_COUNT, target)
            seconds[ALONE].append(_first_results(functions, Compiler(target)))
            seconds[AHEAD].append(_first_results(functions, Compiler(target, pool=pool)))
            _first_results(functions, Compiler(target, cache))
            seconds[STORED].append(_first_results(functions, Compiler(target, cache)))
            seconds[TVM].append(_their_first_results(text))
    rows = tuple(Row(name, tuple(times)) for name, times in seconds.items())
    median = {row.name: row.median_seconds for row in rows}
    ratios = ", ".join(f"{name} {median[TVM] / median[name]:.1f}" for name in (ALONE, AHEAD, STORED))
    return Table("First results", rows, f"apache-tvm over {ratios}")


def _module(number: int, function_count: int) -> str:
    """Write prim funcs that no other module has."""
    functions = [
        f"""    @T.prim_func
    def f{place}(A: T.Buffer(({place + 3}, {COLUMNS}), "float32"), B: T.Buffer(({place + 3}, {COLUMNS}), "float32")):
        for i, j in T.grid({place + 3}, {COLUMNS}):
            B[i, j] = T.exp(A[i, j]) * T.float32({number}) + A[i, j]
"""
        for place in range(function_count)
    ]
    return "@I.ir_module\nclass Module:\n" + "\n".join(functions)


def _products(number: int) -> str:
    """Write matrix products of sizes that no other module has."""
    functions = [
        f"""    @T.prim_func
    def f{place}(A: T.Buffer(({place + 3}, {COLUMNS}), "float32"), B: T.Buffer(({place + 3}, {COLUMNS}), "float32")):
        for i, j, k in T.grid({place + 3}, {COLUMNS}, {place + 3}):
            with T.block("B"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    B[vi, vj] = T.float32({number})
                B[vi, vj] = B[vi, vj] + A[vi, vk] * A[vk, vj]
"""
        for place in range(FEW)
    ]
    return "@I.ir_module\nclass Module:\n" + "\n".join(functions)


def _functions(text: str) -> dict[str, PrimFunc]:
    return {var.name: function for var, function in parse_text(text, "module").modules[0].prim_funcs}


def _arrays(name: str) -> tuple[Any, Any]:
    shape = (int(name.removeprefix("f")) + 3, COLUMNS)
    return np.ones(shape, "float32"), np.zeros(shape, "float32")


def _first_results(functions: Mapping[str, PrimFunc], compiler: Compiler) -> float:
    given = {name: _arrays(name) for name in functions}
    engine = Engine(compiler=compiler)
    gc.collect()
    start = perf_counter()
    for name, function in functions.items():
        engine.kernel(function, name, None, functions)(*given[name])
    return perf_counter() - start


def _their_first_results(text: str) -> float:
    tvm: Any = import_module("tvm")
    module = tvm.script.from_source(text)
    given = {
        str(var.name_hint): [tvm.runtime.tensor(array) for array in _arrays(str(var.name_hint))]
        for var in module.functions
    }
    gc.collect()
    start = perf_counter()
    built = tvm.compile(module, target="llvm")
    for name, arrays in given.items():
        built[name](*arrays)
    return perf_counter() - start
