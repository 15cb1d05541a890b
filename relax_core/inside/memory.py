"""The memory of a run that can be stopped: control words, arguments, allocations, and copies of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from relax_core.analysis.tir_memory import written_buffers
from relax_core.diagnostics import Diagnostic, RunError
from relax_core.inside import control
from relax_core.inside.sites import Layout
from relax_core.ir.integer.evaluate import NoValueError, evaluate
from relax_core.ir.prim import PrimVar
from relax_core.ir.tir import Buffer, PrimFunc
from relax_core.jit.lowering.known.symbols import let_values, sized_ahead

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """All that a run needs to go on from a statement: what was written is a copy."""

    clock: int
    words: Array
    reals: Array
    written: tuple[Array, ...]

    @property
    def size_bytes(self) -> int:
        """What it takes."""
        return sum(item.nbytes for item in self.written)


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """The arrays of one run; those that are written belong to it alone."""

    words: Array
    reals: Array
    args: tuple[Any, ...]
    allocated: tuple[Array, ...]
    array_of: Mapping[Buffer, Array]
    sizes: Mapping[PrimVar, int]
    """Symbolic dimensions and scalars."""
    written: tuple[Array, ...]

    @property
    def clock(self) -> int:
        """How many statements have run."""
        return int(self.words[control.CLOCK])

    def copied(self) -> Checkpoint:
        """Return a copy to go on from."""
        return Checkpoint(self.clock, self.words.copy(), self.reals.copy(), tuple(item.copy() for item in self.written))

    def restore(self, checkpoint: Checkpoint) -> None:
        """Make everything as it was."""
        self.words[:], self.reals[:] = checkpoint.words, checkpoint.reals
        for item, old in zip(self.written, checkpoint.written, strict=True):
            item[...] = old


def memory_for(layout: Layout, args: Sequence[Any], limit_bytes: int) -> Memory:
    """Return the memory of a run on copies of `args`; what the function allocates is zero, as in a compiled kernel.

    Raises:
        RunError: TI002, memory is allocated whose size depends on a loop; JT017, it is more than `limit_bytes`.
    """
    function = layout.function
    sizes = sizes_of(function, args)
    written = written_buffers(function)
    given: list[Any] = []
    array_of: dict[Buffer, Array] = {}
    for param, value in zip(function.params, args, strict=True):
        buffer = function.buffer_of(param)
        if buffer is None:
            given.append(value)
            continue
        array = array_of[buffer] = np.array(value, order="C") if buffer in written else np.asarray(value, order="C")
        given.append(array)
    allocated = tuple(_allocated(function, buffer, sizes, limit_bytes) for _, buffer in layout.allocated)
    array_of.update(zip((buffer for _, buffer in layout.allocated), allocated, strict=True))
    words = np.zeros(layout.word_count, np.int64)
    reals = np.zeros(max(layout.real_count, 1), np.float64)
    own = (*(array_of[item] for item in array_of if item in written and item not in _second(layout)), *allocated)
    return Memory(words, reals, tuple(given), allocated, array_of, sizes, own)


def sizes_of(function: PrimFunc, args: Sequence[Any]) -> dict[PrimVar, int]:
    """Return the symbolic dimensions that arguments tell, and the integers among the arguments."""
    return dict(_sizes(function, args))


def _second(layout: Layout) -> frozenset[Buffer]:
    return frozenset(buffer for _, buffer in layout.allocated)


def _sizes(function: PrimFunc, args: Sequence[Any]) -> Iterator[tuple[PrimVar, int]]:
    for param, value in zip(function.params, args, strict=False):
        buffer = function.buffer_of(param)
        if buffer is None:
            yield param, value
            continue
        for dim, size in zip(buffer.shape, np.shape(value), strict=False):
            if isinstance(dim, PrimVar):
                yield dim, size


def _allocated(function: PrimFunc, buffer: Buffer, sizes: Mapping[PrimVar, int], limit_bytes: int) -> Array:
    sized = sized_ahead(buffer, let_values(function))
    try:
        shape = tuple(int(evaluate(dim, sizes)) for dim in sized.shape)
    except NoValueError as error:
        message = f"`{buffer.name}` has a size that is known in its loop alone: it cannot be stepped through"
        raise RunError((Diagnostic("TI002", message, buffer.span),)) from error
    dtype = np.dtype(buffer.dtype)
    if prod(shape) * dtype.itemsize > limit_bytes:
        message = f"Allocating `{buffer.name}` with shape {shape} takes {prod(shape) * dtype.itemsize} bytes"
        raise RunError((Diagnostic("JT017", message, buffer.span, f"A kernel may allocate {limit_bytes} bytes."),))
    return np.zeros(shape, dtype)
