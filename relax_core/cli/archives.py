"""Comparing archives of values, which needs no worker: they hold numbers and no programs."""

from typing import Any

import numpy.typing as npt

from relax_core.cli.terminal import UsageError, read_bytes
from relax_core.diagnostics import RunError
from relax_core.engine.debug.differences import compare
from relax_core.engine.debug.replies import ValueRow, ValuesCompared
from relax_core.engine.debug.tolerance import Tolerance
from relax_core.engine.inputs import read_members


def compared(left: str, right: str, tolerance: Tolerance) -> ValuesCompared:
    """Compare two files, member by member.

    Raises:
        UsageError: one of them cannot be read, or is no archive.
    """
    found = compare(_members(left), _members(right), tolerance)
    rows = (ValueRow(item.name, 0, item.verdict, item.type, item.words, item.largest) for item in found)
    return ValuesCompared(tuple(rows), left, right)


def _members(path: str) -> dict[str, npt.NDArray[Any]]:
    try:
        return read_members(read_bytes(path))
    except RunError as error:
        raise UsageError(f"{path}: {error.diagnostics[0].message}") from None
