"""Replies that hold texts and places only: what the command line prints, a listing, where a run stops."""

import msgspec

from relax_core.present.models import Code, Problem


class Found(msgspec.Struct, frozen=True):
    """The diagnostics of a program, as data and as the command line prints them."""

    problems: tuple[Problem, ...] = ()
    rendered: tuple[str, ...] = ()
    has_errors: bool = False


class Text(msgspec.Struct, frozen=True):
    """A printed program; `notes` go to standard error."""

    text: str
    notes: tuple[str, ...] = ()


class StageText(msgspec.Struct, frozen=True):
    """One stage for the command line."""

    index: int
    name: str
    is_changed: bool
    seconds: float
    rewrite_count: int
    remarks: tuple[str, ...]
    text: str
    problems: tuple[str, ...] = ()


class Stages(msgspec.Struct, frozen=True):
    """All stages for the command line, the source being number 0."""

    stages: tuple[StageText, ...]


class Listing(msgspec.Struct, frozen=True):
    """A generated text: bytecode, LLVM IR or assembly."""

    code: Code
    kernels: tuple[str, ...] = ()


class Executed(msgspec.Struct, frozen=True):
    """What a run printed and returned; `archive` holds the result as npz (`out`, `out_0`, ...)."""

    output: tuple[str, ...]
    result: str
    archive: bytes
    events: int
    rendered: str = ""
    """The diagnostic that ended the run, if one did."""
    is_limit: bool = False
    problems: tuple[Problem, ...] = ()


class Restored(msgspec.Struct, frozen=True):
    """A text with its layout restored and what was done to it."""

    text: str
    changes: tuple[str, ...] = ()


class Stop(msgspec.Struct, frozen=True):
    """Where a run stops."""

    time: int
