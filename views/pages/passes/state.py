"""The state of the Passes page."""

from dataclasses import dataclass

from views.state import rules


@dataclass(frozen=True, slots=True)
class PassesState:
    """What the Passes page shows besides the stage."""

    results: int = rules.switch()
    """The stages are run and compared."""
