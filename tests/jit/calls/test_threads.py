"""The threads that run chunks: each chunk once, the first error, and no thread where none may be."""

import ctypes
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from relax_core.jit.calls import threads
from relax_core.jit.compilation.compiler import Compiler
from relax_core.jit.compilation.llvm_source import LLVMSource
from relax_core.jit.compilation.target import Program, Target

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.skipif(threads.thread_count(2) < 2, reason="see threads.ll")

# Each chunk counts in its word; chunk 1 meets chunk 0, which waits for a while; the chunk `slots[999]` stops.
CHUNKS = """
declare i32 @run_chunks(ptr, ptr, ptr, i64, i64)
define internal i32 @part(ptr %slots, ptr %record, ptr %own, i64 %chunk) {
start:
  %place = getelementptr i64, ptr %slots, i64 %chunk
  %old = atomicrmw add ptr %place, i64 1 monotonic
  %flag = getelementptr i64, ptr %slots, i64 998
  %meets = getelementptr i64, ptr %slots, i64 997
  switch i64 %chunk, label %end [ i64 0, label %wait
                                  i64 1, label %come ]
come:
  store atomic i64 1, ptr %flag seq_cst, align 8
  br label %end
wait:
  %count = phi i64 [ 0, %start ], [ %next, %again ]
  %is_there = load atomic i64, ptr %flag seq_cst, align 8
  %is_met = icmp ne i64 %is_there, 0
  br i1 %is_met, label %met, label %again
again:
  %next = add i64 %count, 1
  %is_over = icmp ugt i64 %next, 10000000
  br i1 %is_over, label %end, label %wait
met:
  store i64 1, ptr %meets
  br label %end
end:
  %bad.at = getelementptr i64, ptr %slots, i64 999
  %bad = load i64, ptr %bad.at
  %is_good = icmp slt i64 %chunk, %bad
  br i1 %is_good, label %good, label %stop
good:
  ret i32 0
stop:
  %site = getelementptr i64, ptr %own, i64 1
  store i64 %chunk, ptr %site
  %value = getelementptr i64, ptr %own, i64 2
  store i64 %chunk, ptr %value
  ret i32 1
}
define i32 @kernel(ptr %slots, ptr %record) {
  %count = load i64, ptr %record
  %code = call i32 @run_chunks(ptr @part, ptr %slots, ptr %record, i64 2, i64 %count)
  ret i32 %code
}
"""


@pytest.fixture(scope="module", name="chunks")
def linked_chunks() -> Program:
    compiler = Compiler(Target())
    return compiler.program(LLVMSource(CHUNKS), threads.thread_symbols(2, compiler))


def run_chunks(
    chunks: Program, count: int, bad: int = 1 << 40, *, waits: bool = False
) -> tuple[int, list[int], list[int]]:
    slots, record = (ctypes.c_int64 * 1000)(), (ctypes.c_int64 * 64)(count)
    slots[998], slots[999] = not waits, bad
    code = chunks.run(ctypes.addressof(slots), ctypes.addressof(record))
    return code, slots[:], record[:]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 64, 900])
def test_every_chunk_runs_once(chunks: Program, count: int) -> None:
    for _ in range(5):
        code, slots, record = run_chunks(chunks, count)
        assert (code, record[0]) == (0, count)
        assert slots[:996] == [1] * count + [0] * (996 - count)


def test_many_short_kernels(chunks: Program) -> None:
    slots, record = (ctypes.c_int64 * 1000)(), (ctypes.c_int64 * 64)(3)
    slots[998], slots[999] = True, 1 << 40
    for _ in range(3000):
        assert chunks.run(ctypes.addressof(slots), ctypes.addressof(record)) == 0
    assert slots[:4] == [3000, 3000, 3000, 0]


def test_chunks_run_at_the_same_time(chunks: Program) -> None:
    def has_met() -> bool:
        threads.forget_slow_kernels()
        return bool(run_chunks(chunks, 2, waits=True)[1][997])

    assert any(has_met() for _ in range(200))


def test_one_chunk_says_why_it_stopped(chunks: Program) -> None:
    for bad in (0, 1, 5, 40):
        code, _, record = run_chunks(chunks, 64, bad)
        assert code == 1
        assert record[1] == record[2] >= bad
        assert record[0] == 64


def test_kernels_at_the_same_time(chunks: Program) -> None:
    results: list[list[int]] = []

    def run() -> None:
        for _ in range(200):
            results.append(run_chunks(chunks, 9)[1][:10])

    callers = [Thread(target=run) for _ in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert results == [[1] * 9 + [0]] * 600


def test_no_further_thread_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(Thread, "start", refuse)
    before = threads.worker_count()
    threads.thread_symbols(before + 3, Compiler(Target()))
    assert threads.worker_count() == before


SCRIPT = """
import os
from tests.jit.transforms import test_parallel as t
from relax_core.engine.process.sandbox import filter_calls
from relax_core.jit.calls import threads
from relax_core.jit.transforms.loops import parallel
parallel.LEAST_NANOSECONDS = 0
def check():
    assert "parallel" in t.compare(t.MATMUL.function((40, 40, 40)), t.MATMUL.arrays((40, 40, 40), 0), t.THREADS[2])
    assert threads.worker_count() == 1
"""
FORK = """
check()
child = os.fork()
if child == 0:
    assert threads.worker_count() == 0
    t.compare(t.MATMUL.function((40, 40, 40)), t.MATMUL.arrays((40, 40, 40), 0), t.THREADS[2])
    t.THREADS[2] = t.Engine(options=t.KernelOptions(threads=2))
    check()
    os._exit(17)
check()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 17
"""


@pytest.mark.parametrize(
    "text", ["check()", FORK, "assert filter_calls()\ncheck()"], ids=["ends", "forks", "in the sandbox"]
)
def test_processes(text: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT + text], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
