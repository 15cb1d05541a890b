"""The list of stages of a pipeline."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from relax_core.present.models import Pipeline
from views.widgets.channel import PANE_HEIGHT, Buttons, channel


@dataclass(frozen=True, slots=True)
class PipelineAction:
    """What the user did."""

    kind: Literal["stage", "command"]
    stage: int = 0
    command: str = ""
    """The id of a button; `view` for the key `d`: next of text, graph, both."""


Verdicts = tuple[tuple[int, str, str], ...]
"""Triples (stage, verdict of `StageResult`, words)."""

_PIPELINE = channel("pipeline", PipelineAction)


def pipeline(
    model: Pipeline,
    *,
    key: str,
    stage: int,
    actions: Buttons = (),
    verdicts: Verdicts = (),
    height: str = PANE_HEIGHT,
    on_action: Callable[[PipelineAction], None] | None = None,
) -> PipelineAction | None:
    """Show the stages; unchanged ones are hidden and counted until the user shows them.

    With `verdicts` a column tells what came of running the module after each stage.
    """
    view = {"actions": actions, "verdicts": verdicts, "height": height}
    return _PIPELINE.show(key, model, view=view, commands={"stage": stage}, on_action=on_action)
