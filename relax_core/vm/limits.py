"""How much a run may use before it is stopped with a diagnostic."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one run. `retained_bytes` does not stop it: older values are made again when they are asked for."""

    events: int = 5_000_000
    depth: int = 20_000
    nested_runs: int = 40
    memory_bytes: int = 1 << 31
    output_bytes: int = 1 << 20
    seconds: float = 30.0
    retained_bytes: int = 512 << 20
