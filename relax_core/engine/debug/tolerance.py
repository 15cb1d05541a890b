"""How far numbers may be apart, and what came of comparing those of one member."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import msgspec

from relax_core.engine.debug.verdicts import Verdict

RELATIVE_OF: Final = MappingProxyType(
    {"float64": 1e-9, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2, "complex128": 1e-9, "complex64": 1e-4}
)
"""How far numbers of a dtype may be apart and are still close: other dtypes must be equal."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Numbers are close if `|a - b| <= absolute + relative * |a|`; by default both follow from the dtype."""

    relative: float | None = None
    absolute: float | None = None

    def of(self, dtype: str) -> tuple[float, float]:
        """Return the relative and the absolute tolerance for a dtype."""
        relative = RELATIVE_OF.get(dtype, 0.0) if self.relative is None else self.relative
        return relative, relative / 10 if self.absolute is None else self.absolute


class Closeness(msgspec.Struct, frozen=True):
    """How far numbers may be apart; -1: by their dtype, see `Tolerance`."""

    relative: float = -1.0
    absolute: float = -1.0

    @property
    def tolerance(self) -> Tolerance:
        """The tolerance that is meant."""
        relative, absolute = (None if item < 0 else item for item in (self.relative, self.absolute))
        return Tolerance(relative, absolute)


DEFAULT_TOLERANCE: Final = Tolerance()
EXACT: Final = Tolerance(0.0, 0.0)


class Difference(msgspec.Struct, frozen=True):
    """What came of comparing one member: the first set's value is the reference."""

    name: str
    verdict: Verdict
    type: str = ""
    """Such as `(2, 3) float32`."""
    words: str = ""
    """Such as `3 of 6 elements differ, by at most 0.5 at [0, 2]: 1.5, was 1`; why it was not compared."""
    largest: float = 0.0
    """The largest absolute difference of the elements that are numbers on both sides."""

    @property
    def is_same(self) -> bool:
        """Tell whether the values were compared, and are equal or close."""
        return self.verdict == "same"
