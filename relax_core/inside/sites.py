"""What can be stepped on in a prim func: its statements as numbered sites, the loops around them, their variables."""

from dataclasses import dataclass, field
from typing import Literal

from relax_core.inside.control import OWN
from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.ir.tir import Block, Buffer, For, PrimFunc, Stmt, While

SiteKind = Literal["store", "evaluate", "assert", "branch"]
Phase = Literal["", "init", "update"]


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """Where the value of a variable is kept while the run is stopped: a word of one of the two control arrays."""

    var: PrimVar
    word: int
    is_float: bool
    is_hidden: bool = False
    """Tell whether the text has no such variable."""
    value: PrimExpr | None = None
    """What the variable is, if it is not that of a loop."""


@dataclass(slots=True, eq=False)
class Level:
    """A loop, or a block, with the numbers of the sites in it: `first <= number < end`."""

    number: int
    node: "For | While | Block"
    parent: "Level | None"
    first: int
    wanted: int
    """The word of the value that is looked for, if it is a loop."""
    end: int = 0
    slot: Slot | None = None
    last: Slot | None = None
    """Where the end of the loop's values is kept."""
    is_spare: bool = False
    """Tell whether it only stands for the initialisation of a reduction over nothing."""

    def __contains__(self, site: int) -> bool:
        return self.first <= site < self.end


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """A statement that is one step: a store, a call, an assertion, or the test of an `if`."""

    number: int
    node: Stmt
    kind: SiteKind
    slots: tuple[Slot, ...]
    levels: tuple[Level, ...]
    """The loops and blocks around it, from the outside."""
    phase: Phase = ""

    @property
    def loops(self) -> tuple[Level, ...]:
        """The loops around it, from the outside."""
        return tuple(item for item in self.levels if not isinstance(item.node, Block))

    @property
    def block(self) -> Level | None:
        """The innermost block around it."""
        return next((item for item in reversed(self.levels) if isinstance(item.node, Block)), None)


@dataclass(slots=True, eq=False)
class Layout:
    """All sites, levels and slots of a function, and the buffers whose memory it allocates itself."""

    function: PrimFunc
    name: str = ""
    sites: list[Site] = field(default_factory=list[Site])
    levels: list[Level] = field(default_factory=list[Level])
    slots: list[Slot] = field(default_factory=list[Slot])
    allocated: list[tuple[PrimVar, Buffer]] = field(default_factory=list[tuple[PrimVar, Buffer]])
    """Each with the parameter that the function takes for it."""
    word_count: int = OWN
    real_count: int = 0

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """The buffers with memory of their own: the parameters', then those that the function allocates."""
        return (*(item.buffer for item in self.function.buffers), *(buffer for _, buffer in self.allocated))
