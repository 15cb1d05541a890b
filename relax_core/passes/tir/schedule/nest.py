"""A block of a prim func with the loops around it, found by name, and what takes their place."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import NoReturn

from relax_core.analysis.tir_memory import memory_of
from relax_core.ir.integer.bounds import Bounds
from relax_core.ir.integer.prove import canonical_key
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children, preorder
from relax_core.ir.prim import Binary, IntImm, PrimExpr, PrimVar, binary, is_number
from relax_core.ir.tir import (
    Block,
    BufferLoad,
    BufferStore,
    DeclBuffer,
    Evaluate,
    For,
    IterVar,
    LetStmt,
    PrimFunc,
    SeqStmt,
    Stmt,
    While,
)
from relax_core.passes.core import PassContext
from relax_core.passes.functions import change_prim_funcs
from relax_core.passes.tir.arithmetic import tidy
from relax_core.passes.tir.sequences import flat, leaves_early

UNKNOWN, REFUSED = "PS018", "PS019"


@dataclass(frozen=True, slots=True)
class Nest:
    """A block and the loops around it up to the block that holds it, the outermost first."""

    name: str
    function: PrimFunc
    block: Block
    loops: tuple[For, ...]
    ctx: PassContext

    def loop(self, name: str) -> For:
        """Return the loop whose variable is called `name`."""
        found = [item for item in self.loops if item.var.name == name]
        if len(found) == 1:
            return found[0]
        names = [item.var.name for item in self.loops]
        what = f"has {len(found)} loops {name}" if found else f"has no loop {name or 'without a name'}"
        hint = f"its loops: {', '.join(names)}" if names else "there is no loop around it"
        return self.ctx.fail(UNKNOWN, f"the block {self.block.name} {what}", self.block, hint)

    def refuse(self, message: str, node: Node, hint: str) -> NoReturn:
        """Stop: a rule of the primitive is broken."""
        self.ctx.fail(REFUSED, message, node, hint)

    def bounds(self) -> Bounds:
        """Return what the sizes of the parameters and the loops around the block say of their variables."""
        bounds = Bounds({})
        for item in self.function.buffers:
            for dim in item.buffer.shape:
                if isinstance(dim, PrimVar) and not bounds.is_bound(dim):
                    bounds.bind_symbol(dim)
        return bounds


def nest_of(module: IRModule, block: str, function: str, ctx: PassContext) -> Nest:
    """Find a block by its name, in the prim func `function` or, if that is "", in the only one that has it.

    Raises:
        CompileError: PS018: there is none, or there are several.
    """
    functions = [(var.name, item) for var, item in module.prim_funcs if function in ("", var.name)]
    if not functions:
        names = ", ".join(var.name for var, _ in module.prim_funcs) or "none"
        ctx.fail(UNKNOWN, f"there is no prim func {function}", module, f"prim funcs: {names}")
    nests = [nest for name, item in functions for nest in _nests(name, item, ctx)]
    found = [nest for nest in nests if nest.block.name == block]
    if len(found) == 1:
        return found[0]
    if not found:
        names = list(dict.fromkeys(nest.block.name for nest in nests if nest.block.name))
        near = get_close_matches(block, names, 1, 0.5)
        hint = f"did you mean {near[0]}?" if near else f"blocks: {', '.join(names) or 'none'}"
        ctx.fail(UNKNOWN, f"there is no block {block or 'without a name'}", functions[0][1], hint)
    owners = ", ".join(dict.fromkeys(nest.name for nest in found))
    ctx.fail(UNKNOWN, f"there are {len(found)} blocks {block}, in {owners}", found[1].block, "write function='...'")


def block_nest(nest: Nest, block: Block) -> Nest:
    """Return the nest of another block of the same function."""
    return next(item for item in _nests(nest.name, nest.function, nest.ctx) if item.block is block)


def _nests(name: str, function: PrimFunc, ctx: PassContext) -> Iterator[Nest]:
    stack: list[tuple[Node, tuple[For, ...]]] = [(function.body, ())]
    while stack:
        node, loops = stack.pop()
        inside = loops
        match node:
            case Block():
                yield Nest(name, function, node, loops, ctx)
                inside = ()
            case For():
                inside = (*loops, node)
            case _:
                pass
        stack += [(part, inside) for part in reversed(children(node)) if isinstance(part, Stmt)]


def replaced(module: IRModule, nest: Nest, old: Stmt, new: Stmt, rule: str) -> IRModule:
    """Return `module` with `new` in the place of the statement `old` of the nest's function."""

    def put(node: Node) -> Node | None:
        return new if node is old else None

    put.__doc__ = f"Rule: {rule}."
    ctx = nest.ctx
    return change_prim_funcs(
        module, ctx, lambda _, item: ctx.rewrite(item, put, flat) if item is nest.function else item
    )


def blocks_under(stmt: Stmt) -> Iterator[Block]:
    """Yield the blocks in `stmt` that are in no other block of it."""
    stack: list[Node] = [stmt]
    while stack:
        node = stack.pop()
        if isinstance(node, Block):
            yield node
        else:
            stack += [part for part in reversed(children(node)) if isinstance(part, Stmt)]


def only_blocks(nest: Nest, stmt: Stmt, name: str) -> None:
    """Refuse statements outside of blocks, and reads of what other instances of the blocks write."""
    no_aliases(nest, stmt)
    written = {item.buffer for item in preorder(stmt) if isinstance(item, BufferStore)}
    stack: list[Node] = [stmt]
    while stack:
        node = stack.pop()
        match node:
            case Block():
                only_own_elements(nest, node, name)
            case BufferStore() | Evaluate() | While():
                nest.refuse(f"a statement outside of a block is in the loop: {name} takes loops of blocks", node,
                            "write it as a block")  # fmt: skip
            case BufferLoad(buffer=buffer) if buffer in written:
                nest.refuse(f"{buffer.name} is read outside of a block, and a block in the loop writes it", node,
                            f"{name} takes loops whose conditions read nothing that is written in them")  # fmt: skip
            case _:
                stack += reversed(children(node))


