"""The state of the Passes page."""

from dataclasses import dataclass

from views.state import rules


@dataclass(frozen=True, slots=True)
class PassesState:
    """What the Passes page shows besides the stage."""

    results: int = rules.switch()
    """The stages are run and compared."""
    effects: int = rules.switch()
    """Every pass is tried on the module of the stage."""
    costs: int = rules.switch()
    """What a call costs is counted for each stage."""
    rewrite: int = rules.number(0, rules.MOST_STEPS)
    """The rewrite of the stage that is shown on its own; 0: all of them are listed."""
    skip: int = rules.switch()
    """The rewrite is left out, in place of made alone."""
