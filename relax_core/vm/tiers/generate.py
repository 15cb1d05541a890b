"""Compile the bytecode of a function to a Python function.

It has nested `if`s, and for each segment its charges, log and statements.

The text that is compiled follows from the bytecode alone: names are made of numbers, and the constants of the program
are objects in the namespace. No text of the user's program is in it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from types import CodeType, FunctionType
from typing import Final

from relax_core.bytecode.executable import FunctionEntry
from relax_core.bytecode.isa import CallInstruction, IfInstruction, Register, ReturnInstruction
from relax_core.vm.meter import SMALL_BYTES
from relax_core.vm.tiers.checks import implied_checks
from relax_core.vm.tiers.events import EventWriter
from relax_core.vm.tiers.facts import HEAP, Room
from relax_core.vm.tiers.link import ARENA_BYTES, Linker
from relax_core.vm.tiers.segments import LARGEST_BUFFER_BYTES, LARGEST_LOGGED_BYTES, NO_SAVINGS, Body, Savings, Straight
from relax_core.vm.tiers.statements import Statements
from relax_core.vm.tiers.structure import Branch, Item, structure
from relax_core.vm.tiers.unboxed import UnboxedHeap, UnsetError, unboxed_heap

ALIGNMENT: Final = 16


class TensorArena:
    """Allocates the tensors of one segment, each aligned, one behind the other; nothing is freed on its own.

    The memory is the linker's and serves every segment in turn. `offset_of` gives the byte offset of a tensor by the
    number that `place` returned for it.
    """

    def __init__(self, linker: Linker) -> None:
        self.offset_of: dict[int, int] = {}
        self._linker = linker
        self._size_bytes = 0

    def place(self, room: Room, number: int) -> int | None:
        """Allocate a tensor and return the number of its constant; `None` if the arena is full."""
        del number
        offset = -(-self._size_bytes // ALIGNMENT) * ALIGNMENT
        if offset + room.size_bytes > ARENA_BYTES:
            return None
        self._size_bytes = offset + room.size_bytes
        place = self._linker.in_arena(room, offset)
        self.offset_of[place] = offset
        return place

    @property
    def name(self) -> str:
        """The name in generated code of a function that returns a copy of the allocated bytes."""
        return self._linker.bytes_of_arena(self._size_bytes)


@dataclass(slots=True)
class Text:
    """Generated lines, numbered from 0, with what deoptimising needs to know of each.

    `pcs[n]` is the instruction of line `n`, -1 for none. At the lines in `charges` the segment that starts there has
    not been entered yet; before line `entered_at` the frame is not in the log. By instruction: `charged_ahead` counts
    the later instructions of its segment and the bytes that they allocate, `checking` has those before which the
    check of a parameter may be open, `made_by` the register and the tensor that a kernel allocates and fills. By
    register: `places` names another register that has its value, `storages` the size of a storage that is elided.
    `heap` is the shape heap if it is in local variables.
    """

    lines: list[str] = field(default_factory=list[str])
    pcs: list[int] = field(default_factory=list[int])
    charges: set[int] = field(default_factory=set[int])
    entered_at: int = 0
    made_by: dict[int, tuple[int, Room]] = field(default_factory=dict[int, tuple[int, Room]])
    places: dict[int, int] = field(default_factory=dict[int, int])
    charged_ahead: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    checking: set[int] = field(default_factory=set[int])
    storages: dict[int, int] = field(default_factory=dict[int, int])
    heap: UnboxedHeap | None = None

    def add(self, indent: int, text: str, pc: int) -> None:
        """Append a line that belongs to an instruction."""
        self.lines.append(" " * indent + text)
        self.pcs.append(pc)

    def append(self, other: "Text") -> None:
        """Append all lines of another text."""
        offset = len(self.lines)
        self.lines += other.lines
        self.pcs += other.pcs
        self.charges |= {offset + number for number in other.charges}
        self.entered_at = offset + other.entered_at
        self.made_by |= other.made_by
        self.places |= other.places
        self.charged_ahead |= other.charged_ahead
        self.checking |= other.checking
        self.storages |= other.storages


class Writer:
    """Writes one function; `log` is `None` for runs that are not recorded."""

    def __init__(
        self, linker: Linker, entry: FunctionEntry, log: EventWriter | None, *, is_unboxed: bool = True
    ) -> None:
        self.linker = linker
        self.names = linker.names
        self.entry = entry
        self.log = log
        self.body = Body(linker.facts, entry)
        self.code = self.body.code
        self.heap = unboxed_heap(self.body, self.names) if is_unboxed else None
        self.body.is_unboxed = self.heap is not None
        if log is not None:
            log.heap = self.heap
        is_on_heap = any(self.body.name(pc) == HEAP for pc in range(len(self.code)))
        self.is_on_heap = is_on_heap and self.heap is None
        # A segment must end at a call if calls are logged, for the callee's events come first, or if the host may
        # re-enter, for it needs the fuel that is left.
        can_go_on = log is None and linker.facts.is_closed
        self.ends = frozenset(("return",) if can_go_on else ("call", "closure", "return"))
        self.statements = Statements(linker, self.body, log, self.heap, is_on_heap=self.is_on_heap)
        self.text = Text()
        self.unwritten: set[int] = set()

    def write(self, items: Sequence[Item]) -> Text:
        """Write the function `f` with the structure `items`; its parameters are the first registers and the depth."""
        params = "".join(f"r{index}, " for index in range(self.entry.param_count))
        self.region(items, 1, set(range(self.entry.param_count)))
        text = Text(heap=self.heap)
        text.add(0, f"def f({params}depth):", -1)
        text.add(1, "inner = depth + 1", -1)
        if self.is_on_heap:
            text.add(1, "origins = {}", -1)
        if self.unwritten:
            text.add(1, f"{''.join(f'r{index} = ' for index in sorted(self.unwritten))}UNWRITTEN", -1)
        text.append(self.text)
        return text

    def region(self, items: Sequence[Item], indent: int, known: set[int]) -> set[int]:
        """Write `items`, where the registers `known` are defined; return those that are defined after them."""
        straight = Straight()
        start = len(self.text.lines)
        for item in items:
            pc = item.pc if isinstance(item, Branch) else item
            self.note_reads(pc, known)
            kind = self.statements.kind(pc)
            if kind == "outside" or (kind == "closure" and self.log is not None):
                straight = self.flush(straight, indent)
                self.outside(pc, indent) if kind == "outside" else self.recorded_closure(pc, indent)
                continue
            straight.add(pc, self.body.visit(pc))
            if self.log is not None:
                self.log.visit(pc, self.body)
            if isinstance(item, Branch):
                self.flush_before_branch(straight, indent)
                straight = Straight()
                known = self.branch(item, indent, known)
            elif kind in self.ends or (straight.is_full and not self.body.is_allocation(pc)):
                straight = self.flush(straight, indent)
        self.flush(straight, indent)
        if len(self.text.lines) == start:
            self.text.add(indent, "pass", -1)
        return known

    def note_reads(self, pc: int, known: set[int]) -> None:
        """Collect registers that may be read before they are defined; what `pc` writes becomes known."""
        self.unwritten |= self.body.reads[pc] - known
        index = self.body.written[pc]
        if index is not None:
            known.add(index)

    def branch(self, branch: Branch, indent: int, known: set[int]) -> set[int]:
        """Write both sides of a branch after its condition."""
        names, statements = self.names, self.statements
        scalars, is_unchecked = set(names.scalar_tensors), statements.checks_depth
        self.drop_unread(branch.pc, 0, indent + 1)
        behind = self.side(branch.then, indent + 1, set(known))
        kept, names.scalar_tensors = names.scalar_tensors, set(scalars)
        is_unchecked, statements.checks_depth = statements.checks_depth, is_unchecked
        if branch.otherwise:
            self.text.add(indent, "else:", branch.pc)
            self.drop_unread(branch.pc, 1, indent + 1)
            behind &= self.side(branch.otherwise, indent + 1, set(known))
        else:
            behind &= known
        names.scalar_tensors &= kept & scalars
        statements.checks_depth |= is_unchecked
        return behind

    def side(self, items: Sequence[Item], indent: int, known: set[int]) -> set[int]:
        """Write one side of a branch."""
        if self.heap is None:
            return self.region(items, indent, known)
        return self.heap.branch(lambda: self.region(items, indent, known))

    def drop_unread(self, pc: int, way: int, indent: int) -> None:
        """Drop registers that only the other side of a branch reads."""
        unread = self.body.liveness.unread[pc][way] - ({self.heap.register} if self.heap is not None else set[int]())
        if unread and self.log is None:
            self.text.add(indent, f"{''.join(f'r{index} = ' for index in sorted(unread))}None", pc)

    def flush(self, straight: Straight, indent: int) -> Straight:
        """Write a segment, and return an empty one."""
        if straight.pcs:
            self.segment(straight, self.savings(straight), indent)
        return Straight()

    def savings(self, straight: Straight) -> Savings:
        """Return what a segment elides; when it is logged, each preallocated tensor is used only once."""
        if self.log is None:
            return self.body.savings(straight.pcs, LARGEST_BUFFER_BYTES, self.linker.buffer, can_move=True)
        arena = TensorArena(self.linker)
        savings = self.body.savings(straight.pcs, LARGEST_LOGGED_BYTES, arena.place, can_move=False)
        offset_of = {index: arena.offset_of[place] for index, place in savings.place_of.items() if place < 0}
        return replace(savings, offset_of=offset_of, arena=arena.name) if offset_of else savings

    def flush_before_branch(self, straight: Straight, indent: int) -> None:
        """Write a segment that ends in an `if`, with its condition."""
        savings = self.savings(straight)
        self.segment(straight, savings, indent)
        pc = straight.pcs[-1]
        if savings.condition is not None and self.log is None:
            self.text.add(indent, f"if {self.statements.condition(savings.condition, savings)}:", savings.condition)
        else:
            instruction = self.code[pc]
            assert isinstance(instruction, IfInstruction), "a branch stands where an `if` is"
            self.text.add(indent, f"if {self.statements.argument(instruction.condition, savings)}:", pc)

    def segment(self, straight: Straight, savings: Savings, indent: int) -> None:
        """Write the charges of a segment, the log entry for its start, and its statements."""
        first = straight.pcs[0]
        count, size = len(straight.pcs), straight.size_bytes
        if size > SMALL_BYTES * count:
            self.charge(indent, f"if (left := meter.room - {size}) < 0: left = make_room({size})", first)
            self.charge(indent, "meter.room = left", first)
        self.charge(indent, f"if (left := meter.fuel - {count}) < 0: left = refuel({count})", first)
        self.charge(indent, "meter.fuel = left", first)
        self.text.charged_ahead.update(straight.charged_ahead())
        implied = implied_checks(self.body, straight.pcs, savings.filled) if self.log is None else {}
        latest = max(implied.values(), default=-1)
        self.text.checking.update(pc for pc in straight.pcs if pc <= latest)
        self.enter(straight.pcs, savings, indent)
        self.text.places |= {index: place for index, place in savings.place_of.items() if place >= 0}
        storages = ((self.body.written[pc], self.body.storage_at.get(pc)) for pc in savings.skipped)
        self.text.storages |= {index: size for index, size in storages if index is not None and size is not None}
        end = self.end_of_work(straight.pcs)
        fresh = {} if self.log is not None or self.heap is None else self.body.fresh(straight.pcs)
        within = {pc for item in fresh.values() for pc in item.pcs}
        for number, pc in enumerate(straight.pcs):
            if pc in fresh:
                self.text.add(indent, self.statements.fresh(fresh[pc], savings), pc)
            inner = indent + (pc in within)
            if pc in savings.filled:
                allocation = savings.filled[pc]
                index = self.body.written[allocation]
                assert index is not None, "a tensor is made in a register"
                self.text.made_by[pc] = (index, self.body.room_at[allocation])
            if self.heap is not None:
                self.heap.note(pc)
            for line in self.logged(pc, savings):
                self.text.add(inner, line, pc)
            for line in self.statements.of(pc, savings) if pc not in implied else ():
                self.text.add(inner, line, pc)
            for line in self.statements.dropped(pc, savings) if number < end else ():
                self.text.add(inner, line, pc)
        if self.log is not None:
            for line in self.log.end():
                self.text.add(indent, line, straight.pcs[-1])

    def end_of_work(self, pcs: list[int]) -> int:
        """Return the position from which on a segment computes nothing: there no register need be dropped."""
        if self.body.kind(pcs[-1]) != "return":
            return len(pcs)
        working = (number for number, pc in enumerate(pcs) if self.body.kind(pc) in ("call", "closure", "kernel"))
        return max(working, default=0)

    def logged(self, pc: int, savings: Savings) -> Iterable[str]:
        """Return the statements that log values before an instruction, and note what it writes."""
        if self.log is None:
            return
        instruction = self.code[pc]
        if isinstance(instruction, ReturnInstruction):
            yield from self.log.before_return(self.statements.argument(instruction.result, savings))
        else:
            yield from self.log.before(pc, self.body, savings)

    def enter(self, pcs: list[int], savings: Savings, indent: int) -> None:
        """Write the log entry for the start of a segment."""
        if self.log is not None:
            if not self.log.is_entered:
                self.text.entered_at = len(self.text.lines)
            self.text.add(indent, self.log.enter(pcs, self.body, savings), pcs[0] if pcs else 0)

    def enter_first(self, indent: int) -> None:
        """Write the log entry for the start of the function, if its first instruction belongs to no segment."""
        if self.log is not None and not self.log.is_entered:
            self.enter([], NO_SAVINGS, indent)

    def charge(self, indent: int, text: str, pc: int) -> None:
        """Append a line that may deoptimise without settling a segment: all that is logged has retired."""
        self.text.charges.add(len(self.text.lines))
        self.text.add(indent, text, pc)

    def recorded_closure(self, pc: int, indent: int) -> None:
        """Write the call of a closure when the run is recorded: a segment of its own if it makes a frame."""
        call = self.body.call(pc)
        assert self.log is not None, "there is a log"
        has_destination = isinstance(call.dst, Register)
        self.enter_first(indent)
        self.charge(indent, "if (left := meter.fuel - 1) < 0: left = refuel(1)", pc)
        self.charge(indent, "meter.fuel = left", pc)
        target = _target(call)
        for line in (
            f"callee = callable_value({self.names.argument(call.args[1])})",
            f"arguments = {self.names.tuple_of(call.args[2:])} + callee.captures",
            "if callee.function in bytecode:",
            f" {self.log.call(pc, has_destination=has_destination)}",
            " if inner >= DEEPEST: deeper(callee.function, inner)",
            f" {target}enter[callee.function](arguments, inner)",
            f"else: {target}charged_outside(callee.function, arguments, inner, {pc + self.entry.start})",
        ):
            self.text.add(indent, line, pc)

    def outside(self, pc: int, indent: int) -> None:
        """Write a call through the machine: it may re-enter the program, or the recorder has to see it."""
        call = self.body.call(pc)
        self.enter_first(indent)
        if self.heap is not None:
            self.heap.note(pc)
        if self.is_on_heap:
            self.text.add(indent, "machine.origins = origins", pc)
        args = self.names.tuple_of(call.args)
        self.charge(indent, f"{_target(call)}outside({call.function}, {args}, inner, {pc + self.entry.start})", pc)
        for line in self.statements.dropped(pc, NO_SAVINGS):
            self.text.add(indent, line, pc)


def _target(call: CallInstruction) -> str:
    return f"r{call.dst.index} = " if isinstance(call.dst, Register) else ""


@dataclass(frozen=True, slots=True, eq=False)
class Generated:
    """The generated code of the VM function `index`, and its text, which maps lines to instructions."""

    index: int
    entry: FunctionEntry
    text: Text
    function: FunctionType

    def pc(self, line: int) -> int:
        """Return the instruction of a line (from 1), counted from the start of the function."""
        return max(self.text.pcs[line - 1], 0)


def generate(linker: Linker, index: int, entry: FunctionEntry, log: EventWriter | None) -> Generated:
    """Generate the code of a VM function.

    Raises:
        UnstructuredError: its jumps cannot be written as branches.
    """
    items = structure(linker.facts.executable, entry)
    try:
        text = Writer(linker, entry, log).write(items)
    except UnsetError:
        text = Writer(linker, entry, log, is_unboxed=False).write(items)
    return Generated(index, entry, text, function_of("\n".join(text.lines), linker))


def function_of(text: str, linker: Linker) -> FunctionType:
    """Compile the definition of one function; its globals are the linker's namespace."""
    module = compile(text, "<bytecode>", "exec", dont_inherit=True)
    code = next(item for item in module.co_consts if isinstance(item, CodeType))
    return FunctionType(code, linker.names.namespace)
