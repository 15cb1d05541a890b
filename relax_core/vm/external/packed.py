"""Packed functions: host functions that programs call by name, looked up when the call is made."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from relax_core.ops.packed.registry import DECLARED, PACKED, Declarations
from relax_core.ops.packed.spec import PackedSpec, spec_of
from relax_core.vm.context import Context
from relax_core.vm.objects.values import Array, Value, show
from relax_core.vm.packed_library.arrays import Given
from relax_core.vm.packed_library.table import LIBRARY
from relax_core.vm.packed_library.tvm_runtime import TVM_RUNTIME
from relax_core.vm.runtime_library.table import FUNCTIONS, STATEFUL

HostFunction = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Packed:
    """A packed function and what it declares.

    One with a `spec` gets its arguments by the names of the schema, checked and converted.

    `writes` are the positions of the arguments that it writes, negative ones counted from the end; `None` if it
    does not say, then every tensor that it can reach is compared before and after. A pure one writes nothing.
    `takes_context` functions get the machine as first argument, and closures as values that it can invoke. One that
    `is_repeatable` does the same whenever it is called again with the same arguments.
    """

    name: str
    function: HostFunction
    is_pure: bool = False
    writes: tuple[int, ...] | None = None
    takes_context: bool = False
    summary: str = ""
    spec: PackedSpec | None = None
    is_repeatable: bool = False


def packed_of(spec: PackedSpec, function: Callable[[Given], Any]) -> Packed:
    """Make a packed function of what is declared and what computes it."""
    return Packed(spec.name, function, spec.is_pure, spec.writes, summary=spec.summary, spec=spec)


def stateful_of(spec: PackedSpec, function: Callable[[Context, Given], Any]) -> Packed:
    """Make a packed function of what is declared and what computes it within the running machine."""
    return Packed(spec.name, function, spec.is_pure, spec.writes, takes_context=True, summary=spec.summary, spec=spec)


def _custom_add(a: Array, b: Array) -> Array:
    return np.asarray(a + b)


def _custom_print(context: Context, *values: Value) -> None:
    context.write_output(" ".join(map(show, values)))


def _custom_tile(a: Array, out: Array) -> None:
    out[...] = np.tile(a, (1, 2))


def _custom_inplace_update(a: Array) -> None:
    a += np.ones((), a.dtype)


def _custom_apply(function: HostFunction, *args: Value) -> Value:
    return function(*args)


def _custom_identity(value: Value) -> Value:
    return value


def _custom_copy(a: Array, out: Array) -> None:
    out[...] = a


DEFAULT_PACKED: Mapping[str, Packed] = MappingProxyType(
    {
        item.name: replace(item, is_repeatable=True)
        for item in (
            Packed("custom_add", _custom_add, is_pure=True, writes=(), summary="The sum of two tensors."),
            Packed(
                "custom_print",
                _custom_print,
                writes=(),
                takes_context=True,
                summary="Prints its arguments.",
            ),
            Packed("custom_tile", _custom_tile, writes=(1,), summary="Writes a tensor twice, side by side."),
            Packed("custom_inplace_update", _custom_inplace_update, writes=(0,), summary="Adds 1 in place."),
            Packed("custom_copy", _custom_copy, writes=(1,), summary="Copies a tensor into another."),
            Packed(
                "custom_apply",
                _custom_apply,
                writes=(),
                summary="Calls a closure with the other arguments.",
            ),
            Packed("custom_identity", _custom_identity, is_pure=True, writes=(), summary="Returns its argument."),
            *(Packed(name, function, summary=str(function.__doc__)) for name, function in TVM_RUNTIME.items()),
            *(packed_of(PACKED[name], function) for name, function in {**LIBRARY, **FUNCTIONS}.items()),
            *(stateful_of(PACKED[name], function) for name, function in STATEFUL.items()),
        )
    }
)


Source = Callable[[str], Packed | None]


class Registry:
    """Packed functions by name: those of the host before the default ones, then what the sources know."""

    __slots__ = ("_added", "_declared", "_default", "_sources")

    def __init__(self, default: Mapping[str, Packed] = DEFAULT_PACKED, declared: Declarations | None = None) -> None:
        self._default = default
        self._declared = declared
        self._added: dict[str, Packed] = {}
        self._sources: tuple[Source, ...] = ()

    def register(
        self, name: str, function: HostFunction, *, is_pure: bool = False, writes: tuple[int, ...] | None = None
    ) -> None:
        """Add or replace a function. `writes` are the positions of the arguments that it writes."""
        self._add(Packed(name, function, is_pure, () if is_pure else writes, is_repeatable=is_pure))

    def register_schema(self, name: str, function: HostFunction, schema: str, *, is_pure: bool = False) -> None:
        """Add or replace a function with a schema, which says what it takes and what it writes.

        Raises:
            SchemaError: the text is no schema.
        """
        spec = replace(spec_of(schema), name=name, is_pure=is_pure)
        self._add(Packed(name, _positional(function), is_pure, spec.writes, spec=spec, is_repeatable=is_pure))

    def _add(self, packed: Packed) -> None:
        self._added[packed.name] = packed
        if self._declared is not None:
            self._declared.add(packed.name, packed.spec)

    def add_source(self, source: Source) -> None:
        """Ask `source` for names that are in no table."""
        if source not in self._sources:
            self._sources = (*self._sources, source)

    def find(self, name: str) -> Packed | None:
        """Return the function called `name`."""
        known = self._added.get(name) or self._default.get(name)
        return known or next((found for source in self._sources if (found := source(name)) is not None), None)

    def near(self, name: str) -> tuple[str, ...]:
        """Return at most three known names that look like `name`."""
        return tuple(difflib.get_close_matches(name, self.names, 3, 0.5))

    @property
    def names(self) -> tuple[str, ...]:
        """All names, sorted."""
        return tuple(sorted({*self._default, *self._added}))


def _positional(function: HostFunction) -> Callable[[Given], Any]:
    return lambda given: function(*given.value_of.values())


HOST: Final = Registry(declared=DECLARED)


def register_packed(
    name: str,
    function: HostFunction,
    *,
    is_pure: bool = False,
    writes: tuple[int, ...] = (),
    schema: str | None = None,
) -> None:
    """Let programs call `function` by `name`.

    It gets NumPy arrays, Python scalars and strings, tuples of ints for shapes, tuples, and callables for closures,
    and may return any of them, or nothing. `writes` are the positions of the arguments that it changes in place
    (-1 is the last); a function that is not `is_pure` and names none is watched, so that the debugger can still
    show the tensors as they were before.

    With a `schema`, such as "scale(Tensor self, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)", calls may give
    arguments by name, defaults are filled in, and arguments are checked before the function gets them, in the order
    of the schema. The schema's `!` marks say what it writes.

    Raises:
        SchemaError: the schema is not in the notation of PyTorch's native functions.
    """
    if schema is None:
        HOST.register(name, function, is_pure=is_pure, writes=writes or None)
    else:
        HOST.register_schema(name, function, schema, is_pure=is_pure)
