"""Allocate each buffer in the innermost block or loop that holds all its uses."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from relax_core.analysis.tir_memory import memory_of
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children, map_children, postorder, preorder
from relax_core.ir.tir import (
    Block,
    Buffer,
    BufferLoad,
    BufferRef,
    BufferRegion,
    BufferStore,
    DeclBuffer,
    For,
    LaunchThread,
    MatchRegion,
    PrimFunc,
    Stmt,
)
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_prim_funcs
from relax_core.passes.tir.arithmetic import bounds_of
from relax_core.passes.tir.memory.initialised import first_foreign_load
from relax_core.passes.tir.memory.regions import enter_scopes, region_of, touched
from relax_core.passes.tir.memory.scopes import Path, Scope, paths_of


@dataclass(frozen=True, slots=True)
class Use:
    """Where a buffer is used; the memory of one that is used `as_whole` has other names."""

    path: Path
    as_whole: bool


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Move the buffers of blocks to the lowest common ancestor of their uses; drop those that have none.

    Memory in a loop is fresh in each iteration. So a buffer moves into a loop only where an iteration is proven to read
    nothing but what it has written itself; else it stays farther out, with a remark. TVM moves it nevertheless, so that
    a value which one iteration leaves for the next is lost, but for reductions. Into a vectorized loop nothing
    is moved.
    """
    return change_prim_funcs(module, ctx, lambda _, function: _planned(function, ctx))


def _planned(function: PrimFunc, ctx: PassContext) -> PrimFunc:
    owners = {buffer: path for path in paths_of(function.body) if isinstance(path[-1], Block)
              for buffer in path[-1].alloc_buffers}  # fmt: skip
    if not owners:
        return function
    uses = _uses(function, frozenset(owners))
    places: dict[Path, list[Buffer]] = {}
    moved: list[Buffer] = []
    for buffer, owner in owners.items():
        place = _place(function, buffer, owner, uses.get(buffer, ()), ctx)
        if place != owner:
            moved.append(buffer)
            if place:
                places.setdefault(place, []).append(buffer)
    return _moved(function, places, frozenset(moved), ctx) if moved else function


def _uses(function: PrimFunc, buffers: frozenset[Buffer]) -> Mapping[Buffer, Sequence[Use]]:
    found: dict[Buffer, list[Use]] = {}
    stack: list[tuple[Stmt, Path]] = [(function.body, ())]
    while stack:
        stmt, path = stack.pop()
        inside = (*path, stmt) if isinstance(stmt, Scope) else path
        for part in children(stmt):
            if isinstance(part, Stmt):
                stack.append((part, inside))
                continue
            # The bindings, the condition and the views of a block, as the range of a loop, are evaluated around it.
            for item in preorder(part):
                match item:
                    case BufferLoad(buffer=buffer) if buffer in buffers:
                        found.setdefault(buffer, []).append(Use(path, as_whole=False))
                    case BufferRef(buffer=buffer) if buffer in buffers:
                        found.setdefault(buffer, []).append(Use(path, as_whole=True))
                    case MatchRegion(region=region) if region.buffer in buffers:
                        found.setdefault(region.buffer, []).append(Use(path, as_whole=True))
                    case _:
                        pass
        if isinstance(stmt, BufferStore) and stmt.buffer in buffers:
            found.setdefault(stmt.buffer, []).append(Use(path, as_whole=False))
    return found


def _place(function: PrimFunc, buffer: Buffer, owner: Path, uses: Sequence[Use], ctx: PassContext) -> Path:
    """Return the block or loop that is to allocate a buffer, with what is around it; nothing if none has to."""
    if not uses:
        ctx.remark(owner[-1], "applied", f"{buffer.name} is not allocated: nothing reads or writes it")
        return ()
    common = uses[0].path
    for use in uses[1:]:
        common = tuple(a for a, b in zip(common, use.path, strict=False) if a is b)
    candidates = [path for path in _prefixes(common) if len(path) > len(owner) and _may_hold(path[len(owner) :])]
    reason: Node | None = None
    for path in candidates:
        crossed = [item for item in path[len(owner) :] if isinstance(item, For | LaunchThread)]
        if any(use.as_whole for use in uses) and crossed:
            ctx.remark(owner[-1], "missed", f"{buffer.name} stays outside of the loops: its memory has other names")
            return owner
        load = _foreign(function, buffer, path) if crossed else None
        if load is None:
            ctx.remark(path[-1], "applied", f"{buffer.name} is allocated in {_name(path[-1])}")
            return path
        reason = reason or load
    if reason is not None:
        message = f"{buffer.name} stays where it is: an iteration may read what another one left in it"
        ctx.remark(owner[-1], "missed", message, (reason,))
    return owner


def _prefixes(path: Path) -> Iterator[Path]:
    """Yield the beginnings of a path that end in a loop or a block, the longest first."""
    for length in range(len(path), 0, -1):
        if isinstance(path[length - 1], For | Block):
            yield path[:length]


def _may_hold(inside: Path) -> bool:
    """Tell whether memory may be allocated in the innermost of these scopes: lanes of a vector have none."""
    return not any(isinstance(item, For) and item.kind == "vectorized" for item in inside)


def _foreign(function: PrimFunc, buffer: Buffer, path: Path) -> Node | None:
    """Return a load that may read what another iteration or execution of the innermost scope has left."""
    bounds = bounds_of(function)
    enter_scopes(bounds, path)
    scope = path[-1]
    assert isinstance(scope, For | Block), "these hold buffers"
    if isinstance(scope, Block) and scope.init is not None:
        scope = replace(scope, iter_vars=(), predicate=None)
        return first_foreign_load(scope, buffer, bounds)
    return first_foreign_load(scope.body, buffer, bounds)


