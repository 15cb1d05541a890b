"""How fast a launch may be at most: its operations and the bytes that it moves, against what a GPU does in a second.

A bound, and no time: latency, occupancy and how well the parts of a launch overlap are not looked at.
See: Williams, Waterman, Patterson, "Roofline", 2009.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from relax_core.diagnostics import Diagnostic, RunError
from relax_core.simt.traffic import Traffic


@dataclass(frozen=True, slots=True)
class Machine:
    """What a GPU does in a second at most: operations on floats, bytes of global and of shared memory."""

    name: str
    operations: float
    global_bytes: float
    shared_bytes: float


DEFAULT_MACHINE: Final = Machine("A100 of 40 GB, as published", 19.5e12, 1.555e12, 19.5e12)
"""Single precision without matrix units: 108 multiprocessors of 64 lanes and 128 bytes of shared memory a cycle."""
_KEYS: Final[Mapping[str, str]] = MappingProxyType(
    {"flops": "operations", "global": "global_bytes", "shared": "shared_bytes"}
)
_UNITS: Final = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9))


@dataclass(frozen=True, slots=True)
class Roofline:
    """The operations of all launches, what they move at each level, and what that bounds them by on a machine."""

    machine: Machine
    operations: int
    global_bytes: int
    """What threads ask of global memory."""
    moved_bytes: int
    """What moves for it: whole sectors of 32 bytes, by the instances that were looked at."""
    shared_bytes: int
    """What threads ask of shared memory, as often as banks are asked for it."""

    @property
    def intensity(self) -> float:
        """Operations for each byte of global memory that moves."""
        return self.operations / self.moved_bytes if self.moved_bytes else 0.0

    @property
    def seconds(self) -> Mapping[str, float]:
        """How long each part takes at least."""
        machine = self.machine
        return {
            "operations": self.operations / machine.operations,
            "global memory": self.moved_bytes / machine.global_bytes,
            "shared memory": self.shared_bytes / machine.shared_bytes,
        }

    @property
    def bound(self) -> str:
        """What takes longest."""
        seconds = self.seconds
        return max(seconds, key=lambda part: seconds[part])

    @property
    def least_time(self) -> str:
        """The time that the launches take at least, in the unit in which it has the fewest digits."""
        seconds = max(self.seconds.values())
        unit, size = next((item for item in _UNITS if seconds >= item[1]), _UNITS[-1])
        return f"{seconds / size:,.3g} {unit}"

    @property
    def attainable(self) -> float:
        """Operations a second that no launch like it exceeds."""
        longest = max(self.seconds.values())
        return self.operations / longest if longest else 0.0

    def to_text(self) -> str:
        """Return what the command prints."""
        machine = self.machine
        share = self.attainable / machine.operations
        most = f"at most {self.attainable / 1e9:,.4g} GFLOP/s, {share:.2%} of the peak, " if self.operations else ""
        counts = (
            f"{self.operations:,} operations; {self.global_bytes:,} B asked of global memory, {self.moved_bytes:,} B "
            f"moved: {self.intensity:.2f} operations for each; {self.shared_bytes:,} B of shared memory"
        )
        bound = (
            f"{most}at least {self.least_time}, bound by {self.bound} ({machine.name}: "
            f"{machine.operations / 1e9:,.6g} GFLOP/s, {machine.global_bytes / 1e9:,.6g} GB/s global, "
            f"{machine.shared_bytes / 1e9:,.6g} GB/s shared)"
        )
        return f"{counts}\n{bound}"


def roofline(traffic: Traffic, machine: Machine = DEFAULT_MACHINE) -> Roofline:
    """Return what the launches whose accesses were counted are bound by."""
    of_global = [cost for cost in traffic.rows.values() if cost.kind == "global"]
    asked = sum(cost.elements * cost.element_bytes for cost in of_global)
    moved = sum(cost.moved_bytes for cost in of_global)
    shared = sum(cost.moved_bytes for cost in traffic.rows.values() if cost.kind == "shared")
    return Roofline(machine, traffic.operations, asked, round(moved), round(shared))


def machine_of(text: str) -> Machine:
    """Read a machine such as `flops=19.5e12, global=1.555e12, shared=19.5e12`; what is left out is the default's.

    An empty text is the default one.

    Raises:
        RunError: GP018, it cannot be read.
    """
    if not text.strip():
        return DEFAULT_MACHINE
    found: dict[str, float] = {}
    for item in text.split(","):
        key, sign, value = (part.strip() for part in item.partition("="))
        try:
            number = float(value)
        except ValueError:
            number = 0.0
        if key not in _KEYS or not sign or not 0 < number < float("inf"):
            hint = "such as `flops=19.5e12, global=1.555e12, shared=19.5e12`, each a second"
            raise RunError((Diagnostic("GP018", f"`{item.strip()}` is no number of a machine", hint=hint),))
        found[_KEYS[key]] = number
    default = DEFAULT_MACHINE
    missing = [key for key, name in _KEYS.items() if name not in found]
    name = "as given" if not missing else f"as given, {' and '.join(missing)} of an {default.name}"
    return Machine(
        name,
        found.get("operations", default.operations),
        found.get("global_bytes", default.global_bytes),
        found.get("shared_bytes", default.shared_bytes),
    )
