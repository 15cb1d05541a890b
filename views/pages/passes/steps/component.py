"""A pipeline as a list: passes are added with completion, removed and moved, and their options are a form."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import msgspec

from relax_core.present.editing.pipeline_models import PipelineForm
from views.widgets.channel import channel


@dataclass(frozen=True, slots=True)
class StepsAction:
    """The user changed the pipeline: it is now this text."""

    kind: Literal["text"]
    text: str


class StepsProps(msgspec.Struct, frozen=True):
    """What the page says beside the model."""

    max_height: str


_STEPS = channel("steps", PipelineForm, StepsProps, StepsAction)


def steps(
    model: PipelineForm, *, key: str, max_height: str, on_action: Callable[[StepsAction], None]
) -> StepsAction | None:
    """Show the list; each change of it tells the whole pipeline as text."""
    return _STEPS.show(key, model, view=StepsProps(max_height), commands={}, on_action=on_action)
