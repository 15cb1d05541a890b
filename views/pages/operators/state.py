"""The state of the Operators page."""

from dataclasses import dataclass

from views.state import rules


@dataclass(frozen=True, slots=True)
class OperatorsState:
    """Which operator is shown, and what is searched for; neither concerns the program that is open."""

    operator: str = rules.text(kept="always")
    search: str = rules.text(kept="always")
