"""The palette lists everything that can be done or opened, found by typing a part of its name; light and dark."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import msgspec

from views.widgets.channel import channel

TargetKind: TypeAlias = Literal["page", "sample", "lesson", "document"]


class PaletteTarget(msgspec.Struct, frozen=True, array_like=True):
    """Somewhere to go: a page by its noun, a sample by its path, a lesson by its name, a document by its path."""

    kind: TargetKind
    name: str
    label: str


class PaletteTargets(msgspec.Struct, frozen=True):
    """Where the palette leads; what can be done on the page it reads off the page."""

    targets: tuple[PaletteTarget, ...]


class PaletteProps(msgspec.Struct, frozen=True):
    """What the page says beside the model."""

    height: str = "26px"


@dataclass(frozen=True, slots=True)
class PaletteAction:
    """The user chose somewhere to go."""

    kind: TargetKind
    name: str


_PALETTE = channel("palette", PaletteTargets, PaletteProps, PaletteAction)


def palette(targets: PaletteTargets, *, key: str, on_action: Callable[[PaletteAction], None]) -> None:
    """Show the buttons of the palette and of light and dark; `Ctrl` and `K` open the palette as well."""
    _PALETTE.show(key, targets, view=PaletteProps(), commands={}, on_action=on_action)
