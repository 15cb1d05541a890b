"""Nests that accumulate: what each output is combined with, and whether the outputs can be computed in any order."""

from dataclasses import dataclass
from math import prod
from typing import Literal

from relax_core.ir.integer.affine import Affine
from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import Binary, BinaryKind, IntImm, Intrinsic, PrimExpr, PrimVar, dtype_of
from relax_core.ir.tir import BufferLoad, For
from relax_core.jit.lowering.scalars.intrinsics import CALLS, arity_of
from relax_core.jit.lowering.scalars.types import ScalarType
from relax_core.jit.lowering.state import State
from relax_core.jit.transforms.loop_nest import Access, Axis, Nest
from relax_core.jit.transforms.nest import read_nest
from relax_core.jit.transforms.nest_values import Value, value_of
from relax_core.jit.transforms.vector_code import can_combine

_STOPPING = ("/", "//", "%", "truncdiv", "truncmod", "<<", ">>")


@dataclass(frozen=True, slots=True)
class Reduction:
    """A nest with the update `out = out op value`, or `out = value op out` if the output stands behind.

    The spatial axes are outermost first, and each combination of them writes an element of its own; `value` reads
    nothing that the nest writes and never stops the kernel.
    """

    nest: Nest
    op: BinaryKind
    value: PrimExpr
    order: Literal["output first", "value first"]
    scalar: ScalarType

    @property
    def row_count(self) -> int:
        """How many outputs there are."""
        return _product(self.nest.spatial)

    @property
    def column_count(self) -> int:
        """How many values each output is combined with."""
        return _product(self.nest.reduce)


def read_reduction(state: State, loop: For) -> Reduction | str | None:
    """Read the nest that starts at `loop`: `None` if it accumulates nothing, or in words why it cannot be used."""
    nest = read_nest(state, loop)
    if isinstance(nest, str) or not nest.reduce:
        return None
    found = _update(nest)
    if found is None:
        return None
    op, value, order = found
    scalar = state.scalar_of(nest.update.buffer)
    if not can_combine(op, scalar):
        return f"`{op}` of {scalar.name} is not combined in vectors"
    obstacle = _obstacle(nest, value)
    return obstacle or Reduction(nest, op, value, order, scalar)


def may_stop(expr: PrimExpr) -> bool:
    """Tell whether evaluating `expr` may stop the kernel other than by an access: a division, a shift, a call."""
    return any(_may_stop(item) for item in postorder(expr))


def may_share(nest: Nest, node: Node) -> bool:
    """Tell whether a node reads memory that the nest may write: that of the store, or a view of some memory."""
    if not isinstance(node, BufferLoad):
        return False
    storage = nest.accesses[node].storage
    return storage.memory is not None or storage.pointer == nest.accesses[nest.update].storage.pointer


def contiguous_axis(nest: Nest) -> Axis | None:
    """Return the spatial axis along which elements lie side by side, in the output and in all that is read."""
    out = nest.accesses[nest.update].offset
    loads = [item.offset for node, item in nest.accesses.items() if isinstance(node, BufferLoad) and item.offset != out]
    for axis in nest.spatial:
        strides = {offset.of(axis.var) for offset in loads}
        if axis.extent > 1 and out.of(axis.var) == 1 and strides <= {0, 1} and strides != {0}:
            return axis
    return None


def _update(nest: Nest) -> tuple[BinaryKind, PrimExpr, Literal["output first", "value first"]] | None:
    match nest.update.value:
        case Binary(op=op, a=a, b=b) if dtype_of(a) == dtype_of(b) == nest.update.buffer.dtype:
            if _is_output(nest, a):
                return op, b, "output first"
            if _is_output(nest, b):
                return op, a, "value first"
        case _:
            pass
    return None


def _is_output(nest: Nest, expr: PrimExpr) -> bool:
    """Tell whether `expr` reads the element that the update writes."""
    if not isinstance(expr, BufferLoad) or expr.buffer is not nest.update.buffer:
        return False
    return nest.accesses[expr].offset == nest.accesses[nest.update].offset


