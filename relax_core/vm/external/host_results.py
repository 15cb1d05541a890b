"""What functions of the host gave in a recorded run, to be given again when a part of the run is made once more.

A function that is neither ours nor declared to be pure may read a clock, a file or random numbers, so that it is not
called again.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NoReturn

import numpy as np

from relax_core.vm.context import fail
from relax_core.vm.objects.convert import own_copies
from relax_core.vm.objects.values import (
    Array,
    ObjectValue,
    RefValue,
    StorageValue,
    Value,
    arrays_in,
    map_leaves,
    root_of,
)

_MOST_BYTES: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class HostResult:
    """What a call gave, and what the tensors that it changed held behind it; `problem`: why that is not known."""

    name: str
    event: int
    result: Value = None
    changed: tuple[tuple[int, Array], ...] = ()
    """The tensors by their place among those that the function may write."""
    problem: str = ""


@dataclass(slots=True)
class HostResults:
    """The results of a run so far, in order; those of `past` are given again before anything is called."""

    past: tuple[HostResult, ...] = ()
    calls: list[HostResult] = field(default_factory=list[HostResult])
    size_bytes: int = 0

    def call(
        self,
        name: str,
        args: tuple[Value, ...],
        writable: tuple[Value, ...],
        run: Callable[[], Value],
        moment: Callable[[], int],
    ) -> Value:
        """Call a function by `run` and note its result, or give that of the call of `past` in its place.

        `writable` are the arguments that it may write; only what they reach is compared and kept.

        Raises:
            RunError: VM059, the result of that call is not known.
        """
        number, event = len(self.calls), moment()
        arrays = tuple(arrays_in(*writable))
        if number < len(self.past):
            return self._given(self.past[number], name, arrays)
        before = [array.tobytes() for array in arrays]
        result = run()
        changed = [
            (place, array.copy())
            for place, (array, held) in enumerate(zip(arrays, before, strict=True))
            if array.tobytes() != held
        ]
        problem = _problem_of(result, args, called_back=moment() != event)
        size_bytes = sum(array.nbytes for _, array in changed) + sum(array.nbytes for array in arrays_in(result))
        if not problem and self.size_bytes + size_bytes > _MOST_BYTES:
            problem = f"what `{name}` gave was not kept"
        if problem:
            self.calls.append(HostResult(name, event, problem=problem))
        else:
            self.size_bytes += size_bytes
            self.calls.append(HostResult(name, event, own_copies((result,))[0], tuple(changed)))
        return result

    def _given(self, found: HostResult, name: str, arrays: tuple[Array, ...]) -> Value:
        if found.problem or found.name != name:
            _refuse(name, found.problem)
        self.calls.append(found)
        for place, content in found.changed:
            np.copyto(arrays[place], content)
        return own_copies((found.result,))[0]


def _problem_of(result: Value, args: tuple[Value, ...], *, called_back: bool) -> str:
    """Say why what a call did cannot be done again from a copy; "" if it can."""
    if called_back:
        return "it called functions of the program"
    if has_objects((*args, result)):
        return "it was given, or gave, an object that changes"
    roots = {id(root_of(array)) for array in arrays_in(*args)}
    if any(id(root_of(array)) in roots for array in arrays_in(result)):
        return "its result lies in the memory of an argument"
    return ""


def has_objects(values: tuple[Value, ...]) -> bool:
    """Tell whether objects can be reached that are not only what they hold, so that a copy is another one."""
    found: list[Value] = []

    def look(leaf: Value) -> Value:
        if isinstance(leaf, RefValue | StorageValue | ObjectValue):
            found.append(leaf)
        return leaf

    map_leaves(values, look, into_captures=True)
    return bool(found)


def _refuse(name: str, problem: str) -> NoReturn:
    words = f"`{name}` may give something else when it is called again"
    fail("VM059", f"{words}, and {problem}" if problem else words, "declare it to be pure if it always gives the same")
