"""How soon a running kernel ends that another thread cancels: from the call of `cancel` to the error of the kernel.

On a busy machine threads wait for a processor, so the time that the kernel's own thread computes is measured besides.
"""

import random
import threading
from collections.abc import Callable
from time import clock_gettime, perf_counter, pthread_getcpuclockid
from typing import Any

import numpy as np

from benchmarks.table import Row, Table
from relax_core.diagnostics import RunError
from relax_core.frontend.parse import parse_text
from relax_core.jit.engine import Engine
from relax_core.jit.kernel import Kernel
from relax_core.jit.options import KernelOptions

CANCEL_COUNT = 200
LATEST_SECONDS = 0.02
KERNELS = {
    "a product of matrices": (
        """def f(A: T.Buffer((2048, 2048), "float32"), B: T.Buffer((2048, 2048), "float32")):
    for i, j, k in T.grid(2048, 2048, 2048):
        with T.block("B"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                B[vi, vj] = T.float32(0)
            B[vi, vj] = B[vi, vj] + A[vi, vk] * A[vk, vj]
""",
        (2048, 2048),
    ),
    "an expression of each element": (
        """def f(A: T.Buffer((4096, 4096), "float32"), B: T.Buffer((4096, 4096), "float32")):
    for i, j in T.grid(4096, 4096):
        B[i, j] = T.exp(T.sin(T.exp(T.sin(T.exp(T.sin(A[i, j]))))))
""",
        (4096, 4096),
    ),
    "steps that wait for each other": (
        """def f(A: T.Buffer((1024,), "float32"), B: T.Buffer((1024,), "float32")):
    for r, i in T.grid(1000000, 1023):
        B[i + 1] = B[i] * T.float32(0.5) + A[i]
""",
        (1024,),
    ),
}


def run() -> Table:
    """Cancel kernels at random times, with their caller alone and with the threads of this process."""
    rows: list[Row] = []
    slowest: list[str] = []
    for name, (text, shape) in KERNELS.items():
        for threads, how in ((1, "alone"), (0, "with all threads")):
            ((_, function),) = parse_text(f"@T.prim_func\n{text}", "f").modules[0].prim_funcs
            engine = Engine(options=KernelOptions(threads=threads))
            seconds, computed = zip(*_cancelled(engine, engine.kernel(function, "f"), shape), strict=True)
            rows.append(Row(f"{name}, {how}", seconds))
            slowest.append(f"{name}, {how}: {max(seconds) * 1e3:.2f} ms, of which {max(computed) * 1e3:.2f} computed")
    return Table(f"{CANCEL_COUNT} cancelled kernels", tuple(rows), "the slowest of each:\n" + "\n".join(slowest))


def _cancelled(engine: Engine, kernel: Kernel, shape: tuple[int, ...]) -> list[tuple[float, float]]:
    """Return how many seconds each kernel still ran, and for how many its thread computed."""
    call = kernel.caller()
    args = np.ones(shape, "float32"), np.zeros(shape, "float32")
    choose, seconds = random.Random(0), list[tuple[float, float]]()
    # The first call compiles the code, and what is cancelled meanwhile is lost.
    _run_until(engine, call, args, 0.1)
    while len(seconds) < CANCEL_COUNT:
        found = _run_until(engine, call, args, choose.uniform(0.002, LATEST_SECONDS))
        if found is not None:
            seconds.append(found)
    return seconds


def _run_until(
    engine: Engine, call: Callable[..., object], args: tuple[Any, ...], wait_seconds: float
) -> tuple[float, float] | None:
    """Run a kernel that is cancelled after some time, again and again if it goes on; return how long it then ran.

    That is `None` for one that came to its end before.
    """
    has_ended, said = threading.Event(), list[tuple[float, float]]()
    clock = pthread_getcpuclockid(threading.get_ident())

    def cancel() -> None:
        while not has_ended.wait(wait_seconds):
            said.append((perf_counter(), clock_gettime(clock)))
            engine.cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    try:
        call(*args)
    except RunError as error:
        if error.diagnostics[0].code != "JT014":
            raise
        return perf_counter() - said[0][0], clock_gettime(clock) - said[0][1]
    finally:
        has_ended.set()
        thread.join()
    return None
