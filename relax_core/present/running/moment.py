"""One time of a recorded run: the stack, the registers of a frame, the parts of a value."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec
import numpy as np

from relax_core.bytecode.executable import FunctionEntry
from relax_core.diagnostics import DiagnosedError, Diagnostic, RunError
from relax_core.present.measures import cut
from relax_core.present.running.moment_models import FrameAt, FrameView, Held, Parts, Stack, Texts
from relax_core.present.running.run_models import Value
from relax_core.present.running.tensor import short_text
from relax_core.present.running.values import Values
from relax_core.present.words import dtype_text
from relax_core.source import Source
from relax_core.vm.condition import Moment
from relax_core.vm.conditions.condition_syntax import FieldOf, ItemOf, Name, RegisterName, parse_expression
from relax_core.vm.objects.values import (
    UNWRITTEN,
    AdtValue,
    Closure,
    RefValue,
    ShapeValue,
    Snapshot,
    StateValue,
    shape_text,
    show,
)
from relax_core.vm.recording.trace import FrameState, Trace

_LONG: Final = 4_000
_WHOLE_ELEMENTS: Final = 1_000
"""Tensors with more elements are shown by their edges."""


def stack_at(trace: Trace, time: int, first: int, limit: int) -> Stack:
    """Return the frames from number `first` on, counted from the one that runs, at most `limit`."""
    frames = trace.frames_at(time)
    shown = frames[::-1][first : first + limit]
    lines = trace.lines.line_of
    return Stack(
        tuple(
            FrameAt(
                trace.executable.functions[frame.function].name,
                frame.depth,
                frame.pc,
                int(lines[frame.pc]) if frame.pc >= 0 else 0,
            )
            for frame in shown
        ),
        len(frames),
    )


def frame_at(trace: Trace, time: int, depth: int) -> FrameView:
    """Return what the frame at `depth` holds.

    Raises:
        RunError: EN005, there is no such frame then.
    """
    trace, frame = trace.near(time), _frame(trace, time, depth)
    entry = trace.executable.functions[frame.function]
    written = {n: raw for n, raw in enumerate(trace.raw_registers_at(time, frame.frame)) if raw is not UNWRITTEN}
    variables = {number: _variable(entry, number) for number in written}
    # A name stands for the latest of the registers that it may be in.
    latest = {name: number for number, name in variables.items() if not trace.is_state(written[number])}
    shown = _Shown(trace, time)
    registers: list[Held] = []
    for number, raw in written.items():
        name, variable = f"%{number}", variables[number]
        held = shown.held(raw, name, variable if variable and latest.get(variable) == number else name)
        registers.append(msgspec.structs.replace(held, variable=variable, register=number))
    sizes = Moment(trace, time, 1, frame.frame).dimensions().items()
    return FrameView(tuple(registers), tuple(shown.held(value, name, name) for name, value in sizes))


def _variable(entry: FunctionEntry, register: int) -> str:
    var = entry.register_vars[register] if register < len(entry.register_vars) else None
    own = entry.param_names[register] if register < len(entry.param_names) else ""
    return own if var is None else var.name


@dataclass(frozen=True, slots=True)
class Wanted:
    """The parts of a value that are asked for: where they are, and which of them."""

    expression: str
    path: tuple[int, ...] = ()
    first: int = 0
    limit: int = 0
    hits: int = 1
    """How often the place of a breakpoint was met, which the expression may ask for."""


def parts_at(trace: Trace, time: int, depth: int, wanted: Wanted) -> Parts:
    """Return the value of an expression in the frame at `depth`, or of the part at its `path`, with its own parts.

    Raises:
        CompileError: VM030, the expression cannot be read.
        RunError: VM032, it has no value then, or EN005, there is no such frame or part.
    """
    trace, frame = trace.near(time), _frame(trace, time, depth)
    tree = parse_expression(Source("expression", wanted.expression))
    with np.errstate(all="ignore"):
        value: Any = Moment(trace, time, wanted.hits, frame.frame).value(tree)
    shown = _Shown(trace, time)
    is_place = isinstance(tree, Name | RegisterName | ItemOf | FieldOf)
    held = shown.held(value, wanted.expression, wanted.expression if is_place else "")
    for number in wanted.path:
        found = next(shown.parts(value, held, range(number, number + 1)), None)
        if found is None:
            raise RunError((Diagnostic("EN005", f"`{held.expression or held.name}` has no part {number}"),))
        value, held = found
    last = min(wanted.first + wanted.limit, held.part_count)
    parts = tuple(part for _, part in shown.parts(value, held, range(wanted.first, last)))
    return Parts(held, parts, _long(value, shown.model(value)))


def value_at(trace: Trace, time: int, depth: int, expression: str) -> Any:
    """Return the value of an expression in the frame at `depth`, with every tensor in it as it was then.

    Raises:
        CompileError: VM030, the expression cannot be read.
        RunError: VM032, it has no value then, or EN005, there is no such frame.
    """
    trace, frame = trace.near(time), _frame(trace, time, depth)
    tree = parse_expression(Source("expression", expression))
    with np.errstate(all="ignore"):
        return trace.as_it_was(Moment(trace, time, 1, frame.frame).value(tree), time)


def texts_at(trace: Trace, expressions: tuple[str, ...], times: tuple[int, ...]) -> Texts:
    """Return expressions as short text at some times, each in the frame that runs then."""
    return Texts(tuple(tuple(_text_at(trace, time, item) for item in expressions) for time in times))


def _text_at(trace: Trace, time: int, expression: str) -> str:
    depth = len(trace.frames_at(time)) - 1
    try:
        return parts_at(trace, time, depth, Wanted(expression)).value.text
    except DiagnosedError as error:
        return without_value(error)


def without_value(error: DiagnosedError) -> str:
    """Return what stands in place of a value that an expression does not have: why not."""
    return f"<{error.diagnostics[0].message}>"


def _frame(trace: Trace, time: int, depth: int) -> FrameState:
    frames = trace.frames_at(time)
    if not 0 <= depth < len(frames):
        raise RunError((Diagnostic("EN005", f"there is no frame {depth} at time {time}"),))
    return frames[depth]


class _Shown:
    """Shows values of a time, each as short text and by its parts."""

    def __init__(self, trace: Trace, time: int) -> None:
        self._values = Values(trace, lambda _: 0)
        self._trace = trace
        self._time = time

    def model(self, raw: Any) -> Value:
        """Return the view model of an object in a register, or of a part of one."""
        return self._values.table[self._values.index(raw, self._time)]

    def held(self, raw: Any, name: str, expression: str) -> Held:
        """Return a value under a name."""
        value = self.at(raw)
        names = self._part_names(value)
        if isinstance(value, np.ndarray):
            # The view model of a tensor has its extremes: finding these takes long for many large ones.
            array = cast("np.ndarray[Any, Any]", value)
            type_ = f"{shape_text(array.shape)} {dtype_text(str(array.dtype))}"
            text = f"{type_} {short_text(array)}" if array.ndim else str(array[()])
            return Held(name, type_, text, expression, len(names), is_indexed=True)
        model = self.model(raw)
        text = model.long if model.kind == "prim" else model.short
        return Held(name, model.type, text, expression, len(names))

    def parts(self, raw: Any, held: Held, numbers: range) -> Iterator[tuple[Any, Held]]:
        """Yield the parts of those numbers, as far as there are such, with their values."""
        value = self.at(raw)
        names = self._part_names(value)
        for number in numbers:
            if not 0 <= number < len(names):
                return
            part = _part(value, number)
            yield part, self.held(part, names[number], _part_expression(held, value, number))

    def at(self, raw: Any) -> Any:
        """Return a value as it was; what it holds is looked up when that is shown."""
        if isinstance(raw, AdtValue | Closure | Snapshot | tuple):
            return cast("Any", raw)
        return self._trace.as_it_was(raw, self._time)

    def _part_names(self, value: Any) -> Sequence[str]:
        match value:
            case ShapeValue():
                return ()
            case np.ndarray():
                array = cast("np.ndarray[Any, Any]", value)
                return _Indices(array.shape[0]) if array.ndim else ()
            case tuple():
                return tuple(f".{number}" for number in range(len(cast("tuple[Any, ...]", value))))
            case AdtValue(fields=fields):
                return tuple(f".{number}" for number in range(len(fields)))
            case Closure(captures=captures, function=function):
                names = self._trace.executable.functions[function].param_names
                own = names[max(0, len(names) - len(captures)) :]
                return own if len(own) == len(captures) else tuple(f".{number}" for number in range(len(captures)))
            case StateValue(snapshot=Snapshot(names=names)) | Snapshot(names=names):
                return names
            case RefValue():
                return ("held",)
            case _:
                return ()


class _Indices(Sequence[str]):
    """The names `[0]`, `[1]`, ... of the rows of a tensor, which may be many."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: Any) -> Any:
        return f"[{number}]"


def _part(value: Any, number: int) -> Any:
    match value:
        case AdtValue(fields=fields) | Snapshot(fields=fields) | StateValue(snapshot=Snapshot(fields=fields)):
            return fields[number]
        case Closure(captures=captures):
            return captures[number]
        case RefValue(value=held):
            return held
        case _:
            return value[number]


def _part_expression(held: Held, value: Any, number: int) -> str:
    """Return what evaluates to a part; the indices of a tensor stand in one pair of brackets."""
    base = held.expression
    match value:
        case np.ndarray() if base and held.name.startswith("["):
            return f"{base[:-1]}, {number}]"
        case np.ndarray() | tuple() | AdtValue() if base:
            return f"{base}[{number}]"
        case _:
            return ""


def _long(value: Any, model: Value) -> str:
    match value:
        case np.ndarray():
            text = np.array2string(cast("np.ndarray[Any, Any]", value), threshold=_WHOLE_ELEMENTS)
            return cut(f"{model.type}\n{text}" if value.ndim else text, _LONG)
        case _:
            return cut(model.long or show(value), _LONG)
