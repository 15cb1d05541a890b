"""A run that was recorded: what went into the entry function, what came out, and each call of the machine between."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy.typing as npt

RecordedValue: TypeAlias = (
    "npt.NDArray[Any] | int | float | bool | str | Omitted | tuple[RecordedValue, ...] | RecordedShape | None"
)
"""A value of the recorded machine; what it was not possible or not allowed to keep is `Omitted`."""


@dataclass(frozen=True, slots=True)
class Omitted:
    """A value that was not kept: a tensor beyond the budget, or an object such as a storage, by what it is."""

    what: str
    shape: tuple[int, ...] = ()
    dtype: str = ""


@dataclass(frozen=True, slots=True)
class RecordedShape:
    """A shape on the host."""

    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class RecordedCall:
    """A call of the machine, in order: a kernel or a builtin; a kernel's result is its last argument."""

    number: int
    name: str
    args: tuple[RecordedValue, ...]
    result: RecordedValue = None
    is_finished: bool = True
    """False for the call in which the run ended."""


@dataclass(frozen=True, slots=True, eq=False)
class RecordedRun:
    """A run of an entry function; `error` is what it ended with."""

    entry: str
    inputs: tuple[RecordedValue, ...]
    result: RecordedValue = None
    calls: tuple[RecordedCall, ...] = ()
    error: str = ""
    is_finished: bool = True
