"""Kernels timed or run by apache-tvm as well, in a process of its own, where a Python has it."""

import base64
import binascii
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import IO, Final, Literal

import msgspec

from relax_core.engine.limits import Limits
from relax_core.engine.process.ahead import worker_environment
from relax_core.present.kernel_models import ForTvm, ScheduleTable, TvmRung, TvmTimes

VARIABLE: Final = "RELAXSCOPE_TVM"
_OFF: Final = "off"
_HOW: Final = f"`pip install apache-tvm`, or name a Python that has it by `{VARIABLE}`"
_ABSENT: Final = f"apache-tvm's times stand here as well where it can be imported: {_HOW}"
NOT_INSTALLED: Final = f"apache-tvm is not installed: {_HOW}"
_VERSION = "from importlib.metadata import version; print(version('apache-tvm'))"
_NUMBERS: Final = re.compile(r"(\d+)\.(\d+)")
_PROBE_SECONDS, _TICK_SECONDS = 30.0, 0.2
_ANSWER_BYTES: Final = 1 << 20
_ARRAY_BYTES: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class Installed:
    """A Python that has apache-tvm; one without it has no version."""

    python: str
    version: str

    @property
    def words(self) -> Literal["", "0.25", "0.27"]:
        """The version whose words it reads; empty without one."""
        if not self.version:
            return ""
        found = _NUMBERS.match(self.version)
        return "0.25" if found is not None and (int(found[1]), int(found[2])) < (0, 26) else "0.27"


def installed_tvm() -> Installed | None:
    """Look for apache-tvm in the Python that the environment names, or in this one; `None` if it was switched off."""
    python = os.environ.get(VARIABLE) or sys.executable
    if python == _OFF:
        return None
    with suppress(OSError, subprocess.TimeoutExpired):
        command = (python, "-P", "-c", _VERSION)
        found = subprocess.run(
            command, capture_output=True, env=worker_environment(), timeout=_PROBE_SECONDS, check=False
        )
        return Installed(python, found.stdout.decode(errors="replace").strip() if found.returncode == 0 else "")
    return Installed(python, "")


def beside_tvm(
    table: ScheduleTable, tvm: Installed | None, said: Callable[[str], object] = lambda words: None
) -> ScheduleTable:
    """Return a table with the times of apache-tvm, as it was asked for with the words of `tvm`; unchanged without it.

    TVM is loaded in a process that has the limits of a worker, and neither files to write nor a network. `said` is
    called some times a second, and may raise.
    """
    if tvm is None:
        return table
    given = table.for_tvm
    if given is None:
        times = TvmTimes(problem=_ABSENT)
    elif given.problem:
        times = TvmTimes(tvm.version, problem=given.problem)
    else:
        try:
            times = _timed(tvm, given, said)
        except OSError as error:
            times = TvmTimes(tvm.version, problem=f"apache-tvm cannot be started: {error}")
    return msgspec.structs.replace(table, theirs=times, for_tvm=None)


@dataclass(frozen=True, slots=True)
class TvmArray:
    """An array as a kernel of apache-tvm left it, as .npy, or the reason why there is none."""

    content: bytes = b""
    problem: str = ""


def returned_by_tvm(given: ForTvm, tvm: Installed, said: Callable[[str], object] = lambda words: None) -> TvmArray:
    """Call a kernel once by apache-tvm, confined as when it is timed, and return the array that is wanted of it."""
    try:
        found, end = _answers(tvm, given, said, _ARRAY_BYTES)
    except OSError as error:
        return TvmArray(problem=f"apache-tvm cannot be started: {error}")
    last = found[-1] if len(found) > 1 else _Line(problem=f"apache-tvm cannot be used: {end}")
    if last.problem:
        return TvmArray(problem=last.problem)
    try:
        return TvmArray(base64.b64decode(last.array, validate=True))
    except binascii.Error as error:
        return TvmArray(problem=f"its answer cannot be read: {error}")


