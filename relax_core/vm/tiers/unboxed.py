"""The shape heap of a function in local variables of generated code: its slots are integers, and no tensor holds them.

A slot that a shape or a scalar is matched with becomes the local `h` with its number. What a kernel of shape arithmetic
computes is written as an expression: where it is read if that is once, else into a local too. The heap is made again
when the explicit tier takes over, or when somebody looks at it.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import not_
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from relax_core.bytecode.isa import Argument, CallInstruction, ConstantRef, Immediate, Register
from relax_core.ir.node import preorder
from relax_core.ir.prim import Binary, Cast, IntImm, PrimExpr, Unary, dtype_of
from relax_core.ir.tir import BufferLoad, BufferStore, PrimFunc, SeqStmt, Stmt
from relax_core.vm.builtin.builtins import BUILTINS
from relax_core.vm.builtin.heap import EQUAL_TO_IMMEDIATE, EQUAL_TO_SLOT, NO_CHECK, STORE, origins_of
from relax_core.vm.objects.values import Array, DTypeValue
from relax_core.vm.running import Running
from relax_core.vm.tiers.facts import HEAP
from relax_core.vm.tiers.names import Names
from relax_core.vm.tiers.segments import Body

LARGEST_EXPRESSION: Final = 64
_LEAST, _GREATEST = -(1 << 63), (1 << 63) - 1
_OPERATIONS: Mapping[str, Callable[[int, int], int]] = MappingProxyType(
    {
        "+": int.__add__,
        "-": int.__sub__,
        "*": int.__mul__,
        "//": int.__floordiv__,
        "%": int.__mod__,
        "min": min,
        "max": max,
        "==": int.__eq__,
        "!=": int.__ne__,
        "<": int.__lt__,
        "<=": int.__le__,
        ">": int.__gt__,
        ">=": int.__ge__,
        "and": int.__and__,
        "or": int.__or__,
    }
)
_MATCHES = ("vm.builtin.match_shape", "vm.builtin.match_prim_value")
_MAKERS = ("vm.builtin.make_shape", "vm.builtin.make_prim_value")

Origin = tuple[str, tuple[Any, ...]]
"""A call that set a slot, as `origins_of` reads it."""


Compute = Callable[[Mapping[str, Any]], int]


class UnsetError(Exception):
    """A slot may be read where nothing has set it: the function keeps its heap."""


@dataclass(frozen=True, slots=True)
class Slot:
    """The expression of a slot's value; one that `is_truth` is of Python's type `bool`.

    `compute` gives the same, as int64 arithmetic has it, of a frame's local variables.
    """

    text: str
    compute: Compute
    is_truth: bool = False

    @property
    def number(self) -> str:
        """The value as an integer, whatever its type."""
        return f"(1 if {self.text} else 0)" if self.is_truth else self.text


@dataclass(frozen=True, slots=True)
class HeapState:
    """The slots that are set before an instruction, and the calls that set them; the others are 0."""

    slots: tuple[tuple[int, Compute], ...]
    origins: tuple[Origin, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """What a builtin is called with that compares a value with slots or stores it, where no fast path fits."""

    builtin: Callable[..., object]
    size: int
    rest: tuple[Any, ...]
    stored: tuple[int, ...]
    origins: tuple[Origin, ...]


def wrapped(value: int) -> int:
    """Return an integer as int64 arithmetic has it."""
    return ((value + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)


def matched(machine: Running, match: Match, value: Any, *held: tuple[int, int]) -> Sequence[int]:
    """Call the builtin of a match with a heap that has the slots which are `held`; return those that it stored."""
    heap = np.zeros(match.size, np.int64)
    for slot, number in held:
        heap[slot] = number
    machine.origins = origins_of(match.origins)
    # What is recorded of the heap follows from the log.
    recorder, machine.recorder = machine.recorder, None
    try:
        match.builtin(machine, value, heap, *match.rest)
    finally:
        machine.recorder = recorder
    return [int(heap[slot]) for slot in match.stored]


@dataclass(slots=True)
class UnboxedHeap:
    """The heap in `register`, of `size` slots, while the code of its function is written.

    The expressions of the slots `read_once` are written where they are read. `slots` are those that are set so far on
    the way to the instruction that is written, `origins` the calls that set them; `states` are the same as they were
    before each instruction. `matched` has the slots as they follow from those that matches set, for a log that has
    no others.
    """

    body: Body
    names: Names
    register: int
    size: int
    read_once: frozenset[int]
    slots: dict[int, Slot] = field(default_factory=dict[int, Slot])
    matched: dict[int, Slot] = field(default_factory=dict[int, Slot])
    origins: list[Origin] = field(default_factory=list[Origin])
    states: dict[int, HeapState] = field(default_factory=dict[int, HeapState])
    is_made: bool = False

    def note(self, pc: int) -> None:
        """Note what is set before an instruction."""
        if self.is_made:
            slots = tuple((number, slot.compute) for number, slot in self.slots.items())
            self.states[pc] = HeapState(slots, tuple(self.origins))

    def branch(self, write: Callable[[], set[int]]) -> set[int]:
        """Write one side of a branch: what it sets is not set behind it."""
        slots, matched, origins = dict(self.slots), dict(self.matched), list(self.origins)
        known = write()
        self.slots, self.matched, self.origins = slots, matched, origins
        return known

    def uses(self, pc: int) -> bool:
        """Tell whether an instruction makes the heap, reads it or writes it."""
        return self.register in self.body.reads[pc] or self.body.written[pc] == self.register

    def sets(self, pc: int) -> tuple[tuple[int, Compute | None], ...]:
        """Return which slots an instruction sets: a kernel computes them of those that matches set.

        `None` stands for what a match stores.
        """
        if self.body.name(pc) in _MATCHES:
            stored = _stored(self.body.call(pc))
            self.matched |= {slot: _local(slot) for slot in stored}
            return tuple((slot, None) for slot in stored)
        stores = _stores(self.body.facts.prim_func(self.body.call(pc).function))
        for number, value in stores:
            slot = _expression(value, self.matched.__getitem__)
            assert slot is not None, "the kernel was read before"
            self.matched[number] = slot
        return tuple((number, self.matched[number].compute) for number, _ in stores)

    def is_truth(self, pc: int) -> bool:
        """Tell whether an instruction makes a truth value of a slot."""
        is_maker = self.uses(pc) and self.body.name(pc) == _MAKERS[1]
        return is_maker and _is_bool(self.body.call(pc), self.names)

    def statements(self, pc: int, call: CallInstruction, target: str) -> Iterator[str]:
        """Yield the statements of a call that uses the heap."""
        match self.body.name(pc):
            case name if name == HEAP:
                self.is_made = True
            case "vm.builtin.match_prim_value":
                yield from self._match(pc, call, ("",))
            case "vm.builtin.match_shape":
                yield from self._match(pc, call, tuple(f".shape[{axis}]" for axis in range(_value(call.args[2]))))
            case "vm.builtin.make_shape":
                yield f"{target}ShapeValue(({''.join(f'{item}, ' for item in self.sizes(call))}))"
            case "vm.builtin.make_prim_value":
                slot = self._loaded(_value(call.args[1]), _value(call.args[2]))
                is_bool = _is_bool(call, self.names)
                as_bool = slot.text if slot.is_truth else f"{slot.text} != 0"
                yield f"{target}{as_bool if is_bool else slot.number}"
            case _:
                for number, value in _stores(self.body.facts.prim_func(call.function)):
                    yield from self._computed(number, value)

    def sizes(self, call: CallInstruction) -> list[str]:
        """Return the expressions of the sizes of the shape that a call makes of slots."""
        return [self._loaded(*pair).number for pair in _pairs(call.args[2:])]

    def _computed(self, number: int, value: PrimExpr) -> Iterator[str]:
        slot = _expression(value, self._slot)
        assert slot is not None, "the kernel was read before"
        slot = replace(slot, text=_wrap(slot.text, value))
        if number not in self.read_once:
            yield f"h{number} = {slot.text}"
            slot = replace(_local(number), is_truth=slot.is_truth)
        self.slots[number] = slot

    def _match(self, pc: int, call: CallInstruction, parts: tuple[str, ...]) -> Iterator[str]:
        """Yield a match of a scalar, or of the sizes `parts` of a tensor."""
        value, rest = self.names.argument(call.args[0]), call.args[2:]
        is_shape = self.body.name(pc) == _MATCHES[0]
        pairs = _pairs(rest[1:-1] if is_shape else rest[:-1])
        tests = [f"type({value}) is ndarray and {value}.ndim == {len(parts)}" if is_shape else f"type({value}) is int"]
        held: dict[int, str] = {}
        stored: dict[int, str] = {}
        for part, (code, operand) in zip(parts, pairs, strict=True):
            if code == STORE:
                stored[operand] = f"{value}{part}"
            elif code == EQUAL_TO_SLOT and operand in stored:
                tests.append(f"{value}{part} == {stored[operand]}")
            elif code == EQUAL_TO_SLOT:
                held[operand] = self._slot(operand).text
                tests.append(f"{value}{part} == {held[operand]}")
            elif code == EQUAL_TO_IMMEDIATE:
                tests.append(f"{value}{part} == {operand}")
        match = Match(BUILTINS[self.body.name(pc)], self.size, self._values(rest), tuple(stored), tuple(self.origins))
        arguments = "".join(f", ({slot}, {text})" for slot, text in held.items())
        # A function is written twice at most, with the same matches.
        name = self.names.add(match, "match", self.body.start + pc)
        slow = f"{self.names.add(matched, 'matched')}(machine, {name}, {value}{arguments})"
        test = " and ".join(tests)
        if stored:
            yield f"if {test}: {'; '.join(f'h{slot} = {text}' for slot, text in stored.items())}"
            yield f"else: {''.join(f'h{slot}, ' for slot in stored)}= {slow}"
            self.origins.append((self.body.name(pc), (None, None, *self._values(rest))))
        else:
            yield f"if not ({test}): {slow}"
        self.slots |= {slot: _local(slot) for slot in stored}

    def _values(self, args: Sequence[Argument]) -> tuple[Any, ...]:
        """Return the numbers and constants among arguments."""

        def value(item: Argument) -> Any:
            match item:
                case Immediate(value=number):
                    return number
                case ConstantRef():
                    return self.names.constant(item)
                case _:
                    return None

        return tuple(map(value, args))

    def _loaded(self, code: int, operand: int) -> Slot:
        return self._slot(operand) if code else _constant(operand)

    def _slot(self, number: int) -> Slot:
        if number not in self.slots:
            raise UnsetError
        return self.slots[number]


def heap_of(state: HeapState, size: int, local: Mapping[str, Any]) -> Array:
    """Return the heap that a frame with these local variables would have."""
    heap = np.zeros(size, np.int64)
    for number, compute in state.slots:
        heap[number] = compute(local)
    return heap


def unboxed_heap(body: Body, names: Names) -> UnboxedHeap | None:
    """Return the heap of a function if every use of it can be written with local variables."""
    made = [pc for pc in range(len(body.code)) if body.name(pc) == HEAP]
    index = body.written[made[0]] if len(made) == 1 else None
    if index is None or sum(item == index for item in body.written) != 1:
        return None
    size = body.call(made[0]).args[1]
    reads: list[int] = []
    writes: list[int] = []
    for pc in (pc for pc, registers in enumerate(body.reads) if index in registers):
        used = _uses(body, pc, index, names)
        if used is None:
            return None
        reads += used[0]
        writes += used[1]
    if not isinstance(size, Immediate) or len({*writes}) != len(writes):
        return None
    read_once = frozenset(slot for slot, count in Counter(reads).items() if count == 1)
    return UnboxedHeap(body, names, index, size.value, read_once)


def _uses(body: Body, pc: int, index: int, names: Names) -> tuple[list[int], list[int]] | None:
    """Return the slots that an instruction reads and those that it writes, `None` if it does anything else."""
    if not isinstance(body.code[pc], CallInstruction):
        return None
    call, name = body.call(pc), body.name(pc)
    if name in _MATCHES:
        match call.args:
            case (Register(index=value), Register(index=heap), *rest, ConstantRef()) if value != index == heap:
                numbers = rest if name == _MATCHES[1] else rest[1:]
            case _:
                return None
        pairs = _pairs(numbers) if all(isinstance(item, Immediate) for item in rest) else ()
        if 2 * len(pairs) != len(numbers) or not {code for code, _ in pairs} <= {0, STORE, NO_CHECK, EQUAL_TO_SLOT}:
            return None
        return [slot for code, slot in pairs if code == EQUAL_TO_SLOT], [slot for code, slot in pairs if code == STORE]
    if name in _MAKERS:
        numbers = call.args[2:] if name == _MAKERS[0] else call.args[1:3]
        if not all(isinstance(item, Immediate) for item in numbers) or _is_float(call, names):
            return None
        return [slot for code, slot in _pairs(numbers) if code], []
    if body.kind(pc) != "kernel" or call.args != (Register(index),) or isinstance(call.dst, Register):
        return None
    return _kernel_uses(body.facts.prim_func(call.function))


def _kernel_uses(function: PrimFunc) -> tuple[list[int], list[int]] | None:
    stores = _stores(function)
    if not stores:
        return None
    reads: list[int] = []

    def read(slot: int) -> Slot:
        reads.append(slot)
        return _local(slot)

    for _, value in stores:
        if len([*preorder(value)]) > LARGEST_EXPRESSION or _expression(value, read) is None:
            return None
    return reads, [slot for slot, _ in stores]


def _stores(function: PrimFunc) -> list[tuple[int, PrimExpr]]:
    """Return what a kernel of shape arithmetic stores in the slots of its only buffer; nothing if it does more."""
    buffer = function.buffer_of(function.params[0]) if len(function.params) == 1 else None
    found: list[tuple[int, PrimExpr]] = []
    stack: list[Stmt] = [function.body]
    while stack:
        match stack.pop():
            case SeqStmt(stmts=stmts):
                stack += reversed(stmts)
            case BufferStore(buffer=stored, indices=(IntImm(value=slot),), value=value) if stored is buffer:
                found.append((slot, value))
            case _:
                return []
    reads_others = any(
        isinstance(item, BufferLoad) and item.buffer is not buffer for _, value in found for item in preorder(value)
    )
    return [] if buffer is None or buffer.dtype != "int64" or reads_others else found


def _expression(expr: PrimExpr, slot_of: Callable[[int], Slot]) -> Slot | None:
    """Return an expression of int64 and truth values in Python, `None` for what has no equivalent here.

    Sums and products are exact until `_wrap` brings them back into the range.
    """
    match expr:
        case IntImm(value=value, dtype="int64"):
            return _constant(value)
        case BufferLoad(indices=(IntImm(value=slot),)):
            return slot_of(slot)
        case Cast(value=value, dtype="int64") if dtype_of(value) == "bool":
            return _expression(value, slot_of)
        case Unary(op="not", a=a, dtype="bool"):
            inner = _expression(a, slot_of)
            return None if inner is None else Slot(f"(not {inner.text})", _applied(not_, inner), is_truth=True)
        case Binary(op=op, a=a, b=b, dtype="bool" | "int64" as dtype) if op in _OPERATIONS:
            if op in ("//", "%") and not (isinstance(b, IntImm) and b.value > 0):
                return None
            left, right = _expression(a, slot_of), _expression(b, slot_of)
            if left is None or right is None:
                return None
            # Sums and products of what is out of the range come out the same when they are brought back.
            texts = (left.text, right.text) if op in ("+", "-", "*") else (_wrap(left.text, a), _wrap(right.text, b))
            text = f"{op}({', '.join(texts)})" if op in ("min", "max") else f"({f' {op} '.join(texts)})"
            return Slot(text, _applied(_OPERATIONS[op], left, right), is_truth=dtype == "bool")
        case _:
            return None


def _applied(operation: Callable[..., int], *operands: Slot) -> Compute:
    return lambda local: wrapped(operation(*(item.compute(local) for item in operands)))


def _local(number: int) -> Slot:
    name = f"h{number}"
    return Slot(name, lambda local: local[name])


def _constant(value: int) -> Slot:
    return Slot(repr(value) if value >= 0 else f"({value!r})", lambda _: value)


def _wrap(text: str, expr: PrimExpr) -> str:
    """Return the expression of a sum or product as int64 arithmetic has it; any other stays."""
    match expr:
        case Binary(op="-", a=BufferLoad(), b=IntImm(value=value)) if value >= 0:
            return f"(v if (v := {text}) >= {_LEAST} else wrapped(v))"
        case Binary(op="+", a=BufferLoad(), b=IntImm(value=value)) if value >= 0:
            return f"(v if (v := {text}) <= {_GREATEST} else wrapped(v))"
        case Binary(op="+" | "-" | "*"):
            return f"(v if {_LEAST} <= (v := {text}) <= {_GREATEST} else wrapped(v))"
        case _:
            return text


def _stored(match: CallInstruction) -> tuple[int, ...]:
    """Return the slots in which a match stores sizes or a scalar."""
    numbers = match.args[2:-1]
    return tuple(slot for code, slot in _pairs(numbers[len(numbers) % 2 :]) if code == STORE)


def _pairs(numbers: Sequence[Argument]) -> tuple[tuple[int, int], ...]:
    values = [_value(item) for item in numbers]
    return tuple(zip(values[::2], values[1::2], strict=len(values) % 2 == 0))


def _value(argument: Argument) -> int:
    assert isinstance(argument, Immediate), "codes and slots are numbers"
    return argument.value


def _dtype(call: CallInstruction, names: Names) -> str:
    last = call.args[-1]
    found = names.constant(last) if isinstance(last, ConstantRef) else None
    return found.name if isinstance(found, DTypeValue) else ""


def _is_bool(call: CallInstruction, names: Names) -> bool:
    return _dtype(call, names) == "bool"


def _is_float(call: CallInstruction, names: Names) -> bool:
    return "float" in _dtype(call, names)
