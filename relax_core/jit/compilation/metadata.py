"""What calling a kernel's code takes besides the code: kept in the cache with it, so that a call lowers nothing."""

import itertools
import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from math import prod

from relax_core.ir.integer.evaluate import NoValueError, Scalar, evaluate_parts
from relax_core.ir.integer.interval import Interval, dtype_interval
from relax_core.ir.node import Node
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar, dtype_of
from relax_core.ir.tir import Buffer, PrimFunc
from relax_core.jit.lowering.calls.host_calls import PackedCall
from relax_core.jit.lowering.known.coverage import writes_all
from relax_core.jit.lowering.lower import Lowered
from relax_core.jit.lowering.scalars.types import SCALAR_TYPES, ScalarType


@dataclass(frozen=True, slots=True)
class Workspace:
    """A buffer that the caller allocates; a kernel that `is_filled` first needs no zeros in it."""

    size_bytes: int
    is_filled: bool


@dataclass(frozen=True, slots=True)
class KernelMetadata:
    """What a caller has to know of a kernel's code.

    `program` is what its LLVM IR is known by; a place where it stops records at most `value_count` integers.
    `workspace` are the `workspace_count` buffers that the caller allocates, `None` if their sizes depend on the
    arguments. `result` names the type of the value that it returns, if it returns one. `work` estimates for how many
    nanoseconds it runs, `None` if that depends on values. With `has_chunks` several threads may run it.
    `fills_last` tells that it writes all of its last argument before it reads any.
    """

    program: str
    value_count: int
    workspace: tuple[Workspace, ...] | None
    workspace_count: int
    result: str | None
    work: int | None
    has_chunks: bool
    fills_last: bool
    packed_calls: tuple[PackedCall, ...] = ()

    @property
    def scalar(self) -> ScalarType | None:
        """The type of the value that the kernel returns."""
        return None if self.result is None else SCALAR_TYPES[self.result]

    @property
    def is_kept(self) -> bool:
        """Tell whether this says all that a call needs, so that the cache keeps it."""
        return self.workspace is not None and not self.packed_calls


@dataclass(frozen=True, slots=True)
class CachedKernel:
    """A kernel in the cache: what a call needs to know, and the object."""

    metadata: KernelMetadata
    image: bytes

    def to_bytes(self) -> bytes:
        """Write it for the cache; only metadata that says all that a call needs (`is_kept`) can be written."""
        assert self.metadata.is_kept
        return json.dumps(astuple(self.metadata)[:-1]).encode() + b"\n" + self.image

    @staticmethod
    def from_bytes(content: bytes) -> "CachedKernel | None":
        """Read what `to_bytes` wrote, `None` if it is something else."""
        head, _, image = content.partition(b"\n")
        try:
            program, value_count, workspace, *rest = json.loads(head)
            metadata = KernelMetadata(program, value_count, tuple(Workspace(*item) for item in workspace), *rest)
        except (ValueError, TypeError):
            return None
        return CachedKernel(metadata, image)


def metadata_of(
    function: PrimFunc, lowered: Lowered, value_of: Mapping[PrimVar, int] | None, program: str
) -> KernelMetadata:
    """Return what calls of `lowered` need to know; `value_of` are the symbols' values, if it is made for these."""
    result = None if lowered.result is None else lowered.result.name
    last = function.buffer_of(function.params[-1]) if function.params else None
    return KernelMetadata(
        program,
        lowered.value_count,
        None if value_of is None else _workspace(function, lowered, value_of),
        len(lowered.workspace),
        result,
        lowered.work,
        lowered.has_chunks,
        last is not None and value_of is not None and writes_all(function, last, value_of),
        lowered.packed_calls,
    )


def _workspace(function: PrimFunc, lowered: Lowered, value_of: Mapping[PrimVar, int]) -> tuple[Workspace, ...] | None:
    sizes = [size_bytes(value_of, buffer) for buffer in lowered.workspace]
    known = [size for size in sizes if size is not None]
    if len(known) < len(sizes):
        return None
    return tuple(
        Workspace(size, writes_all(function, buffer, value_of))
        for size, buffer in zip(known, lowered.workspace, strict=True)
    )


def size_bytes(value_of: Mapping[PrimVar, int], buffer: Buffer) -> int | None:
    """Return how many bytes a buffer takes, `None` if an extent is negative or not known."""
    sizes = extents(value_of, buffer)
    known = [size for size in sizes if size is not None and size >= 0]
    return prod(known) * SCALAR_TYPES[buffer.dtype].size_bytes if len(known) == len(sizes) else None


def extents(value_of: Mapping[PrimVar, int], buffer: Buffer) -> tuple[int | None, ...]:
    """Return the extents of a buffer, `None` for one that has no value where the symbols have those of `value_of`."""
    return tuple(_extent(dim, value_of) for dim in buffer.shape)


def _extent(dim: PrimExpr, value_of: Mapping[PrimVar, int]) -> int | None:
    """Evaluate an extent as the kernel does; there is none if a part does not fit its dtype, and would wrap around.

    A part without a value is in a branch that is not chosen, if the whole has one.
    """
    if isinstance(dim, IntImm):
        return dim.value
    value_of_part = evaluate_parts(dim, value_of)
    found = value_of_part[dim]
    return found if isinstance(found, int) and all(itertools.starmap(_fits, value_of_part.items())) else None


def _fits(part: Node, value: Scalar | NoValueError) -> bool:
    assert isinstance(part, PrimExpr)
    return not isinstance(value, int) or Interval(value, value).is_within(dtype_interval(dtype_of(part)))
