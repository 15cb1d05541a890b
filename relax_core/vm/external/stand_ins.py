"""Stand-ins for packed functions: zeros of the declared type, recorded results in their order, or a Python function.

A run that had one says so, call by call: behind it a result is not the program's.
"""

from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, NoReturn, TypeAlias, cast

import numpy as np

from relax_core.bytecode.executable import Executable
from relax_core.bytecode.isa import CallInstruction, Register
from relax_core.diagnostics import plural
from relax_core.ir.expr import Call, ExternFunc, ShapeType, TensorType, TupleType, Var
from relax_core.ir.node import preorder
from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.ops.runtime.control import declared
from relax_core.vm.context import Context, fail
from relax_core.vm.external.packed import HostFunction, Packed
from relax_core.vm.objects.values import Array, ShapeValue, Value, describe
from relax_core.vm.objects.zeros import NoZerosError, zeros_of
from relax_core.vm.stack import Frame

How: TypeAlias = Literal["zeros", "recorded", "python"]
_HOW: Final[Mapping[How, str]] = MappingProxyType(
    {"zeros": "zeros", "recorded": "recorded", "python": "a Python function"}
)
_ALLOCATIONS: Final = ("vm.builtin.alloc_tensor",)


@dataclass(frozen=True, slots=True)
class NotRecorded:
    """A result that a recording does not hold: what it was, or why it was not kept."""

    what: str


@dataclass(frozen=True, slots=True, eq=False)
class RecordedResults:
    """What a function gave each time that it was called in a recorded run."""

    results: Sequence[Any]


StandIn: TypeAlias = "Literal['zeros'] | RecordedResults | HostFunction"


@dataclass(frozen=True, slots=True)
class StandInCall:
    """A call that a stand-in answered: the `number`th of its function, from 0, at which event, and where."""

    name: str
    how: How
    number: int
    event: int
    pc: int


class StandIns:
    """The stand-ins of a machine by the names of functions, and the calls of the latest run that they answered."""

    def __init__(self, of: Mapping[str, StandIn]) -> None:
        self._of = dict(of)
        self.calls: list[StandInCall] = []
        self._counts: Counter[str] = Counter()

    def reset(self, past: Iterable[StandInCall] = ()) -> None:
        """Begin a run, behind the calls that an earlier one made until then."""
        self.calls = list(past)
        self._counts = Counter(call.name for call in self.calls)

    def find(self, context: Context, name: str, args: Sequence[Value], pc: int) -> Packed | None:
        """Return what answers a call of the function `name`, `None` if it has no stand-in."""
        stand_in = self._of.get(name)
        if stand_in is None:
            return None
        number = self._counts[name]
        self._counts[name] += 1
        event = context.moment
        self.calls.append(StandInCall(name, how_of(stand_in), number, -1 if event is None else event, pc))
        if callable(stand_in):
            return Packed(name, stand_in)
        place = _CallSite.of(context, name, pc)
        if not isinstance(stand_in, RecordedResults):
            return Packed(name, place.give_zeros, writes=place.written, takes_context=True, is_repeatable=True)
        result, writes = _recorded(stand_in, name, number), place.written
        if not writes and place.is_void and isinstance(result, np.ndarray):
            # A function that gives nothing changed its last tensor, which is what a recorder keeps of it.
            tensors = [at for at, item in enumerate(args) if isinstance(item, np.ndarray)]
            writes = tuple(tensors[-1:])

        def give(_context: Context, *given: Any) -> Any:
            if writes and place.is_void:
                return _put(place, [given[at] for at in writes], result)
            return cast("Array", result).copy() if isinstance(result, np.ndarray) else result

        return Packed(name, give, writes=writes, takes_context=True, is_repeatable=True)


def how_of(stand_in: StandIn) -> How:
    """Return what kind of stand-in it is."""
    if isinstance(stand_in, RecordedResults):
        return "recorded"
    return "python" if callable(stand_in) else "zeros"


def calls_words(calls: Sequence[StandInCall]) -> str:
    """Say which calls were stand-ins: `3 calls were stand-ins (my.f: zeros, 2 calls; my.g: recorded)`."""
    groups = Counter[tuple[str, How]]((call.name, call.how) for call in calls)
    parts = "; ".join(
        f"{name}: {_HOW[how]}" + (f", {plural(count, 'call')}" if count > 1 else "")
        for (name, how), count in groups.items()
    )
    return f"{len(calls)} {'calls were stand-ins' if len(calls) > 1 else 'call was a stand-in'} ({parts})"


def are_alike(one: Sequence[StandInCall], other: Sequence[StandInCall]) -> bool:
    """Tell whether two runs are comparable to the end: both had the same recorded results, or none stood in."""
    if any(call.how != "recorded" for call in (*one, *other)):
        return False
    return Counter((call.name, call.number) for call in one) == Counter((call.name, call.number) for call in other)