def _name(scope: Stmt) -> str:
    match scope:
        case For(var=var):
            return f"each iteration of {var.name}"
        case Block(name=name) if name:
            return f"the block {name}"
        case _:
            return "an inner block"


def _moved(
    function: PrimFunc, places: Mapping[Path, Sequence[Buffer]], moved: frozenset[Buffer], ctx: PassContext
) -> PrimFunc:
    """Return the function in which the scopes of `places` allocate the `moved` buffers that are given there."""
    order = list(memory_of(function).allocated)
    given = {path[-1]: tuple(sorted(buffers, key=order.index)) for path, buffers in places.items()}
    paths = {path[-1]: path for path in places}
    memo: dict[Node, Node] = {}
    for current in postorder(function):
        new = map_children(current, memo.__getitem__)
        if isinstance(current, Block) and isinstance(new, Block):
            inside = frozenset(buffer for path, buffers in places.items() if current in path for buffer in buffers)
            kept = [item for item in new.alloc_buffers if item not in moved]
            new = _without(new, inside)
            if len(kept) < len(new.alloc_buffers) or current in given:
                new = replace(new, alloc_buffers=tuple(sorted((*kept, *given.get(current, ())), key=order.index)))
                new = new.body if current is function.body and _is_implied(new) else new
        elif isinstance(current, For) and isinstance(new, For) and current in given:
            path = paths[current]
            within = (buffers for other, buffers in places.items() if other[: len(path)] == path)
            reads, writes = _regions(function, path, moved, frozenset(chain.from_iterable(within)))
            block = Block("", (), new.body, alloc_buffers=given[current], reads=reads, writes=writes)
            new = replace(new, body=ctx.derive(block, current))
        ctx.log.rebuilt(current, new)
        memo[current] = new
    result = memo[function]
    assert isinstance(result, PrimFunc), "a function stays one"
    return result


def _without(block: Block, inside: frozenset[Buffer]) -> Block:
    """Return a block that does not say what it reads and writes of buffers that are its own, or of a block in it."""

    def rest(regions: tuple[BufferRegion, ...] | None) -> tuple[BufferRegion, ...] | None:
        return None if regions is None else tuple(item for item in regions if item.buffer not in inside)

    said = (*(block.reads or ()), *(block.writes or ()))
    if not any(item.buffer in inside for item in said):
        return block
    return replace(block, reads=rest(block.reads), writes=rest(block.writes))


def _is_implied(block: Block) -> bool:
    """Tell whether a block is the root that a text leaves out if it says nothing."""
    is_bare = not (block.iter_vars or block.alloc_buffers or block.annotations or block.matches)
    return block.name == "root" and is_bare and not (block.reads or block.writes or block.predicate or block.init)


def _regions(
    function: PrimFunc, path: Path, moved: frozenset[Buffer], within: frozenset[Buffer]
) -> tuple[tuple[BufferRegion, ...] | None, tuple[BufferRegion, ...] | None]:
    """Return what one iteration of a loop reads and writes of the buffers outside; `None` if that is not known.

    Buffers that are moved `within` the loop are none of these, other `moved` ones are.
    """
    loop = path[-1]
    assert isinstance(loop, For), "a block has its own"
    bounds = bounds_of(function)
    enter_scopes(bounds, path)
    blocks = (item for item in preorder(loop.body) if isinstance(item, Block))
    own = within | {buffer for item in blocks for buffer in item.alloc_buffers if buffer not in moved}
    accesses = [item for item in preorder(loop.body) if isinstance(item, BufferLoad | BufferStore)]
    seen = tuple(item for item in dict.fromkeys(access.buffer for access in accesses) if item not in own)
    if any(isinstance(item, BufferRef | MatchRegion | DeclBuffer) for item in preorder(loop.body)):
        return None, None
    unsaid = _unsaid(loop.body)
    found = [item for item in touched(loop.body, bounds, seen) if item.access not in unsaid]
    regions: list[list[BufferRegion]] = []
    for is_store in (False, True):
        of_kind = [item for item in found if isinstance(item.access, BufferStore) == is_store]
        made = [
            region_of(buffer, [item for item in of_kind if item.access.buffer is buffer], bounds)
            for buffer in dict.fromkeys(item.access.buffer for item in of_kind)
        ]
        regions.append([item for item in made if item is not None])
        if None in made:
            return None, None
    return tuple(regions[0]), tuple(regions[1])


def _unsaid(body: Stmt) -> set[Node]:
    """Return the accesses that the block around them leaves out of what it says: a reduction reads its own values."""
    found: set[Node] = set()
    for block in preorder(body):
        if isinstance(block, Block) and block.reads is not None and block.writes is not None:
            said = {item.buffer for item in (*block.reads, *block.writes)}
            read = {item.buffer for item in block.reads}
            for item in preorder(block.body):
                match item:
                    case BufferLoad(buffer=buffer) if buffer in said and buffer not in read:
                        found.add(item)
                    case _:
                        pass
    return found


PASS = Pass(
    "PlanAndUpdateBufferAllocationLocation",
    "Allocates buffers in the innermost loop or block that holds all their uses.",
    run,
    see="tvm/src/s_tir/transform/plan_update_buffer_allocation_location.cc",
    dialect="tir",
)
