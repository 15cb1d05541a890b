"""Recognise a loop nest as a contraction: affine and quotient indices, the conditions of guarded loads, legality."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from relax_core.ir.integer.affine import Affine, affine_of, affine_of_binding, overlapping
from relax_core.ir.integer.interval import EVERYTHING, Interval, count_interval, dtype_interval
from relax_core.ir.node import Node, children, postorder
from relax_core.ir.prim import (
    Binary,
    BinaryKind,
    FloatImm,
    IntImm,
    Intrinsic,
    PrimExpr,
    PrimVar,
    Select,
    dtype_of,
)
from relax_core.ir.tir import Block, BufferLoad, BufferStore, For, Stmt
from relax_core.jit.lowering.state import State
from relax_core.jit.transforms.contractions.contraction import Contraction, Dim, Divided, Guard, Operand, Quotient
from relax_core.jit.transforms.nest import TOO_MANY_ITERATIONS, are_too_many

# What the copies of guarded loads compute from dividends of 32 bits stays far below 64.
SMALL = dtype_interval("int32")


@dataclass(slots=True)
class Reading:
    """What is known while a nest is read: variables as sums over the axes, their values, and what was divided."""

    state: State
    dims: list[Dim]
    known: dict[PrimVar, Affine]
    intervals: dict[PrimVar, Interval]
    divided: list[Divided] = field(default_factory=list[Divided])

    def affine(self, expr: PrimExpr) -> Affine | None:
        """Read an index."""
        return affine_of(expr, self.known, self.intervals)

    def quotient(self, expr: PrimExpr) -> Quotient | None:
        """Read an index that may be a quotient."""
        whole = self.affine(expr)
        if whole is not None:
            return Quotient(whole)
        match expr:
            case Binary(op="//", a=a, b=IntImm(value=divisor)) if divisor > 0:
                inner = self.affine(a)
                return None if inner is None else Quotient(inner, divisor)
            case _:
                return None

    def interval(self, value: Affine) -> Interval | None:
        """Return the values of a sum over the axes and over variables around the nest."""
        around = {var: self.state.bounds.interval(var) for var in value.coefficients if var not in self.intervals}
        return value.interval({**around, **self.intervals})

    def is_exact(self, value: Affine, expr: PrimExpr) -> bool:
        """Tell whether `value`, read from `expr`, has not wrapped around: it fits that dtype, and 32 bits."""
        found = self.interval(value)
        limits = (dtype_interval(dtype_of(expr)), SMALL)
        return found is not None and all(found.is_within(item) for item in limits)


@dataclass(frozen=True, slots=True)
class Conditions:
    """Sums that are not negative, and sums that are multiples of a number."""

    naturals: tuple[Affine, ...] = ()
    multiples: tuple[Quotient, ...] = ()

    @property
    def are_trivial(self) -> bool:
        """Tell whether they always hold."""
        return not self.naturals and not self.multiples


def read_conditions(reading: Reading, condition: PrimExpr) -> Conditions | str:
    """Read a conjunction of comparisons, or say what it is instead."""
    naturals: list[Affine] = []
    multiples: list[Quotient] = []
    stack = [condition]
    while stack:
        match stack.pop():
            case Binary(op="and", a=a, b=b):
                stack += (a, b)
            case Intrinsic(name="likely", args=(inner,)):
                stack.append(inner)
            case Binary(op="==", a=Binary(op="%", a=a, b=IntImm(value=divisor)), b=IntImm(value=0)) if divisor > 0:
                whole = reading.affine(a)
                if whole is None or not reading.is_exact(whole, a):
                    return "a remainder in a condition is of no sum of loop variables"
                multiples.append(Quotient(whole, divisor))
            case Binary(op="<" | "<=" | ">" | ">=" as op, a=a, b=b):
                sides = (a, b) if op in ("<", "<=") else (b, a)
                difference = _difference(reading, sides, is_strict=op in ("<", ">"))
                if difference is None:
                    return "a condition compares no sums of loop variables"
                naturals.append(difference)
            case _:
                return "a condition is no comparison of indices"
    return Conditions(tuple(item for item in naturals if not _always(reading, item)), tuple(multiples))


def valid_dividends(quotients: Sequence[Quotient], conditions: Conditions) -> tuple[Interval, ...] | None:
    """Return the values that the conditions allow for each quotient; `None` if one of them is about anything else."""
    valid = [EVERYTHING for _ in quotients]
    for condition in conditions.naturals:
        for at, quotient in enumerate(quotients):
            below, above = quotient.dividend.plus(condition), condition.plus(quotient.dividend, -1)
            if quotient.dividend.coefficients and not below.coefficients:
                valid[at] = Interval(valid[at].low, min(valid[at].high, below.constant))
                break
            if quotient.dividend.coefficients and not above.coefficients:
                valid[at] = Interval(max(valid[at].low, -above.constant), valid[at].high)
                break
        else:
            return None
    divided = [quotient for quotient in quotients if quotient.divisor > 1]
    are_matched = all(quotient in conditions.multiples for quotient in divided) and all(
        quotient in divided for quotient in conditions.multiples
    )
    return tuple(valid) if are_matched else None


def _difference(reading: Reading, sides: tuple[PrimExpr, PrimExpr], *, is_strict: bool) -> Affine | None:
    """Return a sum that is not negative where the first side is less than the second, or equal unless `is_strict`."""
    left, right = (reading.quotient(side) for side in sides)
    if left is None or right is None:
        return None
    if not (reading.is_exact(left.dividend, sides[0]) and reading.is_exact(right.dividend, sides[1])):
        return None
    strict = Affine(-1 if is_strict else 0)
    if left.divisor == right.divisor == 1:
        return right.dividend.plus(left.dividend, -1).plus(strict)
    # A quotient is at least a constant where the dividend is at least so many times the divisor.
    if right.divisor > 1 and not left.dividend.coefficients and left.divisor == 1:
        return right.dividend.plus(left.dividend.plus(strict, -1), -right.divisor)
    if left.divisor > 1 and not right.dividend.coefficients and right.divisor == 1:
        highest = right.dividend.plus(strict).times(left.divisor).plus(Affine(left.divisor - 1))
        return highest.plus(left.dividend, -1)
    return None


def _always(reading: Reading, value: Affine) -> bool:
    found = reading.interval(value)
    return found is not None and found.low >= 0


NO_CONDITIONS = Conditions()


@dataclass(frozen=True, slots=True)
class Accumulation:
    """A store that combines `term` with what its element, the load `own`, holds, in the order of the text."""

    update: BufferStore
    own: BufferLoad
    op: BinaryKind
    term: PrimExpr
    is_term_first: bool


def accumulation(store: BufferStore) -> Accumulation | None:
    """Read a store as an accumulation, or return `None`."""
    match store.value:
        case Binary(op="+" | "*" | "max" | "min" as op, a=BufferLoad() as own, b=term) if own.buffer is store.buffer:
            return Accumulation(store, own, op, term, is_term_first=False)
        case Binary(op="+" | "*" | "max" | "min" as op, a=term, b=BufferLoad() as own) if own.buffer is store.buffer:
            return Accumulation(store, own, op, term, is_term_first=True)
        case _:
            return None


def read_contraction(state: State, loop: For) -> Contraction | str | None:
    """Read the nest that starts at `loop`, or say in words why it cannot be taken.

    `None` if it accumulates nothing, or nothing that is read for several elements and no guarded load.
    """
    loops = [loop]
    while isinstance(inner := loops[-1].body, For):
        loops.append(inner)
    block = inner if isinstance(inner, Block) else None
    store = inner if block is None else block.body
    found = accumulation(store) if isinstance(store, BufferStore) else None
    if found is None:
        return None
    reading = _axes(state, loops)
    if isinstance(reading, str):
        return reading
    if reading is None:
        return None
    reduced = _bind_block(reading, block)
    if isinstance(reduced, str):
        return reduced
    return _operands(reading, loop, found, (None if block is None else block.init, reduced))


def _axes(state: State, loops: Sequence[For]) -> Reading | str | None:
    """Read the loops; `None` if one of them never runs."""
    known = {var: Affine(value) for var, value in state.bounds.values.items()}
    reading = Reading(state, [], known, {})
    for item in loops:
        extent = state.bounds.constant(item.extent)
        if extent is None or state.bounds.constant(item.start) != 0 or item.step is not None:
            return "a loop has no constant extent, a step, or does not start at 0"
        if item.kind == "thread_binding":
            return "a loop is bound to a thread"
        if extent <= 0:
            return None
        if extent == 1:
            known[item.var] = Affine(0)
        else:
            reading.dims.append(Dim(item.var, extent))
            reading.intervals[item.var] = count_interval(extent)
    return TOO_MANY_ITERATIONS if are_too_many([dim.extent for dim in reading.dims]) else reading


def _bind_block(reading: Reading, block: Block | None) -> frozenset[PrimVar] | str | None:
    """Bind the variables of a block; return the loop variables of its reductions, `None` without a block."""
    if block is None:
        return None
    if block.predicate is not None or block.matches or block.alloc_buffers:
        return "the block has a predicate or buffers of its own"
    _split(reading, block)
    reduced: set[PrimVar] = set()
    for item in block.iter_vars:
        value = affine_of_binding(item, reading.known, reading.intervals)
        if value is None or (item.start is not None and reading.state.bounds.constant(item.start) != 0):
            return f"the block's variable `{item.var.name}` is no sum of loop variables from 0"
        reading.known[item.var] = value
        if item.kind == "reduce":
            if value.constant or any(factor < 0 for factor in value.coefficients.values()):
                return f"the reduction over `{item.var.name}` does not start where its loops do"
            reduced.update(value.coefficients)
    return frozenset(reduced)


def _split(reading: Reading, block: Block) -> None:
    """Read an axis that is divided by a number as two: of the groups of a convolution, and inside of one."""
    loop_of = {item.var: item.binding for item in block.iter_vars}
    for node in postorder(block.body):
        match node:
            case Binary(op="//" | "%", a=PrimVar() as var, b=IntImm(value=divisor)) if divisor > 1:
                whole = loop_of.get(var, var)
                at = next((at for at, dim in enumerate(reading.dims) if dim.var is whole), None)
                if at is not None and reading.dims[at].extent % divisor == 0 and reading.dims[at].extent > divisor:
                    _split_dim(reading, at, divisor)
            case _:
                pass


def _split_dim(reading: Reading, at: int, divisor: int) -> None:
    dim = reading.dims[at]
    outer = Dim(PrimVar(f"{dim.var.name}_group", dim.var.dtype), dim.extent // divisor)
    inner = Dim(PrimVar(f"{dim.var.name}_inner", dim.var.dtype), divisor)
    reading.dims[at : at + 1] = [outer, inner]
    reading.divided.append(Divided(dim.var, outer, inner))
    reading.known[dim.var] = Affine(0, {outer.var: divisor, inner.var: 1})
    for part in (outer, inner):
        reading.intervals[part.var] = count_interval(part.extent)


def _operands(
    reading: Reading,
    loop: For,
    found: Accumulation,
    starting: tuple[Stmt | None, frozenset[PrimVar] | None],
) -> Contraction | str | None:
    init, reduced = starting
    out = _operand(reading, found.update)
    read_back = _operand(reading, found.own)
    if isinstance(out, str):
        return out
    if isinstance(read_back, str) or read_back.offset != out.offset:
        return "it reads another element than it writes"
    value: PrimExpr | None = None
    if init is not None:
        started = _operand(reading, init) if isinstance(init, BufferStore) else "its initialisation is no store"
        if isinstance(started, str) or started.storage != out.storage or started.offset != out.offset:
            return "the initialisation writes another element"
        assert isinstance(init, BufferStore)
        value = init.value
    operands = _leaves(reading, (found.term,) if value is None else (found.term, value))
    if isinstance(operands, str):
        return operands
    spatial = tuple(dim for dim in reading.dims if out.stride(dim))
    reduce = tuple(dim for dim in reading.dims if not out.stride(dim))
    start = init if isinstance(init, BufferStore) else None
    made = Contraction(
        *(loop, spatial, reduce, out, found.op, found.term, value, operands, found.is_term_first, start),
        divided=tuple(reading.divided),
    )
    refused = _legality(made, reduced)
    if refused:
        return refused
    uses = {frozenset(dim for dim in spatial if item.stride(dim)) for item in made.leaves(found.term)}
    is_guarded = any(item.guard is not None for item in operands.values())
    if not reduce or not (is_guarded or len(uses) > 1):
        return None
    # The block is initialised where the variables of its reductions are 0: where all loops of the nest start, unless
    # a loop around the nest is part of one of them.
    if init is not None and reduced is not None and reduced - {dim.var for dim in made.dims}:
        return "a loop around it is part of a variable that it reduces over"
    return made


def _legality(made: Contraction, reduced: frozenset[PrimVar] | None) -> str:
    """Say why the order of the spatial axes matters, or return an empty string."""
    buffers = {made.out.access.buffer, *(item.access.buffer for item in made.operands.values())}
    if any(item.access.buffer is made.out.access.buffer for item in made.operands.values()):
        return "an operand is read from what is written"
    if len(buffers) > 1 and any(item.storage.memory for item in (made.out, *made.operands.values())):
        return "a buffer is a view, which may overlap another"
    is_mixed = any((dim.var in reduced) == (dim in made.spatial) for dim in made.dims) if reduced is not None else False
    if is_mixed and made.init is not None:
        return "an axis is neither wholly spatial nor a reduction"
    if overlapping((dim, made.out.stride(dim), dim.extent) for dim in made.spatial) is not None:
        return "several values of the spatial axes write the same element"
    return ""


def _leaves(reading: Reading, exprs: Sequence[PrimExpr]) -> dict[PrimExpr, Operand] | str:
    """Read the loads, and the guarded loads, of expressions."""
    found: dict[PrimExpr, Operand] = {}
    stack: list[Node] = [*exprs]
    while stack:
        node = stack.pop()
        match node:
            case BufferLoad():
                operand = _operand(reading, node)
            case Select(condition=condition, true_value=BufferLoad() as load, false_value=FloatImm() | IntImm()):
                conditions = read_conditions(reading, condition)
                operand = conditions if isinstance(conditions, str) else _operand(reading, load, conditions)
                if not isinstance(operand, str) and operand.guard is not None:
                    operand = replace(operand, guard=replace(operand.guard, default=node.false_value))
            case _:
                stack += children(node)
                continue
        if isinstance(operand, str):
            return operand
        found[node] = operand
    return found


def _operand(
    reading: Reading, access: BufferLoad | BufferStore, conditions: Conditions = NO_CONDITIONS
) -> Operand | str:
    """Read an access that is proven to be in range where the conditions hold."""
    name = access.buffer.name
    storage = reading.state.environment.storage.get(access.buffer)
    if storage is None or len(access.indices) != len(storage.extents):
        return f"`{name}` is no plain buffer of scalars"
    offset = Affine()
    quotients: list[Quotient] = []
    for index, stride in zip(access.indices, storage.strides, strict=True):
        quotient = reading.quotient(index)
        if quotient is None:
            return f"an index of `{name}` is no sum of loop variables"
        if "%" in stride:
            return f"the shape of `{name}` is not constant"
        quotients.append(quotient)
        offset = offset.plus(quotient.dividend, int(stride))
    valid = valid_dividends(quotients, conditions)
    if valid is None:
        return f"the condition of the load of `{name}` is not one of its indices"
    for index, quotient, limits, extent in zip(access.indices, quotients, valid, storage.extents, strict=True):
        values = reading.interval(quotient.dividend)
        if values is not None and not values.is_within(dtype_interval(dtype_of(index))):
            return f"an index of `{name}` may wrap around"
        if values is None or "%" in extent or not reading.is_exact(quotient.dividend, index):
            return f"the indices of `{name}` are not known well enough"
        low, high = max(values.low, limits.low), min(values.high, limits.high)
        if low // quotient.divisor < 0 or high // quotient.divisor >= int(extent):
            return f"an index of `{name}` is not proven to be in range"
    guard = None if conditions.are_trivial else Guard(tuple(quotients), valid, IntImm(0))
    return Operand(access, storage, offset, guard)
