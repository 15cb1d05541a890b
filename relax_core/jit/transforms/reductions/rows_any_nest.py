"""The plan of rows of any number as a loop nest: lanes behind the last row do what it does once more."""

from collections.abc import Callable

from relax_core.ir.prim import PrimExpr, PrimVar, binary, const
from relax_core.ir.tir import BufferLoad, BufferStore, For, Stmt
from relax_core.jit.transforms.contractions.any_sizes_nest import in_blocks, value_with
from relax_core.jit.transforms.plan_nest import holding, local, over, plus, store, substituted


def told(rows: For, terms: For, update: BufferStore, init: PrimExpr | None, lanes: int) -> Stmt:
    """Return blocks of as many rows as there are lanes, with a total each."""
    dtype = rows.var.dtype
    totals = local("totals", (lanes,), update.buffer.dtype)
    element = BufferLoad(update.buffer, update.indices)

    def block(first: PrimExpr) -> Stmt:
        def each(body: Callable[[dict[PrimVar, PrimExpr], BufferLoad], Stmt]) -> Stmt:
            def lane(at: PrimExpr) -> Stmt:
                row = binary("min", plus(first, at), binary("-", rows.extent, const(1, dtype)))
                return body({rows.var: row}, BufferLoad(totals, (at,)))

            return over("lane", lanes, lane, "vectorized", dtype)

        return holding(
            "rows",
            (totals,),
            each(lambda at, total: store(total, substituted(element, at) if init is None else init)),
            For(
                terms.var,
                terms.start,
                terms.extent,
                each(lambda at, total: store(total, substituted(value_with(update, total), at))),
            ),
            each(lambda at, total: store(substituted(element, at), total)),
        )

    return in_blocks(rows, lanes, "rows", block)
