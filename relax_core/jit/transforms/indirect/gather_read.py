"""Recognise a loop with one contiguous store whose value depends on indirect loads, and decide its vector shape."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from relax_core.ir.integer.polynomial import Polynomial, add, constant_of
from relax_core.ir.integer.strides import StrideReader
from relax_core.ir.node import postorder
from relax_core.ir.prim import COMPARISONS, Binary, Cast, PrimExpr, PrimVar, Select, dtype_of
from relax_core.ir.tir import Block, BufferLoad, BufferStore, For, IterVar
from relax_core.jit.lowering.scalars.scalar import is_safe
from relax_core.jit.lowering.scalars.types import SCALAR_TYPES, ScalarType
from relax_core.jit.lowering.state import State
from relax_core.jit.transforms.vector_code import can_combine, can_convert

# The largest stride, in elements, of a load that is assembled lane by lane.
FARTHEST = 4
# Larger statements are not replicated for several vectors.
MOST_NODES = 128
# How many vectors share one bounds check.
TOGETHER = 4


@dataclass(frozen=True, slots=True)
class StridedLoad:
    """A load with a constant stride of `step` elements per iteration, `place` elements behind the load `first`.

    With `is_whole` the loads that share `first` are interleaved without gaps, so that one wide load serves them all.
    """

    step: int
    first: BufferLoad
    place: int = 0
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Gather:
    """A loop over one store, which may stand in a `block`, alone or as the body of the loop `outer`.

    The loads of `strided` have constant strides, those of `gathered` indirect indices, in an order in which each
    comes after the loads that its index depends on. Expressions in `fixed` are loop-invariant. A group of `vectors`
    vectors, of `lanes` iterations each, shares its checks. With an outer loop, the inner one is fully vectorised
    (`vectors * lanes` is its trip count), and a group is `rows` iterations of the outer one.
    """

    outer: For | None
    loop: For
    block: Block | None
    store: BufferStore
    lanes: int
    strided: Mapping[BufferLoad, StridedLoad]
    gathered: tuple[BufferLoad, ...]
    fixed: frozenset[PrimExpr]
    vectors: int = 1
    rows: int = 1

    @property
    def rounds(self) -> int:
        """The iterations of the outermost loop in a group."""
        return self.rows if self.outer is not None else self.vectors * self.lanes

    @property
    def single(self) -> "Gather":
        """The same with the smallest group: one vector, or one iteration of the outer loop."""
        return replace(self, rows=1) if self.outer is not None else replace(self, vectors=1)

    @property
    def binding(self) -> Mapping[PrimVar, PrimExpr]:
        """The bindings of the block's variables."""
        return {} if self.block is None else {item.var: item.binding for item in self.block.iter_vars}


