"""Values that both a page and a component change, such as the selection: each is sent once, under a number."""

from dataclasses import dataclass
from typing import Final, TypeAlias

import msgspec

Buttons: TypeAlias = tuple[tuple[str, str], ...]
"""Pairs (id, label)."""


@dataclass(frozen=True, slots=True)
class Command:
    """A value last sent and its number, what the page wanted last, what the component shows as far as is known."""

    value: object
    number: int
    wanted: object
    shown: object

    def wanting(self, wanted: object) -> "Command":
        """Return what is sent of a value that the page wants: it is sent anew if it is neither shown nor wanted yet.

        So an echo of the user's own action changes nothing.
        """
        value = msgspec.to_builtins(wanted)
        if value in (self.shown, self.wanted):
            return Command(self.value, self.number, value, self.shown)
        return Command(value, self.number + 1, value, value)

    def showing(self, shown: object) -> "Command":
        """Return the command of which the component has reported what it shows."""
        return Command(self.value, self.number, self.wanted, shown)


NO_COMMAND: Final = Command(None, 0, None, None)
