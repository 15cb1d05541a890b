"""The keeper: it shows nothing, and keeps a text in the storage of the browser, or in that of its tab."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import msgspec

from views.widgets.channel import channel


class Kept(msgspec.Struct, frozen=True):
    """What the browser is to keep; empty while the page does not know what it has."""

    text: str
    name: Literal["progress", "class"] = "progress"
    is_of_tab: bool = False
    """Whether it is kept for this tab alone, and no longer than that is open."""


class KeeperProps(msgspec.Struct, frozen=True):
    """What the page says beside the model."""

    height: str = "0"


@dataclass(frozen=True, slots=True)
class KeeperAction:
    """What the browser had kept."""

    kind: Literal["kept"]
    text: str = ""


_KEEPER = channel("keeper", Kept, KeeperProps, KeeperAction)


def keeper(kept: Kept, *, key: str, on_action: Callable[[KeeperAction], None]) -> None:
    """Have the browser keep a text, and tell what it kept before, once."""
    _KEEPER.show(key, kept, view=KeeperProps(), commands={}, on_action=on_action)
