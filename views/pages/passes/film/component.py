"""The film: the graph through all stages, played or stepped, with what stays in its place."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import msgspec

from relax_core.present.models import Film
from views.widgets.channel import PANE_HEIGHT, channel


class FilmProps(msgspec.Struct, frozen=True):
    """What the page says beside the model."""

    height: str


@dataclass(frozen=True, slots=True)
class FilmAction:
    """What the user did: selected a node, stays at a stage, or asks for the graph of one pass in place of the film."""

    kind: Literal["select", "stage", "graph"]
    stage: int
    """The stage that is shown."""
    node: str = ""
    """The selected node as it is at that stage; empty if there is none."""


_FILM = channel("film", Film, FilmProps, FilmAction)


def show_film(
    model: Film,
    *,
    key: str,
    stage: int,
    selected: str,
    height: str = PANE_HEIGHT,
    on_action: Callable[[FilmAction], None],
) -> FilmAction | None:
    """Show the film at a stage, with the node `selected` marked; `height` is a CSS length."""
    commands = {"stage": stage, "node": selected}
    return _FILM.show(key, model, view=FilmProps(height), commands=commands, on_action=on_action)
