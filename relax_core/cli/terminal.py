"""What all commands share: files in, text out, and how a failure ends the process."""

import argparse
import contextlib
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Protocol, TypeVar

import msgspec

from relax_core.cli.integration import pdf
from relax_core.engine.files import NoFileLeftError, UnreadableFileError, printable, read_file, read_within
from relax_core.engine.limits import MEGABYTE, REQUEST_BYTES
from relax_core.engine.programs.program import with_rules_stage
from relax_core.engine.protocol import Failure, Program, Request

R = TypeVar("R")

DIAGNOSED, BAD_USAGE, LIMIT, INTERRUPTED = 1, 2, 3, 130
TABLE_HELP = "a JSON file of patterns and supported operators, for the passes that partition"
RULES_HELP = "a file of rewrite rules, which the pass ApplyRules applies; it is put in front if --passes names it not"
FILE_HELP = "a TVMScript or Relay file; - reads standard input"
PATH_HELP = f"{FILE_HELP}; or stages: a folder, a zip or a trace, a log; PATH@N is the stage N of them"
MANY_HELP = "or many modules: several files, folders without a recording, patterns in quotes"
CONSTANTS_HELP = "an archive of the tensors that TVM's text leaves out: const_0, const_1, ... by their numbers"
PASSES_HELP = "passes with options, such as 'LambdaLift, LegalizeOps', or a pipeline of TVM: zero, default_build"
_AS_IN_HELP = (
    "reported: LambdaLift, PlanDevices, AnnotateTarget and the code generator have the bugs that were reported of them"
)
_STANDARD_INPUT = "-"
ARCHIVE_BYTES: Final = 1024 * MEGABYTE
"""Size of the largest archive that is read; one for the worker has to fit into a request as well."""


class Engine(Protocol):
    """A worker's client or a session in this process."""

    def request(self, message: Request[R]) -> R | Failure:
        """Answer a request."""
        ...


Run = Callable[[Engine, argparse.Namespace], int]


class Commands(Protocol):
    """Adds a command: its name, what it does, and how it is carried out."""

    def __call__(self, name: str, what: str, run: Run) -> argparse.ArgumentParser:
        """Return the parser of the command's arguments."""
        ...


class UsageError(Exception):
    """The command cannot be carried out as given."""


class OutputError(Exception):
    """What a command prints cannot be written."""


def read_program(file: str, *, pipeline: str | None = None, entry: str = "", table: str | None = None) -> Program:
    """Read a program and its table; `-` is standard input.

    Raises:
        UsageError: a file cannot be read.
    """
    name = "<stdin>" if file == _STANDARD_INPUT else printable(file)
    return Program(read_text(file), name, pipeline=pipeline, entry=entry, tables=read_text(table) if table else "")


def with_rules(program: Program, file: str | None) -> Program:
    """Return `program` with the rewrite rules of a file, which a stage of its pipeline applies."""
    if file is None:
        return program
    pipeline = None if program.pipeline is None else with_rules_stage(program.pipeline)
    return msgspec.structs.replace(program, rules=read_text(file), pipeline=pipeline)


def read_text(file: str) -> str:
    """Read a file of UTF-8 text; `-` is standard input."""
    name = "<stdin>" if file == _STANDARD_INPUT else printable(file)
    raw = _standard_input() if file == _STANDARD_INPUT else read_bytes(file, REQUEST_BYTES)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not UTF-8 text: byte {error.start}") from None


def _standard_input() -> bytes:
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]  # it was closed when this process started
        raise UsageError("cannot read <stdin>: it is closed")
    try:
        return read_within(sys.stdin.buffer, REQUEST_BYTES, "<stdin>")
    except UnreadableFileError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"cannot read <stdin>: {error.strerror}") from None


def constants_option(made: argparse.ArgumentParser) -> None:
    """Add the option that names an archive of constants."""
    made.add_argument("--constants", metavar="NPZ", help=CONSTANTS_HELP)


def more_option(made: argparse.ArgumentParser) -> None:
    """Add the files of a command on one module behind the first: the command is carried out on each."""
    made.add_argument("more", nargs="*", default=[], metavar="FILE", help="further modules")


def watch_option(made: argparse.ArgumentParser) -> None:
    """Add the option that carries the command out again when its files change."""
    words = "run again whenever a file that it reads changes, until Ctrl-C"
    made.add_argument("--watch", dest="is_repeated", action="store_true", help=words)


def as_in_option(made: argparse.ArgumentParser) -> None:
    """Add the option that switches on the bugs that were reported of passes and of the code generator."""
    made.add_argument("--as-in", choices=("fixed", "reported"), default="fixed", help=_AS_IN_HELP)


def read_bytes(path: str, limit_bytes: int = ARCHIVE_BYTES) -> bytes:
    """Read a file of at most `limit_bytes`.

    Raises:
        UsageError: it cannot be read, is larger, or is no file, such as a device, which may have no end.
        NoFileLeftError: no more files may be open.
    """
    try:
        return read_file(path, limit_bytes)
    except NoFileLeftError:
        raise
    except UnreadableFileError as error:
        raise UsageError(str(error)) from None


def write_bytes(path: str, content: bytes) -> None:
    """Write a file."""
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def picture_options(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the options that write a picture of `what`."""
    parser.add_argument("--svg", metavar="SVG", help=f"where to draw {what}")
    parser.add_argument("--pdf", metavar="PDF", help="where to draw the same as PDF, which needs the package typst")


def picture_asked(options: argparse.Namespace) -> str:
    """Return the first option that asks for a picture; empty if none does.

    Raises:
        UsageError: it cannot be made here.
    """
    if options.pdf and find_spec("typst") is None:
        raise UsageError("--pdf needs the package typst: pip install 'relaxscope[pdf]'; --svg does without")
    return "--svg" if options.svg else "--pdf" if options.pdf else ""


def write_picture(options: argparse.Namespace, svg: str, title: str) -> None:
    """Write a picture to the files that the options name."""
    if options.svg:
        write_bytes(options.svg, svg.encode())
    if options.pdf:
        write_bytes(options.pdf, pdf.pdf_of(svg, title))


def failed(failure: Failure) -> int:
    """Print a failure and return the exit status for it."""
    complain(failure.rendered or f"error: {failure.title}. {failure.message}".rstrip())
    return DIAGNOSED if failure.kind in ("diagnosed", "internal") else LIMIT


def say(text: str) -> None:
    """Print to standard output.

    Raises:
        BrokenPipeError: nobody reads any more.
        OutputError: the output cannot be written.
    """
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]  # it was closed when this process started
        raise OutputError("it is closed")
    try:
        sys.stdout.write(_printable(text, sys.stdout.encoding))
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(error.strerror or str(error)) from None


def complain(text: str) -> None:
    """Print to standard error; if that cannot be written either, the exit status has to do."""
    if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison]  # it was closed when this process started
        with contextlib.suppress(OSError):
            sys.stderr.write(_printable(text, sys.stderr.encoding))
            sys.stderr.flush()


def complain_of(error: UsageError) -> None:
    """Print why a command cannot be carried out; a diagnostic begins with its severity already."""
    words = str(error)
    complain(words if words.startswith("error[") else f"error: {words}")


def _printable(text: str, encoding: str | None) -> str:
    """End `text` with one newline, and escape what the stream's encoding has no character for."""
    text = text if text.endswith("\n") else f"{text}\n"
    name = encoding or "utf-8"
    return text.encode(name, "backslashreplace").decode(name)
