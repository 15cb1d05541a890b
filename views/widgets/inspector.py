"""The inspector: all that is known of the selected node."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from relax_core.present.models import Inspector
from views.widgets.channel import PANE_HEIGHT, Buttons, channel


@dataclass(frozen=True, slots=True)
class InspectorAction:
    """A link that the user followed, or a button."""

    kind: Literal["select", "line", "command"]
    node: str = ""
    line: int = 0
    command: str = ""


_INSPECTOR = channel("inspector", InspectorAction)


def inspector(
    model: Inspector,
    *,
    key: str,
    actions: Buttons = (),
    height: str = PANE_HEIGHT,
    on_action: Callable[[InspectorAction], None] | None = None,
) -> InspectorAction | None:
    """Show a node; a model without title shows what to do instead."""
    return _INSPECTOR.show(key, model, view={"actions": actions, "height": height}, commands={}, on_action=on_action)
