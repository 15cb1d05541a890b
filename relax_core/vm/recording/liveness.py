"""Liveness of registers, so that dead values can be freed."""

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
    """Return the registers that are live before the instruction `at` of a VM function."""
    return Liveness(code, at).live


class Liveness:
    """Backward liveness over a VM function down to `start`; the compiler emits forward jumps only.

    `dying[pc]` are the registers that an instruction reads or writes and that are dead after it. `unread[pc]` are those
    that only the other branch of an `if` reads: of its true branch, and of its false branch. `live` is the live-in set
    at `start`. `targets` are the targets of jumps.
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
