"""Blocks that move to another loop: whether they may, and the loops that they get there."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from relax_core.ir.integer.bounds import Bounds
from relax_core.ir.integer.polynomial import add, constant
from relax_core.ir.intrinsics import FAMILIES, RESULTS, SAME
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import IntImm, Intrinsic, PrimExpr, PrimVar, binary, dtype_of, is_number
from relax_core.ir.tir import (
    NOTHING,
    AssertStmt,
    Block,
    Buffer,
    BufferRef,
    BufferStore,
    Evaluate,
    For,
    IterVar,
    SeqStmt,
    Stmt,
    While,
    seq,
)
from relax_core.passes.core import PassContext
from relax_core.passes.tir.arithmetic import fits, tidy, written
from relax_core.passes.tir.schedule.instances import Instances, instances_of
from relax_core.passes.tir.schedule.loops.iterations import is_shared
from relax_core.passes.tir.schedule.nest import UNKNOWN, Nest, no_aliases
from relax_core.passes.tir.schedule.regions import IndexRange
from relax_core.passes.tir.schedule.scope import (
    free_variables,
    holder_of,
    loops_of,
    only_elements,
    outer_variables,
    path_to,
    top_level,
    with_given,
    with_stmts,
)
from relax_core.passes.tir.sequences import leaves_early


@dataclass(frozen=True, slots=True)
class ComputeAtOptions:
    """A block, the loop that it moves to, and whether it gets loops that run once."""

    block: str
    loop: str
    preserve_unit_loops: bool = False
    function: str = ""


@dataclass(frozen=True, slots=True)
class ComputeLocation:
    """The last of `loops`, which stand in each other; it is in the statement `number` under the root."""

    loops: tuple[For, ...]
    number: int

    @property
    def loop(self) -> For:
        """The loop that the block moves to."""
        return self.loops[-1]


def location_of(nest: Nest, name: str, others: Sequence[Node], verb: str) -> ComputeLocation:
    """Return the loop `name` around all of `others`, the accesses of what the block writes or reads: they `verb` it."""
    around = [loops_of(nest, node) for node in others]
    if not any(loop.var.name == name for loops in around for loop in loops):
        names = ", ".join(dict.fromkeys(loop.var.name for loops in around for loop in loops)) or "none"
        nest.ctx.fail(UNKNOWN, f"no block that {verb} has a loop {name or 'without a name'}", nest.block,
                      f"their loops: {names}")  # fmt: skip
    first = around[0]
    found = [loop for loop in first if loop.var.name == name and all(loop in loops for loops in around)]
    if len(found) != 1:
        lost = next(
            (node for node, loops in zip(others, around, strict=True) if not set(loops) & set(found)), others[0]
        )
        message = f"not every block that {verb} stands under one loop {name}"
        nest.refuse(message, lost, "take a loop around all of them, or move them there first")
    loops = first[: first.index(found[0]) + 1]
    return ComputeLocation(loops, holder_of(nest, found[0]))


def whole_instances(nest: Nest) -> Instances:
    """Return the digits of the block's iteration variables; refuse one whose loops do not run each instance once."""
    block = nest.block
    stmt = top_level(nest.function)[holder_of(nest, block)]
    odd = next((item for item in path_to(stmt, block)[:-1] if not isinstance(item, For | SeqStmt)), None)
    if odd is not None:
        nest.refuse(f"{block.name} stands under a statement that is no loop", odd, "move blocks that only loops hold")
    if leaves_early(stmt):
        hint = "write the condition as an if around the statements"
        nest.refuse(f"the loops of {block.name} have a break or a continue in them", stmt, hint)
    instances = instances_of(nest)
    if instances is None:
        message = f"it is not seen that the loops of {block.name} run each of its instances once"
        nest.refuse(message, block, "move it before its loops are divided or joined, or bind it to all of their values")
    return instances