@dataclass(frozen=True, slots=True)
class _CallSite:
    """A call of a packed function in the program: the type that it declares, and the outputs that it is given.

    `written` are the positions of trailing arguments that were allocated for this call. `frame` is `None` for a call
    that a kernel makes.
    """

    name: str
    call: Call | None
    written: tuple[int, ...]
    frame: Frame | None
    executable: Executable

    @classmethod
    def of(cls, context: Context, name: str, pc: int) -> "_CallSite":
        executable = context.executable
        instruction = executable.instructions[pc] if pc >= 0 else None
        if not isinstance(instruction, CallInstruction) or executable.functions[instruction.function].name != name:
            return cls(name, None, (), None, executable)
        written = destinations(executable, instruction, pc)
        node = executable.nodes[pc]
        call = next((item for item in preorder(node) if isinstance(item, Call) and _calls(item, name)), None)
        frame = context.frames[-1] if context.frames else None
        return cls(name, call, written, frame, executable)

    @property
    def is_void(self) -> bool:
        """Tell whether the call gives nothing, but for what it writes."""
        type_ = None if self.call is None else declared(self.call)
        return bool(self.written) if type_ is None else isinstance(type_, TupleType) and not type_.fields

    def give_zeros(self, context: Context, *args: Any) -> Any:
        """Write zeros to the outputs, and return zeros of the declared type."""
        for at in self.written:
            args[at][...] = 0
        return None if self.written and self.is_void else self.zeros(context)

    def zeros(self, context: Context) -> Value:
        """Return zeros of the declared type."""
        if self.call is None:
            self.refuse("it is called by a kernel, which declares no type", "give it a Python function")
        type_ = declared(self.call)
        if type_ is None:
            self.refuse("its call declares no type", "declare one: sinfo_args=R.Tensor((n, 4), 'float32')")
        try:
            return zeros_of(type_, self._sizes(), context.allocate)
        except NoZerosError as error:
            self.refuse(str(error), "give it a Python function")

    def _sizes(self) -> Mapping[PrimVar, int]:
        """Return the symbolic dimensions that registers with declared types tell, parameters among them."""
        found: dict[PrimVar, int] = {}
        if self.frame is None:
            return found
        entry = self.executable.functions[self.frame.function]
        params: tuple[Var, ...] = getattr(entry.node, "params", ())
        given = zip(params, self.frame.args, strict=False)
        for var, value in (*given, *_bound(entry.register_vars, self.frame)):
            annotation = var.annotation
            if isinstance(annotation, TensorType) and isinstance(value, np.ndarray):
                _match(annotation.dims or (), value.shape, found)
            elif isinstance(annotation, ShapeType) and isinstance(value, ShapeValue):
                _match(annotation.values or (), value, found)
        return found

    def refuse(self, words: str, hint: str) -> NoReturn:
        """Stop: the stand-in has no answer."""
        fail("VM058", f"the stand-in for `{self.name}` has no result: {words}", hint)


def _bound(variables: Sequence[Var | None], frame: Frame) -> Iterable[tuple[Var, Value]]:
    return ((var, value) for var, value in zip(variables, frame.registers, strict=False) if var is not None)


def _match(dims: Sequence[PrimExpr], sizes: Sequence[int], found: dict[PrimVar, int]) -> None:
    for dim, size in zip(dims, sizes, strict=False):
        if isinstance(dim, PrimVar):
            found.setdefault(dim, size)


def _calls(call: Call, name: str) -> bool:
    callee = call.op if isinstance(call.op, ExternFunc) else call.args[0] if call.args else None
    return isinstance(callee, ExternFunc) and callee.name == name


def destinations(executable: Executable, call: CallInstruction, pc: int) -> tuple[int, ...]:
    """Return the trailing arguments that were allocated before this call, and that nothing used in between."""
    start = executable.function_at(pc).start
    found: list[int] = []
    for position in range(len(call.args) - 1, -1, -1):
        argument = call.args[position]
        if not isinstance(argument, Register) or not _is_new(executable, argument, start, pc):
            break
        found.append(position)
    return tuple(reversed(found))


def _is_new(executable: Executable, register: Register, start: int, pc: int) -> bool:
    for at in range(pc - 1, start - 1, -1):
        match executable.instructions[at]:
            case CallInstruction(function=function, dst=dst) if dst == register:
                return executable.functions[function].name in _ALLOCATIONS
            case CallInstruction(args=args) if register in args:
                return False
            case CallInstruction():
                pass
            case _:
                return False
    return False


def _recorded(stand_in: RecordedResults, name: str, number: int) -> Any:
    if number >= len(stand_in.results):
        words = f"the recorded run calls it {plural(len(stand_in.results), 'time')}, this is call {number + 1}"
        fail("VM058", f"the stand-in for `{name}` has no result: {words}", "give it a Python function, or zeros")
    result = stand_in.results[number]
    if isinstance(result, NotRecorded):
        words = f"the recording does not hold that of call {number + 1}: {result.what}"
        fail("VM058", f"the stand-in for `{name}` has no result: {words}", "record with a larger budget")
    return result


def _put(place: _CallSite, outputs: Sequence[Array], result: Any) -> None:
    """Write a recorded result to the outputs of a call; a recorder keeps the last one of several."""
    given = cast("tuple[Any, ...]", result) if isinstance(result, tuple) else (result,)
    if len(given) != len(outputs):
        words = f"the recording holds {plural(len(given), 'value')} for {plural(len(outputs), 'output')}"
        place.refuse(words, "give it a Python function")
    for output, found in zip(outputs, given, strict=True):
        item = cast("Array", found)
        if not isinstance(found, np.ndarray) or item.shape != output.shape or item.dtype != output.dtype:
            place.refuse(f"{describe(item)} does not go into {describe(output)}", "give it a Python function")
        output[...] = item


class OwnFunctions:
    """Python functions of this process that stand in, by name, while somebody has given them."""

    __slots__ = ("_of",)

    def __init__(self) -> None:
        self._of: dict[str, HostFunction] = {}

    @contextmanager
    def given(self, functions: Mapping[str, HostFunction]) -> Generator[None]:
        """Have these functions within the body."""
        before = self._of
        self._of = {**before, **functions}
        try:
            yield
        finally:
            self._of = before

    def all(self) -> Mapping[str, HostFunction]:
        """Return the functions."""
        return MappingProxyType(self._of)


OWN_FUNCTIONS: Final = OwnFunctions()
