"""Changes that the host makes to a stopped program, as text: `x = 0.5`, `x[0, 1] = nan`, `%3 = zeros()`, `x = x * 2`.

The left side is a variable or a register of a frame, with the element of a tensor or the field of a tuple behind it.
The right side is an expression in the language of conditions, `nan`, `inf`, `zeros()`, `ones()`, `random(SEED)` between
0 and 1, `normal(SEED)`, or `file()` for an array that is given besides.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, NoReturn

import numpy as np

from relax_core.check.infer import infer
from relax_core.diagnostics import Diagnostic, RunError
from relax_core.ir.expr import ObjectType, TensorType, Type
from relax_core.source import Source, Span
from relax_core.vm.condition import Moment
from relax_core.vm.conditions.condition_syntax import (
    Apply,
    Expression,
    ItemOf,
    Name,
    Prefix,
    RegisterName,
    parse_expression,
)
from relax_core.vm.objects.convert import TENSOR_KINDS
from relax_core.vm.objects.values import Array, Sentinel, ShapeValue, Uninitialised, Value, describe, shape_text
from relax_core.vm.recording.fork import Setting, fields_of, stack_at
from relax_core.vm.recording.trace import FrameState, Trace

_SIDES: Final = re.compile(r"(?P<place>[^=]*)=(?!=)(?P<value>.*)", re.DOTALL)
SKIP: Final = re.compile(r"\s*(?P<place>skip)\s*(?::(?P<value>.*))?", re.DOTALL)
_WORDS: Final[Mapping[str, float]] = MappingProxyType({"nan": float("nan"), "inf": float("inf")})
_WHOLE_BELOW: Final = 10
"""Upper bound of random integers."""


def _whole(dtype: "np.dtype[Any]") -> bool:
    return dtype.kind in "iu"


def _random(generator: np.random.Generator, shape: tuple[int, ...], dtype: "np.dtype[Any]") -> Array:
    made = generator.integers(0, _WHOLE_BELOW, shape) if _whole(dtype) else generator.random(shape)
    return np.asarray(made < 1 / 2 if dtype.kind == "b" else made).astype(dtype)


def _normal(generator: np.random.Generator, shape: tuple[int, ...], dtype: "np.dtype[Any]") -> Array:
    return np.asarray(generator.standard_normal(shape)).astype(dtype)


_SEEDED: Final[Mapping[str, Callable[..., Array]]] = MappingProxyType({"random": _random, "normal": _normal})
_FILLS: Final[Mapping[str, int]] = MappingProxyType({"zeros": 0, "ones": 1})
_FILE: Final = "file"


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """A change as written, in the frame at `depth` (0: the oldest, -1: the one that runs).

    With `is_in_place` every alias of the tensor sees it. `array` is what `file()` stands for.
    """

    text: str
    depth: int = -1
    is_in_place: bool = False
    array: Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """The assignment target of a left side: a register, a path of fields, and the value there at that time.

    `element` is the index into a tensor, `None` for all of it; `declared` is the type that the variable has.
    """

    register: int
    path: tuple[int, ...]
    element: tuple[int, ...] | None
    held: Value
    declared: Type | None
    span: Span


def setting(trace: Trace, at: int, change: Change) -> Setting:
    """Return what `change` means at time `at` of a run.

    Raises:
        CompileError: VM030, it cannot be read.
        RunError: VM032 or VM051, located in the change: it has no value, or one that does not fit.
    """
    sides = _SIDES.fullmatch(change.text)
    source = Source("change", change.text)
    if sides is None:
        whole = Span(source, 0, len(change.text))
        refuse(
            "a change has a place, `=` and a value", whole, "such as `x = 0.5`; or it is `skip`, or `replace f by g`"
        )
    frames = stack_at(trace, at)
    if not -len(frames) <= change.depth < len(frames):
        refuse(f"there is no frame {change.depth} at time {at}", Span(source, *sides.span("place")))
    depth = change.depth % len(frames)
    moment = Moment(trace, at, 1, frames[depth].frame)
    place = _place(trace, at, frames[depth], moment, _side(change.text, sides.span("place")))
    value = assigned(moment, place, change, sides.span("value"))
    if change.is_in_place:
        _check_in_place(trace.raw_registers_at(at, frames[depth].frame)[place.register], place, value)
    return Setting(depth, place.register, value, place.path, place.element, change.is_in_place)


def assigned(moment: Moment, target: Target, change: Change, span: tuple[int, int]) -> Value:
    """Return the value that the part `span` of a change assigns to its target.

    Raises:
        CompileError: VM030, it cannot be read.
        RunError: VM032 or VM051, located in the change.
    """
    return _Right(moment, target, change).value(_side(change.text, span))


def _check_in_place(held: Value, place: Target, value: Value) -> None:
    for number in place.path:
        held = fields_of(held)[number]
    if not isinstance(held, np.ndarray) or not isinstance(value, np.ndarray):
        refuse(f"only a tensor is changed in place, `{place.span.text}` is {describe(held)}", place.span)
    if not held.flags.writeable:
        refuse(f"`{place.span.text}` is a constant of the program, which is not changed in place", place.span)
    if (place.element is None and held.shape != value.shape) or held.dtype != value.dtype:
        words = f"in place `{place.span.text}` stays {describe(held)}, got {describe(value)}"
        refuse(words, place.span, "give it a value of its own instead")


def _side(text: str, span: tuple[int, int]) -> Expression:
    """Parse a part of a change; its columns are those of the whole."""
    return parse_expression(Source("change", " " * span[0] + text[span[0] : span[1]]))


def refuse(message: str, span: Span, hint: str = "") -> NoReturn:
    """Say that a change does not fit, located in it.

    Raises:
        RunError: VM051.
    """
    raise RunError((Diagnostic("VM051", message, span, hint),))


def _place(trace: Trace, at: int, frame: FrameState, moment: Moment, target: Expression) -> Target:
    steps: list[ItemOf] = []
    base = target
    while isinstance(base, ItemOf):
        steps.append(base)
        base = base.base
    register = _register(trace, frame, moment, base)
    held = trace.value_at(at, frame.frame, register)
    if isinstance(held, Sentinel):
        refuse(f"`{base.span.text}` has no value at time {at}: it is {held.name}", base.span, "choose a later time")
    path: list[int] = []
    for number, step in enumerate(reversed(steps)):
        indices = tuple(_index(moment, index) for index in step.indices)
        fields = fields_of(held)
        if isinstance(held, np.ndarray) and number == len(steps) - 1:
            _check_element(held, indices, step)
            return Target(register, tuple(path), indices, held, None, target.span)
        if len(indices) != 1 or not -len(fields) <= indices[0] < len(fields):
            shown = ", ".join(map(str, indices))
            refuse(f"`{step.base.span.text}` has no item [{shown}], it is {describe(held)}", step.span)
        path.append(indices[0] % len(fields))
        held = fields[path[-1]]
    entry = trace.executable.functions[frame.function]
    var = entry.register_vars[register] if register < len(entry.register_vars) and not path else None
    declared = infer(trace.executable.module).types.get(var, var.annotation) if var is not None else None
    return Target(register, tuple(path), None, held, declared, target.span)


def _register(trace: Trace, frame: FrameState, moment: Moment, base: Expression) -> int:
    entry = trace.executable.functions[frame.function]
    match base:
        case RegisterName(index=index) if index < entry.register_count:
            return index
        case RegisterName(index=index):
            refuse(f"`{entry.name}` has {entry.register_count} registers, and no `%{index}`", base.span)
        case Name(name=name):
            found = moment.register_of(name)
            if found is None:
                refuse(f"`{entry.name}` has no variable `{name}`", base.span, "registers are named `%0`, `%1`, ...")
            return found
        case _:
            refuse(f"`{base.span.text}` is no variable and no register", base.span)


def _index(moment: Moment, index: Expression) -> int:
    found = moment.value(index)
    if not isinstance(found, int):
        refuse(f"an index is a whole number, got {describe(found)}", index.span)
    return found


def _check_element(held: Array, indices: tuple[int, ...], step: ItemOf) -> None:
    is_inside = all(-size <= index < size for index, size in zip(indices, held.shape, strict=False))
    if not indices or len(indices) > held.ndim or not is_inside:
        shown = ", ".join(map(str, indices))
        refuse(f"there is no element [{shown}] in `{step.base.span.text}`, {describe(held)}", step.span)


class _Right:
    """Evaluates the right side of a change for its target."""

    def __init__(self, moment: Moment, place: Target, change: Change) -> None:
        self._moment = moment
        self._place = place
        self._change = change

    def value(self, tree: Expression) -> Value:
        """Return the value that is assigned."""
        match self._place.held:
            case np.ndarray() | Uninitialised() as held:
                return self._tensor(held, tree)
            case held:
                return self._fitting(held, self._computed(tree), tree.span)

    def _computed(self, tree: Expression) -> Value:
        match tree:
            case Name(name=name) if name in _WORDS and self._moment.register_of(name) is None:
                return _WORDS[name]
            case Prefix(op="-", operand=Name(name="inf")):
                return -_WORDS["inf"]
            case _:
                with np.errstate(all="ignore"):
                    return self._moment.value(tree)

    def _tensor(self, held: Array | Uninitialised, tree: Expression) -> Array:
        dtype, place = np.dtype(held.dtype), self._place
        if place.element is None or isinstance(held, Uninitialised):
            return self._whole(held.shape, dtype, tree)
        shape = np.shape(held[place.element])
        return self._filled(shape, dtype, self._source(shape, dtype, tree), tree)

    def _whole(self, shape: tuple[int, ...], dtype: "np.dtype[Any]", tree: Expression) -> Array:
        found = self._source(shape, dtype, tree)
        if isinstance(found, np.ndarray) and found.ndim:
            if dtype.name == "bfloat16" and found.dtype == np.float32:
                # A file has no dtype bfloat16.
                found = found.astype(dtype)
            self._check_declared(shape, dtype, found, tree.span)
            return np.array(found, order="C")
        return self._filled(shape, dtype, found, tree)

    def _source(self, shape: tuple[int, ...], dtype: "np.dtype[Any]", tree: Expression) -> Value:
        match tree:
            case Apply(function=name, args=()) if name in _FILLS:
                return _FILLS[name]
            case Apply(function=name, args=args) if name in _SEEDED:
                return _SEEDED[name](np.random.default_rng(self._seed(args, tree.span)), shape, dtype)
            case Apply(function=name, args=()) if name == _FILE:
                return self._given(tree.span)
            case _:
                return self._computed(tree)

    def _seed(self, args: tuple[Expression, ...], span: Span) -> int:
        found = self._moment.value(args[0]) if len(args) == 1 else 0
        if len(args) > 1 or not isinstance(found, int) or found < 0:
            refuse(f"`{span.text}` takes one seed, a whole number from 0", span, "such as `random(7)`")
        return found

    def _given(self, span: Span) -> Array:
        if self._change.array is None:
            refuse("`file()` is the array of a .npy file, and none is given", span)
        return self._change.array

    def _filled(self, shape: tuple[int, ...], dtype: "np.dtype[Any]", found: Value, tree: Expression) -> Array:
        """Return a tensor that holds a number everywhere, or the values of another one of this shape."""
        if not isinstance(found, bool | int | float | np.generic | np.ndarray):
            refuse(f"`{self._place.span.text}` holds {dtype} numbers, got {describe(found)}", tree.span)
        given = np.asarray(found)
        if given.shape not in ((), shape):
            words = f"`{self._place.span.text}` has the shape {shape_text(shape)}, got {describe(given)}"
            refuse(words, tree.span)
        with np.errstate(all="ignore"):
            try:
                made = np.full(shape, given, dtype)
            except (OverflowError, ValueError):
                made = None
            is_exact = made is not None and (dtype.kind not in "biu" or np.array_equal(made, np.full(shape, given)))
        if made is None or not is_exact:
            refuse(f"`{self._place.span.text}` holds {dtype}, and {describe(found)} is none", tree.span)
        return made

    def _check_declared(self, shape: tuple[int, ...], dtype: "np.dtype[Any]", found: Array, span: Span) -> None:
        """See that an array fits the declared type; what that leaves open is free."""
        place = self._place
        open_rank = open_dtype = open_shape = isinstance(place.declared, ObjectType)
        if isinstance(place.declared, TensorType):
            open_shape, open_dtype = place.declared.dims is None, place.declared.dtype is None
            open_rank = place.declared.ndim is None
        has_rank = found.ndim == len(shape) or open_rank
        has_shape = found.shape == shape or (open_shape and has_rank)
        has_dtype = found.dtype == dtype or (open_dtype and found.dtype.kind in TENSOR_KINDS)
        if not (has_shape and has_dtype):
            hint = "convert it with `.astype(...)` and save it again" if has_shape else "its type fixes the shape"
            expected = f"a tensor {shape_text(shape)} {dtype}"
            refuse(f"`{place.span.text}` must be {expected}, got {describe(found)}", span, hint)

    def _fitting(self, held: Value, found: Value, span: Span) -> Value:
        """Convert the right side to the kind of `held`."""
        match held, found:
            case bool(), (bool() | np.bool_()):
                return bool(found)
            case ((int() | np.integer()), (int() | np.integer())) if not isinstance(held, bool):
                return int(found)
            case ((float() | np.floating()), (bool() | int() | float() | np.integer() | np.floating())):
                return float(found)
            case str(), str():
                return found
            case ShapeValue(), tuple() if len(held) == len(found):
                return ShapeValue(self._size(item, span) for item in found)
            case _:
                refuse(f"`{self._place.span.text}` is {describe(held)}, got {describe(found)}", span)

    def _size(self, item: Value, span: Span) -> int:
        if not isinstance(item, int) or isinstance(item, bool) or item < 0:
            refuse(f"a dimension of `{self._place.span.text}` is a whole number, got {describe(item)}", span)
        return item


def is_file(text: str) -> bool:
    """Tell whether what a change gives is `file()`."""
    sides = SKIP.fullmatch(text) or _SIDES.fullmatch(text)
    return sides is not None and re.fullmatch(rf"\s*{_FILE}\s*\(\s*\)\s*", sides["value"] or "") is not None
