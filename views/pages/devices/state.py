"""The state of the Devices page."""

from dataclasses import dataclass

from views.state import rules


@dataclass(frozen=True, slots=True)
class DevicesState:
    """The options of PlanDevices, and the step of the analysis that is shown."""

    device: str = rules.text(40)
    """The default one."""
    clone: int = rules.switch()
    """A function that is used on two devices is cloned."""
    visits: str = rules.text(40)
    visit_limit: int = rules.number(1, 99, 1)
    visit: int = rules.number(-1, 10**9, -1)
    """The step of the analysis, -1 for its end."""
