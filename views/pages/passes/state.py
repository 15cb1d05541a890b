"""The state of the Passes page."""

from dataclasses import dataclass

from views.state import rules


@dataclass(frozen=True, slots=True)
class PassesState:
    """What the Passes page shows besides the stage."""

    verify: str = rules.choice("on", "off", kept="edit")
    """Whether what every pass leaves is checked; empty: if the text is short."""
    results: int = rules.switch()
    """The stages are run and compared."""
    effects: int = rules.switch()
    """Every pass is tried on the module of the stage."""
    costs: int = rules.switch()
    """What a call costs is counted for each stage."""
    earlier: str = rules.text(rules.LONGEST_LIST, kept="edit")
    """The pipeline before the latest change, to be compared with; "" if there was none."""
    both: int = rules.switch()
    """The earlier pipeline and the one that is open are run and compared."""
    looked_for: str = rules.text(200)
    """A name, or other text, that is looked for in all stages."""
    rewrite: int = rules.number(0, rules.MOST_STEPS)
    """The rewrite of the stage that is shown on its own; 0: all of them are listed."""
    skip: int = rules.switch()
    """The rewrite is left out, in place of made alone."""