def stored_axes(nest: Nest, block: Block, buffer: Buffer) -> tuple[IterVar | None, ...]:
    """Return per dimension of `buffer` the spatial iteration variable that `block` stores at; `None`: one for all.

    The stores of a block are those into `buffer`, each at the same element, and its instances write elements of their
    own.
    """
    axes = {axis.var: axis for axis in block.iter_vars if axis.kind == "spatial"}
    stores = [item for item in preorder(block) if isinstance(item, BufferStore)]
    found = {tuple(axes.get(it) if isinstance(it, PrimVar) else None for it in store.indices) for store in stores}
    variables = {axis.var for axis in block.iter_vars}
    for store in stores:
        rest = [item for item in store.indices if item not in axes]
        if store.buffer is not buffer or any(part in variables for item in rest for part in preorder(item)):
            hint = f"a block that moves is {buffer.name}[vi, vj] = ..."
            nest.refuse(f"{block.name} does not store at its iteration variables", store, hint)
    (stored, *others) = found
    used = [axis for axis in stored if axis is not None]
    needed = [axis for axis in axes.values() if not is_number(axis.extent, 1)]
    if others or len(set(used)) < len(used) or not set(needed) <= set(used):
        message = f"several instances of {block.name} may write the same element of {buffer.name}"
        nest.refuse(message, block, "each spatial iteration variable is an index of what is written, once")
    return stored


def only_simple(nest: Nest, block: Block) -> None:
    """Refuse a block that does more than to store: with blocks or views in it, calls, or variables of its loops."""
    odd = next((item for item in preorder(block) if _is_other(item) and item is not block), None)
    if odd is not None or block.matches:
        nest.refuse(f"{block.name} does more than to store", odd or block, "move blocks of stores")
    axis = next((axis for axis in block.iter_vars if axis.kind not in ("spatial", "reduce")), None)
    if axis is not None:
        nest.refuse(f"{axis.var.name} of {block.name} is neither spatial nor a reduction", block,
                    "the iterations of such a block have an order")  # fmt: skip
    outer = outer_variables(nest.function)
    lost = next((item for item in free_variables(block) if item not in outer), None)
    if lost is not None:
        hint = "bind it to an iteration variable"
        nest.refuse(f"{block.name} uses {lost.name}, which has no value in the other loops", block, hint)


def _is_other(node: Node) -> bool:
    """Tell whether a node is a block, or does what another run of it would not do again."""
    match node:
        case Intrinsic(name=name):
            return name.startswith(FAMILIES) or (RESULTS.get(name, SAME) != SAME and "pure" not in name)
        case Evaluate(value=value):
            return not isinstance(value, IntImm)
        case Block() | While() | AssertStmt():
            return True
        case _:
            return False


def only_stores_between(nest: Nest, stmts: Sequence[Stmt], buffers: Iterable[Buffer]) -> None:
    """Refuse what a block cannot move past: calls, and memory that has several names or is handed on."""
    for buffer in buffers:
        only_elements(nest, buffer)
    for item in (part for stmt in stmts for part in preorder(stmt)):
        if isinstance(item, BufferRef) or (isinstance(item, Evaluate) and _is_other(item)):
            hint = "move blocks past loops of stores"
            nest.refuse(f"{nest.block.name} would move past a call", item, hint)
    no_aliases(nest, seq(list(stmts)))


def with_loops(
    nest: Nest, ranges: Mapping[IterVar, IndexRange], location: ComputeLocation, *, is_unit_kept: bool
) -> Stmt:
    """Return the block in loops of its own at `location`, for those values of its variables that lie in `ranges`.

    A variable without a range takes all of its values. Where a range may hold others, the block gets a condition.
    """
    bounds = nest.bounds()
    for loop in location.loops:
        bounds.enter_loop(loop)
    names = {loop.var.name for loop in location.loops}
    loops: list[For] = []
    axes: list[IterVar] = []
    condition: PrimExpr | None = None
    for axis in nest.block.iter_vars:
        dtype = axis.var.dtype
        given = ranges.get(axis)
        extent = axis.extent if given is None else IntImm(given.extent, dtype)
        value: PrimExpr = IntImm(0, dtype)
        if is_unit_kept or not is_number(extent, 1):
            value = PrimVar(_unused(names, len(loops)), dtype)
            loops.append(For(value, IntImm(0, dtype), extent, NOTHING, span=nest.block.span))
            bounds.enter_loop(loops[-1])
        binding = value if given is None else _sum(given.first(dtype), value)
        axes.append(replace(axis, binding=binding))
        for part in () if given is None else _limits(given, value, axis, bounds):
            condition = part if condition is None else binary("and", condition, part)
    result: Stmt = replace(nest.block, iter_vars=tuple(axes), predicate=condition)
    for loop in reversed(loops):
        result = replace(loop, body=result)
    return nest.ctx.derive(result, nest.block)


