"""How much a kernel's code for any sizes is used, and for which sizes code of their own would pay."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

COMPILE_SECONDS: Final = 0.1
"""About what compiling takes: as soon as calls of some sizes have taken so long, code of their own is worth it.

However long they go on, all of it then takes at most about twice the time of who had known that beforehand.
"""
FIRST_CALLS: Final = 16
"""How many calls machine code makes on its own, at least, before Python sees one again."""

_SIZES: Final = 1024
_LEAST_SECONDS: Final = 1e-7


@dataclass(slots=True)
class _Use:
    spent: float
    latest: float


class Heat:
    """The time of a kernel's calls that ran code for any sizes, by their sizes; of many sizes, of the last ones."""

    def __init__(self) -> None:
        self._uses: OrderedDict[tuple[int, ...], _Use] = OrderedDict()

    def ran(self, sizes: tuple[int, ...], seconds: float) -> None:
        """Take note of a call that took so long."""
        use = self._uses.setdefault(sizes, _Use(0.0, 0.0))
        self._uses.move_to_end(sizes)
        if len(self._uses) > _SIZES:
            self._uses.popitem(last=False)
        use.spent, use.latest = use.spent + seconds, seconds

    def ran_unseen(self, sizes: tuple[int, ...], calls: int) -> None:
        """Take note of calls that nobody timed: they took as long as the latest that was."""
        use = self._uses.get(sizes)
        if use is not None:
            use.spent += calls * use.latest

    def knows(self, sizes: tuple[int, ...]) -> bool:
        """Tell whether there was a call of these sizes."""
        return sizes in self._uses

    def is_hot(self, sizes: tuple[int, ...]) -> bool:
        """Tell whether calls of these sizes have taken so long that code of their own is worth compiling."""
        use = self._uses.get(sizes)
        return use is not None and use.spent >= COMPILE_SECONDS

    def calls_left(self, sizes: tuple[int, ...]) -> int:
        """Return about how many further calls of these sizes it takes until they are hot, at least `FIRST_CALLS`."""
        use = self._uses.get(sizes)
        if use is None:
            return FIRST_CALLS
        return max(int((COMPILE_SECONDS - use.spent) / max(use.latest, _LEAST_SECONDS)), FIRST_CALLS)
