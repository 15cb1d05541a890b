"""Whether a loop may write each element over the one that it reads for it."""

from relax_core.ir.integer.affine import affine_of, overlapping
from relax_core.ir.integer.interval import count_interval
from relax_core.ir.integer.prove import canonical_key
from relax_core.ir.node import preorder
from relax_core.ir.prim import IntImm, Intrinsic, PrimExpr, PrimVar, dtype_of
from relax_core.ir.tir import Buffer, BufferLoad, BufferStore, For, IfThenElse, SeqStmt, Stmt


def writes_over(stmt: Stmt, source: Buffer, target: Buffer) -> bool:
    """Tell whether `target` may lie in the memory of `source`, which `stmt` reads for the last time.

    One statement in loops of known length stores to `target`, and only it reads `source`, at the place that it stores
    to. No two iterations have a place in common, so that what an iteration overwrites is read by no other.
    """
    loops: list[For] = []
    while not isinstance(stmt, BufferStore):
        match stmt:
            case For(step=None):
                loops.append(stmt)
                stmt = stmt.body
            case IfThenElse(else_body=None) if not _names(stmt.condition, source, target):
                stmt = stmt.then_body
            case SeqStmt(stmts=(single,)):
                stmt = single
            case _:
                return False
    if (
        stmt.buffer is not target
        or len(stmt.indices) != 1
        or any(_names(item, source, target) for item in stmt.indices)
    ):
        return False
    loads = [item for item in preorder(stmt.value) if isinstance(item, BufferLoad)]
    place = canonical_key(stmt.indices[0])
    if any(item.buffer is target for item in loads):
        return False
    if any(item.buffer is source and [canonical_key(index) for index in item.indices] != [place] for item in loads):
        return False
    return _are_apart(stmt.indices[0], loops)


def _names(expr: PrimExpr, *buffers: Buffer) -> bool:
    return any(isinstance(item, BufferLoad) and item.buffer in buffers for item in preorder(expr))


def _are_apart(index: PrimExpr, loops: list[For]) -> bool:
    """Tell whether no two iterations of the loops have a place of `index` in common."""
    extents: dict[PrimVar, int] = {}
    for loop in loops:
        if not isinstance(loop.extent, IntImm) or not isinstance(loop.start, IntImm) or loop.start.value:
            return False
        extents[loop.var] = loop.extent.value
    lanes = 1
    match index:
        case Intrinsic(name="Ramp", args=(base, IntImm(value=1), IntImm(value=count))):
            index, lanes = base, count
        case _:
            pass
    ranges = {var: count_interval(extent) for var, extent in extents.items()}
    place = affine_of(index, {}, ranges)
    if place is None or not place.fits(dtype_of(index), ranges):
        return False
    terms = [(var.name, place.of(var), extent) for var, extent in extents.items()]
    return overlapping([*terms, ("a lane", 1, lanes)]) is None
