"""Compiling ahead: other processes make the same objects, and whatever becomes of them, kernels run."""

import gc
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from relax_core.ir.tir import PrimFunc
from relax_core.jit.compilation.cache import ObjectCache
from relax_core.jit.compilation.compile_process import TEXT_LIMIT_BYTES, CompileProcess, Connection, Work
from relax_core.jit.compilation.compiler import Compiler
from relax_core.jit.compilation.llvm_source import LLVMSource
from relax_core.jit.compilation.pipelines import Pipeline
from relax_core.jit.compilation.pool import Pool
from relax_core.jit.compilation.specialisation import Request, Specialisation, source_of
from relax_core.jit.compilation.target import Target
from relax_core.jit.engine import AHEAD_COUNT, Engine
from tests.jit.programs import Buffer, BufferLoad, BufferStore, binary, for_each, index, integer, prim_func

TARGET = Target()
SOURCE = LLVMSource("define i32 @kernel(ptr %slots, ptr %record) {\n  ret i32 0\n}")
FINAL = LLVMSource(SOURCE.text.replace("ret i32 0", "ret i32 5"), is_final=True)


def scaled(factor: int) -> PrimFunc:
    """Make `B[i] = A[i] * factor`, of a constant size."""
    a, b = Buffer("A", (integer(8),), "int64"), Buffer("B", (integer(8),), "int64")
    i = index("i")
    store = BufferStore(b, (i,), binary("*", BufferLoad(a, (i,)), integer(factor)))
    return prim_func([a, b], for_each((i,), (integer(8),), store))


def request(number: int, name: str = "f") -> Request:
    """Return what the kernel of `scaled(number)` is compiled from."""
    function = scaled(number)
    found = Specialisation(function, {name: function}, Engine().options, ()).request()
    assert found is not None
    return found


class Here:
    """A connection that compiles in this process, and keeps what it was asked for."""

    def __init__(self, before: Callable[[], None] = lambda: None) -> None:
        self.asked: list[Work] = []
        self.before = before
        self.done = threading.Semaphore(0)
        self.ended = threading.Event()

    def compile(self, work: Work) -> bytes | None:
        self.asked.append(work)
        self.before()
        made = work.compile(Target())
        self.done.release()
        return made

    def close(self) -> None:
        self.ended.set()


@pytest.fixture
def compiled_here(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect what the main thread compiles, by what it is known by."""
    keys: list[str] = []
    compile_text = Target.compile

    def counted(self: Target, text: str, pipeline: Pipeline = "loops") -> bytes:
        if threading.current_thread() is threading.main_thread():
            keys.append(LLVMSource(text, pipeline=pipeline).key(self))
        return compile_text(self, text, pipeline)

    monkeypatch.setattr(Target, "compile", counted)
    return keys


def program_of(work: Work) -> str:
    """Return what the LLVM IR of a kernel that was asked for is known by."""
    assert isinstance(work, Request)
    return source_of(work.specialisation().lowered(lambda node: None)).key(TARGET)


def run_all(connection: Connection | None, count: int, cache: ObjectCache | None = None) -> Engine:
    """Run the kernels of a module of `count` prim funcs, one after the other."""

    def connect() -> Connection:
        if connection is None:
            raise OSError("there are no processes")
        return connection

    engine = Engine(compiler=Compiler(TARGET, cache, Pool(connect, 1, TARGET, cache)))
    functions = {f"scale{number}": scaled(number) for number in range(count)}
    values = np.arange(8)
    for number, (name, function) in enumerate(functions.items()):
        out = np.zeros(8, "int64")
        engine.kernel(function, name, None, functions)(values, out)
        assert (out == values * number).all()
    return engine


def test_a_process_makes_what_is_made_here(tmp_path: Path) -> None:
    cache = ObjectCache(tmp_path)
    process = CompileProcess(cache)
    try:
        assert process.compile(LLVMSource("no LLVM IR at all")) is None
        assert process.compile(LLVMSource("x" * (TEXT_LIMIT_BYTES + 1))) is None
        assert process.compile(Request(b"[] is no kernel")) is None
        for work in (SOURCE, FINAL, SOURCE, request(7), request(7)):
            made = process.compile(work)
            assert made == work.compile(TARGET)
            assert cache.get(work.key(TARGET)) == made
    finally:
        process.close()
    with pytest.raises((OSError, ValueError)):
        process.compile(SOURCE)


def test_a_process_for_a_reader_writes_nothing(tmp_path: Path) -> None:
    process = CompileProcess(ObjectCache(tmp_path, is_writable=False))
    assert process.compile(SOURCE)
    process.close()
    assert not list(tmp_path.iterdir())


def test_each_kernel_is_compiled_once_here_or_there(compiled_here: list[str]) -> None:
    there = Here()
    run_all(there, 24)
    assert compiled_here
    assert there.ended.wait(60)
    # Each of these was compiled once, here or there.
    here = set(compiled_here)
    assert here | {program_of(work) for work in there.asked} == {program_of(request(number)) for number in range(24)}
    assert len(here) == len(compiled_here)
    assert len(here) + len(there.asked) == 24


def test_few_kernels_are_compiled_here(compiled_here: list[str]) -> None:
    there = Here()
    run_all(there, AHEAD_COUNT - 1)
    assert (len(compiled_here), there.asked) == (AHEAD_COUNT - 1, [])


def test_what_is_in_the_cache_is_not_asked_for(tmp_path: Path, compiled_here: list[str]) -> None:
    run_all(None, 20, ObjectCache(tmp_path))
    assert len(compiled_here) == 20
    there = Here()
    run_all(there, 20, ObjectCache(tmp_path, is_writable=False))
    assert (len(compiled_here), there.asked) == (20, [])


def test_what_a_reader_compiles_is_sent_for_the_cache(tmp_path: Path) -> None:
    there = Here()
    run_all(there, 3, ObjectCache(tmp_path, is_writable=False))
    assert all(there.done.acquire(timeout=60) for _ in range(3))
    assert {program_of(work) for work in there.asked} == {program_of(request(number)) for number in range(3)}


def test_a_kernel_that_is_being_compiled_is_waited_for(compiled_here: list[str]) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        may_end.wait(60)

    there = Here(wait)
    pool = Pool(lambda: there, 1, TARGET)
    pool.submit("job", lambda: SOURCE)
    assert begun.wait(60)
    threading.Timer(0.05, may_end.set).start()
    pool.claim("job")
    assert may_end.is_set()
    assert pool.take(SOURCE.key(TARGET)) is not None
    assert not compiled_here


class Broken(Here):
    """A connection to a process that dies at its first request."""

    def compile(self, work: Work) -> bytes | None:
        super().compile(work)
        raise BrokenPipeError


@pytest.mark.parametrize("connection", [None, Broken()], ids=["none can be started", "one dies"])
def test_without_processes_all_is_compiled_here(connection: Broken | None, compiled_here: list[str]) -> None:
    run_all(connection, 20)
    assert len(compiled_here) == 20
    assert connection is None or len(connection.asked) == 1


def test_what_waits_does_not_keep_an_engine() -> None:
    begun, may_end = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        may_end.wait(60)

    there = Here(wait)
    pool = Pool(lambda: there, 1, TARGET)
    engine = Engine(compiler=Compiler(TARGET, None, pool))
    functions = {f"scale{number}": scaled(number) for number in range(20)}
    engine.compile_ahead(engine.kernel(functions["scale0"], "scale0", None, functions))
    assert begun.wait(60)
    del engine
    gc.collect()
    may_end.set()
    assert there.ended.wait(60)
    assert len(there.asked) == 1
