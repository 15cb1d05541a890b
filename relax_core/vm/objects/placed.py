"""Tensors that know their device. All devices are simulated: the memory is the host's."""

from typing import Any, cast

import numpy as np

from relax_core.analysis.device.devices import Device


class PlacedArray(np.ndarray[Any, Any]):
    """A tensor on a device that is not the default one; its views and copies are there too.

    A tensor on the default device is a plain array, so that a test for exactly that type finds the common case.
    """

    place: Device | None
    """The device; `None` if nothing says it."""
    placed_at: int
    """The instruction that put it there, -1 if the caller did."""

    def __array_finalize__(self, obj: object) -> None:
        self.place = getattr(obj, "place", None)
        self.placed_at = getattr(obj, "placed_at", -1)


def placed(value: Any, device: Device | None, at: int = -1) -> Any:
    """Return a tensor, or a tuple of tensors, as being on `device`; the memory is shared.

    Other values, and all values if `device` is `None`, are returned as they are.
    """
    if device is None:
        return value
    if isinstance(value, np.ndarray):
        found = value.view(PlacedArray)
        found.place, found.placed_at = device, at
        return found
    fields = cast("tuple[Any, ...]", value)
    # A shape is a tuple of a class of its own, of integers.
    return tuple(placed(item, device, at) for item in fields) if fields.__class__ is tuple else fields


def plain(array: Any) -> Any:
    """Return a tensor without its device; any other value as it is."""
    return array.view(np.ndarray) if type(array) is PlacedArray else array
