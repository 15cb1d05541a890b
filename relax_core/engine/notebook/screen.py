"""What a widget shows and how it answers what its user does: the part of a page that the kernel plays."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

import msgspec

PartName = Literal["graph", "diff", "stepper"]


@dataclass(frozen=True, slots=True)
class Part:
    """A component as it is shown: its model, what is said beside it, and the values that its user changes as well."""

    model: msgspec.Struct
    props: msgspec.Struct
    commands: Mapping[str, object] = field(default_factory=dict[str, object])


class Screen(Protocol):
    """Something that is shown by components."""

    note: str
    """What there is to say below them; empty as a rule."""

    def parts(self) -> Mapping[PartName, Part]:
        """Return what is shown, from top to bottom."""
        ...

    def act(self, part: PartName, action: Mapping[str, object]) -> None:
        """Take what the user did.

        Raises:
            ValidationError: no component of ours writes such a message.
        """
        ...
