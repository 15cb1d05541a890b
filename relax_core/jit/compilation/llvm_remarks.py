"""What LLVM's vectoriser says while it works: it writes to standard error, from where it is read."""

import os
import re
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

SetOption = Callable[[str, str], None]

_OPTIONS = ("-pass-remarks", "-pass-remarks-missed", "-pass-remarks-analysis")
_PASS = "loop-vectorize"
_NO_PASS = "^$"
_REMARK = re.compile(r"^remark: \S*?:(\d+):\d+: (.*)$")
_STANDARD_ERROR = 2
# Standard error belongs to the process, so one reads it at a time.
_LOCK = threading.Lock()


@contextmanager
def captured_remarks(set_option: SetOption) -> Generator[list[tuple[int, str]]]:
    """Let LLVM speak inside the context; afterwards the list holds the line of each remark and its text.

    What anything else writes to standard error meanwhile is written there behind the context.
    """
    found: list[tuple[int, str]] = []
    with _LOCK:
        before = os.dup(_STANDARD_ERROR)
        reading, writing = os.pipe()
        chunks: list[bytes] = []
        reader = threading.Thread(target=_drain, args=(reading, chunks), daemon=True)
        reader.start()
        os.dup2(writing, _STANDARD_ERROR)
        os.close(writing)
        _listen(set_option, _PASS)
        try:
            yield found
        finally:
            _listen(set_option, _NO_PASS)
            os.dup2(before, _STANDARD_ERROR)
            reader.join()
            others = _sort(b"".join(chunks).decode("utf-8", "replace"), found)
            os.write(before, others.encode())
            os.close(before)


def _listen(set_option: SetOption, passes: str) -> None:
    for option in _OPTIONS:
        set_option("relaxscope", f"{option}={passes}")


def _drain(reading: int, chunks: list[bytes]) -> None:
    while chunk := os.read(reading, 65536):
        chunks.append(chunk)
    os.close(reading)


def _sort(text: str, found: list[tuple[int, str]]) -> str:
    """Put the remarks of `text` into `found`, whose text may go on over several lines, and return the rest."""
    others: list[str] = []
    is_remark = False
    for line in text.splitlines():
        match = _REMARK.match(line)
        if match is not None:
            is_remark = True
            found.append((int(match[1]), match[2]))
        elif is_remark and line.strip():
            number, said = found[-1]
            found[-1] = (number, f"{said.rstrip('.')}. {line.strip()}")
        elif line.strip():
            others.append(line)
        else:
            is_remark = False
    return "".join(f"{line}\n" for line in others)
