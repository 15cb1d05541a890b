"""The form of a contraction, such as a matrix product or a convolution: axes, operands and their affine accesses."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from math import prod

from relax_core.ir.integer.affine import Affine
from relax_core.ir.integer.interval import Interval
from relax_core.ir.node import Node, children
from relax_core.ir.prim import BinaryKind, PrimExpr, PrimVar
from relax_core.ir.tir import BufferLoad, BufferStore, For
from relax_core.jit.lowering.memory.storage import Storage


@dataclass(frozen=True, slots=True)
class Dim:
    """An axis of a contraction: `var` takes the values 0 to `extent` - 1."""

    var: PrimVar
    extent: int


@dataclass(frozen=True, slots=True)
class Joined:
    """Two axes as one: the variable of `inner` counts the values of both, those of `inner` faster."""

    outer: Dim
    inner: Dim


@dataclass(frozen=True, slots=True)
class Divided:
    """A variable of the text as two axes, of which `inner` counts faster."""

    var: PrimVar
    outer: Dim
    inner: Dim


@dataclass(frozen=True, slots=True)
class Quotient:
    """An index of the form `floor(whole / divisor)`, as a strided or dilated convolution has."""

    dividend: Affine
    divisor: int = 1


@dataclass(frozen=True, slots=True)
class Guard:
    """The condition of a load, which gives `default` where it does not hold.

    Each dividend of `quotients` has to be in its interval of `valid`, and a multiple of the divisor.
    """

    quotients: tuple[Quotient, ...]
    valid: tuple[Interval, ...]
    default: PrimExpr


@dataclass(frozen=True, slots=True)
class Operand:
    """The affine access function of a load, in elements from the start of the buffer.

    All of them are in range; of a guarded load those that satisfy the guard.
    """

    access: BufferLoad | BufferStore
    storage: Storage
    offset: Affine
    guard: Guard | None = None

    def stride(self, dim: Dim) -> int:
        """Return how many elements one step along `dim` goes."""
        return self.offset.of(dim.var)


@dataclass(frozen=True, slots=True)
class Contraction:
    """`out = out op term`, or `term op out` with `is_term_first`, for all values of the axes.

    The reduce axes come in the order of the text, outermost first, and start with `out = init`, unless that is `None`.
    `operands` are the loads, or guarded loads, of `term` and `init`. Different values of the spatial axes write
    different elements, and no operand reads what is written. `initialisation` is the statement with `init`. The axes
    are those of the text but for what was divided, and then joined in this order.
    """

    loop: For
    spatial: tuple[Dim, ...]
    reduce: tuple[Dim, ...]
    out: Operand
    op: BinaryKind
    term: PrimExpr
    init: PrimExpr | None
    operands: Mapping[PrimExpr, Operand]
    is_term_first: bool = False
    initialisation: BufferStore | None = None
    divided: tuple[Divided, ...] = ()
    joined: tuple[Joined, ...] = ()

    @property
    def dims(self) -> tuple[Dim, ...]:
        """All axes."""
        return (*self.spatial, *self.reduce)

    @property
    def work(self) -> int:
        """How many terms are added."""
        return prod(dim.extent for dim in self.dims)

    def leaves(self, expr: PrimExpr) -> Iterator[Operand]:
        """Yield the operands that `expr` is made of."""
        stack: list[Node] = [expr]
        while stack:
            node = stack.pop()
            operand = self.operands.get(node) if isinstance(node, PrimExpr) else None
            if operand is None:
                stack += children(node)
            else:
                yield operand


def merged(contraction: Contraction) -> Contraction:
    """Fuse axes whose strides are compatible in every access, such as the rows and columns of a contiguous matrix."""
    offsets = [contraction.out.offset]
    for operand in contraction.operands.values():
        offsets += (
            [operand.offset] if operand.guard is None else [quotient.dividend for quotient in operand.guard.quotients]
        )
    spatial, joined = _joined(contraction.spatial, offsets, are_ordered=False)
    reduce, others = _joined(contraction.reduce, offsets, are_ordered=True)
    gone = {dim.var for dim in contraction.dims} - {dim.var for dim in (*spatial, *reduce)}
    return replace(
        contraction,
        spatial=spatial,
        reduce=reduce,
        out=_without(contraction.out, gone),
        operands={node: _without(operand, gone) for node, operand in contraction.operands.items()},
        joined=(*joined, *others),
    )


def _without(operand: Operand, gone: Set[PrimVar]) -> Operand:
    def kept(form: Affine) -> Affine:
        return Affine(form.constant, {var: value for var, value in form.coefficients.items() if var not in gone})

    guard = operand.guard
    if guard is not None:
        guard = replace(
            guard, quotients=tuple(replace(quotient, dividend=kept(quotient.dividend)) for quotient in guard.quotients)
        )
    return replace(operand, offset=kept(operand.offset), guard=guard)


def _joined(
    dims: tuple[Dim, ...], offsets: list[Affine], *, are_ordered: bool
) -> tuple[tuple[Dim, ...], tuple[Joined, ...]]:
    """Extend an inner axis over the outer one that it absorbs; return the axes that are left, and what was joined."""
    found, pairs = list(dims), list[Joined]()
    at = 0
    while at < len(found):
        outer = found[at]
        candidates = found[at + 1 : at + 2] if are_ordered else [item for item in found if item is not outer]
        inner = next((item for item in candidates if _are_like_one(outer, item, offsets)), None)
        if inner is None:
            at += 1
        else:
            found[found.index(inner)] = Dim(inner.var, inner.extent * outer.extent)
            found.remove(outer)
            pairs.append(Joined(outer, inner))
            at = 0
    return tuple(found), tuple(pairs)


def _are_like_one(outer: Dim, inner: Dim, offsets: list[Affine]) -> bool:
    return all(offset.of(outer.var) == offset.of(inner.var) * inner.extent for offset in offsets)


@dataclass(frozen=True, slots=True)
class Edge:
    """One dimension of a box: it holds `extent` dividends from `first` on.

    The multiples of `divisor` in `valid` are loaded. `inside` is the dividend as a sum over the axes inside of the
    box, counted from the first.
    """

    first: Affine
    inside: Affine
    extent: int
    valid: Interval
    divisor: int


def box_of(contraction: Contraction, operand: Operand, outer: tuple[Dim, ...]) -> tuple[Edge, ...]:
    """Return the indices that a guarded operand is read at while the axes `outer` stand still."""
    assert operand.guard is not None, "only guarded operands are staged"
    inside = {dim.var: Interval(0, dim.extent - 1) for dim in contraction.dims if dim not in outer}
    edges: list[Edge] = []
    for quotient, valid, extent in zip(
        operand.guard.quotients, operand.guard.valid, operand.storage.extents, strict=True
    ):
        whole = quotient.dividend
        moving = Affine(0, {var: factor for var, factor in whole.coefficients.items() if var in inside})
        values = moving.interval(inside)
        assert values is not None, "the axes inside have intervals"
        allowed = Interval(max(valid.low, 0), min(valid.high, int(extent) * quotient.divisor - 1))
        first, count = whole.plus(moving, -1).plus(Affine(values.low)), values.high - values.low + 1
        edges.append(Edge(first, moving.plus(Affine(-values.low)), count, allowed, quotient.divisor))
    return tuple(edges)


def box_size(edges: tuple[Edge, ...], lanes: int) -> int:
    """Return how many elements a box takes; the last row may be written over its end."""
    return prod(edge.extent for edge in edges) + lanes
