"""Constants that a text refers to and does not hold, as archives: read from a user's file, and sent with a program."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from relax_core.engine.inputs import members_of, read_members, write_members
from relax_core.engine.npy import Array
from relax_core.engine.pipelines.entries import fail, shown
from relax_core.engine.pipelines.recorded_run import Omitted, RecordedRun, RecordedShape, RecordedValue
from relax_core.engine.pipelines.trace.arrays import dtype_of
from relax_core.vm.objects.values import ShapeValue

_NUMBER: Final = re.compile(r"\D*(\d{1,6})(?:\.(\w+))?")


def read_constants(archive: bytes) -> dict[int, Array]:
    """Read an npz of constants: `0`, `1`, ... in any spelling that ends in the number, such as `arr_0` or `const_0`.

    `3.bfloat16` is a tensor of a dtype that .npy lacks, stored as unsigned integers of its size.

    Raises:
        RunError: EN004, EN016: the archive cannot be read.
        CompileError: PL007: a name has no number, or two have the same.
    """
    found: dict[int, Array] = {}
    for name, array in read_members(archive).items():
        match = _NUMBER.fullmatch(name)
        if match is None:
            hint = "name the arrays by the numbers that the text gives: numpy.savez(file, const_0=..., const_1=...)"
            fail("PL007", f"`{shown(name)}` of the constants does not end in a number", hint)
        number = int(match[1])
        if number in found:
            fail("PL007", f"the constants have number {number} twice")
        found[number] = _with_dtype(array, match[2]) if match[2] else array
    return found


def _with_dtype(array: Array, name: str) -> Array:
    try:
        return array.view(dtype_of(name))
    except (TypeError, AttributeError, ValueError):
        fail("PL007", f"the constants have an array of {array.dtype.name} that cannot be {shown(name)}")


def constants_archive(constants: Sequence[Array | None]) -> bytes:
    """Return tensors by their numbers as an archive that `read_constants` reads; b"" if there are none."""
    members: dict[str, Array] = {}
    for number, array in enumerate(constants):
        if array is None:
            continue
        is_plain = bool(array.dtype.isbuiltin) and array.dtype.kind != "V"
        name = f"{number}" if is_plain else f"{number}.{array.dtype.name}"
        members[name] = array if is_plain else array.view(f"u{array.dtype.itemsize}")
    return write_members(members) if members else b""


def in_order(constants: Mapping[int, Array]) -> tuple[Array | None, ...]:
    """Return tensors by number as the sequence that the parser takes."""
    return tuple(constants.get(number) for number in range(max(constants, default=-1) + 1))


def inputs_archive(run: RecordedRun) -> bytes | None:
    """Return the inputs of a recorded run as an archive, `None` if one of them was not kept."""
    members: dict[str, Array] = {}
    for number, value in enumerate(run.inputs):
        if _is_omitted(value):
            return None
        members.update(members_of(f"in_{number}", _host(value)))
    return write_members(members)


def _is_omitted(value: RecordedValue) -> bool:
    return isinstance(value, Omitted) or (isinstance(value, tuple) and any(map(_is_omitted, value)))


def _host(value: RecordedValue) -> object:
    match value:
        case RecordedShape(sizes=sizes):
            return ShapeValue(sizes)
        case tuple():
            return tuple(map(_host, value))
        case np.ndarray():
            return value
        case _:
            return value
