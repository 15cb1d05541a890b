"""A small cache: the latest few values by key."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Keeps the values of the `capacity` keys that were asked for last."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._values: OrderedDict[K, V] = OrderedDict()

    def values(self) -> tuple[V, ...]:
        """Return what is kept, the value that was asked for last at the end."""
        return tuple(self._values.values())

    def clear(self) -> None:
        """Forget all values."""
        self._values.clear()

    def remembered(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of `key`, made if it is missing; nothing is kept of a `make` that raises."""
        if key not in self._values:
            self._values[key] = make()
        self._values.move_to_end(key)
        while len(self._values) > self._capacity:
            self._values.popitem(last=False)
        return self._values[key]
