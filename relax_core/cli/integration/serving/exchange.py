"""What the server of HTTP and its command processes say to each other."""

from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec

from relax_core.engine.limits import MEGABYTE
from relax_core.present.models import Problem

NAME: Final = r"^[A-Za-z0-9_][A-Za-z0-9_.@+-]*(/[A-Za-z0-9_][A-Za-z0-9_.@+-]*){0,7}$"
"""A name of a file that is sent along: no path of it leaves the folder that the files of a request are put in."""
FileName: TypeAlias = Annotated[str, msgspec.Meta(pattern=NAME, max_length=200)]
ANSWER_BYTES: Final = 64 * MEGABYTE
"""What a command may print and write."""

READY: Final = b"ready"
"""What a command process sends first."""


class Binary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file that is no text, such as an archive of inputs."""

    base64: bytes


File: TypeAlias = str | Binary


class Order(msgspec.Struct, frozen=True):
    """A command to carry out in a folder that is empty."""

    folder: str
    arguments: tuple[str, ...]
    files: dict[str, File]
    """By their names in the folder."""


class Unanswered(msgspec.Struct, frozen=True):
    """Why the engine had no answer."""

    kind: Literal["diagnosed", "limit", "cancelled", "crash", "internal"]
    title: str
    message: str = ""
    problems: tuple[Problem, ...] = ()


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of a command."""

    status: int
    """The exit status that the command line ends with."""
    meaning: str
    """The exit status in words."""
    results: list[dict[str, Any]] | None = None
    """What it printed with `json`, object by object."""
    text: str = ""
    """What it printed otherwise."""
    messages: str = ""
    """What it printed to standard error: diagnostics and notes."""
    stopped: tuple[Unanswered, ...] = ()
    """Why the engine had no answer, with each diagnostic and its place."""
    written: dict[str, File] = {}
    """The files that it wrote."""


MEANINGS: Final = MappingProxyType(
    {
        0: "carried out, and there is nothing to complain of",
        1: "a diagnostic, values that differ, or a NaN that was looked for",
        2: "the command cannot be carried out as given",
        3: "a limit was reached",
        4: "no difference was found, but not all could be compared",
    }
)
"""What the exit statuses of the command line mean."""