def _sum(start: PrimExpr, value: PrimExpr) -> PrimExpr:
    return start if is_number(value, 0) else value if is_number(start, 0) else binary("+", start, value)


def _unused(names: set[str], number: int) -> str:
    name = f"ax{number}"
    return (
        name if name not in names else next(it for n in range(1, len(names) + 2) if (it := f"{name}_{n}") not in names)
    )


def _limits(given: IndexRange, value: PrimExpr, axis: IterVar, bounds: Bounds) -> list[PrimExpr]:
    """Return the conditions under which a value of a range is one of the iteration variable, those that may fail."""
    dtype = axis.var.dtype
    varying = {key: item for key, item in given.start.items() if key}
    moved = tidy(binary("+", written(varying, dtype), value))
    shift = given.constant
    p = bounds.poly(moved)
    parts: list[PrimExpr] = []
    if not bounds.is_nonnegative(add(p, constant(shift))):
        parts.append(binary("<=", IntImm(-shift, dtype), moved))
    if not bounds.is_nonnegative(add(add(bounds.poly(axis.extent), p, -1), constant(-1 - shift))):
        parts.append(binary("<", moved, tidy(binary("-", axis.extent, IntImm(shift, dtype)))))
    return parts


def has_no_overflow(given: IndexRange, axis: IterVar, location: ComputeLocation, nest: Nest) -> bool:
    """Tell whether all sums of a range and the limits of an iteration variable are proven to fit their dtype."""
    if any(dtype_of(atom) != axis.var.dtype for atom, _ in given.start.values()):
        return False
    bounds = nest.bounds()
    for loop in location.loops:
        bounds.enter_loop(loop)
    dtype = axis.var.dtype
    first = given.first(dtype)
    varying = written({key: item for key, item in given.start.items() if key}, dtype)
    sums = [binary("+", part, IntImm(given.extent, dtype)) for part in (first, varying)]
    limit = binary("-", axis.extent, IntImm(given.constant, dtype))
    return given.extent < 1 << 31 and all(fits(item, bounds) for item in (first, varying, limit, *sums))


def moved(module: IRModule, nest: Nest, location: ComputeLocation, parts: Sequence[Stmt], made: Block) -> IRModule:
    """Return `module` with `parts` as the body of the loop at `location`, and without the block where it was.

    `made` is the block in `parts`. A loop around it whose iterations run at the same time is refused where they would
    write elements of each other.
    """
    ctx: PassContext = nest.ctx
    given: dict[Node, Stmt | None] = {nest.block: None, location.loop.body: seq(list(parts))}
    stmts = [with_given(stmt, given, ctx) for stmt in top_level(nest.function)]
    result = with_stmts(module, nest, [stmt for stmt in stmts if stmt is not None])
    function = next(item for var, item in result.prim_funcs if var.name == nest.name)
    after = replace(nest, function=function, block=made)
    loops = loops_of(after, made)
    after = replace(after, loops=loops)
    written_to = {item.buffer for item in preorder(made) if isinstance(item, BufferStore)}
    for loop in loops:
        if loop.kind == "vectorized" or any(_is_race(after, loop, buffer) for buffer in written_to):
            message = f"iterations of {loop.var.name}, which is {loop.kind}, may write the same elements"
            nest.refuse(message, location.loop, f"move {nest.block.name} before {loop.var.name} is {loop.kind}")
    return result


def _is_race(nest: Nest, loop: For, buffer: Buffer) -> bool:
    """Tell whether iterations that run at the same time may meet in memory that they share."""
    if loop.kind not in ("parallel", "thread_binding") or is_number(loop.extent, 1):
        return False
    is_own = buffer.scope == "local" or (buffer.scope.startswith("shared") and (loop.thread or "").startswith("block"))
    return not (loop.kind == "thread_binding" and is_own) and is_shared(nest, loop, buffer)
