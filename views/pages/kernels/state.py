"""The state of the Kernels page."""

from dataclasses import dataclass

from views.state import rules


@dataclass(frozen=True, slots=True)
class KernelsState:
    """Which kernel is shown, for which sizes, and the selected part of it."""

    kernel: str = rules.text()
    sizes: str = rules.sizes()
    part: int = rules.number(0, 10**6)
    without: str = rules.text(400)
    """The transformations that are switched off, with commas between."""
    plan: int = rules.number(0, 999)
    """The transformation whose plan is shown, from 1 on; 0 for the code of the kernel."""
    by_hand: int = rules.switch()
    """Whether a schedule is written by hand."""
    schedule: str = rules.text(4000)
    """Its text: primitives with commas or lines between."""
    rung: int = rules.number(0, 60)
    """The step of the schedule whose text is shown, beside the one before."""
    threads: int = rules.switch()
    """Whether the launch is simulated with all its threads."""