def no_aliases(nest: Nest, stmt: Stmt) -> None:
    """Refuse two buffers in `stmt` that may have memory in common, one of which is written."""
    memory = memory_of(nest.function)
    accesses = {item.buffer: item for item in preorder(stmt) if isinstance(item, BufferLoad | BufferStore)}
    for written in {item.buffer for item in preorder(stmt) if isinstance(item, BufferStore)}:
        owner = memory.owner(written)
        for buffer, access in accesses.items():
            if buffer is not written and (owner is None or memory.owner(buffer) in (owner, None)):
                hint = "write and read it under one name"
                nest.refuse(f"{written.name} may be the memory of {buffer.name}", access, hint)


def no_early_exit(nest: Nest, loop: For, name: str) -> None:
    """Refuse a loop with a `break` or a `continue`, which decide how often the loop runs, or one in it."""
    if leaves_early(loop.body):
        nest.refuse(f"{loop.var.name} has a break or a continue in it; {name} takes loops that run to their ends", loop,
                    "write the condition as an if around the statements")  # fmt: skip


def only_own_elements(nest: Nest, block: Block, name: str) -> None:
    """Refuse a block that reads what other instances of it write."""
    stores = [item for item in preorder(block) if isinstance(item, BufferStore)]
    places = {(item.buffer, tuple(map(canonical_key, item.indices))) for item in stores}
    written = {item.buffer for item in stores}
    loads = (item for item in preorder(block.body) if isinstance(item, BufferLoad))
    for item in loads:
        if item.buffer in written and (item.buffer, tuple(map(canonical_key, item.indices))) not in places:
            message = f"{block.name} reads elements of {item.buffer.name} that other instances of it write"
            nest.refuse(message, item, f"{name} keeps values where a block reads and writes the same element")


def guard_of(block: Block, stmt: Stmt) -> Stmt | None:
    """Return the outermost statement between `stmt` and `block` in it that may skip the block, but for loops."""
    current = stmt
    while current is not block:
        match current:
            case For() | SeqStmt() | DeclBuffer() | LetStmt() | Block(predicate=None):
                parts = (item for item in children(current) if isinstance(item, Stmt))
                current = next(part for part in parts if any(item is block for item in preorder(part)))
            case _:
                return current
    return None


def axes_of(var: PrimVar, stmt: Stmt) -> Iterator[tuple[Block, IterVar]]:
    """Yield the iteration variables of the blocks in `stmt` whose values depend on the loop variable `var`."""
    for block in blocks_under(stmt):
        for item in block.iter_vars:
            if any(part is var for part in preorder(item.binding)):
                yield block, item


def uses(var: PrimVar, node: Node) -> bool:
    """Tell whether `var` occurs in `node`."""
    return any(part is var for part in preorder(node))


def rebound(stmt: Stmt, nest: Nest, outside: Sequence[For], condition: PrimExpr | None = None) -> Stmt:
    """Return `stmt` with the bindings of its blocks tidied, each block with one more `condition`.

    `outside` are the loops around `stmt`, whose ranges are known. Under a condition, a sum that takes a part of its
    values stays one term, as TVM writes it: only a binding that is that sum, and nothing else, is multiplied out.
    """
    bounds = nest.bounds()
    for loop in outside:
        bounds.enter_loop(loop)
    for part in preorder(stmt):
        if isinstance(part, For) and part.step is None:
            bounds.enter_loop(part)
    own = frozenset(blocks_under(stmt))
    limited = condition.a if isinstance(condition, Binary) else None

    def bound(binding: PrimExpr) -> PrimExpr:
        return tidy(binding, bounds) if limited is None or binding is limited else binding

    def rebind(node: Node) -> Node | None:
        """Rule: the values of iteration variables -> in the variables of the loops."""
        if node not in own or not isinstance(node, Block):
            return None
        axes = tuple(replace(item, binding=bound(item.binding)) for item in node.iter_vars)
        predicate = node.predicate
        if condition is not None:
            predicate = condition if predicate is None else binary("and", predicate, condition)
        return replace(node, iter_vars=axes, predicate=predicate)

    return nest.ctx.rewrite(stmt, rebind)


def plain_loop(nest: Nest, loop: For, verb: str) -> None:
    """Refuse a loop that is not a serial one from 0 by 1 that runs to its end, as `verb` needs it."""
    no_early_exit(nest, loop, verb)
    if loop.kind != "serial" or loop.annotations:
        what = f"a {loop.kind} loop" if loop.kind != "serial" else "annotated"
        nest.refuse(f"{loop.var.name} is {what}; {verb} takes serial loops", loop, f"{verb} it before")
    if loop.step is not None or not is_number(loop.start, 0):
        hint = "CanonicalizeLoop lets loops count from 0 by 1"
        nest.refuse(f"{loop.var.name} does not count from 0 by 1, as {verb} needs it", loop, hint)


def conjuncts(condition: PrimExpr | None) -> Iterator[PrimExpr]:
    """Yield the conditions that `condition` joins with "and", in order; none for `None` and for what always holds."""
    stack = [] if condition is None else [condition]
    while stack:
        match stack.pop():
            case Binary(op="and", a=a, b=b):
                stack += (b, a)
            case IntImm(value=value, dtype="bool") if value:
                pass
            case part:
                yield part
