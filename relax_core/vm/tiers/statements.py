"""Instruction selection: the Python statements of single instructions, with inline fast paths for builtins.

Where the test of a fast path fails, generated code calls the builtin, which handles the slow path and reports errors.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from relax_core.bytecode.isa import (
    VOID,
    Argument,
    CallInstruction,
    ConstantRef,
    IfInstruction,
    Immediate,
    Register,
    ReturnInstruction,
    Special,
)
from relax_core.vm.builtin.builtins import BUILTINS
from relax_core.vm.builtin.heap import EQUAL_TO_IMMEDIATE, NO_CHECK
from relax_core.vm.objects.values import DTypeValue
from relax_core.vm.recording.liveness import reads, written
from relax_core.vm.tiers.events import EventWriter
from relax_core.vm.tiers.facts import ON_HEAP, SEEN_BY_RECORDER, Kind
from relax_core.vm.tiers.link import Linker
from relax_core.vm.tiers.names import Names
from relax_core.vm.tiers.segments import Body, Fresh, Savings
from relax_core.vm.tiers.unboxed import UnboxedHeap


@dataclass(frozen=True, slots=True)
class Inline:
    """`value` is what the builtin returns if `test` holds; an empty test always holds."""

    test: str
    value: str


Template = Callable[[Names, tuple[Argument, ...]], Inline | None]


def inline(names: Names, builtin: str, args: tuple[Argument, ...]) -> Inline | None:
    """Return the inline form of a call of a builtin, `None` if it has none."""
    template = _TEMPLATES.get(builtin)
    return None if template is None else template(names, args)


def _copy(names: Names, args: tuple[Argument, ...]) -> Inline:
    return Inline("", names.argument(args[0]))


def _null(names: Names, args: tuple[Argument, ...]) -> Inline:
    return Inline("", "None")


def _tuple(names: Names, args: tuple[Argument, ...]) -> Inline:
    return Inline("", names.tuple_of(args))


def _field(names: Names, args: tuple[Argument, ...]) -> Inline | None:
    match args:
        case (Register() as value, Immediate(value=index)) if index >= 0:
            name = names.argument(value)
            return Inline(f"type({name}) is tuple and len({name}) > {index}", f"{name}[{index}]")
        case _:
            return None


def _check_tensor(names: Names, args: tuple[Argument, ...]) -> Inline | None:
    match args:
        case (Register() as value, Immediate(value=rank), Special() | ConstantRef() as dtype, *_):
            name = names.argument(value)
            tests = [f"type({name}) is ndarray"]
            if rank >= 0:
                tests.append(f"{name}.ndim == {rank}")
            if isinstance(dtype, ConstantRef):
                found = names.constant(dtype)
                if not isinstance(found, DTypeValue):
                    return None
                # NumPy's own dtypes are singletons, so that identity decides; any other dtype takes the call of the
                # builtin.
                tests.append(f"{name}.dtype is {names.add(np.dtype(found.name), 'dtype')}")
            return Inline(" and ".join(tests), "None")
        case _:
            return None


def _check_length(kind: str) -> Template:
    def template(names: Names, args: tuple[Argument, ...]) -> Inline | None:
        match args:
            case (Register() as value, Immediate(value=length), *_) if length >= 0:
                name = names.argument(value)
                return Inline(f"type({name}) is {kind} and len({name}) == {length}", "None")
            case _:
                return None

    return template


def _check_function(names: Names, args: tuple[Argument, ...]) -> Inline:
    return Inline(f"type({names.argument(args[0])}) is Closure", "None")


def _check_prim(names: Names, args: tuple[Argument, ...]) -> Inline | None:
    found = names.constant(args[1]) if isinstance(args[1], ConstantRef) else None
    if not isinstance(found, DTypeValue) or found.name == "string":
        return None
    kind = "float" if found.name.startswith(("float", "bfloat")) else "int"
    return Inline(f"type({names.argument(args[0])}) is {kind}", "None")


def _match_shape(names: Names, args: tuple[Argument, ...]) -> Inline | None:
    """Inline comparisons of a shape with numbers. What uses the shape heap calls the builtin."""
    match args:
        case (Register() as value, _, Immediate(value=rank), *pairs, _):
            codes = [item.value for item in pairs[::2] if isinstance(item, Immediate)]
            sizes = [item.value for item in pairs[1::2] if isinstance(item, Immediate)]
            if len(codes) != rank or len(sizes) != rank or not {*codes} <= {EQUAL_TO_IMMEDIATE, NO_CHECK}:
                return None
            name = names.argument(value)
            if NO_CHECK in codes:
                checked = zip(range(rank), codes, sizes, strict=True)
                tests = [f"{name}.shape[{axis}] == {size}" for axis, code, size in checked if code != NO_CHECK]
                return Inline(" and ".join((f"type({name}) is ndarray and {name}.ndim == {rank}", *tests)), "None")
            return Inline(f"type({name}) is ndarray and {name}.shape == {_shape(sizes)}", "None")
        case _:
            return None


def _shape(sizes: list[int]) -> str:
    return f"({''.join(f'{size}, ' for size in sizes)})"


def _read_condition(names: Names, args: tuple[Argument, ...]) -> Inline | None:
    match args:
        case (Register() as value,):
            name = names.argument(value)
            test = "" if value.index in names.scalar_tensors else f"type({name}) is ndarray and {name}.ndim == 0"
            return Inline(test, f"1 if {name} else 0")
        case _:
            return None


def _closure(names: Names, args: tuple[Argument, ...]) -> Inline:
    name = names.argument(args[0])
    captures = f"{name}.captures + {names.tuple_of(args[1:])}"
    return Inline(f"type({name}) is Closure", f"Closure({name}.function, {name}.name, {captures})")


def _shape_of(names: Names, args: tuple[Argument, ...]) -> Inline:
    name = names.argument(args[0])
    return Inline(f"type({name}) is ndarray", f"ShapeValue({name}.shape)")


def _make_shape(names: Names, args: tuple[Argument, ...]) -> Inline | None:
    heap, _, *rest = args
    pairs = [item.value for item in rest if isinstance(item, Immediate)]
    if not isinstance(heap, Register) or len(pairs) != len(rest):
        return None
    name = names.argument(heap)
    items = (
        f"int({name}[{operand}])" if code else f"{operand}"
        for code, operand in zip(pairs[::2], pairs[1::2], strict=True)
    )
    return Inline(f"type({name}) is ndarray", f"ShapeValue(({''.join(f'{item}, ' for item in items)}))")


def _unbox(names: Names, args: tuple[Argument, ...]) -> Inline:
    name = names.argument(args[0])
    return Inline(f"type({name}) is ndarray and {name}.ndim == 0", f"{name}.item()")


def _make_adt(names: Names, args: tuple[Argument, ...]) -> Inline:
    name, tag, *fields = args
    return Inline("", f"AdtValue({names.argument(name)}, {names.argument(tag)}, {names.tuple_of(tuple(fields))})")


def _tag(names: Names, args: tuple[Argument, ...]) -> Inline:
    name = names.argument(args[0])
    return Inline(f"type({name}) is AdtValue", f"{name}.tag")


def _is_tag(names: Names, args: tuple[Argument, ...]) -> Inline:
    return Inline("", f"{names.argument(args[0])} == {names.argument(args[1])}")


def _adt_field(names: Names, args: tuple[Argument, ...]) -> Inline | None:
    match args:
        case (Register() as value, Immediate(value=index)) if index >= 0:
            name = names.argument(value)
            return Inline(f"type({name}) is AdtValue and len({name}.fields) > {index}", f"{name}.fields[{index}]")
        case _:
            return None


_TEMPLATES: Mapping[str, Template] = MappingProxyType(
    {
        "vm.builtin.copy": _copy,
        "vm.builtin.null_value": _null,
        "vm.builtin.make_tuple": _tuple,
        "vm.builtin.tuple_getitem": _field,
        "vm.builtin.check_tensor_info": _check_tensor,
        "vm.builtin.check_shape_info": _check_length("ShapeValue"),
        "vm.builtin.check_tuple_info": _check_length("tuple"),
        "vm.builtin.check_func_info": _check_function,
        "vm.builtin.check_prim_value_info": _check_prim,
        "vm.builtin.match_shape": _match_shape,
        "vm.builtin.read_if_cond": _read_condition,
        "vm.builtin.make_closure": _closure,
        "vm.builtin.shape_of": _shape_of,
        "vm.builtin.make_shape": _make_shape,
        "vm.builtin.unbox_scalar": _unbox,
        "vm.builtin.make_adt": _make_adt,
        "vm.builtin.get_tag": _tag,
        "vm.builtin.is_tag": _is_tag,
        "vm.builtin.adt_field": _adt_field,
    }
)


class Statements:
    """Writes the statements of one function; `log` is `None` for runs that are not recorded.

    `heap` is its shape heap if that is in local variables.
    """

    def __init__(
        self, linker: Linker, body: Body, log: EventWriter | None, heap: UnboxedHeap | None, *, is_on_heap: bool
    ) -> None:
        self.linker = linker
        self.names = linker.names
        self.names.scalar_tensors = set()
        self.body = body
        self.log = log
        self.heap = heap
        self.is_on_heap = is_on_heap
        self.checks_depth = True
        """Whether no call on the way here has compared the depth of calls with its limit: it is the same for all."""
        self._kinds: dict[int, Kind] = {}

    def kind(self, pc: int) -> Kind:
        """Classify an instruction, once: the answer depends on the state of the segment when it is first asked for."""
        if pc not in self._kinds:
            self._kinds[pc] = "outside" if self._is_seen(pc) else self.body.kind(pc)
        return self._kinds[pc]

    def _is_seen(self, pc: int) -> bool:
        """Tell whether the recorder must be called for what an instruction allocates or changes."""
        kind = self.body.kind(pc)
        is_unboxed = self.heap is not None and self.heap.uses(pc)
        if self.log is None or is_unboxed or kind not in ("builtin", "kernel"):
            return False
        call, name = self.body.call(pc), self.body.name(pc)
        if kind == "kernel":
            return not self.log.is_first_write(call, self.body) or isinstance(call.dst, Register)
        match name:
            case "vm.builtin.alloc_tensor":
                return self.body.facts.tensor_room(call, self.body.storages) is None
            case "vm.builtin.match_shape":
                return inline(self.names, name, call.args) is None
            case "vm.builtin.alloc_storage" if self.heap is not None:
                # What the log holds is counted first if its size is computed.
                return isinstance(call.args[1], Register)
            case _:
                return name in SEEN_BY_RECORDER

    def of(self, pc: int, savings: Savings) -> Iterable[str]:
        """Return the statements of an instruction in a segment."""
        if pc in savings.skipped or (pc == savings.condition and self.log is None):
            return
        match self.body.code[pc]:
            case ReturnInstruction(result=result):
                yield f"return {self.argument(result, savings)}"
            case CallInstruction() as call:
                yield from self._called(pc, call, savings)
                self._note_scalar(pc, call, savings)
            case _:
                pass

    def fresh(self, found: Fresh, savings: Savings) -> str:
        """Return the start of an `if` in which a tensor is made step by step: where it cannot be made in one."""
        assert self.heap is not None, "its sizes are in local variables"
        size, _, shape, tensor = map(self.body.call, found.pcs)
        assert isinstance(tensor.dst, Register), "a tensor is made in a register"
        (size_bytes,), sizes = self.heap.sizes(size), "".join(f"{item}, " for item in self.heap.sizes(shape))
        made = f"new_tensor({size_bytes}, ({sizes}), {self.names.add(found.dtype, 'dtype')})"
        return f"if ({self.argument(tensor.dst, savings)} := {made}) is None:"

    def dropped(self, pc: int, savings: Savings) -> Iterable[str]:
        """Return the statement that drops registers that are dead; a log keeps their values alive in any case."""
        is_condition = pc == savings.condition or (
            savings.condition is not None and isinstance(self.body.code[pc], IfInstruction)
        )
        if self.log is not None or pc in savings.skipped or is_condition:
            return
        dying = self.body.liveness.dying[pc]
        index = self.body.written[pc]
        kept = set[int]() if index is None or index in dying else {savings.place_of.get(index, index)}
        places = {savings.place_of.get(item, item) for item in dying} - kept
        heap = -1 if self.heap is None else self.heap.register
        indices = sorted(place for place in places if place >= 0 and place != heap)
        if indices:
            yield f"{''.join(f'r{item} = ' for item in indices)}None"

    def condition(self, pc: int, savings: Savings) -> str:
        """Return the condition that `read_if_cond` at `pc` reads, to be written where it is used."""
        call = _moved_call(self.body.call(pc), savings)
        found = inline(self.names, self.body.name(pc), call.args)
        if found is not None and not found.test:
            return self.names.argument(call.args[0])
        return self._expression(found, self._slow(pc, call))

    def argument(self, argument: Argument, savings: Savings) -> str:
        """Return the expression for an argument, whichever register or tensor has its value in this segment."""
        return self.names.argument(_moved(argument, savings))

    def _called(self, pc: int, call: CallInstruction, savings: Savings) -> tuple[str, ...]:
        untransposed = savings.untransposed.get(pc)
        if untransposed is not None:
            args = [*call.args]
            args[untransposed.position] = untransposed.source
            call = replace(call, args=tuple(args))
        call = _moved_call(call, savings)
        target = f"{self.names.argument(call.dst)} = " if isinstance(call.dst, Register) else ""
        if self.heap is not None and self.heap.uses(pc):
            return tuple(self.heap.statements(pc, call, target))
        match self.kind(pc):
            case "call":
                return (*self._depth(str(call.function)), f"{target}{self._direct(call)}")
            case "closure":
                return self._closure(call, target)
            case "kernel" if pc in savings.filled and not _stays(call.args[-1]):
                room = self.body.room_at[savings.filled[pc]]
                args = self._joined(call.args[:-1])
                maker = self.linker.maker(call.function, room, untransposed)
                return (f"{self.names.argument(call.args[-1])} = {maker}({args})",)
            case "kernel":
                return (f"{target}{self.linker.kernel(call.function, untransposed)}({self._joined(call.args)})",)
            case _:
                return self._builtin(pc, call, target)

    def _depth(self, callee: str) -> tuple[str, ...]:
        if not self.checks_depth:
            return ()
        self.checks_depth = False
        return (f"if inner >= DEEPEST: deeper({callee}, inner)",)

    def _direct(self, call: CallInstruction) -> str:
        callee = self.linker.facts.executable.functions[call.function]
        args = self._joined(call.args)
        if callee.param_count != len(call.args):
            return f"wrong_count({call.function}, ({args}))"
        return f"{self.linker.function(call.function)}({args}inner)"

    def _closure(self, call: CallInstruction, target: str) -> tuple[str, ...]:
        return (
            f"callee = callable_value({self.names.argument(call.args[1])})",
            *self._depth("callee.function"),
            f"{target}enter[callee.function]({self.names.tuple_of(call.args[2:])} + callee.captures, inner)",
        )

    def _builtin(self, pc: int, call: CallInstruction, target: str) -> tuple[str, ...]:
        if pc in self.body.storage_at:
            return (f"{target}StorageValue({self.body.storage_at[pc]})",)
        if pc in self.body.room_at:
            return (f"{target}{self.linker.zeros(self.body.room_at[pc])}()",)
        found = inline(self.names, self.body.name(pc), call.args)
        slow = self._slow(pc, call)
        if found is None:
            is_heap = self.is_on_heap and self.body.name(pc) in ON_HEAP
            return (*(("machine.origins = origins",) if is_heap else ()), f"{target}{slow}")
        if not target:
            return (f"if not ({found.test}): {slow}",) if found.test else ()
        if target == f"{found.value} = ":
            return ()
        return (f"{target}{self._expression(found, slow)}",)

    def _slow(self, pc: int, call: CallInstruction) -> str:
        return f"{self.names.add(BUILTINS[self.body.name(pc)], 'builtin')}(machine, {self._joined(call.args)})"

    def _expression(self, found: Inline | None, slow: str) -> str:
        if found is None:
            return slow
        return f"({found.value}) if {found.test} else {slow}" if found.test else found.value

    def _note_scalar(self, pc: int, call: CallInstruction, savings: Savings) -> None:
        """Update which registers certainly hold a tensor of rank 0, or a truth value."""
        scalars = self.names.scalar_tensors
        if pc in savings.filled:
            room = self.body.room_at[savings.filled[pc]]
            index = _moved(call.args[-1], savings)
            assert isinstance(index, Register), "a tensor is made in a register"
            scalars.discard(index.index) if room.shape else scalars.add(index.index)
        destination = _moved_destination(call, savings)
        if isinstance(destination, Register):
            sources = {savings.place_of.get(index, index) for index in reads(call)}
            is_scalar = self.body.name(pc) == "vm.builtin.copy" and not sources.isdisjoint(scalars)
            is_scalar = is_scalar or (self.heap is not None and self.heap.is_truth(pc))
            scalars.add(destination.index) if is_scalar else scalars.discard(destination.index)

    def _joined(self, args: tuple[Argument, ...]) -> str:
        return "".join(f"{self.names.argument(item)}, " for item in args)


def _stays(argument: Argument) -> bool:
    """Tell whether an argument is a preallocated tensor."""
    return isinstance(argument, Register) and argument.index < 0


def _moved(argument: Argument, savings: Savings) -> Argument:
    if isinstance(argument, Register) and argument.index in savings.place_of:
        return Register(savings.place_of[argument.index])
    return argument


def _moved_call(call: CallInstruction, savings: Savings) -> CallInstruction:
    args = tuple(_moved(item, savings) for item in call.args)
    return CallInstruction(call.function, args, _moved_destination(call, savings) or VOID)


def _moved_destination(call: CallInstruction, savings: Savings) -> Register | None:
    index = written(call)
    return None if index is None else Register(savings.place_of.get(index, index))
