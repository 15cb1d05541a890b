"""The statements of a prim func that stand side by side under its root, and the buffers that are allocated there."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeVar, cast

from relax_core.analysis.tir_memory import memory_of
from relax_core.ir.integer.prove import prove_equal
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children, map_children, postorder, preorder
from relax_core.ir.prim import IntImm, LetExpr, PrimExpr, PrimVar
from relax_core.ir.tir import (
    Allocate,
    Block,
    Buffer,
    BufferLoad,
    BufferRef,
    BufferRegion,
    BufferStore,
    DeclBuffer,
    For,
    IterVar,
    LaunchThread,
    LetStmt,
    PrimFunc,
    SeqStmt,
    Stmt,
    seq,
)
from relax_core.passes.core import PassContext
from relax_core.passes.functions import change_prim_funcs
from relax_core.passes.tir.schedule.nest import Nest, guard_of
from relax_core.passes.tir.sequences import leaves_early

N = TypeVar("N", bound=Node)
BufferPlace = tuple[Literal["read", "write"], int]
"""Which of the buffers that a block reads, or writes: `("read", 0)` is the first that it reads."""


def top_level(function: PrimFunc) -> tuple[Stmt, ...]:
    """Return the statements under the root block and the declarations of buffers."""
    body = _inner(function.body)
    return body.stmts if isinstance(body, SeqStmt) else (body,)


def _inner(body: Stmt) -> Stmt:
    while isinstance(body, DeclBuffer) or _is_root(body):
        assert isinstance(body, DeclBuffer | Block), "only these are looked through"
        body = body.body
    return body


def _is_root(stmt: Stmt) -> bool:
    return isinstance(stmt, Block) and stmt.name == "root" and not stmt.iter_vars


def with_top_level(function: PrimFunc, stmts: Sequence[Stmt], added: tuple[Buffer, ...], ctx: PassContext) -> PrimFunc:
    """Return `function` with these statements under its root, which allocates the buffers `added` as well."""
    inner = _inner(function.body)
    new = seq(list(stmts))

    def put(node: Node) -> Node | None:
        if node is inner:
            return new
        if isinstance(node, Block) and _is_root(node) and added:
            return replace(node, alloc_buffers=(*node.alloc_buffers, *added))
        return None

    put.__doc__ = "Rule: the statements of the function -> with one more."
    body = ctx.rewrite(function.body, put)
    if added and not any(_is_root(item) for item in preorder(function.body) if isinstance(item, Stmt)):
        body = ctx.derive(Block("root", (), body, alloc_buffers=added), function.body)
    return replace(function, body=body)


def with_stmts(module: IRModule, nest: Nest, stmts: Sequence[Stmt], added: tuple[Buffer, ...] = ()) -> IRModule:
    """Return `module` in which the function of the nest has these statements under its root."""
    ctx = nest.ctx
    return change_prim_funcs(
        module, ctx, lambda _, it: with_top_level(it, stmts, added, ctx) if it is nest.function else it
    )


def numbered(nest: Nest, verb: str, found: Sequence[Buffer], number: int) -> Buffer:
    """Return one of the buffers that the block `verb`, "reads" or "writes"."""
    if not 0 <= number < len(found):
        names = ", ".join(item.name for item in found) or "none"
        nest.refuse(f"{nest.block.name} {verb} {len(found)} buffers, not one with the number {number}", nest.block,
                    f"numbers begin at 0: {names}")  # fmt: skip
    return found[number]


def only_elements(nest: Nest, buffer: Buffer) -> None:
    """Refuse a buffer that has other names or whose memory is handed on, so that not all accesses are seen."""
    memory = memory_of(nest.function)
    is_view = memory.owner(buffer) is not buffer or any(memory.owner(view) in (buffer, None) for view in memory.views)
    refs = (item for item in preorder(nest.function.body) if isinstance(item, BufferRef))
    if is_view or any(item.buffer is buffer for item in refs):
        nest.refuse(f"the memory of {buffer.name} is used as a whole", nest.block, "take what is accessed by elements")


def copy_in(buffer: Buffer, storage_scope: str) -> Buffer:
    """Return a buffer in another scope for the elements of `buffer`."""
    return replace(buffer, name=name_in(buffer, storage_scope), scope=storage_scope, strides=())


def holder_of(nest: Nest, node: Node) -> int:
    """Return which of the statements under the root holds `node`."""
    return next(
        number for number, stmt in enumerate(top_level(nest.function)) if any(it is node for it in preorder(stmt))
    )


def writers_of(buffer: Buffer, function: PrimFunc) -> tuple[BufferStore, ...]:
    """Return the stores into `buffer`."""
    return tuple(it for it in postorder(function.body) if isinstance(it, BufferStore) and it.buffer is buffer)


def block_of(store: BufferStore, function: PrimFunc) -> Block | None:
    """Return the innermost block around a store."""
    found: Block | None = None
    for item in preorder(function.body):
        if isinstance(item, Block) and any(part is store for part in preorder(item)):
            found = item
    return found


def loops_around(block: Block, function: PrimFunc) -> Iterator[For]:
    """Yield the loops that hold `block`."""
    for item in preorder(function.body):
        if isinstance(item, For) and any(part is block for part in preorder(item)):
            yield item


def writes_all(block: Block, buffer: Buffer, function: PrimFunc) -> bool:
    """Tell whether `block` is seen to write every element of `buffer`.

    It stores at its spatial variables, each of which is a loop over the whole dimension, and nothing skips it.
    """
    stores = [item for item in preorder(block) if isinstance(item, BufferStore) and item.buffer is buffer]
    variables = {item.var: item for item in block.iter_vars}
    loops = {item.var: item for item in loops_around(block, function)}
    may_skip = guard_of(block, function.body) is not None or any(leaves_early(item.body) for item in loops.values())
    if may_skip or block.predicate is not None or not isinstance(block.body, BufferStore):
        return False

    def loop_of(index: PrimExpr, size: PrimExpr) -> For | None:
        """Return the loop over all of a dimension that an index counts."""
        axis = variables.get(index) if isinstance(index, PrimVar) else None
        loop = loops.get(axis.binding) if axis is not None and isinstance(axis.binding, PrimVar) else None
        if axis is None or loop is None or axis.kind != "spatial" or loop.step is not None:
            return None
        return loop if prove_equal(loop.start, IntImm(0)) and prove_equal(loop.extent, size) else None

    def is_all(store: BufferStore) -> bool:
        found = list(map(loop_of, store.indices, buffer.shape))
        return None not in found and len(set(found)) == len(found)

    return bool(stores) and all(map(is_all, stores))


def with_buffer(stmt: Stmt, given: Mapping[Buffer, Buffer], ctx: PassContext, within: Callable[[Block], bool]) -> Stmt:
    """Return `stmt` in which the blocks that `within` tells access other buffers."""
    memo: dict[Node, Node] = {}
    changed = {part for item in postorder(stmt) if isinstance(item, Block) and within(item) for part in postorder(item)}
    for current in postorder(stmt):
        rebuilt = map_children(current, memo.__getitem__)
        match rebuilt:
            case BufferLoad(buffer=buffer) | BufferStore(buffer=buffer) | BufferRegion(buffer=buffer) if (
                current in changed and buffer in given
            ):
                rebuilt = replace(rebuilt, buffer=given[buffer])
            case _:
                pass
        ctx.log.rebuilt(current, rebuilt)
        memo[current] = rebuilt
    result = memo[stmt]
    assert isinstance(result, Stmt), "a statement stays one"
    return result


def changed(root: N, change: Callable[[Node], Node | None], ctx: PassContext) -> N:
    """Return `root` where `change` was applied to every node, bottom-up, `None` if it stays; one change for the log."""
    memo: dict[Node, Node] = {}
    for current in postorder(root):
        rebuilt = map_children(current, memo.__getitem__)
        rebuilt = change(rebuilt) or rebuilt
        ctx.log.rebuilt(current, rebuilt)
        memo[current] = rebuilt
    return cast("N", memo[root])


def copy_nest(source: Buffer, target: Buffer, name: str) -> Stmt:
    """Return loops with a block `name` that copies all of `source` to `target`."""
    dtypes = [getattr(size, "dtype", "int32") for size in source.shape]
    loops = [PrimVar(f"ax{at}", dtype) for at, dtype in enumerate(dtypes)]
    axes = [PrimVar(f"v{at}", dtype) for at, dtype in enumerate(dtypes)]
    ones = tuple(IntImm(1, dtype) for dtype in dtypes)
    places = tuple(axes)
    body: Stmt = Block(
        name,
        tuple(IterVar(v, size, i, "spatial") for v, size, i in zip(axes, source.shape, loops, strict=True)),
        BufferStore(target, places, BufferLoad(source, places)),
        reads=(BufferRegion(source, places, ones),),
        writes=(BufferRegion(target, places, ones),),
    )
    for var, size in reversed(list(zip(loops, source.shape, strict=True))):
        body = For(var, IntImm(0, var.dtype), size, body)
    return body


def path_to(stmt: Stmt, node: Node) -> tuple[Stmt, ...]:
    """Return the statements from `stmt` to the innermost one that holds `node`, which is in it."""
    path = [stmt]
    while True:
        parts = (item for item in children(path[-1]) if isinstance(item, Stmt))
        inner = next((part for part in parts if any(item is node for item in preorder(part))), None)
        if inner is None:
            return tuple(path)
        path.append(inner)


def outer_variables(function: PrimFunc) -> frozenset[PrimVar]:
    """Return the variables that have a value in all of a function."""
    dims = (part for item in function.buffers for dim in item.buffer.shape for part in preorder(dim))
    return frozenset((*function.params, *(part for part in dims if isinstance(part, PrimVar))))


def free_variables(block: Block) -> tuple[PrimVar, ...]:
    """Return the variables that a block uses and does not bind; those in the values of its iteration variables not."""
    bound = {axis.var for axis in block.iter_vars}
    used: dict[PrimVar, None] = {}
    roots = (block.body, block.init, *block.alloc_buffers, *(axis.extent for axis in block.iter_vars))
    for item in (part for root in roots if root is not None for part in preorder(root)):
        match item:
            case For(var=var) | LetStmt(var=var) | LetExpr(var=var) | LaunchThread(var=var) | Allocate(var=var):
                bound.add(var)
            case Block(iter_vars=axes):
                bound.update(axis.var for axis in axes)
            case PrimVar():
                used[item] = None
            case _:
                pass
    return tuple(var for var in used if var not in bound)


def with_given(stmt: Stmt, given: Mapping[Node, Stmt | None], ctx: PassContext) -> Stmt | None:
    """Return `stmt` with statements replaced; one that is given as `None` goes, with the loops that it leaves empty.

    The statements in `given` do not stand in each other. Nothing is left of a `stmt` that loses all of its statements.
    """
    memo: dict[Node, Node | None] = {}
    for current in postorder(stmt):
        if current in given:
            memo[current] = given[current]
            continue
        parts = [memo[part] for part in children(current)]
        match current:
            case SeqStmt():
                kept = [part for part in parts if isinstance(part, Stmt)]
                rebuilt = current if kept == list(current.stmts) else seq(kept) if kept else None
            case _ if None in parts:
                rebuilt = None
            case _:
                rebuilt = map_children(current, lambda part: memo[part] or part)
        if rebuilt is not None and not isinstance(current, SeqStmt):
            ctx.log.rebuilt(current, rebuilt)
        memo[current] = rebuilt
    result = memo[stmt]
    assert result is None or isinstance(result, Stmt), "a statement stays one"
    return result


def innermost_block(stmt: Stmt) -> Block:
    """Return the block that a chain of loops holds."""
    while isinstance(stmt, For):
        stmt = stmt.body
    assert isinstance(stmt, Block), "the loops are those of a block"
    return stmt


def without_buffer(module: IRModule, nest: Nest, buffer: Buffer) -> IRModule:
    """Return `module` where the function of the nest does not allocate `buffer`, which nothing in it uses."""

    def drop(node: Node) -> Node | None:
        """Rule: the allocation of a buffer that is not used -> nothing."""
        match node:
            case DeclBuffer(buffer=found, body=body) if found is buffer:
                return body
            case Block(name="root", iter_vars=(), alloc_buffers=buffers) if buffers == (buffer,):
                return node.body
            case Block(alloc_buffers=buffers) if buffer in buffers:
                return replace(node, alloc_buffers=tuple(item for item in buffers if item is not buffer))
            case _:
                return None

    ctx = nest.ctx
    return change_prim_funcs(module, ctx, lambda var, it: ctx.rewrite(it, drop) if var.name == nest.name else it)


def loops_of(nest: Nest, node: Node) -> tuple[For, ...]:
    """Return the loops around a node up to the first block around it; what a loop evaluates itself is not in it."""
    loops: list[For] = []
    for stmt in path_to(top_level(nest.function)[holder_of(nest, node)], node):
        if isinstance(stmt, Block):
            break
        if isinstance(stmt, For) and any(item is node for item in preorder(stmt.body)):
            loops.append(stmt)
    return tuple(loops)


def buffer_at(nest: Nest, place: BufferPlace) -> Buffer:
    """Return the buffer that the block reads or writes at `place`."""
    kind, number = place
    return read(nest, number) if kind == "read" else written(nest, number)


def read(nest: Nest, number: int) -> Buffer:
    """Return a buffer that the block reads and does not write: of those that it says it reads, or of its loads."""
    if nest.block.reads is not None:
        found = [item.buffer for item in nest.block.reads]
    else:
        stored = {item.buffer for item in preorder(nest.block) if isinstance(item, BufferStore)}
        loads = (item.buffer for item in preorder(nest.block.body) if isinstance(item, BufferLoad))
        found = [item for item in loads if item not in stored]
    return numbered(nest, "reads", list(dict.fromkeys(found)), number)


def written(nest: Nest, index: int) -> Buffer:
    """Return a buffer that the block writes: of those that it says it writes, or else in the order of its stores."""
    if nest.block.writes is not None:
        found = [item.buffer for item in nest.block.writes]
    else:
        found = [item.buffer for item in preorder(nest.block.body) if isinstance(item, BufferStore)]
    return numbered(nest, "writes", list(dict.fromkeys(found)), index)


def allocated(nest: Nest, buffer: Buffer) -> None:
    """Refuse a buffer that the function is given, or that is a view of another one."""
    if buffer not in memory_of(nest.function).allocated:
        hint = "take a buffer of the function's own: T.sblock_alloc_buffer"
        nest.refuse(f"{buffer.name} is not allocated in {nest.name}", nest.block, hint)


def name_in(buffer: Buffer, storage_scope: str) -> str:
    """Return what a buffer like `buffer` in another scope is called."""
    return f"{buffer.name}_{storage_scope.replace('.', '_')}"


def first_access(
    stmts: Iterable[Stmt], kind: type[BufferLoad] | type[BufferStore], buffers: Iterable[Buffer], but: Node
) -> BufferLoad | BufferStore | None:
    """Return a load or a store, as `kind` says, of one of `buffers` in `stmts` that is not in the statement `but`."""
    wanted = set(buffers)
    for item in (part for stmt in stmts for part in statements_outside(stmt, but)):
        nodes = (item,) if kind is BufferStore else (it for part in own_expressions(item) for it in preorder(part))
        for node in nodes:
            if isinstance(node, kind) and node.buffer in wanted:
                return node
    return None


def statements_outside(root: Stmt, but: Node) -> Iterator[Stmt]:
    """Yield `root` and the statements in it, in order, without the statement `but` and what is in it."""
    stack = [root]
    while stack:
        stmt = stack.pop()
        if stmt is not but:
            yield stmt
            stack += reversed([part for part in children(stmt) if isinstance(part, Stmt)])


def own_expressions(stmt: Stmt) -> tuple[Node, ...]:
    """Return what a statement evaluates itself, in contrast to the statements in it."""
    return tuple(part for part in children(stmt) if not isinstance(part, Stmt))


def readers_of(buffer: Buffer, root: Stmt, but: Node) -> list[Stmt]:
    """Return the statements that read `buffer` themselves, outside of `but`.

    A load may be shared by several statements, so that these are asked, not the loads.
    """

    def reads(stmt: Stmt) -> bool:
        nodes = (part for item in own_expressions(stmt) for part in preorder(item))
        return any(isinstance(part, BufferLoad) and part.buffer is buffer for part in nodes)

    return [stmt for stmt in statements_outside(root, but) if reads(stmt)]
