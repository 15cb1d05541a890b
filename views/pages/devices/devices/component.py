"""What device planning says: why a value is where it is, copies, functions, and the steps of the analysis."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import msgspec

from relax_core.present.device_models import DevicesView, WhyDevice
from views.widgets.channel import PANE_HEIGHT, channel


@dataclass(frozen=True, slots=True)
class DevicesAction:
    """What the user did."""

    kind: Literal["select", "visit", "function"]
    node: str = ""
    function: str = ""
    visit: int = -1


class DevicesProps(msgspec.Struct, frozen=True):
    """What the page says beside the model."""

    why: WhyDevice | None
    selected: str
    visit: int
    function: str
    height: str


_DEVICES = channel("devices", DevicesView, DevicesProps, DevicesAction)


def devices(
    model: DevicesView,
    *,
    key: str,
    why: WhyDevice | None = None,
    selected: str = "",
    visit: int = -1,
    function: str = "",
    height: str = PANE_HEIGHT,
    on_action: Callable[[DevicesAction], None] | None = None,
) -> DevicesAction | None:
    """Show the tables beside the graph; `visit` is the step of the analysis that is shown, -1 for its end."""
    return _DEVICES.show(
        key,
        model,
        view=DevicesProps(why, selected, visit, function, height),
        commands={},
        on_action=on_action,
    )
