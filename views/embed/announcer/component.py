"""Tells the page around a frame how high the view in it would like to be."""

from dataclasses import dataclass
from typing import Literal

import msgspec

from views.widgets.channel import channel


class Wanted(msgspec.Struct, frozen=True):
    """The size that a view would like to have, in pixels."""

    view: str
    height: int
    """Of what stands above and below the picture, or of the whole view if that has no picture."""
    stacked_height: int = 0
    """In place of `height` where the frame is so narrow that panes stand below each other; 0 for the same."""
    picture_width: int = 0
    """Of a picture that is drawn smaller where the frame is narrower; 0 for none."""
    picture_height: int = 0


class AnnouncerProps(msgspec.Struct, frozen=True):
    """What the page says beside the model."""

    height: str = "0px"


@dataclass(frozen=True, slots=True)
class AnnouncerAction:
    """It has none."""

    kind: Literal["none"]


_ANNOUNCER = channel("announcer", Wanted, AnnouncerProps, AnnouncerAction)


def announce(wanted: Wanted, *, key: str) -> None:
    """Send `{source: "relaxscope", view, height}` to the page around the frame, now and when the width changes."""
    _ANNOUNCER.show(key, wanted, view=AnnouncerProps(), commands={})
