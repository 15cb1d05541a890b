"""The Python statements of single instructions."""

from collections.abc import Iterable

from relax_core.bytecode.isa import VOID, Argument, CallInstruction, IfInstruction, Register, ReturnInstruction
from relax_core.vm.builtins import BUILTINS
from relax_core.vm.liveness import reads, written
from relax_core.vm.tiers.events import EventWriter
from relax_core.vm.tiers.facts import ON_HEAP, SEEN_BY_RECORDER, Kind
from relax_core.vm.tiers.inline import Inline, inline
from relax_core.vm.tiers.link import Linker
from relax_core.vm.tiers.segments import Body, Savings


class Statements:
    """Writes the statements of one function; `log` is `None` for runs that are not recorded."""

    def __init__(self, linker: Linker, body: Body, log: EventWriter | None, *, is_on_heap: bool) -> None:
        self.linker = linker
        self.names = linker.names
        self.names.scalar_tensors = set()
        self.body = body
        self.log = log
        self.is_on_heap = is_on_heap
        self._kinds: dict[int, Kind] = {}

    def kind(self, pc: int) -> Kind:
        """Classify an instruction, once: the answer depends on the state of the segment when it is first asked for."""
        if pc not in self._kinds:
            self._kinds[pc] = "outside" if self._is_seen(pc) else self.body.kind(pc)
        return self._kinds[pc]

    def _is_seen(self, pc: int) -> bool:
        """Tell whether the recorder has to see, at that moment, what an instruction allocates or changes."""
        kind = self.body.kind(pc)
        if self.log is None or kind not in ("builtin", "kernel"):
            return False
        call, name = self.body.call(pc), self.body.name(pc)
        if kind == "kernel":
            return not self.log.is_first_write(call, self.body) or isinstance(call.dst, Register)
        match name:
            case "vm.builtin.alloc_tensor":
                return self.body.facts.tensor_room(call, self.body.storages) is None
            case "vm.builtin.match_shape":
                return inline(self.names, name, call.args) is None
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
        indices = sorted(place for place in places if place >= 0)
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
        call = _moved_call(call, savings)
        target = f"{self.names.argument(call.dst)} = " if isinstance(call.dst, Register) else ""
        match self.kind(pc):
            case "call":
                return (f"if inner >= DEEPEST: deeper({call.function}, inner)", f"{target}{self._direct(call)}")
            case "closure":
                return self._closure(call, target)
            case "kernel" if pc in savings.filled and not _stays(call.args[-1]):
                room = self.body.room_at[savings.filled[pc]]
                args = self._joined(call.args[:-1])
                return (f"{self.names.argument(call.args[-1])} = {self.linker.maker(call.function, room)}({args})",)
            case "kernel":
                return (f"{target}{self.linker.kernel(call.function)}({self._joined(call.args)})",)
            case _:
                return self._builtin(pc, call, target)

    def _direct(self, call: CallInstruction) -> str:
        callee = self.linker.facts.executable.functions[call.function]
        args = self._joined(call.args)
        if callee.param_count != len(call.args):
            return f"wrong_count({call.function}, ({args}))"
        return f"{self.linker.function(call.function)}({args}inner)"

    def _closure(self, call: CallInstruction, target: str) -> tuple[str, ...]:
        return (
            f"callee = callable_value({self.names.argument(call.args[1])})",
            "if inner >= DEEPEST: deeper(callee.function, inner)",
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
        """Update which registers certainly hold a tensor of rank 0."""
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
