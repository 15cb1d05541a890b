"""Matrix products beside the fastest that this processor multiplies and adds, one after the other."""

import ctypes

import numpy as np

from benchmarks.table import Row, Table
from benchmarks.timing import Case, measure
from relax_core.frontend.parse import parse_text
from relax_core.ir.tir import PrimFunc
from relax_core.jit.engine import Engine
from relax_core.jit.options import KernelOptions

SHAPES = ((512, 512, 512), (511, 511, 511), (513, 513, 513), (1024, 1024, 1024), (100, 37, 61), (96, 32, 64))
PEAK = "multiplications and additions in registers"
CHAINS, ROUNDS = 10, 20_000
SAMPLES = 9
TEXT = """@T.prim_func
def main(A: T.Buffer(({m}, {k}), "float32"), B: T.Buffer(({k}, {n}), "float32"), C: T.Buffer(({m}, {n}), "float32")):
    for i, j, k in T.grid({m}, {n}, {k}):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""


def run() -> Table:
    """Measure seconds per 10^9 terms of a sum; a ratio is the inverse of the fraction of the peak."""
    engine = Engine(options=KernelOptions(threads=1))
    random = np.random.default_rng(0)
    cases: dict[str, Case] = {PEAK: _peak(engine)}
    terms = {PEAK: CHAINS * ROUNDS * engine.options.lanes(32)}
    for m, k, n in SHAPES:
        arrays = [random.random(shape, "float32") for shape in ((m, k), (k, n), (m, n))]
        kernel = engine.kernel(_matmul(m, k, n), "matmul").caller()
        name = f"{m} x {k} x {n}"
        cases[name] = lambda kernel=kernel, arrays=arrays: kernel(*arrays)
        terms[name] = m * k * n
    rows = measure(cases, sample_count=SAMPLES)
    rates = [Row(row.name, tuple(seconds / terms[row.name] * 1e9 for seconds in row.seconds)) for row in rows]
    peak = rates[0].median_seconds
    fractions = ", ".join(f"{row.name} {peak / row.median_seconds:.0%}" for row in rates[1:])
    return Table(
        "Matrix products, seconds for 10^9 terms, checked and in the order of the text", tuple(rates), fractions
    )


def _matmul(m: int, k: int, n: int) -> PrimFunc:
    return next(function for _, function in parse_text(TEXT.format(m=m, k=k, n=n), "matmul.py").modules[0].prim_funcs)


def _peak(engine: Engine) -> Case:
    """Make a loop of products and sums, none of which waits for another of its round."""
    vector = f"<{engine.options.lanes(32)} x float>"
    starts: list[str] = []
    rounds: list[str] = []
    ends: list[str] = []
    for at in range(CHAINS):
        starts += [
            f"  %p{at} = phi {vector} [ splat (float 1.0), %entry ], [ %m{at}, %again ]",
            f"  %s{at} = phi {vector} [ zeroinitializer, %entry ], [ %a{at}, %again ]",
        ]
        rounds += [
            f"  %m{at} = fmul {vector} %p{at}, splat (float 0x3FF0000020000000)",
            f"  %a{at} = fadd {vector} %s{at}, splat (float 1.5)",
        ]
        ends += [
            f"  %t{at} = fadd {vector} %m{at}, %a{at}",
            f"  %c{at} = getelementptr {vector}, ptr %slots, i64 {at}",
            f"  store {vector} %t{at}, ptr %c{at}, align 4",
        ]
    text = "\n".join(
        (
            "define i32 @kernel(ptr %slots, ptr %record) {",
            "entry:",
            "  br label %again",
            "again:",
            "  %n = phi i64 [ 0, %entry ], [ %next, %again ]",
            *starts,
            *rounds,
            "  %next = add i64 %n, 1",
            f"  %more = icmp slt i64 %next, {ROUNDS}",
            "  br i1 %more, label %again, label %over",
            "over:",
            *ends,
            "  ret i32 0",
            "}",
        )
    )
    program = engine.target.link(engine.target.compile(text), "kernel")
    results = (ctypes.c_float * (CHAINS * engine.options.lanes(32)))()
    return lambda: program.run(ctypes.addressof(results), 0)
