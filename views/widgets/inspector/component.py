"""The inspector: all that is known of the selected node."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import msgspec

from relax_core.engine.components.commands import Buttons
from relax_core.present.models import Inspector
from views.widgets.channel import PANE_HEIGHT, channel


@dataclass(frozen=True, slots=True)
class InspectorAction:
    """A link that the user followed, or a button."""

    kind: Literal["select", "line", "go", "command"]
    node: str = ""
    line: int = 0
    command: str = ""


class InspectorProps(msgspec.Struct, frozen=True):
    """What the page says beside the model."""

    actions: Buttons
    height: str
    is_drawer: bool


_INSPECTOR = channel("inspector", Inspector, InspectorProps, InspectorAction)


def inspector(
    model: Inspector,
    *,
    key: str,
    actions: Buttons = (),
    height: str = PANE_HEIGHT,
    is_drawer: bool = False,
    on_action: Callable[[InspectorAction], None] | None = None,
) -> InspectorAction | None:
    """Show a node; a model without title shows what to do instead.

    With `is_drawer` it is a drawer over the right edge in a window of 641 to 1359 pixels, closed at first; its column
    is left out of the row by `shell.css` if it is in a container of key `drawer`.
    """
    view = InspectorProps(actions, height, is_drawer)
    return _INSPECTOR.show(key, model, view=view, commands={}, on_action=on_action)
