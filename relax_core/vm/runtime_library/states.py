"""What the functions on objects of the runtime share: which object a call is about, and rows that grow."""

from typing import NoReturn

import numpy as np

from relax_core.vm.context import Context, fail
from relax_core.vm.objects.values import Array, Snapshot, StateValue, Value, describe, root_of, shape_text
from relax_core.vm.packed_library.arrays import ArgumentError


def state_of(value: Value, kind: str, name: str) -> StateValue:
    """Return a value as an object of a kind.

    Raises:
        ArgumentError: it is something else.
    """
    if not isinstance(value, StateValue) or value.snapshot.kind != kind:
        raise ArgumentError(f"{name} is a {kind}, got {describe(value)}")
    return value


def made(context: Context, snapshot: Snapshot) -> StateValue:
    """Return an object of the runtime that begins to live here."""
    moment = context.moment
    return StateValue(snapshot, -1 if moment is None else moment)


def change(context: Context, state: StateValue, snapshot: Snapshot) -> None:
    """Let an object hold something else from here on."""
    state.write(snapshot, context.moment)


def not_simulated(words: str) -> NoReturn:
    """Stop the program: TVM has a meaning for this, and this machine does not.

    Raises:
        RunError: VM057, always.
    """
    fail("VM057", f"{words} is not simulated here", "give the function a stand-in")


def appended(context: Context, rows: Array, new: Array) -> Array:
    """Return `rows` and `new` behind them.

    The memory behind the rows is used if there is room: rows that are held elsewhere, which is by times of the past,
    are shorter and do not see it. So only the longest rows of a memory may be given; `cut` keeps to that.
    """
    count, total = len(rows), len(rows) + len(new)
    room = root_of(rows)
    is_own = room.shape[1:] == rows.shape[1:] and room.dtype == rows.dtype and room.flags.writeable
    if not is_own or len(room) < total:
        room = context.allocate((max(total, 2 * count), *rows.shape[1:]), str(rows.dtype))
        room[:count] = rows
    room[count:total] = new
    return room[:total]


def cut(context: Context, rows: Array, count: int) -> Array:
    """Return the first rows in memory of their own, so that what is appended leaves the past as it was."""
    kept = context.allocate((count, *rows.shape[1:]), str(rows.dtype))
    kept[...] = rows[:count]
    return kept


def need_shape(name: str, array: Array, shape: tuple[int | None, ...]) -> None:
    """Refuse a tensor of another shape; `None` stands for any size."""
    fits = array.ndim == len(shape) and all(want in (None, size) for want, size in zip(shape, array.shape, strict=True))
    if not fits:
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise ArgumentError(f"{name} has the shape ({wanted}), got {shape_text(array.shape)}")


def need_same(name: str, array: Array, dtype: "np.dtype[np.generic]") -> None:
    """Refuse a tensor of another dtype."""
    if array.dtype != dtype:
        raise ArgumentError(f"{name} is a tensor of {dtype}, got {array.dtype}")