def read_gather(state: State, loop: For) -> Gather | None:
    """Read a loop that can be vectorised and has an indirect load; `None` for any other."""
    mark = state.bounds.mark()
    inner = loop.body if isinstance(loop.body, For) else None
    if inner is None:
        found = _read(state, loop)
        count = None if found is None else state.bounds.constant(loop.extent)
        state.bounds.leave(mark)
        # The shorter the group, the fewer iterations are left to the scalar loop where the trip count is unknown.
        together = TOGETHER // 2 if count is None else TOGETHER
        if found is None or (count is not None and count < together * found.lanes):
            return found
        return replace(found, vectors=together)
    # A short inner loop is fully vectorised, and several iterations of the outer one make a group.
    is_simple = loop.step is None and loop.kind != "thread_binding" and state.bounds.constant(inner.start) == 0
    if is_simple:
        state.bounds.enter_loop(loop)
    found = _read(state, inner) if is_simple else None
    count = state.bounds.constant(inner.extent)
    state.bounds.leave(mark)
    if found is None or count is None or count % found.lanes or count // found.lanes > TOGETHER // 2:
        return None
    vectors = count // found.lanes
    return replace(found, outer=loop, vectors=vectors, rows=8 // vectors)


def _read(state: State, loop: For) -> Gather | None:
    block = loop.body if isinstance(loop.body, Block) else None
    store = loop.body if block is None else block.body
    if not isinstance(store, BufferStore) or loop.step is not None or loop.kind == "thread_binding":
        return None
    if state.lanes.width(store) > 1:
        return None
    if block is not None and (block.predicate is not None or block.init is not None or block.matches):
        return None
    if (block is not None and block.alloc_buffers) or len([*postorder(store)]) > MOST_NODES:
        return None
    mark = state.bounds.mark()
    strides = StrideReader(state.bounds)
    strides.enter(loop)
    if block is not None:
        strides.enter(block)
    reader = _GatherReader(state, loop, strides, store, {}, [], set())
    is_read = reader.is_stored() and reader.can_take(store.value)
    gathers = is_read and any(reader.is_data(load) for load in reader.gathered)
    state.bounds.leave(mark)
    lanes = state.options.lanes(max(item.bits for item in reader.scalars())) if gathers else 0
    count = state.bounds.constant(loop.extent)
    if lanes < 2 or (count is not None and count < lanes):
        return None
    strided = _joined(reader.strided)
    return Gather(None, loop, block, store, lanes, strided, tuple(reader.gathered), frozenset(reader.fixed))


def _joined(strided: "Mapping[BufferLoad, tuple[int, Polynomial[int]]]") -> Mapping[BufferLoad, StridedLoad]:
    """Find interleaved loads: those of one stride that together cover a contiguous range."""
    joined: dict[BufferLoad, StridedLoad] = {}
    for load, (step, rest) in strided.items():
        alike = ((other, item[1]) for other, item in strided.items() if other.buffer is load.buffer and item[0] == step)
        place_of = {other: constant_of(add(it, rest, -1)) for other, it in alike}
        near = {other: place for other, place in place_of.items() if place is not None and abs(place) < step}
        first = min(near, key=lambda item: near[item] or 0)
        reach = max(place or 0 for place in near.values()) - (near[first] or 0)
        joined[load] = StridedLoad(step, first, -(near[first] or 0), reach == step - 1)
    return joined


def gathers_inside(state: State, loop: For) -> bool:
    """Tell whether a loop is a perfect nest around a loop that is vectorised with gathers."""
    mark = state.bounds.mark()
    inner = loop
    gather = None
    while gather is None and isinstance(inner.body, For):
        state.bounds.enter_loop(inner)
        inner = inner.body
        gather = read_gather(state, inner)
    state.bounds.leave(mark)
    return gather is not None


@dataclass(frozen=True, slots=True)
class _GatherReader:
    state: State
    loop: For
    strides: StrideReader
    store: BufferStore
    strided: dict[BufferLoad, tuple[int, Polynomial[int]]]
    gathered: list[BufferLoad]
    fixed: set[PrimExpr]

    def scalars(self) -> list[ScalarType]:
        """Return the scalar types that occur in vectors; the widest one decides the number of lanes."""
        return [self.state.scalar_of(item) for item in (self.store.value, *self.strided, *self.gathered)]

    def is_stored(self) -> bool:
        """Tell whether the store is proven in bounds and contiguous."""
        storage = self.state.environment.storage.get(self.store.buffer)
        scalar = self.state.scalar_of(self.store.buffer)
        if storage is None or storage.memory is not None or not _is_plain(scalar):
            return False
        is_same = dtype_of(self.store.value) == self.store.buffer.dtype
        return is_same and self._step(self.store) == 1

    def _step(self, access: BufferLoad | BufferStore) -> int | None:
        """Return the stride of an access in elements; `None` if it varies, or the access is not proven in bounds."""
        if len(access.indices) != len(access.buffer.shape) or not self.is_proven(access):
            return None
        place = self.strides.of_access(access)
        return None if place is None else constant_of(place[0].get(self.loop, {}))

    def is_proven(self, access: BufferLoad | BufferStore) -> bool:
        """Tell whether an access is proven in bounds."""
        return all(self.state.is_in_range(access, position) for position in range(len(access.indices)))

    def is_data(self, load: BufferLoad) -> bool:
        """Tell whether the bounds of an access depend on data, whether or not a guard has checked it already."""
        bounds = self.state.bounds
        return not all(bounds.is_in_range(load.buffer, at, index) for at, index in enumerate(load.indices))

    def can_take(self, expr: PrimExpr) -> bool:
        """Tell whether an expression can be vectorised, and classify its loads."""
        scalar = SCALAR_TYPES.get(dtype_of(expr))
        if scalar is None:
            return False
        if not self.strides.is_variant(expr):
            self.fixed.add(expr)
            loads = (item for item in postorder(expr) if isinstance(item, BufferLoad))
            return is_safe(self.state, expr) and scalar.kind != "bool" and all(map(self._is_apart, loads))
        match expr:
            case PrimVar():
                binding = next((item.binding for item in self._iter_vars() if item.var is expr), None)
                return expr is self.loop.var or (binding is not None and self.can_take(binding))
            case BufferLoad():
                return _is_plain(scalar) and self._is_apart(expr) and self._can_load(expr)
            case Cast(value=value):
                return can_convert(self.state.scalar_of(value), scalar) and self.can_take(value)
            case Binary(op=op, a=a, b=b) if dtype_of(a) == dtype_of(b) == dtype_of(expr):
                return can_combine(op, scalar) and self.can_take(a) and self.can_take(b)
            case Select(condition=Binary(op=op, a=a, b=b), true_value=x, false_value=y) if op in COMPARISONS:
                # A vector select evaluates both sides, so neither may need a check.
                count = len(self.gathered)
                are_alike = dtype_of(a) == dtype_of(b) and dtype_of(x) == dtype_of(y) == dtype_of(expr)
                is_taken = are_alike and all(self.can_take(item) for item in (a, b, x, y))
                return is_taken and len(self.gathered) == count and self.state.scalar_of(a).kind != "bool"
            case _:
                return False

    def _iter_vars(self) -> tuple[IterVar, ...]:
        return self.loop.body.iter_vars if isinstance(self.loop.body, Block) else ()

    def _is_apart(self, load: BufferLoad) -> bool:
        """Tell whether a load cannot alias the store of the loop."""
        mine, other = (
            self.state.environment.storage.get(load.buffer),
            self.state.environment.storage.get(self.store.buffer),
        )
        if mine is None or other is None or len(load.indices) != len(mine.extents):
            return False
        return mine.memory is None and mine.pointer != other.pointer

    def _can_load(self, load: BufferLoad) -> bool:
        place = self.strides.of_access(load)
        if place is not None and self.is_proven(load):
            step = constant_of(place[0].get(self.loop, {})) or 0
            self.strided[load] = (step, place[1])
            return 0 < step <= FARTHEST
        kinds = {self.state.scalar_of(index).kind for index in load.indices}
        if not kinds <= {"int", "uint"} or place is not None:
            # A row at an indirect index is guarded once per row, which is cheaper than to check each element.
            return False
        is_taken = all(self.can_take(index) for index in load.indices)
        self.gathered.append(load)
        return is_taken


def _is_plain(scalar: ScalarType) -> bool:
    return scalar.kind != "bool" and not scalar.is_narrowed
