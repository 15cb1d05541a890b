"""Whether the condition of a breakpoint holds at a time of a recorded run."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Final, assert_never

import numpy as np

from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.source import Source, Span
from relax_core.vm.conditions.condition_syntax import (
    Apply,
    Comparison,
    Expression,
    FieldOf,
    Infix,
    ItemOf,
    Name,
    Number,
    Prefix,
    RegisterName,
    Row,
    parse_condition,
)
from relax_core.vm.conditions.condition_values import (
    FUNCTIONS,
    applied,
    arithmetic,
    as_number,
    compare,
    fault,
    field,
    item,
    truth,
)
from relax_core.vm.conditions.dimensions import dimension_places
from relax_core.vm.objects.values import NOT_KEPT, Sentinel, Uninitialised, Value
from relax_core.vm.recording.trace import Trace

ABOUT_THE_STOP: Final = ("time", "depth", "hits", "written")
"""Names that every condition may use: the time, the depth of the stack (0: the entry), how often the place was met, and
what the instruction before wrote to a register, void if it wrote none."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition as written, and its tree."""

    text: str
    tree: Expression

    @staticmethod
    def of(text: str) -> "Condition":
        """Parse a condition.

        Raises:
            CompileError: VM030, located in the condition.
        """
        return Condition(text, parse_condition(text))

    def check(self, executable: Executable, function: int) -> None:
        """See that every name stands for something while the function of that number runs.

        Raises:
            CompileError: VM031, located in the condition.
        """
        entry = executable.functions[function]
        pending: list[Expression] = [self.tree]
        while pending:
            expression = pending.pop()
            match expression:
                case Name(name=name, span=span):
                    _require(name, (*_places(executable, function), *ABOUT_THE_STOP), span, f"in `{entry.name}`")
                case RegisterName(index=index, span=span) if index >= entry.register_count:
                    count = entry.register_count
                    message = f"`{entry.name}` has the registers %0 to %{count - 1}, and no `%{index}`"
                    raise CompileError((Diagnostic("VM031", message, span),))
                case Apply(function=name, args=args, span=span):
                    _require(name, (*FUNCTIONS, "len"), span, "among the functions of a condition")
                    if len(args) != 1:
                        message = f"`{name}` takes one value, got {len(args)}"
                        raise CompileError((Diagnostic("VM031", message, span),))
                case _:
                    pass
            pending.extend(_parts(expression))

    def holds(self, trace: Trace, at: int, hits: int = 1) -> bool:
        """Tell whether the condition holds at time `at`, at which its place is met for the `hits`-th time.

        Raises:
            RunError: VM032, located in the condition: it has no value then.
        """
        with np.errstate(all="ignore"):
            return truth(self.tree, Moment(trace, at, hits).value(self.tree))


def _require(name: str, known: tuple[str, ...], span: Span, where: str) -> None:
    if name not in known:
        shown = ", ".join(f"`{item}`" for item in known[:12])
        raise CompileError((Diagnostic("VM031", f"there is no `{name}` {where}", span, f"there are {shown}"),))


def _parts(expression: Expression) -> tuple[Expression, ...]:
    match expression:
        case Number() | Name() | RegisterName():
            return ()
        case Prefix(operand=operand):
            return (operand,)
        case Infix(left=left, right=right):
            return (left, right)
        case Comparison(operands=parts) | Row(items=parts) | Apply(args=parts):
            return parts
        case FieldOf(base=base):
            return (base,)
        case ItemOf(base=base, indices=indices):
            return (base, *indices)
        case _:
            assert_never(expression)


@lru_cache(maxsize=16)
def _places(executable: Executable, number: int) -> Mapping[str, tuple[tuple[int, int], ...]]:
    """Return where each name of a function has its value: registers with axis -1, or the axis that is a dimension."""
    entry = executable.functions[number]
    variables: dict[str, tuple[tuple[int, int], ...]] = {}
    for register in range(entry.register_count):
        var = entry.register_vars[register] if register < len(entry.register_vars) else None
        own = entry.param_names[register] if register < len(entry.param_names) else ""
        name = own if var is None else var.name
        if name:
            variables[name] = (*variables.get(name, ()), (register, -1))
    return MappingProxyType({**dimension_places(executable, number), **variables})


