"""The kernel that finds samples in running sums of probabilities."""

from relax_core.ir.prim import Binary, Cast, PrimExpr, PrimVar, binary, const
from relax_core.ir.tir import (
    Block,
    Buffer,
    BufferLoad,
    BufferParam,
    BufferRegion,
    BufferStore,
    For,
    IfThenElse,
    IterVar,
    PrimFunc,
)

NAME = "get_sample_index"


def sample_index(prob_dtype: str, index_dtype: str, result_dtype: str) -> PrimFunc:
    """Return the kernel for any number of rows, samples and choices.

    A sample falls on the first choice whose sum is above it, on the last one if there is none.
    """
    batch, width, count = (PrimVar(name, "int64") for name in ("batch", "vocab_size", "out_batch"))
    one = const(1, "int32")
    sums = Buffer("prob", (batch, width), prob_dtype)
    samples = Buffer("usample", (count, one), prob_dtype)
    rows = Buffer("sample_indices", (count, one), index_dtype)
    result = Buffer("output_index", (count, one), result_dtype)
    row, choice = PrimVar("v_ax0", "int64"), PrimVar("v_ax1", "int64")
    sample = BufferLoad(samples, (row, const(0)))
    of_row = BufferLoad(rows, (row, const(0)))
    before = binary("-", choice, const(1))

    def store(value: PrimExpr) -> BufferStore:
        return BufferStore(result, (row, const(0, "int32")), value)

    found = choice if result_dtype == "int64" else Cast(choice, result_dtype)
    is_last = Binary("==", binary("+", choice, const(1)), width, "bool")
    is_reached = Binary("or", Binary("<", sample, BufferLoad(sums, (of_row, choice)), "bool"), is_last, "bool")
    is_next = Binary(">=", sample, BufferLoad(sums, (of_row, before)), "bool")
    is_first = Binary("==", choice, const(0), "bool")
    body = IfThenElse(
        is_reached, IfThenElse(is_first, store(const(0, result_dtype)), IfThenElse(is_next, store(found)))
    )
    point = (const(1), const(1))
    reads = (
        BufferRegion(samples, sample.indices, point),
        BufferRegion(sums, (of_row, before), (const(1, index_dtype), const(2))),
        BufferRegion(rows, of_row.indices, point),
    )
    writes = (BufferRegion(result, (row, const(0, "int32")), (const(1), one)),)
    loops = PrimVar("ax0", "int64"), PrimVar("ax1", "int64")
    axes = tuple(
        IterVar(var, extent, loop, "spatial")
        for var, extent, loop in zip((row, choice), (count, width), loops, strict=True)
    )
    nest = For(loops[1], const(0), width, Block("T_get_sample_index", axes, body, reads=reads, writes=writes))
    params = tuple(BufferParam(PrimVar(item.name, "handle"), item) for item in (sums, samples, rows, result))
    handles = tuple(item.handle for item in params)
    return PrimFunc(handles, params, For(loops[0], const(0), count, nest), is_private=True, is_s_tir=True)
