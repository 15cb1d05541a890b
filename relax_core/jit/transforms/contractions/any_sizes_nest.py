"""The plan of tiles of any sizes as a loop nest: a guard in each lane and row leaves out what is behind the last."""

from collections.abc import Callable, Sequence

from relax_core.ir.node import Node
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar, binary, const
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.ir.tir import BufferLoad, BufferStore, For, IfThenElse, Stmt
from relax_core.jit.transforms.plan_nest import holding, local, over, plus, store, substituted, times


def told(
    outer: Sequence[For],
    terms: Sequence[For],
    update: BufferStore,
    init: PrimExpr | None,
    shape: tuple[int, int, int],
) -> Stmt:
    """Return tiles of `shape`, which is (rows, vectors, lanes), over loops of outputs around those of terms."""
    columns = outer[-1]
    width = shape[1] * shape[2]
    rows = outer[0] if len(outer) == 2 else None
    sums = local("sums", (shape[0], width), update.buffer.dtype)
    element = BufferLoad(update.buffer, update.indices)

    def tile(places: dict[PrimVar, PrimExpr]) -> Stmt:
        def each(body: Callable[[dict[PrimVar, PrimExpr], BufferLoad], Stmt]) -> Stmt:
            def cell(row: PrimExpr, lane: PrimExpr) -> Stmt:
                at = {columns.var: plus(places[columns.var], lane)}
                if rows is not None:
                    at[rows.var] = plus(places[rows.var], row)
                inside: PrimExpr = binary("<", at[columns.var], columns.extent)
                if rows is not None:
                    inside = binary("and", inside, binary("<", at[rows.var], rows.extent))
                return IfThenElse(inside, body(at, BufferLoad(sums, (row, lane))))

            def lanes(row: PrimExpr) -> Stmt:
                return over("lane", width, lambda lane: cell(row, lane), "vectorized", columns.var.dtype)

            return over("row", shape[0], lanes, "unroll", columns.var.dtype if rows is None else rows.var.dtype)

        def added(at: dict[PrimVar, PrimExpr], total: BufferLoad) -> Stmt:
            return store(total, substituted(value_with(update, total), at))

        start = each(lambda at, total: store(total, substituted(element, at) if init is None else init))
        end = each(lambda at, total: store(substituted(element, at), total))
        loops = each(added)
        for item in reversed(terms):
            loops = For(item.var, item.start, item.extent, loops)
        return holding("tile", (sums,), start, loops, end)

    def across(places: dict[PrimVar, PrimExpr]) -> Stmt:
        return in_blocks(columns, width, "columns", lambda first: tile({**places, columns.var: first}))

    if rows is None:
        return across({})
    return in_blocks(rows, shape[0], "rows", lambda first: across({rows.var: first}))


def in_blocks(loop: For, size: int, name: str, body: Callable[[PrimExpr], Stmt]) -> Stmt:
    """Return a loop over blocks of so many iterations; `body` is given the first of each."""
    dtype = loop.var.dtype
    number = PrimVar(name, dtype)
    count = binary("//", binary("+", loop.extent, const(size - 1, dtype)), const(size, dtype))
    return For(number, IntImm(0, dtype), count, body(times(number, size)))


def value_with(update: BufferStore, total: BufferLoad) -> PrimExpr:
    """Return the value of an update, with a total for the element that it updates."""

    def instead(item: Node) -> Node | None:
        """Rule: the element that is updated -> its total."""
        return total if isinstance(item, BufferLoad) and item.buffer is update.buffer else None

    return rewrite(update.value, instead, log=RewriteLog())
