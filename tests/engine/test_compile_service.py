"""The compile process of a worker: started by what the worker writes, confined, gone behind it; it fills the cache."""

import os
import select
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from relax_core.engine.process.client import Client
from relax_core.engine.process.compile_service import CompileService
from relax_core.engine.process.forked import ForkedWorkers
from relax_core.engine.process.launch import Launcher, NewProcesses
from relax_core.engine.protocol import Program, RunOf
from relax_core.jit.compilation.cache import ObjectCache
from relax_core.jit.compilation.cache_directory import VARIABLE
from relax_core.jit.compilation.compile_process import Descriptors, write_all
from relax_core.jit.compilation.llvm_source import LLVMSource
from relax_core.jit.compilation.metadata import CachedKernel
from relax_core.jit.compilation.specialisation import Request, Specialisation
from relax_core.jit.compilation.target import Target
from relax_core.jit.options import KernelOptions
from relax_core.present.running.run_models import Run
from tests.jit.programs import tir_matmul

SOURCE = LLVMSource("define i32 @kernel(ptr %slots, ptr %record) {\n  ret i32 0\n}")
SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "relax" / "mlp.py"
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


@pytest.fixture(params=[NewProcesses, ForkedWorkers], ids=["anew", "forked"])
def launcher(request: pytest.FixtureRequest) -> Launcher:
    return request.param()


@pytest.fixture
def descriptor(directory: Path, launcher: Launcher) -> Iterator[int]:
    """A worker's end of the socket of a service."""
    before = threads()
    service = CompileService(launcher)
    number = os.dup(service.descriptor)
    service.detach()
    (thread,) = [item for item in threads() if item not in before]
    yield number
    os.close(number)
    thread.join(60)
    assert not thread.is_alive()


def test_it_compiles_and_keeps_what_it_is_sent(descriptor: int, directory: Path) -> None:
    target = Target()
    connection = Descriptors(descriptor, descriptor)
    kernel = Specialisation(tir_matmul(is_corrected=True), {}, KernelOptions(), (4, 5, 6)).request()
    assert kernel is not None
    for work in (SOURCE, kernel, SOURCE, kernel):
        assert connection.compile(work) == work.compile(target)
    for nonsense in (LLVMSource("nonsense"), Request(b"nonsense")):
        assert connection.compile(nonsense) is None
    cache = ObjectCache(directory)
    for work in (SOURCE, kernel):
        assert cache.get(work.key(target)) == work.compile(target)
    entry = CachedKernel.from_bytes(cache.get(kernel.key(target)) or b"")
    assert entry is not None
    assert entry.metadata.is_kept


def kernels(*sizes: int) -> list[Request]:
    found = [
        Specialisation(tir_matmul(is_corrected=True), {}, KernelOptions(), (4, 5, size)).request() for size in sizes
    ]
    return [item for item in found if item is not None]


def test_a_forked_one_is_as_confined_as_one_that_is_started_anew(directory: Path) -> None:
    found: list[tuple[str, ...]] = []
    for launcher in (NewProcesses(), ForkedWorkers()):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            process = launcher.compiler(theirs.fileno(), str(directory))
            theirs.close()
            # It has answered, so that it is confined.
            assert Descriptors(ours.fileno(), ours.fileno()).compile(SOURCE) is not None
            about = Path(f"/proc/{process.pid}")
            status = [line for line in (about / "status").read_text().splitlines() if line.startswith("Seccomp")]
            links = (str(path.readlink()) for path in (about / "fd").iterdir())
            sockets = sum(link.startswith("socket:") for link in links)
            priority = os.getpriority(os.PRIO_PROCESS, process.pid)
            network = os.readlink(about / "ns" / "net") != os.readlink("/proc/self/ns/net")
            found.append(((about / "limits").read_text(), *status, f"{sockets} {priority} {network}"))
        assert process.wait(60) == 0
    assert found[0] == found[1]


@pytest.mark.parametrize("is_answered", [False, True], ids=["nothing unread", "an answer unread"])
def test_what_a_worker_leaves_is_made_when_it_is_gone(
    directory: Path, launcher: Launcher, *, is_answered: bool
) -> None:
    target, cache, asked = Target(), ObjectCache(directory), kernels(6, 7, 8)
    works = (SOURCE, *asked)
    before = threads()
    service = CompileService(launcher)
    connection = Descriptors(service.descriptor, service.descriptor)
    if is_answered:
        content = asked[0].content
        write_all(service.descriptor, struct.pack("<BI", 128, len(content)) + content)
    assert all(connection.keep(work) for work in works)
    service.detach()
    service.hand_over()
    # From here on this process could end.
    for thread in threads():
        if thread not in before:
            thread.join(60)
            assert not thread.is_alive()
    for work in works:
        assert cache.get(work.key(target)) == work.compile(target)


def test_what_is_kept_is_not_answered(descriptor: int, directory: Path) -> None:
    target, connection = Target(), Descriptors(descriptor, descriptor)
    kept, asked = kernels(6, 7)
    assert connection.keep(kept)
    assert connection.keep(Request(b"no kernel"))
    assert connection.compile(asked) == asked.compile(target)
    assert ObjectCache(directory).get(kept.key(target)) == kept.compile(target)


def test_nothing_waits_where_nobody_reads() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        connection, (work,) = Descriptors(theirs.fileno(), theirs.fileno()), kernels(6)
        kept = 0
        while connection.keep(work):
            kept += 1
        assert kept > 10
    # The other end is gone, and with it all that could be done.
    assert connection.keep(work)


def wait_for_processes(directory: Path) -> None:
    """Wait for the end of all processes that were started for a directory."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if str(directory).encode() in path.read_bytes():
                number = os.pidfd_open(int(path.parent.name))
                assert select.select((number,), (), (), 60)[0]
                os.close(number)


def run_sample(cache: Path, *options: str) -> dict[str, int]:
    """Run a sample with a cache; return what is in that when all processes have ended, with the time of its writing."""
    environment = {**os.environ, VARIABLE: str(cache)}
    command = (sys.executable, "-m", "relax_core", "run", str(SAMPLE), *options)
    subprocess.run(command, check=True, capture_output=True, timeout=120, cwd=SAMPLE.parents[2], env=environment)
    wait_for_processes(cache)
    return {path.name: path.stat().st_mtime_ns for path in cache.glob("*/*")}


def test_a_short_program_compiles_nothing_when_it_is_run_again(directory: Path) -> None:
    first, here = directory / "first", directory / "here"
    for folder in (first, here):
        folder.mkdir(mode=0o700)
    needed = run_sample(here, "--in-process")
    assert len(needed) > 3
    written = run_sample(first)
    assert written.keys() == needed.keys()
    assert run_sample(first) == written


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
                thread.join(60)
    assert runs[0] == runs[1]
    assert list(directory.glob("*/*"))
