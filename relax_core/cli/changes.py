"""What the command line does to a running program: `--set '16: x = 0.5'`, `--skip 16`, `--replace 'add by numpy'`."""

import argparse
import re
from collections.abc import Iterable
from typing import Final

import msgspec

from relax_core.cli.terminal import Engine, UsageError, read_bytes
from relax_core.engine.programs.program import ChangeAt
from relax_core.engine.protocol import CallAtOf, Failure, HitsOf, Program, StopOf
from relax_core.present.running.run_models import Breakpoint

_SET: Final = re.compile(
    r"\s*(?:(?P<at>@?)(?P<number>\d{1,18})(?:#(?P<hit>\d{1,18}))?|time\s+(?P<time>\d{1,18})|(?P<end>end))\s*:(?P<text>.*)",
    re.DOTALL,
)
_FILE: Final = re.compile(r"(?P<place>[^=]*=|\s*skip\s*:)\s*(?P<path>\S.*\.npy)\s*")
_PLACES: Final = "16 (a line), 16#3 (the third time), @12 (an instruction), time 40, end (where the run stopped)"
_FROM_THE_START: Final = "time 0: replace"
_FOREVER: Final = 1 << 40


def skip_setting(text: str) -> str:
    """Return what --skip asks for in the words of --set."""
    place, colon, value = text.partition(":")
    return f"{place}: skip{colon}{value}"


def replace_setting(text: str) -> str:
    """Return what --replace asks for in the words of --set: without a place, from the beginning on."""
    parts = _SET.fullmatch(text)
    if parts is None:
        return f"{_FROM_THE_START} {text.strip()}"
    return f"{text[: parts.start('text')]} replace {parts['text'].strip()}"


def change_options(made: argparse.ArgumentParser) -> None:
    """Add the options that set values, skip calls and replace functions."""
    made.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="'PLACE: X = V'",
        help=f"stop there, set a variable and run on; PLACE: {_PLACES}; X: y, %%3, y[0, 1], pair[0]; V: 0.5, nan, "
        "y * 2, zeros(), ones(), random(7), normal(7), file.npy",
    )
    made.add_argument(
        "--skip",
        dest="settings",
        action="append",
        type=skip_setting,
        metavar="'PLACE[: V]'",
        help="do not make the call there, and run on with V as its result; default: zeros of its declared type",
    )
    made.add_argument(
        "--replace",
        dest="settings",
        action="append",
        type=replace_setting,
        metavar="'[PLACE:] F by G'",
        help="call another function of the module with the same signature, from there on; numpy: by its definition",
    )
    made.add_argument("--in-place", action="store_true", help="--set writes to tensors: what shares them sees it")


def is_skip(text: str) -> bool:
    """Tell whether a change skips a call."""
    return re.match(r"\s*skip\s*(:|$)", text) is not None


def changed_program(engine: Engine, program: Program, options: argparse.Namespace) -> Program | Failure:
    """Return `program` with what the options change.

    Raises:
        UsageError: see `with_settings`.
    """
    return with_settings(engine, program, options.settings, is_in_place=options.in_place)


def with_settings(
    engine: Engine, program: Program, settings: Iterable[str], *, is_in_place: bool = False
) -> Program | Failure:
    """Return `program` with what settings change, in the words of --set.

    Each is made at a time of the run as the ones before it made it.

    Raises:
        UsageError: one cannot be read, or the run does not come by its place.
    """
    # Changes are made in the order of time, whatever comes first on the command line.
    for text in sorted(settings, key=lambda text: not text.startswith(_FROM_THE_START)):
        found = _change(engine, program, text, is_in_place=is_in_place)
        if isinstance(found, Failure):
            return found
        program = msgspec.structs.replace(program, changes=(*program.changes, found))
    return program


def named_file(text: str) -> str:
    """Return the path of the file that a change sets a variable to, empty if it names none."""
    parts = _SET.fullmatch(text)
    file = None if parts is None else _FILE.fullmatch(parts["text"])
    return "" if file is None else file["path"]


def _change(engine: Engine, program: Program, text: str, *, is_in_place: bool) -> ChangeAt | Failure:
    parts = _SET.fullmatch(text)
    if parts is None:
        raise UsageError(f"--set takes a place and a change, such as '16: x = 0.5', got {text}; places: {_PLACES}")
    time = _time(engine, program, parts)
    if isinstance(time, int) and is_skip(parts["text"]):
        call = engine.request(CallAtOf(program, time))
        time = call if isinstance(call, Failure) else call.time
    if isinstance(time, Failure):
        return time
    file = _FILE.fullmatch(parts["text"])
    content = read_bytes(file["path"]) if file is not None else b""
    change = f"{file['place']} file()" if file is not None else parts["text"]
    return ChangeAt(time, change.strip(), is_in_place=is_in_place, content=content)


def _time(engine: Engine, program: Program, parts: re.Match[str]) -> int | Failure:
    """Return the next time at which a place is reached, from that of the latest change on."""
    if parts["time"]:
        return int(parts["time"])
    if parts["end"]:
        # Without a breakpoint the answer is the end of the run.
        stop = engine.request(StopOf(program, 0))
        return stop if isinstance(stop, Failure) else stop.time
    number, hit = int(parts["number"]), int(parts["hit"] or 1)
    point = Breakpoint(0, number) if parts["at"] else Breakpoint(number)
    first = program.changes[-1].time if program.changes else 0
    reply = engine.request(HitsOf(program, (point,), first, _FOREVER))
    if isinstance(reply, Failure):
        return reply
    times = reply.points[0].times
    if not 0 < hit <= len(times):
        place = f"instruction {number}" if parts["at"] else f"line {number}"
        behind = f" from time {first} on" if first else ""
        count = f"{len(times)} time{'' if len(times) == 1 else 's'}"
        words = f"comes by {place} {count} only" if times else f"does not come by {place}"
        raise UsageError(f"the run {words}{behind}")
    return times[hit - 1]
