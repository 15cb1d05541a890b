"""The list of stages of a pipeline."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import msgspec

from relax_core.engine.components.commands import Buttons
from relax_core.engine.debug.replies import Bisection, Verdict
from relax_core.present.models import Pipeline
from views.widgets.channel import PANE_HEIGHT, channel


@dataclass(frozen=True, slots=True)
class PipelineAction:
    """What the user did."""

    kind: Literal["stage", "command"]
    stage: int = 0
    command: str = ""
    """The id of a button; `view` for the key `d`: next of text, graph, both.

    `a` makes the stage the left one of two, `culprit` leads to the one that brought the first difference.
    """


class StageVerdict(msgspec.Struct, frozen=True, array_like=True):
    """What came of running the module after a stage; `follows` is the stage that it only repeats, or -1."""

    stage: int
    verdict: Literal["reference"] | Verdict
    words: str
    follows: int


class PipelineProps(msgspec.Struct, frozen=True):
    """What the page says beside the model; `has_views` tells whether it shows a stage as text, graph or both.

    With `has_sides` it shows two stages, A and B, and has a field that looks for a name in all of them.
    """

    actions: Buttons
    verdicts: tuple[StageVerdict, ...]
    suspects: tuple[int, ...]
    conclusion: str
    height: str
    has_views: bool
    has_sides: bool


@dataclass(frozen=True, slots=True)
class Results:
    """What came of running the module after the stages, and which of them may have brought the first difference."""

    verdicts: tuple[StageVerdict, ...]
    suspects: tuple[int, ...] = ()
    conclusion: str = ""


def results_of(found: Bisection) -> Results:
    """Return the results of the stages of a program, which are numbered as the list is."""
    verdicts = (StageVerdict(item.index, item.verdict, item.words, item.follows) for item in found.stages)
    return Results(tuple(verdicts), found.suspects, found.conclusion)


_PIPELINE = channel("pipeline", Pipeline, PipelineProps, PipelineAction)


def pipeline(
    model: Pipeline,
    *,
    key: str,
    stage: int,
    actions: Buttons = (),
    results: Results | None = None,
    height: str = PANE_HEIGHT,
    has_views: bool = False,
    has_sides: bool = False,
    on_action: Callable[[PipelineAction], None] | None = None,
) -> PipelineAction | None:
    """Show the stages; unchanged ones are hidden and counted until the user shows them.

    With `results` a column tells what came of running the module after each stage; stages that only show what another
    one brought are folded.
    """
    shown = results or Results(())
    view = PipelineProps(actions, shown.verdicts, shown.suspects, shown.conclusion, height, has_views, has_sides)
    return _PIPELINE.show(key, model, view=view, commands={"stage": stage}, on_action=on_action)
