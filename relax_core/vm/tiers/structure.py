"""Recover structured control flow: the forward jumps of a VM function as nested branches."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from relax_core.bytecode.executable import Executable, FunctionEntry
from relax_core.bytecode.isa import CallInstruction, GotoInstruction, IfInstruction, ReturnInstruction

# Python's tokenizer accepts at most 100 levels of indentation.
DEEPEST_NESTING = 60
LONGEST_TAIL = 4


class UnstructuredError(Exception):
    """The jumps of a function do not nest, or nest too deeply; the explicit tier runs it."""


@dataclass(frozen=True, slots=True)
class Branch:
    """An `if` at `pc` with the instructions of both branches, their jumps to the join included."""

    pc: int
    then: tuple["Item", ...]
    otherwise: tuple["Item", ...]


Item: TypeAlias = "int | Branch"
"""An instruction by its number from the start of the function, or a branch."""


def structure(executable: Executable, entry: FunctionEntry) -> tuple[Item, ...]:
    """Return the instructions of a VM function as nested branches; every path ends in a return.

    Raises:
        UnstructuredError: the jumps are not those of nested branches.
    """
    reader = _JumpReader(executable, entry)
    items = reader.region(0, entry.end - entry.start, 0)
    if not reader.is_closed(items):
        raise UnstructuredError("a way through the function has no end")
    return tuple(items)


class _JumpReader:
    """Reads the regions of one function; `code` holds its instructions."""

    def __init__(self, executable: Executable, entry: FunctionEntry) -> None:
        self.code = executable.instructions[entry.start : entry.end]
        self.copies = frozenset(
            number for number, item in enumerate(executable.functions) if item.name == "vm.builtin.copy"
        )

    def region(self, start: int, end: int, depth: int) -> list[Item]:
        """Read the region `[start, end)`, which is entered at its start only and left at its end or by a return."""
        if depth > DEEPEST_NESTING:
            raise UnstructuredError("branches are nested too deep")
        items: list[Item] = []
        pc = start
        while pc < end:
            match self.code[pc]:
                case IfInstruction(false_offset=offset):
                    branch, pc = self.branch(pc, pc + offset, end, depth)
                    items.append(branch)
                case GotoInstruction(offset=offset):
                    if not 0 < offset <= end - pc:
                        raise UnstructuredError("a jump leaves its branch")
                    items.append(pc)
                    pc += offset
                case ReturnInstruction():
                    items.append(pc)
                    break
                case CallInstruction():
                    items.append(pc)
                    pc += 1
        return self.spread(items)

    def branch(self, pc: int, otherwise: int, end: int, depth: int) -> tuple[Branch, int]:
        """Read the branch at `pc`; return it and the instruction where its sides join."""
        if not pc < otherwise <= end:
            raise UnstructuredError("a jump leaves its branch")
        last = otherwise - 1
        skip = self.code[last]
        if last == pc or not isinstance(skip, GotoInstruction):
            then = self.region(pc + 1, otherwise, depth + 1)
            return Branch(pc, tuple(then), ()), otherwise
        join = last + skip.offset
        if not otherwise <= join <= end:
            raise UnstructuredError("a jump leaves its branch")
        then = self.region(pc + 1, last, depth + 1)
        if not self.is_closed(then):
            then.append(last)
        return Branch(pc, tuple(self.spread(then)), tuple(self.region(otherwise, join, depth + 1))), join

    def spread(self, items: list[Item]) -> list[Item]:
        """Tail duplication: copy a short tail behind a branch into both sides, so that each returns by itself."""
        position = max((number for number, item in enumerate(items) if isinstance(item, Branch)), default=-1)
        tail = items[position + 1 :]
        if position < 0 or not self.is_closed(tail) or len(tail) > LONGEST_TAIL or not all(map(self.is_short, tail)):
            return items
        branch = items[position]
        assert isinstance(branch, Branch)
        ways = (
            self.spread(way if self.is_closed(way) else [*way, *tail])
            for way in map(list, (branch.then, branch.otherwise))
        )
        return [*items[:position], Branch(branch.pc, *map(tuple, ways))]

    def is_short(self, item: Item) -> bool:
        match self.code[item] if isinstance(item, int) else None:
            case CallInstruction(function=function):
                return function in self.copies
            case GotoInstruction() | ReturnInstruction():
                return True
            case _:
                return False

    def is_closed(self, items: Sequence[Item]) -> bool:
        """Tell whether every path through the items ends in a return."""
        match items[-1] if items else None:
            case Branch(then=then, otherwise=otherwise):
                return self.is_closed(then) and self.is_closed(otherwise)
            case int(pc):
                return isinstance(self.code[pc], ReturnInstruction)
            case _:
                return False
