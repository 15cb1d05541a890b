"""The compile process of a worker: started by what the worker writes, confined, gone with it; it fills the cache."""

import os
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from relax_core.engine.client import Client
from relax_core.engine.compile_service import CompileService
from relax_core.engine.protocol import Program, RunOf
from relax_core.jit.compilation.cache import VARIABLE, ObjectCache
from relax_core.jit.compilation.compile_process import Descriptors, write_all
from relax_core.jit.compilation.facts import Entry
from relax_core.jit.compilation.llvm_source import Source
from relax_core.jit.compilation.specialisation import Request, Specialisation
from relax_core.jit.compilation.target import Target
from relax_core.jit.options import KernelOptions
from relax_core.present.run_models import Run
from tests.jit.programs import tir_matmul

SOURCE = Source("define i32 @kernel(ptr %slots, ptr %record) {\n  ret i32 0\n}")
PROGRAM = Program(
    """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3, 5), "float32")):
        return R.nn.softmax(R.exp(x))
"""
)


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "compile service"]


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tmp_path.chmod(0o700)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path


@pytest.fixture
def descriptor(directory: Path) -> Iterator[int]:
    """A worker's end of the socket of a service."""
    before = threads()
    service = CompileService(dict(os.environ))
    number = os.dup(service.descriptor)
    service.detach()
    (thread,) = [item for item in threads() if item not in before]
    yield number
    os.close(number)
    thread.join(30)
    assert not thread.is_alive()


def test_it_compiles_and_keeps_what_it_is_sent(descriptor: int, directory: Path) -> None:
    target = Target()
    connection = Descriptors(descriptor, descriptor)
    kernel = Specialisation(tir_matmul(is_corrected=True), {}, KernelOptions(), (4, 5, 6)).request()
    assert kernel is not None
    for work in (SOURCE, kernel, SOURCE, kernel):
        assert connection.compile(work) == work.compile(target)
    for nonsense in (Source("nonsense"), Request(b"nonsense")):
        assert connection.compile(nonsense) is None
    cache = ObjectCache(directory)
    for work in (SOURCE, kernel):
        assert cache.get(work.key(target)) == work.compile(target)
    entry = Entry.from_bytes(cache.get(kernel.key(target)) or b"")
    assert entry is not None
    assert entry.facts.is_kept


def test_what_is_no_request_ends_it_for_good(descriptor: int) -> None:
    write_all(descriptor, struct.pack("<BI", 0, 1 << 31))
    with pytest.raises(OSError, match=r"gone|reset|Broken"):
        Descriptors(descriptor, descriptor).compile(SOURCE)


def test_nothing_is_started_for_a_worker_that_compiles_nothing(descriptor: int, directory: Path) -> None:
    # What the fixture joins is the thread alone.
    assert not list(directory.iterdir())


def test_what_one_worker_compiles_another_reads(directory: Path) -> None:
    runs: list[Run] = []
    before = threads()
    for _ in range(2):
        client = Client()
        reply = client.request(RunOf(PROGRAM))
        assert isinstance(reply, Run), reply
        runs.append(reply)
        client.close()
        for thread in threads():
            if thread not in before:
                thread.join(30)
    assert runs[0] == runs[1]
    assert list(directory.glob("*/*"))
