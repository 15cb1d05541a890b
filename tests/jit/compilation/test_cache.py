"""The cache of objects: what is read is what was written, whatever happens to the files and whoever else writes."""

import logging
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from relax_core.ir.prim import binary
from relax_core.jit.compilation.cache import ObjectCache, open_cache
from relax_core.jit.compilation.cache_directory import VARIABLE
from relax_core.jit.compilation.compiler import Compiler
from relax_core.jit.compilation.llvm_source import LLVMSource
from relax_core.jit.compilation.pipelines import PIPELINES, Pipeline
from relax_core.jit.compilation.target import Target
from relax_core.jit.engine import Engine
from tests.jit.programs import elementwise

KEY, OTHER = "0123456789abcdef", "0123456789abcdee"
IMAGE = bytes(range(256)) * 4
DOUBLE = elementwise(lambda x: binary("+", x, x), 1, ("float32",), "float32")


def doubled(cache: ObjectCache | None) -> list[float]:
    out = np.zeros(3, "float32")
    Engine(compiler=Compiler(Target(), cache)).kernel(DOUBLE, "double")(np.arange(3, dtype="float32"), out)
    return out.tolist()


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect the texts that are compiled."""
    texts: list[str] = []
    compile_text = Target.compile

    def counted(self: Target, text: str, pipeline: Pipeline = "loops") -> bytes:
        texts.append(text)
        return compile_text(self, text, pipeline)

    monkeypatch.setattr(Target, "compile", counted)
    return texts


def files(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*") if path.is_file()
    }


def test_an_object_is_read_by_another(tmp_path: Path) -> None:
    ObjectCache(tmp_path).put(KEY, IMAGE)
    assert ObjectCache(tmp_path, is_writable=False).get(KEY) == IMAGE
    assert ObjectCache(tmp_path).get(OTHER) is None


def test_an_engine_takes_objects_of_another(tmp_path: Path, compilations: list[str]) -> None:
    for _ in range(3):
        assert doubled(ObjectCache(tmp_path)) == [0, 2, 4]
    assert len(compilations) == 1
    assert doubled(None) == [0, 2, 4]
    assert len(compilations) == 2


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "cut off": lambda content: content[:-1],
    "cut off in its head": lambda content: content[:5],
    "longer": lambda content: content + b"\0",
    "a changed bit at its end": lambda content: content[:-1] + bytes([content[-1] ^ 1]),
    "a changed bit at its start": lambda content: bytes([content[0] ^ 1]) + content[1:],
    "a changed digest": lambda content: content[:10] + bytes([content[10] ^ 128]) + content[11:],
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_object_is_dropped_and_made_again(
    name: str, tmp_path: Path, compilations: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    cache = ObjectCache(tmp_path)
    doubled(cache)
    before = files(tmp_path)
    (path,) = before
    (tmp_path / path).write_bytes(DAMAGES[name](before[path]))
    with caplog.at_level(logging.WARNING):
        assert doubled(cache) == [0, 2, 4]
    assert "A damaged object was dropped" in caplog.text
    assert len(compilations) == 2
    assert files(tmp_path) == before


def test_an_object_under_the_name_of_another_is_damaged(tmp_path: Path) -> None:
    cache = ObjectCache(tmp_path)
    cache.put(KEY, IMAGE)
    cache.path(KEY).rename(cache.path(OTHER))
    assert cache.get(OTHER) is None


def test_a_reader_changes_nothing(tmp_path: Path) -> None:
    writer, reader = ObjectCache(tmp_path), ObjectCache(tmp_path, is_writable=False)
    writer.put(KEY, IMAGE)
    writer.path(OTHER).write_bytes(b"damaged")
    os.utime(writer.path(KEY), (1, 1))
    before = files(tmp_path)
    reader.put("ff" * 8, IMAGE)
    assert reader.get(KEY) == IMAGE
    assert reader.get(OTHER) is None
    assert files(tmp_path) == before
    assert writer.path(KEY).stat().st_mtime == 1
    assert writer.get(KEY) == IMAGE
    assert writer.path(KEY).stat().st_mtime > 1


def test_the_size_is_bounded_and_what_is_used_stays(tmp_path: Path) -> None:
    limit = 64 * len(IMAGE)
    cache = ObjectCache(tmp_path, limit_bytes=limit)
    cache.put(KEY, IMAGE)
    for number in range(200):
        key = f"{number:016x}"
        cache.put(key, IMAGE)
        # Ages are told apart by the hour.
        os.utime(cache.path(key), (number * 3600, number * 3600))
        assert cache.get(KEY) == IMAGE
        os.utime(cache.path(KEY), (number * 3600, number * 3600))
    total = sum(len(content) for content in files(tmp_path).values())
    assert limit / 2 < total < limit * 1.2
    assert cache.get(f"{199:016x}") == IMAGE
    assert cache.get(f"{0:016x}") is None


def test_an_object_as_large_as_the_cache_is_not_kept(tmp_path: Path) -> None:
    cache = ObjectCache(tmp_path, limit_bytes=len(IMAGE))
    cache.put(KEY, IMAGE)
    assert files(tmp_path) == {}


def test_what_a_killed_writer_left_is_swept_up(tmp_path: Path) -> None:
    cache = ObjectCache(tmp_path)
    (tmp_path / "01").mkdir()
    old, young = tmp_path / "01" / "old.part", tmp_path / "01" / "young.part"
    for path in (old, young):
        path.write_bytes(b"")
    os.utime(old, (1, 1))
    cache.put(KEY, IMAGE)
    assert not old.exists()
    assert young.exists()


def test_a_link_to_nothing_does_not_keep_the_cache_from_being_trimmed(tmp_path: Path) -> None:
    limit = 64 * len(IMAGE)
    cache = ObjectCache(tmp_path, limit_bytes=limit)
    (tmp_path / "00").mkdir()
    (tmp_path / "00" / "lost").symlink_to(tmp_path / "nowhere")
    for number in range(200):
        cache.put(f"{number:016x}", IMAGE)
    assert sum(path.stat().st_size for path in tmp_path.glob("*/*") if not path.is_symlink()) < limit * 1.2


def test_many_writers_at_once_leave_whole_objects(tmp_path: Path) -> None:
    keys = [f"{number:02x}{number:014x}" for number in range(16)]
    image_of = {key: key.encode() * 64 for key in keys}

    def work(seed: int) -> int:
        cache = ObjectCache(tmp_path, limit_bytes=9 * 1100)
        random = np.random.default_rng(seed)
        hits = 0
        for number in map(int, random.integers(0, len(keys), 150)):
            key = keys[number]
            found = cache.get(key)
            assert found in (None, image_of[key])
            hits += found is not None
            cache.put(key, image_of[key])
        return hits

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(work, range(6))) > 0


def test_a_directory_that_cannot_be_used_is_no_error(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_bytes(b"")
    cache = ObjectCache(place)
    cache.put(KEY, IMAGE)
    assert cache.get(KEY) is None
    assert doubled(cache) == [0, 2, 4]


def test_the_directory_is_made_for_this_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    assert open_cache(is_writable=False) is None
    cache = open_cache(is_writable=True)
    assert cache is not None
    assert cache.directory.is_relative_to(tmp_path)
    assert cache.directory.stat().st_mode & 0o777 == 0o700
    assert open_cache(is_writable=False) is not None


def test_a_directory_that_others_may_write_to_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    tmp_path.chmod(0o777)
    assert open_cache(is_writable=True) is None
    assert "others may write to it" in caplog.text
    tmp_path.chmod(0o700)
    assert open_cache(is_writable=True) is not None


@pytest.mark.parametrize("value", ["off", "OFF", "0", ""])
def test_the_cache_can_be_switched_off(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, value)
    assert open_cache(is_writable=True) is None


def test_the_key_holds_all_that_the_object_depends_on() -> None:
    target, other = Target(), Target()
    other.description += " of another processor"
    source = LLVMSource("define void @kernel() {\n  ; a comment\n  ret void\n}")
    same = LLVMSource("define void @kernel() {\n  ret void\n}")
    assert source.key(target) == same.key(target)
    different = (
        source.key(other),
        LLVMSource(source.text.replace("ret", "unreachable")).key(target),
        *(LLVMSource(source.text, pipeline=item).key(target) for item in PIPELINES if item != source.pipeline),
        LLVMSource(source.text, is_final=True).key(target),
    )
    assert len({source.key(target), *different}) == 1 + len(different)
