"""A frame of the running machine."""

from relax_core.vm.decode import Step
from relax_core.vm.values import Value


class Frame:
    """A call that has not returned. `pc` counts from the start of the function; `dst` is the caller's register."""

    __slots__ = ("dst", "function", "number", "pc", "registers", "slot_origins", "start", "steps")

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
        self.slot_origins: dict[int, str] = {}

    @property
    def absolute_pc(self) -> int:
        """The instruction that it stands at, counted over the whole executable."""
        return self.start + self.pc
