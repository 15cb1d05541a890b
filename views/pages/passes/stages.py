"""Going to a stage of the Passes page."""

from views.state.session import select

FIRST_SHOWN = -1
"""The stage that the page chooses."""


def go_to_stage(stage: int, **changes: str | int) -> None:
    """Show a stage, with other changes of the selection, and nothing of what was shown of the stage before alone."""
    select(stage=stage, rewrite=0, effects=0, **changes)
