"""The ranges of the attributes of operators, Relax and Relay: what a number must be for a call to mean anything."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Limit:
    """What a number must be: from `least` on, up to `most`."""

    least: float
    most: float | None = None

    def holds(self, value: float) -> bool:
        """Tell whether `value` is in the range."""
        return self.least <= value and (self.most is None or value <= self.most)

    @property
    def words(self) -> str:
        """The range in words."""
        return f"at least {self.least:g}" if self.most is None else f"from {self.least:g} to {self.most:g}"


_COUNTED = (
    "strides", "stride", "stride1", "stride2", "feature_stride", "dilation", "dilations", "groups", "num_groups",
    "deformable_groups", "kernel_size", "pool_size", "output_size", "upscale_factor", "window_shape", "block_size",
    "block_shape", "n_fft", "hop_length", "win_length", "tile_size", "tile_rows", "tile_K", "tile_N", "bits",
    "num_workers",
)  # fmt: skip
_MAX_AXES = 1024
"""More would take memory before the rule of ranks, TY075, could refuse them."""
LIMITS: Mapping[str, Limit] = MappingProxyType(
    {
        **dict.fromkeys(_COUNTED, Limit(1)),
        "output_padding": Limit(0),
        "num_newaxis": Limit(0, _MAX_AXES),
        "max_displacement": Limit(0),
        "rate": Limit(0, 1),
        "momentum": Limit(0, 1),
    }
)
"""The range of an attribute, by name."""
_PARTS = Limit(1, 1 << 16)
"""The result is a tuple of as many tensors, which is written out."""
_EITHER_WAY = ("strided_slice", "dyn.strided_slice")
"""Their steps go backwards, too."""
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1


def outside(op: str, name: str, values: Iterable[float], *, is_one: bool) -> str | None:
    """Return what the attribute `name` of an operator must be and is not, as "must be ..., got ...".

    With `is_one` it is a number and no list of numbers.
    """
    limit = None if op in _EITHER_WAY else LIMITS.get(name)
    if name == "indices_or_sections" and is_one:
        limit = _PARTS
    for value in values:
        if isinstance(value, int) and not _LEAST <= value <= _MOST:
            return f"must be an int64, got {value}"
        if limit is not None and not limit.holds(value):
            return f"must be {limit.words}, got {value if isinstance(value, int) else f'{value:g}'}"
    return None
