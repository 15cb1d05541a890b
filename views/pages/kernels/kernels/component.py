"""The forms of a kernel side by side, with its parts, remarks and range checks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import msgspec

from relax_core.present.kernel_models import KernelView
from views.widgets.channel import PANE_HEIGHT, channel

Form = Literal["lowered", "optimised"]


@dataclass(frozen=True, slots=True)
class KernelsAction:
    """What the user did: selected a part, 0 for none, or another form of the IR, or asked for a line."""

    kind: Literal["part", "form", "line"]
    part: int = 0
    form: Form = "optimised"
    line: int = 0


class KernelsProps(msgspec.Struct, frozen=True):
    """What the page says beside the model."""

    part: int
    form: Form
    height: str


_KERNELS = channel("kernels", KernelView, KernelsProps, KernelsAction)


def kernels(
    model: KernelView,
    *,
    key: str,
    part: int = 0,
    form: Form = "optimised",
    height: str = PANE_HEIGHT,
    on_action: Callable[[KernelsAction], None] | None = None,
) -> KernelsAction | None:
    """Show a kernel; `part` is selected in every form, `form` is the IR in the middle."""
    return _KERNELS.show(key, model, view=KernelsProps(part, form, height), commands={}, on_action=on_action)
