"""The state of the Partition page."""

from dataclasses import dataclass

from relax_core.present.regions.partition_models import LETS
from views.state import rules


@dataclass(frozen=True, slots=True)
class PartitionState:
    """How the regions are found, and which of the passes is shown."""

    targets: str = rules.text(rules.LONGEST_LIST, kept="edit")
    """With commas between; empty for all."""
    lets: str = rules.choice(*LETS, kept="edit")
    through_lets: int = rules.switch(kept="edit")
    """Regions are merged through lets that no effect forbids."""
    step: int = rules.number(-1, 100, -1)
    pair: int = rules.number(-1, 10**6, -1)
    """The pair of regions whose blocking path is shown."""
    runs: int = rules.switch()
    """The partitioned module is run and compared with the one that it was made of."""