class Moment:
    """The values of names and expressions at one time, in a frame; the default is the one that runs."""

    def __init__(self, trace: Trace, at: int, hits: int, frame: int | None = None) -> None:
        self._trace = trace
        self._at = at
        self._hits = hits
        self._frame = trace.frame_at(at) if frame is None else frame

    def value(self, expression: Expression) -> Value:
        """Return the value of an expression; its depth is bounded by the parser."""
        match expression:
            case Number(value=value):
                return value
            case Name(name=name, span=span):
                return self._variable(name, span)
            case RegisterName(index=index, span=span):
                return self._register((index, -1), span)
            case Infix(op="and" | "or") | Prefix(op="not"):
                return self._logic(expression)
            case Prefix(operand=operand):
                return -as_number(operand, self.value(operand))
            case Infix(op=op, left=left, right=right, span=span):
                a, b = as_number(left, self.value(left)), as_number(right, self.value(right))
                return arithmetic(op, a, b, span)
            case Comparison():
                return self._comparison(expression)
            case FieldOf(base=base, name=name, span=span):
                return field(self.value(base), name, span)
            case ItemOf(base=base, indices=indices, span=span):
                return item(self.value(base), tuple(self.value(index) for index in indices), span)
            case Row(items=items):
                return tuple(self.value(item) for item in items)
            case Apply(function=function, args=(arg,)):
                return applied(function, arg, self.value(arg))
            case Apply(function=function, span=span):
                fault(f"`{function}` takes one value", span)
            case _:
                assert_never(expression)

    def _logic(self, expression: Infix | Prefix) -> bool:
        match expression:
            case Prefix(operand=operand):
                return not truth(operand, self.value(operand))
            case Infix(op=op, left=left, right=right):
                first = truth(left, self.value(left))
                return first if first == (op == "or") else truth(right, self.value(right))

    def _comparison(self, chain: Comparison) -> Value:
        values = [self.value(operand) for operand in chain.operands]
        found = [compare(op, a, b, chain.span) for op, a, b in zip(chain.ops, values, values[1:], strict=False)]
        return found[0] if len(found) == 1 else all(truth(chain, item) for item in found)

    def _variable(self, name: str, span: Span) -> Value:
        number = self._frame
        function = self._trace.frames[number].function if number is not None else -1
        places = _places(self._trace.executable, function).get(name, ()) if function >= 0 else ()
        if not places:
            return self._about_the_stop(name, span)
        return self._register(self._latest(places), span)

    def _latest(self, places: tuple[tuple[int, int], ...]) -> tuple[int, int]:
        written = (place for place in reversed(places) if not self._trace.is_state(self._raw(place[0])))
        return next(written, places[0])

    def register_of(self, name: str) -> int | None:
        """Return the register that has the value of a variable, `None` if the function has no such variable."""
        function = self._trace.frames[self._frame].function if self._frame is not None else -1
        places = _places(self._trace.executable, function).get(name, ()) if function >= 0 else ()
        own = tuple(place for place in places if place[1] < 0)
        return self._latest(own)[0] if own else None

    def dimensions(self) -> Mapping[str, Value]:
        """Return the symbolic dimensions of the function's types that have a value."""
        function = self._trace.frames[self._frame].function if self._frame is not None else -1
        found: dict[str, Value] = {}
        if function < 0:
            return found
        for name, at in _places(self._trace.executable, function).items():
            own = tuple(place for place in at if place[1] >= 0)
            latest = self._latest(own) if own else (-1, -1)
            if own and not isinstance(self._raw(latest[0]), Sentinel):
                found[name] = self._register(latest, Span(Source("dimension", name), 0, len(name)))
        return found

    def _about_the_stop(self, name: str, span: Span) -> Value:
        match name:
            case "time":
                return self._at
            case "depth":
                number = self._frame
                return int(self._trace.frame_depths[number]) if number is not None else 0
            case "hits":
                return self._hits
            case "written":
                return self._written
            case _:
                fault(f"there is no `{name}` in the function that runs", span)

    @cached_property
    def _written(self) -> Value:
        event = self._at - 1
        is_written = event >= 0 and self._trace.written_register(event) is not None
        return self._trace.as_it_was(self._trace.written_value(event), self._at) if is_written else None

    def _raw(self, register: int) -> Value:
        registers = self._raw_registers
        return registers[register] if register < len(registers) else Sentinel("unwritten")

    @cached_property
    def _raw_registers(self) -> tuple[Value, ...]:
        number = self._frame
        return self._trace.raw_registers_at(self._at, number) if number is not None else ()

    def _register(self, place: tuple[int, int], span: Span) -> Value:
        register, axis = place
        value = self._trace.as_it_was(self._raw(register), self._at)
        if value is NOT_KEPT:
            fault(f"the value of `{span.text}` was {self._trace.given_up}", span)
        if isinstance(value, Sentinel):
            fault(f"`{span.text}` is not yet written here", span, "stop at a later line, where it has a value")
        if axis < 0:
            return value
        match value:
            case np.ndarray() | Uninitialised():
                return value.shape[axis]
            case tuple():
                return value[axis]
            case _:
                return value
