"""Which registers are still read: a value that nobody reads any more takes no memory."""

from collections.abc import Sequence

from relax_core.bytecode.isa import (
    CallInstruction,
    GotoInstruction,
    IfInstruction,
    Instruction,
    Register,
    ReturnInstruction,
)


def reads(instruction: Instruction) -> frozenset[int]:
    """Return the registers that an instruction reads."""
    match instruction:
        case CallInstruction(args=args):
            return frozenset(item.index for item in args if isinstance(item, Register))
        case ReturnInstruction(result=Register(index=index)) | IfInstruction(condition=Register(index=index)):
            return frozenset((index,))
        case _:
            return frozenset()


def written(instruction: Instruction) -> int | None:
    """Return the register that an instruction writes."""
    match instruction:
        case CallInstruction(dst=Register(index=index)):
            return index
        case _:
            return None


def live_registers(code: Sequence[Instruction], at: int) -> frozenset[int]:
    """Return the registers whose values the instruction `at` of a VM function, or one behind it, reads."""
    return Liveness(code, at).live


class Liveness:
    """One walk over the code of a VM function from its end to `start`; jumps lead forwards, as the compiler makes them.

    `dying[pc]` are the registers that an instruction reads or writes and nobody reads behind it; `unread[pc]` those
    that only the other way of an `if` reads: of its true way, and of its false way. `live` is read from `start` on.
    `targets` are where jumps lead.
    """

    def __init__(self, code: Sequence[Instruction], start: int = 0) -> None:
        self.dying: list[frozenset[int]] = [frozenset()] * len(code)
        self.unread: dict[int, tuple[frozenset[int], frozenset[int]]] = {}
        self.targets = targets = frozenset(
            pc + (item.offset if isinstance(item, GotoInstruction) else item.false_offset)
            for pc, item in enumerate(code)
            if isinstance(item, GotoInstruction | IfInstruction)
        )
        live_at: dict[int, frozenset[int]] = {}
        live: set[int] = set()
        for pc in range(len(code) - 1, start - 1, -1):
            instruction = code[pc]
            match instruction:
                case GotoInstruction(offset=offset):
                    live = set(live_at.get(pc + offset, ()))
                case IfInstruction(false_offset=offset):
                    other = live_at.get(pc + offset, frozenset())
                    self.unread[pc] = (other - live, frozenset(live - other))
                    live |= other
                case ReturnInstruction():
                    live = set()
                case CallInstruction():
                    pass
            used, defined = reads(instruction), written(instruction)
            self.dying[pc] = (used if defined is None else used | {defined}) - live
            if defined is not None:
                live.discard(defined)
            live |= used
            if pc in targets:
                live_at[pc] = frozenset(live)
        self.live = frozenset(live)
