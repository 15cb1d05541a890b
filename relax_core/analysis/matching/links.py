"""Links from parts of a module to the parts of the one before that they stem from."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from relax_core.analysis.matching.parts import Part

Confidence: TypeAlias = Literal["sure", "likely", "guess"]
CONFIDENCES: Final[tuple[Confidence, ...]] = ("sure", "likely", "guess")
"""From the best founded to the least."""


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """What a part stems from, how sure that is, and what the judgement rests on."""

    before: Part
    after: Part
    confidence: Confidence
    why: str


def weakest(confidences: Iterable[Confidence]) -> Confidence:
    """Return the lowest of several confidences."""
    return CONFIDENCES[max(map(CONFIDENCES.index, confidences), default=0)]


@dataclass(slots=True, eq=False)
class Links:
    """The links of two modules.

    `counterpart` holds the pairs that take each other's place; a part may be linked to others besides, of which it
    is made or for which it does a part of the work.
    """

    of: dict[Part, dict[Part, Link]] = field(default_factory=dict[Part, dict[Part, Link]])
    """By the part behind, and the part before."""
    counterpart: dict[Part, Part] = field(default_factory=dict[Part, Part])
    """By the part behind."""
    taken: dict[Part, Part] = field(default_factory=dict[Part, Part])
    """By the part before."""
    made: dict[str, Part] = field(default_factory=dict[str, Part])
    """The functions that a pass made whole, by name."""

    def pair(self, before: Part, after: Part, confidence: Confidence, why: str) -> bool:
        """Let two parts be the same; tell whether both were free."""
        if after in self.counterpart or before in self.taken:
            return False
        self.counterpart[after] = before
        self.taken[before] = after
        self.link(before, after, confidence, why)
        return True

    def link(self, before: Part, after: Part, confidence: Confidence, why: str) -> None:
        """Let a part stem from another one as well; the first link of two parts stays."""
        self.of.setdefault(after, {}).setdefault(before, Link(before, after, confidence, why))

    def origins_of(self, after: Part) -> tuple[Link, ...]:
        """Return what a part stems from: what is in a function that was made whole stems from what that does."""
        found = self.of.get(after)
        if found is None and after.function in self.made:
            found = self.of.get(self.made[after.function], {})
            return tuple(
                Link(item.before, after, item.confidence, f"part of @{after.function}") for item in found.values()
            )
        return tuple((found or {}).values())
