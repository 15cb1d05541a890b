"""Kernels from the cache: called without being lowered, and in all else as those that are compiled."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relax_core.diagnostics import RunError
from relax_core.ir.tir import PrimFunc
from relax_core.jit.compilation import specialisation
from relax_core.jit.compilation.cache import ObjectCache
from relax_core.jit.compilation.compile_process import command
from relax_core.jit.compilation.compiler import Compiler
from relax_core.jit.compilation.metadata import CachedKernel, KernelMetadata, Workspace
from relax_core.jit.compilation.specialisation import Specialisation
from relax_core.jit.compilation.target import Target
from relax_core.jit.engine import Engine
from relax_core.jit.kernel import Kernel
from relax_core.jit.lowering.checks import Locate
from relax_core.jit.lowering.lower import Lowered
from relax_core.jit.options import KernelOptions
from tests.jit.programs import gather, parsed, row_sum, tir_matmul

TARGET = Target()
Arrays = Sequence[Any]


def ones(*shape: int, dtype: str = "float32") -> Any:
    return np.ones(shape, dtype)


WITH_WORKSPACE = parsed("""def f(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32")):
    C = T.alloc_buffer((64, 64), "float32")
    for i, j in T.grid(64, 64):
        C[i, j] = A[i, j] + T.float32(1)
    for i, j in T.grid(64, 64):
        B[i, j] = C[j, i]
""")
WITH_RESULT = parsed("""def f(n: T.int64) -> "float64":
    return T.Cast("float64", n) / T.float64(4)
""")
WITH_SYMBOL = parsed("""def f(a: T.handle, n: T.int32):
    A = T.match_buffer(a, (n,), "int32")
    for i in range(n):
        A[i] = n
""")
BIG = parsed("""def f(A: T.Buffer((512, 2048), "float32"), B: T.Buffer((512, 2048), "float32")):
    for i, j in T.grid(512, 2048):
        B[i, j] = T.exp(A[i, j])
""")
EMPTY = parsed("""def f(A: T.Buffer((0, 4), "float32"), B: T.Buffer((0, 4), "float32")):
    for i, j in T.grid(0, 4):
        B[i, j] = A[i, j]
""")
CASES: dict[str, tuple[PrimFunc, Callable[[], Arrays]]] = {
    "a product": (tir_matmul(is_corrected=True), lambda: (ones(4, 5), ones(5, 6), np.zeros((4, 6), "float32"))),
    "sums of rows": (row_sum(), lambda: (ones(17, 33), ones(17))),
    "a check at run time": (gather(), lambda: (ones(5), np.array([4, 0, 2], "int32"), ones(3))),
    "memory of the caller": (WITH_WORKSPACE, lambda: (ones(64, 64), ones(64, 64))),
    "a result": (WITH_RESULT, lambda: (7,)),
    "a dimension as an argument": (WITH_SYMBOL, lambda: (ones(9, dtype="int32"), 9)),
    "chunks for threads": (BIG, lambda: (ones(512, 2048), ones(512, 2048))),
    "no elements": (EMPTY, lambda: (ones(0, 4), ones(0, 4))),
}


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect the names of the functions that are lowered."""
    names: list[str] = []
    lower = Specialisation.lowered

    def counted(self: Specialisation, locate: Locate, is_cancelled: Callable[[], bool] = lambda: False) -> Lowered:
        names.append(self.function.params[0].name)
        return lower(self, locate, is_cancelled)

    monkeypatch.setattr(Specialisation, "lowered", counted)
    return names


def kernel_of(function: PrimFunc, cache: ObjectCache | None, options: KernelOptions | None = None) -> Kernel:
    """Return a kernel of an engine of its own."""
    return Engine(compiler=Compiler(TARGET, cache), options=options or KernelOptions()).kernel(function, "f")


@pytest.mark.parametrize("name", CASES)
def test_a_kernel_from_the_cache_computes_the_same(name: str, tmp_path: Path, lowered: list[str]) -> None:
    function, make = CASES[name]
    cache = ObjectCache(tmp_path)
    outcomes: list[tuple[object, ...]] = []
    for count in (1, 0, 0):
        lowered.clear()
        arguments = make()
        kernel = kernel_of(function, cache)
        result = kernel(*arguments)
        outcomes.append((result, *(np.asarray(item).tolist() for item in arguments)))
        assert len(lowered) == count
    assert outcomes[0] == outcomes[1] == outcomes[2]


@pytest.mark.parametrize("name", CASES)
def test_a_kernel_from_the_cache_shows_the_same(name: str, tmp_path: Path) -> None:
    function, make = CASES[name]
    cache = ObjectCache(tmp_path)
    shown: list[tuple[object, ...]] = []
    for _ in range(2):
        kernel = kernel_of(function, cache)
        kernel(*make())
        remarks = [(item.kind, item.transform, item.reason) for item in kernel.remarks()]
        shown.append((kernel.llvm_ir(), remarks, kernel.assembly()))
    assert shown[0] == shown[1]


def test_a_kernel_from_the_cache_stops_with_the_same_words(tmp_path: Path, lowered: list[str]) -> None:
    said: list[str] = []
    for _ in range(2):
        lowered.clear()
        kernel = kernel_of(gather(), ObjectCache(tmp_path))
        for call in (kernel, kernel.caller()):
            with pytest.raises(RunError) as stopped:
                call(ones(5), np.array([0, 9, 1], "int32"), ones(3))
            said += [item.render() for item in stopped.value.diagnostics]
        # Where it stopped is looked up in what it was lowered to.
        assert lowered
    assert "Index[i] = 9, but Table has 5 elements" in said[0]
    assert len(said) == 4
    assert len(set(said)) == 1


def test_the_same_builtin_runs_a_kernel_from_the_cache(tmp_path: Path, slow_calls: list[object]) -> None:
    for _ in range(2):
        slow_calls.clear()
        kernel = kernel_of(WITH_WORKSPACE, ObjectCache(tmp_path))
        call = kernel.allocating_caller((64, 64), "float32")
        results = [np.asarray(call(ones(64, 64))) for _ in range(3)]
        assert all((result == 2).all() for result in results)
        assert len(slow_calls) == 1


def test_other_options_have_other_kernels(tmp_path: Path, lowered: list[str]) -> None:
    cache = ObjectCache(tmp_path)
    for options in (KernelOptions(), KernelOptions(mode="fast"), KernelOptions(finds_uninitialised=True)):
        for count in (1, 0):
            lowered.clear()
            kernel_of(row_sum(), cache, options)(ones(17, 33), ones(17))
            assert len(lowered) == count


def test_arrays_that_overlap_have_a_kernel_of_their_own(tmp_path: Path, lowered: list[str]) -> None:
    function, both = (
        parsed("""def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        B[i] = A[i] + T.float32(1)
"""),
        np.arange(9, dtype="float32"),
    )
    for count in (2, 0):
        lowered.clear()
        kernel = kernel_of(function, ObjectCache(tmp_path))
        kernel(ones(8), ones(8))
        both[:] = 0
        kernel(both[:8], both[1:])
        assert both.tolist() == list(range(9))
        assert len(lowered) == count


def test_a_kernel_in_memory_is_not_read_again(tmp_path: Path, lowered: list[str]) -> None:
    compiler = Compiler(TARGET, ObjectCache(tmp_path))
    for _ in range(3):
        Engine(compiler=compiler).kernel(row_sum(), "f")(ones(17, 33), ones(17))
        for path in tmp_path.rglob("*"):
            if path.is_file():
                path.unlink()
    assert len(lowered) == 1
    assert compiler.program_count == 1


@pytest.mark.parametrize("content", [b"", b"\n", b"[]\n", b"{}\n", b'["key", 1]\n', b"\xff\n", b"no line"])
def test_what_is_no_entry_is_made_again(content: bytes, tmp_path: Path, lowered: list[str]) -> None:
    cache = ObjectCache(tmp_path)
    assert CachedKernel.from_bytes(content) is None
    kernel_of(row_sum(), cache)(ones(17, 33), ones(17))
    (path,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    cache.put(path.parent.name + path.name, content)
    out = ones(17)
    kernel_of(row_sum(), cache)(ones(17, 33), out)
    assert out.tolist() == [33] * 17
    assert len(lowered) == 2
    kernel_of(row_sum(), cache)(ones(17, 33), out)
    assert len(lowered) == 2


def test_an_entry_is_read_as_it_was_written() -> None:
    metadata = KernelMetadata(
        "key", 3, (Workspace(8, is_filled=True), Workspace(0, is_filled=False)), 2, "int8", None, True, False
    )
    entry = CachedKernel(metadata, b"\n\0\n{}")
    assert CachedKernel.from_bytes(entry.to_bytes()) == entry


def test_the_version_covers_all_that_lowering_imports() -> None:
    show = "import sys; print(*(name for name in sys.modules if name.startswith('relax_core.')))"
    *start, code, package, _ = command("jit.compilation.specialisation", "")
    code = code.replace("import main", "import Request").replace("main(sys.argv[2:])", show).format()
    found = subprocess.run([*start, code, package], capture_output=True, text=True, check=True).stdout.split()
    assert "relax_core.jit.transforms.contractions.tile" in found
    # The package itself names what its public names lead to; none of that is loaded here.
    front = {"relax_core.late", "relax_core.engine", "relax_core.engine.process", "relax_core.engine.process.starting"}
    parts = {name.split(".")[1] for name in found if name not in front and not name.startswith("relax_core.engine.api")}
    # Where messages come from and what they look like changes no code.
    assert parts - {*specialisation.PACKAGES} <= {"diagnostics", "source"}
    assert sys.executable == start[0]


def test_the_version_is_that_of_the_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in specialisation.PACKAGES:
        (tmp_path / package).mkdir()
        (tmp_path / package / "one.py").write_text("1\n")
    monkeypatch.setattr(specialisation, "_ROOT", tmp_path)

    def found() -> str:
        specialisation.lowering_version.cache_clear()
        return specialisation.lowering_version()

    versions = [found(), found()]
    (tmp_path / "jit" / "one.py").write_text("2\n")
    versions.append(found())
    (tmp_path / "jit" / "one.py").rename(tmp_path / "jit" / "two.py")
    versions.append(found())
    (tmp_path / "jit" / "notes.txt").write_text("3\n")
    versions.append(found())
    specialisation.lowering_version.cache_clear()
    assert versions[0] == versions[1]
    assert versions[3] == versions[4]
    assert len(set(versions)) == 3
