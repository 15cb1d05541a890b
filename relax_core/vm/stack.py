"""A frame of the running machine, and what is known of a call before it has one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from relax_core.vm.objects.values import Value

Fetch: TypeAlias = Callable[[list[Value]], tuple[Value, ...]]

Step: TypeAlias = tuple[int, Any, Fetch, int]
"""`(what, target, fetch, destination)`.

`target` is a builtin's function, the index of a function, or the program counter that a jump leads to. The destination
is a register's index, -1 for none; of a return and of an `if` it is the slot that they read.
"""


class Frame:
    """A call that has not returned. `pc` counts from the start of the function; `dst` is the caller's register.

    `args` are what it was called with, where that is known: registers of dead values are used again.
    """

    __slots__ = ("args", "dst", "function", "number", "pc", "registers", "slot_origins", "start", "steps")

    def __init__(
        self, function: int, steps: tuple[Step, ...], registers: list[Value], start: int, dst: int, number: int
    ) -> None:
        self.function = function
        self.steps = steps
        self.registers = registers
        self.start = start
        self.dst = dst
        self.number = number
        self.pc = 0
        self.args: tuple[Value, ...] = ()
        self.slot_origins: dict[int, str] = {}

    @property
    def absolute_pc(self) -> int:
        """The instruction that it stands at, counted over the whole executable."""
        return self.start + self.pc


@dataclass(frozen=True, slots=True)
class Opened:
    """A call that is about to be made: on how many calls it stands, the number of the frame that makes it (-1 for the
    host), the event that enters it, and the register for its result; -1 for none.
    """

    depth: int = 0
    parent: int = -1
    event: int = -1
    dst: int = -1


FROM_HOST = Opened()
"""A call that the host makes, on no other call."""
