"""Segments: straight-line code whose fuel and memory are charged at once, and in which instructions are elided.

Allocation and kernel call are fused for a tensor of static shape. A storage that only ever holds one such tensor is
not allocated. Copies are coalesced: a value that is dead behind its copy is computed into the copy's register. A
condition that is read once is evaluated in the `if`. Where nobody records the run, a product reads a matrix itself in
place of its transposition, and that is not made. None of this changes a value or what a recorded run shows: an
elided instruction has no effect but on registers, and the log decodes to the same events (`Effect`).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count, pairwise
from typing import Any, Final

import numpy as np

from relax_core.bytecode.executable import FunctionEntry
from relax_core.bytecode.isa import (
    Argument,
    CallInstruction,
    ConstantRef,
    IfInstruction,
    Immediate,
    Instruction,
    Register,
)
from relax_core.jit.transposed import Order
from relax_core.vm.builtin.storage import storable
from relax_core.vm.recording.liveness import Liveness, reads, written
from relax_core.vm.tiers.facts import HEAP, BytecodeFacts, Kind, Room

_ALLOC_TENSOR: Final = "vm.builtin.alloc_tensor"
_NULL: Final = "vm.builtin.null_value"
_MAKE_SHAPE: Final = "vm.builtin.make_shape"
_FRESH: Final = (_MAKE_SHAPE, "vm.builtin.alloc_storage", _MAKE_SHAPE, _ALLOC_TENSOR)
LONGEST_SEGMENT: Final = 512
LARGEST_SEGMENT_BYTES: Final = 64 << 20


@dataclass(slots=True)
class Straight:
    """A segment: its instructions, by their index in the function, and the bytes that each allocates."""

    pcs: list[int] = field(default_factory=list[int])
    sizes: list[int] = field(default_factory=list[int])
    size_bytes: int = 0

    def add(self, pc: int, size_bytes: int) -> None:
        """Append an instruction."""
        self.pcs.append(pc)
        self.sizes.append(size_bytes)
        self.size_bytes += size_bytes

    def charged_ahead(self) -> Iterator[tuple[int, tuple[int, int]]]:
        """Yield for each instruction how many follow it in the segment, and how many bytes these allocate."""
        size_bytes = self.size_bytes
        for number, (pc, size) in enumerate(zip(self.pcs, self.sizes, strict=True), 1):
            size_bytes -= size
            yield pc, (len(self.pcs) - number, size_bytes)

    @property
    def is_full(self) -> bool:
        """Whether the segment should end here, so that limits are checked often enough."""
        return len(self.pcs) >= LONGEST_SEGMENT or self.size_bytes >= LARGEST_SEGMENT_BYTES


@dataclass(frozen=True, slots=True)
class Untransposed:
    """A kernel gets at `position`, in place of an argument, the `source` that `order` would have turned into it."""

    position: int
    source: Argument
    order: Order


@dataclass(frozen=True, slots=True)
class Fresh:
    """A tensor whose sizes are computed and that is alone in its storage, both made by one call where there is room.

    `pcs` are the instructions that make the size of the storage, the storage, the shape and the tensor, in a row.
    """

    pcs: tuple[int, int, int, int]
    dtype: "np.dtype[Any]"


@dataclass(frozen=True, slots=True)
class Savings:
    """What is elided in a segment.

    `filled` maps a kernel to the allocation of the tensor that it fills; `skipped` are instructions that become no
    statement; `place_of` maps a register to the register that has its value instead (from 0), or to a preallocated
    tensor (below 0). When a run is recorded, `offset_of` gives the byte offsets of these tensors in the arena by
    register, and `arena` is the name of the function that copies the arena. `untransposed` are kernels that read a
    matrix whose transposition is skipped.
    """

    filled: dict[int, int]
    skipped: frozenset[int]
    place_of: dict[int, int]
    condition: int | None
    offset_of: Mapping[int, int] = field(default_factory=dict[int, int])
    arena: str = ""
    untransposed: Mapping[int, Untransposed] = field(default_factory=dict[int, Untransposed])


LARGEST_BUFFER_BYTES: Final = 4096
LARGEST_LOGGED_BYTES: Final = 512
"""A tensor up to this size is logged with the arena, a larger one by reference."""
NO_SAVINGS: Final = Savings({}, frozenset(), {}, None)


class Body:
    """The instructions of a VM function, and its static allocations as they are visited in order."""

    def __init__(self, facts: BytecodeFacts, entry: FunctionEntry) -> None:
        self.facts = facts
        self.start = entry.start
        self.code: tuple[Instruction, ...] = facts.executable.instructions[entry.start : entry.end]
        self.liveness = Liveness(self.code)
        self.storages: dict[int, int] = {}
        """The sizes of the storages that are used for a single tensor, by the register that holds them."""
        self.storage_at: dict[int, int] = {}
        """The sizes of such storages by the instruction that makes them."""
        self.room_at: dict[int, Room] = {}
        """The static tensors by the instruction that allocates them."""
        self.is_unboxed = False
        """Whether the shape heap is in local variables: its bytes are charged as if it were allocated."""
        self.reads = tuple(map(reads, self.code))
        self.written = tuple(map(written, self.code))
        self._kinds: tuple[Kind, ...] = tuple(facts.kind(item) for item in self.code)
        self._read_count = Counter(index for registers in self.reads for index in registers)
        self._write_count = Counter(index for index in self.written if index is not None)
        self._writers: dict[int, list[int]] = {}
        for pc, index in enumerate(self.written):
            if index is not None:
                self._writers.setdefault(index, []).append(pc)
        self._reader_of = {index: pc for pc, registers in enumerate(self.reads) for index in registers}

    def name(self, pc: int) -> str:
        """Return the name of the function that an instruction calls, "" for any other instruction."""
        match self.code[pc]:
            case CallInstruction(function=function):
                return self.facts.executable.functions[function].name
            case _:
                return ""

    def kind(self, pc: int) -> Kind:
        """Classify an instruction."""
        return self._kinds[pc]

    def call(self, pc: int) -> CallInstruction:
        """Return the call at `pc`."""
        instruction = self.code[pc]
        assert isinstance(instruction, CallInstruction), "it is a call"
        return instruction

    def is_allocation(self, pc: int) -> bool:
        """Tell whether an instruction allocates what a later one fills."""
        return pc in self.storage_at or pc in self.room_at

    def visit(self, pc: int) -> int:
        """Visit an instruction, and return how many bytes it allocates; 0 if the builtin counts them when it runs."""
        index = self.written[pc]
        if index is None:
            return 0
        self.storages.pop(index, None)
        match self.name(pc):
            case name if name == HEAP and self.is_unboxed:
                slots = self.call(pc).args[1]
                return 8 * slots.value if isinstance(slots, Immediate) else 0
            case "vm.builtin.alloc_storage":
                size = self.facts.storage_bytes(self.call(pc))
                if size is None or not self._is_of_one_tensor(pc, index, size):
                    # It is made, and counted, by the builtin.
                    return 0
                self.storages[index] = self.storage_at[pc] = size
                return size
            case "vm.builtin.alloc_tensor":
                room = self.facts.tensor_room(self.call(pc), self.storages)
                if room is not None:
                    self.room_at[pc] = room
                return 0
            case _:
                return 0

    def _is_of_one_tensor(self, pc: int, index: int, size_bytes: int) -> bool:
        """Tell whether the storage made at `pc` in register `index` backs exactly one tensor, which covers it.

        Then the tensor may have memory of its own, as no other one aliases it. Both must be on one straight path.
        """
        reader = self._reader_of.get(index, -1)
        made = sum(self.written[at] == index and self.name(at) != _NULL for at in self._writers.get(index, ()))
        if self._read_count[index] != 1 or made != 1 or reader <= pc or self.name(reader) != _ALLOC_TENSOR:
            return False
        between = range(pc + 1, reader + 1)
        is_straight = all(isinstance(self.code[at], CallInstruction) for at in between) and not any(
            target in between for target in self.liveness.targets
        )
        is_kept = all(at > reader for at in self._writers[index] if at != pc)
        return is_straight and is_kept and self.facts.tensor_room(self.call(reader), {index: size_bytes}) is not None

    def savings(
        self, pcs: list[int], limit_bytes: int, buffer: Callable[[Room, int], int | None], *, can_move: bool
    ) -> Savings:
        """Return what a segment elides; `buffer(room, number)` preallocates a tensor.

        With `can_move` a transposition may be left out: nobody looks at what each instruction makes.
        """
        filled = self._filled(pcs)
        untransposed = self._untransposed(pcs, filled) if can_move else {}
        gone = {pc for pc, _ in untransposed.values()}
        skipped = {*filled.values(), *self._unused_storages(pcs), *gone}
        filled = {pc: item for pc, item in filled.items() if pc not in gone}
        places = self._places(pcs)
        small = {pc: item for pc, item in filled.items() if self.room_at[item].size_bytes <= limit_bytes}
        places |= self._buffers(pcs, small, places, buffer)
        return Savings(
            *(filled, frozenset(skipped), places, self._condition(pcs)),
            untransposed={pc: item for pc, (_, item) in untransposed.items()},
        )

    def _untransposed(self, pcs: list[int], filled: Mapping[int, int]) -> dict[int, tuple[int, Untransposed]]:
        """Return the kernels that read what a transposition alone makes for them, with the place of that.

        In between nothing is computed, so that the matrix is the same for both. Neither kernel stops but by being
        cancelled: nobody sees that the transposed matrix is not there.
        """
        found: dict[int, tuple[int, Untransposed]] = {}
        for start, pc in enumerate(pcs):
            order = self.facts.transposition(self.call(pc).function) if pc in filled else None
            reader = None if order is None else self._only_reader(pcs, filled[pc])
            if order is None or reader is None or pcs[reader] not in filled:
                continue
            source, reading = self.call(pc).args[0], self.call(pcs[reader])
            between = pcs[start + 1 : reader]
            is_kept = isinstance(source, Register) and all(self.written[at] != source.index for at in between)
            is_calm = all(self.is_allocation(at) or self.name(at) == "vm.builtin.copy" for at in between)
            registers = self._copies(pcs, filled[pc])
            positions = [
                at for at, item in enumerate(reading.args) if isinstance(item, Register) and item.index in registers
            ]
            if not is_kept or not is_calm or len(positions) != 1:
                continue
            if self.facts.reads_untransposed(reading.function, positions[0], order):
                found[pcs[reader]] = pc, Untransposed(positions[0], source, order)
        return found

    def _copies(self, pcs: list[int], allocation: int) -> list[int]:
        """Return the registers that hold a new tensor, that of its allocation first."""
        first = self.written[allocation]
        assert first is not None, "a tensor is made in a register"
        registers = [first]
        for pc in pcs:
            index = self.written[pc]
            if self.name(pc) == "vm.builtin.copy" and index is not None and not self.reads[pc].isdisjoint(registers):
                registers.append(index)
        return registers

    def _only_reader(self, pcs: list[int], allocation: int) -> int | None:
        """Return the position in a segment of the only kernel that reads a new tensor, besides the one that fills it.

        `None` if it, or a copy of it, is read elsewhere, or its register is written again.
        """
        registers = self._copies(pcs, allocation)
        readers = [number for number, pc in enumerate(pcs) if not self.reads[pc].isdisjoint(registers)]
        count = sum(len(self.reads[pcs[number]] & {*registers}) for number in readers)
        is_whole = count == sum(self._read_count[index] for index in registers)
        is_single = all(self._write_count[index] == 1 for index in registers)
        others = [number for number in readers if self.name(pcs[number]) != "vm.builtin.copy"]
        is_read_once = len(others) == 2 and self.kind(pcs[others[1]]) == "kernel"
        return others[1] if is_whole and is_single and is_read_once else None

    def fresh(self, pcs: list[int]) -> dict[int, Fresh]:
        """Return the tensors of a segment that are made with their storages, by the first instruction of each."""
        fours = zip(pcs, pcs[1:], pcs[2:], pcs[3:], strict=False)
        found = (self._fresh(four) for four in fours if tuple(map(self.name, four)) == _FRESH)
        return {item.pcs[0]: item for item in found if item is not None}

    def _fresh(self, pcs: tuple[int, int, int, int]) -> Fresh | None:
        size, storage, _, tensor = map(self.call, pcs)
        made = [self.written[pc] for pc in pcs[:3]]
        are_read_once = all(index is not None and self._is_read_once(index) for index in made)
        match storage.args[1:4], tensor.args:
            case (
                (Register(index=bytes_), Immediate(value=0), ConstantRef() as unit),
                (Register(index=memory), Immediate(value=0), Register(index=shape), ConstantRef() as dtype),
            ) if [bytes_, memory, shape] == made and are_read_once and size.args[1] == Immediate(1):
                kinds = [storable(self.facts.dtype(item)) for item in (unit, dtype)]
                if kinds[0] is not None and kinds[0].itemsize == 1 and kinds[1] is not None:
                    return Fresh(pcs, kinds[1])
            case _:
                pass
        return None

    def _is_read_once(self, index: int) -> bool:
        """Tell whether a register is read at one place, and written at one, null values aside."""
        makers = [pc for pc in self._writers.get(index, ()) if self.name(pc) != _NULL]
        return len(makers) == self._read_count[index] == 1

    def _filled(self, pcs: list[int]) -> dict[int, int]:
        found: dict[int, int] = {}
        for pc, following in pairwise(pcs):
            if pc in self.room_at and self.kind(following) == "kernel":
                kernel = self.call(following)
                output = self.facts.makes(kernel)
                if output is not None and output.index == self.written[pc] and self.written[following] is None:
                    found[following] = pc
        return found

    def _unused_storages(self, pcs: list[int]) -> set[int]:
        """Return the storages that only allocations of this segment read."""
        inside = Counter(index for pc in pcs if pc in self.room_at for index in self.reads[pc])
        made = ((pc, self.written[pc]) for pc in pcs if pc in self.storage_at)
        return {pc for pc, index in made if index is not None and inside[index] == self._read_count[index]}

    def _places(self, pcs: list[int]) -> dict[int, int]:
        """Coalesce copies of dying values: map their registers to those of the copies, chains to the last one."""
        found: dict[int, int] = {}
        made_at = {index: number for number, pc in enumerate(pcs) if (index := self.written[pc]) is not None}
        for number in range(len(pcs) - 1, -1, -1):
            pc = pcs[number]
            if self.name(pc) != "vm.builtin.copy":
                continue
            match self.call(pc):
                case CallInstruction(args=(Register(index=source),), dst=Register(index=target)):
                    start = made_at.get(source, number)
                    place = found.get(target, target)
                    is_last = source in self.liveness.dying[pc] and self._write_count[source] == 1
                    if start < number and is_last and self._is_free({target, place}, pcs[start:number]):
                        found[source] = place
                case _:
                    pass
        return found

    def _buffers(
        self, pcs: list[int], small: dict[int, int], places: dict[int, int], buffer: Callable[[Room, int], int | None]
    ) -> dict[int, int]:
        """Assign preallocated buffers to those of the `small` tensors that do not escape the segment, by linear scan.

        A buffer is reused once its tensor is dead. No call in between could keep a reference to it.
        """
        found: dict[int, int] = {}
        position_of = {pc: number for number, pc in enumerate(pcs)}
        readers: dict[int, list[int]] = {}
        for number, pc in enumerate(pcs):
            for index in self.reads[pc]:
                readers.setdefault(index, []).append(number)
        calls = [number for number, pc in enumerate(pcs) if self.kind(pc) in ("call", "closure")]
        in_use: dict[tuple[Room, int], int] = {}
        for pc, allocation in small.items():
            room = self.room_at[allocation]
            registers, last = self._reach(allocation, pcs, readers, places)
            start = position_of[pc]
            is_cut = any(start < number <= last for number in calls)
            if last < start or is_cut or not self.facts.fills(self.call(pc).function):
                continue
            number = next(number for number in count() if in_use.get((room, number), -1) < start)
            place = buffer(room, number)
            if place is not None:
                in_use[room, number] = last
                found |= dict.fromkeys(registers, place)
        return found

    def _reach(
        self, allocation: int, pcs: list[int], readers: dict[int, list[int]], places: dict[int, int]
    ) -> tuple[list[int], int]:
        """Return the registers that hold a new tensor, and the position of its last read in `pcs`; -1 if it escapes."""
        first = self.written[allocation]
        assert first is not None, "a tensor is made in a register"
        registers, last = [first], -1
        for register in registers:
            positions = readers.get(register, [])
            if len(positions) != self._read_count[register] or self._write_count[register] != 1:
                return registers, -1
            for number in positions:
                pc = pcs[number]
                index = self.written[pc]
                last = max(last, number)
                if self.name(pc) == "vm.builtin.copy" and index is not None and register in places:
                    registers.append(index)
                elif self.kind(pc) != "kernel" and self.name(pc) != "vm.builtin.read_if_cond":
                    return registers, -1
        return registers, last

    def _is_free(self, registers: set[int], pcs: list[int]) -> bool:
        touched = {index for pc in pcs for index in (*self.reads[pc], self.written[pc])}
        return touched.isdisjoint(registers)

    def _condition(self, pcs: list[int]) -> int | None:
        """Return the instruction that reads the condition of the closing `if`, if nothing else uses it."""
        match [self.code[pc] for pc in pcs[-2:]]:
            case [CallInstruction(dst=Register(index=index)), IfInstruction(condition=Register(index=read))] if (
                index == read and self._read_count[index] == 1 and self.name(pcs[-2]) == "vm.builtin.read_if_cond"
            ):
                return pcs[-2]
            case _:
                return None
