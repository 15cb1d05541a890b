"""What a pass says about nodes while it runs, in order; what takes an analysis of its own is found on reading."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, overload

from relax_core.ir.node import Node

RemarkKind = Literal["applied", "missed", "note"]


class Said(NamedTuple):
    """What a pass says about `node`; `because` are the nodes that are the reason."""

    node: Node
    kind: RemarkKind
    message: str
    because: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Remark:
    """What a pass says about `node`: done, not done and why, or worth knowing. `number` counts from 0 in a run."""

    number: int
    node: Node
    kind: RemarkKind
    message: str
    because: tuple[Node, ...] = ()


Finder: TypeAlias = Callable[[], Iterable[Said]]
"""Finds what there is to say at one place of a run, of nodes that never change."""


class Remarks(Sequence[Remark]):
    """The remarks of a run, in order."""

    def __init__(self) -> None:
        self._said: list[Said | Finder] = []
        self._read: tuple[Remark, ...] | None = ()

    def add(self, said: Said | Finder) -> None:
        """Add a remark, or what finds remarks when they are read."""
        self._said.append(said)
        self._read = None

    def _all(self) -> tuple[Remark, ...]:
        if self._read is None:
            said = [item for entry in self._said for item in ((entry,) if isinstance(entry, Said) else entry())]
            self._said = [*said]
            self._read = tuple(Remark(number, *item) for number, item in enumerate(said))
        return self._read

    def __len__(self) -> int:
        return len(self._all())

    @overload
    def __getitem__(self, index: int) -> Remark: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Remark, ...]: ...
    def __getitem__(self, index: int | slice) -> Remark | tuple[Remark, ...]:
        return self._all()[index]
