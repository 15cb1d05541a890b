"""What a process finds when it is started: limits, a full disk, no home. It works within it or says what is missing."""

import errno
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from relax_core.cli import main
from relax_core.engine import files
from tests.engine.programs import ENDLESS, SMALL

ROOT = Path(__file__).resolve().parents[1]
LONG_ENOUGH = 120.0
"""Seconds after which a command does not end."""


@pytest.fixture
def small(tmp_path: Path) -> str:
    path = tmp_path / "small.py"
    path.write_text(SMALL, encoding="utf-8")
    return str(path)


def carried_out(
    arguments: list[str], before: str = "true", environment: dict[str, str] | None = None, redirected: str = ""
) -> "subprocess.CompletedProcess[str]":
    """Run a command of the command line in a shell that did something before; it ends."""
    command = shlex.join([sys.executable, "-B", "-m", "relax_core", *arguments])
    return subprocess.run(
        ["/bin/sh", "-c", f"{before}; exec {command} {redirected}"],
        env={"PYTHONPATH": str(ROOT), "RELAXSCOPE_CACHE": "off"} if environment is None else environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONG_ENOUGH,
        check=False,
    )


WORKS = ("ulimit -t 60", "ulimit -v 500000", "ulimit -n 20", "ulimit -f 0", "ulimit -c 0", "ulimit -s 1024")


@pytest.mark.parametrize("before", WORKS)
def test_a_command_works_within_what_it_inherits(before: str, small: str) -> None:
    ran = carried_out(["run", small], before)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("[[")


MISSING = {
    "ulimit -v 350000": r"error: Worker did not start\. .*limited to 341 MB \(`ulimit -v`\), and about \d+ MB",
    # The command loads what it needs while the worker is started: either may be the first that has no file left.
    "ulimit -n 8": r"error: (Worker did not start\. .*At most 8 files may be open \(`ulimit -n`\), and about \d+"
    r"|RelaxScope cannot be loaded: OSError: \[Errno 24\] Too many open files.*\nhint: see the limits of this shell)",
}


@pytest.mark.parametrize(("before", "said"), MISSING.items(), ids=MISSING)
def test_what_is_missing_for_a_worker_is_said(before: str, said: str, small: str) -> None:
    ran = carried_out(["run", small], before)
    assert ran.returncode == 3
    assert re.match(said, ran.stderr), ran.stderr


def test_too_little_memory_for_a_worker_is_named(small: str) -> None:
    ran = carried_out(["run", small], "ulimit -v 250000")
    assert ran.returncode == 3
    assert re.match("error: Worker did not start.*The address space is limited to 244 MB .`ulimit -v`", ran.stderr)


LITTLE = (
    *(f"ulimit -v {kilobytes}" for kilobytes in range(330_000, 410_000, 8_000)),
    *(f"ulimit -n {files}" for files in range(7, 15)),
)


@pytest.mark.parametrize("before", LITTLE)
def test_with_little_a_command_works_or_says_what_is_missing(before: str, small: str) -> None:
    ran = carried_out(["run", small], before)
    assert (ran.returncode, ran.stderr) == (0, "") or (ran.returncode == 3 and ran.stderr.startswith("error: "))
    assert "Traceback" not in ran.stderr


def test_a_file_that_finds_no_descriptor_left_is_no_mistake_of_the_user(
    small: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_descriptor(*_: object) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(files, "_opener", no_descriptor)
    assert main(["check", "--in-process", small]) == 3
    told = capsys.readouterr().err
    assert told == f"error: cannot read {small}: Too many open files\nhint: see the limits of this shell, `ulimit -a`\n"


def test_a_package_that_cannot_be_loaded_says_so(small: str, tmp_path: Path) -> None:
    # What an import says for which there is no memory.
    text = "raise ImportError('_core.so: failed to map segment from shared object')\n"
    (tmp_path / "msgspec.py").write_text(text, encoding="utf-8")
    ran = carried_out(["run", small], environment={"PYTHONPATH": f"{tmp_path}:{ROOT}", "RELAXSCOPE_CACHE": "off"})
    assert ran.returncode == 3
    assert re.fullmatch(r"error: RelaxScope cannot be loaded: .*\nhint: .*`ulimit -a`\n", ran.stderr), ran.stderr


def test_processor_time_that_is_inherited_is_named(tmp_path: Path) -> None:
    path = tmp_path / "endless.py"
    path.write_text(ENDLESS, encoding="utf-8")
    ran = carried_out(["run", str(path)], "ulimit -t 3")
    assert ran.returncode == 3
    assert "while running `main` (processor time: 2 s, as `ulimit -t` allows)" in ran.stderr


def environment(**named: str) -> dict[str, str]:
    return {"PYTHONPATH": str(ROOT), **named}


PLACES = {
    "an empty environment": environment(),
    "no home": environment(HOME="/nonexistent"),
    "a home that is a file": environment(HOME="/dev/null"),
    "a cache that is a device": environment(RELAXSCOPE_CACHE="/dev/full"),
    "a cache that cannot be made": environment(RELAXSCOPE_CACHE="/proc/relaxscope"),
    "no place for temporary files": environment(RELAXSCOPE_CACHE="off", TMPDIR="/nonexistent"),
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_command_works_without_a_place_of_its_own(place: dict[str, str], small: str) -> None:
    ran = carried_out(["run", small], environment=place)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("[[")


OUTPUTS = {
    "a full disk": ("> /dev/full", "cannot write the output: No space left on device"),
    "a closed output": (">&-", "cannot write the output: it is closed"),
}


@pytest.mark.parametrize(("redirected", "said"), OUTPUTS.values(), ids=OUTPUTS)
def test_an_output_that_cannot_be_written_is_said(redirected: str, said: str, small: str) -> None:
    ran = carried_out(["check", small], redirected=redirected)
    assert (ran.returncode, ran.stderr) == (2, f"error: {said}\n")


def test_streams_that_are_closed_end_the_command_with_its_status(small: str) -> None:
    assert carried_out(["check", small], redirected="<&- >&- 2>&-").returncode == 2
    assert carried_out(["check", small], redirected="2>&-").returncode == 0
    assert carried_out(["check", "-"], redirected="<&-").stderr == "error: cannot read <stdin>: it is closed\n"


@pytest.mark.parametrize(
    ("file", "words"),
    [("/dev/zero", "it is a device, not a file"), ("-", "is too large: at most 16.8 MB are read")],
)
def test_a_file_without_end_is_not_read_to_it(file: str, words: str) -> None:
    ran = carried_out(["check", file], redirected="< /dev/zero")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert words in ran.stderr


def test_a_name_that_is_no_text_is_shown(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xff.py"
    Path(os.fsdecode(path)).write_text(SMALL, encoding="utf-8")
    ran = carried_out(["check", os.fsdecode(path)])
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.endswith("\\udcff.py: no problems\n")