class _Line(msgspec.Struct, frozen=True):
    """What the process says of itself, of a kernel, or of all."""

    version: str = ""
    problem: str = ""
    difference: float = 0.0
    has_same_bits: bool = True
    seconds: tuple[float, ...] = ()
    array: str = ""


def _timed(tvm: Installed, given: ForTvm, said: Callable[[str], object]) -> TvmTimes:
    found, end = _answers(tvm, given, said, _ANSWER_BYTES)
    return _times(tvm.version, len(given.texts), found, end)


def _answers(tvm: Installed, given: ForTvm, said: Callable[[str], object], most_bytes: int) -> tuple[list[_Line], str]:
    """Return the lines of the process, of at most so many bytes each, and how it ended."""
    limits = Limits()
    head = {
        "name": given.kernel,
        "texts": given.texts,
        "processor": given.processor,
        "scalars": given.scalars,
        "changed": given.changed,
        "returned": given.returned,
        "memory_bytes": limits.memory_bytes,
        "cpu_seconds": limits.cpu_seconds,
    }
    with tempfile.TemporaryFile() as content:
        content.write(msgspec.json.encode(head) + b"\n" + given.arrays)
        content.seek(0)
        process = subprocess.Popen(
            (tvm.python, "-P", "-m", "relax_core.engine.scheduling.in_tvm"),
            stdin=content,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=worker_environment(),
            start_new_session=True,
        )
    assert process.stdout is not None
    found: list[_Line] = []

    def tick() -> None:
        said(_doing(tvm.version, len(found), given))

    end = ""
    try:
        for line in _lines(process.stdout, limits.wall_seconds, tick, most_bytes):
            found.append(msgspec.json.decode(line, type=_Line))
        with suppress(subprocess.TimeoutExpired):
            process.wait(_TICK_SECONDS)
    except TimeoutError:
        end = f"stopped after {limits.wall_seconds:g} s"
    except msgspec.MsgspecError as error:
        end = f"its answer cannot be read: {error}"
    finally:
        process.kill()
        status = process.wait()
        process.stdout.close()
    return found, end or f"it ended with {_end(status)}"


def _lines(source: IO[bytes], seconds: float, tick: Callable[[], object], most_bytes: int) -> Iterator[bytes]:
    """Yield the lines of a process until it closes its output, and call `tick` while it says nothing.

    Raises:
        TimeoutError: it takes longer than `seconds`.
        OSError: it says too much.
    """
    latest = monotonic() + seconds
    rest = b""
    while True:
        tick()
        if monotonic() > latest:
            raise TimeoutError
        if not select.select((source,), (), (), _TICK_SECONDS)[0]:
            continue
        part = os.read(source.fileno(), _ANSWER_BYTES)
        if not part:
            return
        *lines, rest = (rest + part).split(b"\n")
        if len(rest) > most_bytes:
            raise OSError("it says too much")
        yield from lines


def _doing(version: str, count: int, given: ForTvm) -> str:
    # The first line tells the version.
    if not count:
        return f"apache-tvm {version} is loaded"
    if count > len(given.texts):
        return f"apache-tvm {version} is timed"
    return f"apache-tvm {version} builds kernel {count} of {len(given.texts)}"


def _end(status: int) -> str:
    if status >= 0:
        return f"status {status}"
    with suppress(ValueError):
        return signal.Signals(-status).name
    return f"signal {-status}"


def _times(version: str, count: int, found: list[_Line], end: str) -> TvmTimes:
    """Put together what was said of each kernel; what is missing has the end of the process as its problem."""
    if not found:
        return TvmTimes(version, problem=f"apache-tvm cannot be loaded: {end}")
    said = found[1 : count + 1]
    seconds = found[count + 1].seconds if len(found) > count + 1 else ()
    rungs: list[TvmRung] = []
    for number in range(count):
        line = said[number] if number < len(said) else _Line(problem=end)
        taken = seconds[number] if number < len(seconds) else 0.0
        problem = line.problem or ("" if taken else end)
        rungs.append(TvmRung(taken, line.difference, line.has_same_bits, problem))
    return TvmTimes(found[0].version, tuple(rungs))
