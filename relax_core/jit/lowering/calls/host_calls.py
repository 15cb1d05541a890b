"""What a kernel asks of its host: the packed functions that it calls, and what it passes to them."""

from dataclasses import dataclass
from typing import Literal

from relax_core.jit.lowering.scalars.types import ScalarType

# What the function that is compiled returns if a packed function failed.
FAILED = 3
WORD_BYTES = 8


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument: a text that the program says, a number, or an array of `rank` dimensions."""

    kind: Literal["text", "number", "array"]
    scalar: ScalarType
    text: str = ""
    rank: int = 0


@dataclass(frozen=True, slots=True)
class PackedCall:
    """A call of the packed function `name`; `result` is the type of what it returns, if that is used."""

    name: str
    arguments: tuple[Argument, ...]
    result: ScalarType | None
