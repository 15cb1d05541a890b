"""Going to a stage of the Passes page."""

from relax_core.present.models import Pipeline
from views.state.session import select, state
from views.state.shared import FocusState

FIRST_SHOWN = -1
"""The stage that the page chooses."""


def go_to_stage(stage: int, **changes: str | int) -> None:
    """Show a stage, with other changes of the selection, and nothing of what was shown of the stage before alone."""
    select(stage=stage, rewrite=0, effects=0, **changes)


def shown_stage(pipeline: Pipeline) -> int:
    """Return the stage that is shown: the one of the address, or the first that is worth a look."""
    stage = state(FocusState).stage
    return stage if 0 <= stage < len(pipeline.stages) else _first_shown(pipeline)


def _first_shown(pipeline: Pipeline) -> int:
    """The stage that a visitor sees first: one that failed, else LambdaLift if it changed something, or the first."""
    if pipeline.stages[-1].is_failed:
        return pipeline.stages[-1].index
    changed = [stage for stage in pipeline.stages if stage.is_changed and stage.index > 0]
    preferred = [stage.index for stage in changed if stage.name == "LambdaLift"]
    return next(iter([*preferred, *(stage.index for stage in changed)]), 0)
