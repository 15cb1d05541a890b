"""What the rest of the app has to know of a page: each page says it in a `MANIFEST` of its folder."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

KeyGroup: TypeAlias = tuple[str, tuple[tuple[str, str], ...]]
"""What keys are of, and each key (in backticks) with what it does."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A screen to begin with, and what it shows."""

    title: str
    seen: str
    screen: Mapping[str, str | int]
    """The fields of the screen that are not as they are by default."""


def stop(title: str, seen: str, **screen: str | int) -> Stop:
    """Make a stop."""
    return Stop(title, seen, MappingProxyType(screen))


@dataclass(frozen=True, slots=True)
class Manifest:
    """A page as the frame, the address and the Learn page see it."""

    state: type | None = None
    """The record of what the page shows, a frozen dataclass of fields that `views.state.rules` declares."""
    keys: tuple[KeyGroup, ...] = ()
    """The keys that work on the page."""
    is_in_menu: bool = True
    """Whether the navigation shows it; another page leads to one that is not."""
    question: str = ""
    """What the page answers, for those who do not know it."""
    stops: tuple[Stop, ...] = ()
    """Programs that show the point of the page; the first one is offered to a newcomer at once."""
