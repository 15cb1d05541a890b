"""The plan of rows of any number as a loop nest: lanes behind the last row do what it does once more."""

from collections.abc import Callable

from relax_core.ir.node import Node
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar, binary, const
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.ir.tir import BufferLoad, BufferStore, For, Stmt
from relax_core.jit.transforms.plan_nest import holding, local, over, plus, store, substituted, times


def told(rows: For, terms: For, update: BufferStore, init: PrimExpr | None, lanes: int) -> Stmt:
    """Return blocks of as many rows as there are lanes, with a total each."""
    dtype = rows.var.dtype
    totals = local("totals", (lanes,), update.buffer.dtype)
    element = BufferLoad(update.buffer, update.indices)
    number = PrimVar("rows", dtype)

    def each(body: Callable[[dict[PrimVar, PrimExpr], BufferLoad], Stmt]) -> Stmt:
        def lane(at: PrimExpr) -> Stmt:
            last = binary("-", rows.extent, const(1, dtype))
            row = binary("min", plus(times(number, lanes), at), last)
            return body({rows.var: row}, BufferLoad(totals, (at,)))

        return over("lane", lanes, lane, "vectorized", dtype)

    def added(at: dict[PrimVar, PrimExpr], total: BufferLoad) -> Stmt:
        def instead(item: Node) -> Node | None:
            """Rule: the element that is updated -> its total."""
            return total if isinstance(item, BufferLoad) and item.buffer is update.buffer else None

        return store(total, substituted(rewrite(update.value, instead, log=RewriteLog()), at))

    block = holding(
        "rows",
        (totals,),
        each(lambda at, total: store(total, substituted(element, at) if init is None else init)),
        For(terms.var, terms.start, terms.extent, each(added)),
        each(lambda at, total: store(substituted(element, at), total)),
    )
    count = binary("//", binary("+", rows.extent, const(lanes - 1, dtype)), const(lanes, dtype))
    return For(number, IntImm(0, dtype), count, block)