def _obstacle(nest: Nest, value: PrimExpr) -> str:
    out = nest.accesses[nest.update]
    if any(out.offset.of(axis.var) for axis in nest.reduce) or nest.overlapping is not None:
        return "two of its outputs are one element"
    if nest.init is not None:
        start = nest.accesses[nest.init]
        if start.storage is not out.storage or start.offset != out.offset or not _starts_once(nest):
            return "its outputs are not initialised where the reduction starts"
        if may_stop(nest.init.value) or _reads(nest.init.value, nest.reduce, nest):
            return "its initial value depends on the reduction"
        if any(may_share(nest, item) for item in postorder(nest.init.value)):
            return "its initial value may read an output"
    if out.storage.memory is not None or any(may_share(nest, item) for item in postorder(value)):
        return "its value may read an output"
    return "the value may stop the kernel" if may_stop(value) else ""


def _starts_once(nest: Nest) -> bool:
    """Tell whether the block initialises in the first iteration of the reduction and in no other."""
    assert nest.block is not None
    inner = {axis.var for axis in nest.reduce}
    seen: set[PrimVar] = set()
    for item in nest.block.iter_vars:
        if item.kind == "reduce":
            value = nest.values[item.var]
            if value.constant or not all(var in inner and factor > 0 for var, factor in value.coefficients.items()):
                return False
            seen |= value.coefficients.keys()
    return seen == inner


def _reads(expr: PrimExpr, axes: tuple[Axis, ...], nest: Nest) -> bool:
    """Tell whether an expression depends on one of `axes`."""
    inner = {axis.var for axis in axes}
    used = {item for item in postorder(expr) if isinstance(item, PrimVar)}
    return any(var in inner or (var in nest.values and inner & nest.values[var].coefficients.keys()) for var in used)


def _may_stop(node: object) -> bool:
    match node:
        case Binary(op=op, b=b) if op in _STOPPING and not dtype_of(b).startswith(("float", "bfloat")):
            return not isinstance(b, IntImm) or b.value <= 0 or (op in ("<<", ">>") and b.value > 7)
        case Intrinsic(name=name):
            return name in CALLS or arity_of(name) is None
        case _:
            return False


def _product(axes: tuple[Axis, ...]) -> int:
    count = 1
    for axis in axes:
        count *= axis.extent
    return count


@dataclass(frozen=True, slots=True)
class ReducedValues:
    """The values of a reduction. `inner` are reduce axes that are one long axis, `outer` those around it.

    `direct` is the load that all of the value is, if its elements lie side by side along the inner axes.
    """

    value: Value
    inner: tuple[Axis, ...]
    outer: tuple[Axis, ...]
    direct: Access | None

    @property
    def count(self) -> int:
        """The length of the inner axes together."""
        return prod(axis.extent for axis in self.inner)


def values_of(reduction: Reduction) -> ReducedValues:
    """Read the values of a reduction along its innermost reduce axes."""
    nest = reduction.nest
    value = value_of(reduction.value)
    inner, outer = _joined(nest.reduce, value, [nest.accesses[load].offset for load in value.loads.values()])
    return ReducedValues(value, inner, outer, direct_load(reduction, inner[-1]))


def direct_load(reduction: Reduction, along: Axis) -> Access | None:
    """Return the access that all of the value is, if it reads the output's dtype side by side along an axis."""
    if not isinstance(reduction.value, BufferLoad):
        return None
    access = reduction.nest.accesses[reduction.value]
    is_direct = access.offset.of(along.var) == 1 and access.storage.scalar == reduction.scalar
    return access if is_direct else None


def _joined(axes: tuple[Axis, ...], value: Value, offsets: list[Affine]) -> tuple[tuple[Axis, ...], tuple[Axis, ...]]:
    """Split reduce axes into those that together are one axis, and those around it."""
    first = len(axes) - 1
    while first > 0 and not value.uses_axes:
        here, above = axes[first], axes[first - 1]
        if any(offset.of(above.var) != offset.of(here.var) * here.extent for offset in offsets):
            break
        first -= 1
    return axes[first:], axes[:first]
