"""Reductions without iterations: what their elements start from is stored all the same."""

from collections.abc import Collection, Iterable
from dataclasses import replace

from relax_core.ir.node import Node, children, postorder
from relax_core.ir.prim import Binary, IntImm, PrimExpr, PrimVar, binary, dtype_of
from relax_core.ir.tir import Block, For, IfThenElse, SeqStmt, Stmt
from relax_core.jit.lowering.state import State


def has_empty_loop(state: State, loop: For) -> bool:
    """Tell whether `loop` or one inside surely has no iterations."""
    stack: list[Node] = [loop]
    while stack:
        item = stack.pop()
        if isinstance(item, For):
            count = state.bounds.constant(item.extent)
            if count is not None and count <= 0:
                return True
        stack += (part for part in children(item) if isinstance(part, Stmt))
    return False


def without_iterations(state: State, loop: For) -> Stmt | None:
    """Return what is to be done if `loop` has no iterations, `None` if nothing is.

    The initialisation of a block stands for its value before the reduction, so a block that reduces over `loop` and
    never runs still stores it: a sum of nothing is 0, a product 1. As written it belongs to the first iteration.
    """
    if state.bounds.interval(loop.extent).low > 0:
        return None
    start = _started(loop.body, loop)
    if start is None:
        return None
    written = frozenset(postorder(loop))
    for item in postorder(start):
        if isinstance(item, Stmt) and item not in written:
            state.provenance.origin.setdefault(item, state.provenance.origin.get(loop, loop))
    if state.bounds.constant(loop.extent) is not None:
        return start
    return IfThenElse(binary("<=", loop.extent, IntImm(0, dtype_of(loop.extent))), start, None, span=loop.span)


def _started(stmt: Stmt, loop: For) -> Stmt | None:
    """Return what is left of `stmt` if only the blocks that reduce over `loop` are initialised."""
    match stmt:
        case For(body=body, var=var):
            inner = _started(body, loop)
            # Around the initialisation alone, a loop over another axis of the reduction would only repeat it.
            return inner if inner is None or not _mentions(inner, {var}) else replace(stmt, body=inner)
        case SeqStmt(stmts=stmts):
            parts = tuple(part for item in stmts if (part := _started(item, loop)) is not None)
            return None if not parts else parts[0] if len(parts) == 1 else replace(stmt, stmts=parts)
        case Block(init=Stmt()):
            return _initialisation(stmt, loop)
        case Block(init=None, body=body):
            inner = _started(body, loop)
            return None if inner is None else replace(stmt, body=inner)
        case _:
            return None


def _initialisation(block: Block, loop: For) -> Block | None:
    """Return the block that only initialises; no variable of a reduction stands there, for none has a value."""
    reduced = [item for item in block.iter_vars if item.kind == "reduce"]
    kept = tuple(item for item in block.iter_vars if item.kind != "reduce")
    if block.init is None or not any(_mentions(item.binding, {loop.var}) for item in reduced):
        return None
    if any(_mentions(item.binding, {loop.var}) for item in kept):
        return None
    of_reduction = {part for item in reduced for part in postorder(item.binding) if isinstance(part, PrimVar)}
    conditions = (item for item in _conjuncts(block.predicate) if not _mentions(item, of_reduction))
    return replace(block, iter_vars=kept, init=None, body=block.init, predicate=_all(conditions))


def _all(conditions: Iterable[PrimExpr]) -> PrimExpr | None:
    found: PrimExpr | None = None
    for item in conditions:
        found = item if found is None else binary("and", found, item)
    return found


def _conjuncts(predicate: PrimExpr | None) -> list[PrimExpr]:
    match predicate:
        case None:
            return []
        case Binary(op="and", a=a, b=b):
            return [*_conjuncts(a), *_conjuncts(b)]
        case _:
            return [predicate]


def _mentions(node: Node, variables: Collection[PrimVar]) -> bool:
    return any(isinstance(part, PrimVar) and part in variables for part in postorder(node))
