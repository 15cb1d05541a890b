"""The kernel that cuts the padding off a tensor."""

from relax_core.ir.prim import PrimVar, const
from relax_core.ir.tir import (
    Block,
    Buffer,
    BufferLoad,
    BufferParam,
    BufferRegion,
    BufferStore,
    For,
    IterVar,
    PrimFunc,
    Stmt,
)

OPERATOR_NAME = "operator_name"
"""The attribute of a kernel that names its operator."""
REMOVE_PAD = "remove_pad"


def remove_pad(ndim: int, dtype: str) -> PrimFunc:
    """Return a kernel for tensors with `ndim` axes of any sizes: `output[i, ...] = input[i, ...]`."""
    padded = tuple(PrimVar(f"p{axis}", "int64") for axis in range(ndim))
    sizes = tuple(PrimVar(f"i{axis}", "int64") for axis in range(ndim))
    source, target = Buffer("input", padded, dtype), Buffer("output", sizes, dtype)
    loops = tuple(PrimVar(f"ax{axis}", "int64") for axis in range(ndim))
    iters = tuple(
        IterVar(PrimVar(f"v_{loop.name}", "int64"), size, loop, "spatial")
        for loop, size in zip(loops, sizes, strict=True)
    )
    places = tuple(item.var for item in iters)
    ones = tuple(const(1) for _ in iters)
    body: Stmt = Block(
        "output",
        iters,
        BufferStore(target, places, BufferLoad(source, places)),
        reads=(BufferRegion(source, places, ones),),
        writes=(BufferRegion(target, places, ones),),
    )
    for loop, size in reversed(tuple(zip(loops, sizes, strict=True))):
        body = For(loop, const(0), size, body)
    handles = PrimVar("var_input", "handle"), PrimVar("var_output", "handle")
    buffers = (BufferParam(handles[0], source), BufferParam(handles[1], target))
    attrs = ((OPERATOR_NAME, REMOVE_PAD), ("tirx.noalias", True))
    return PrimFunc(handles, buffers, body, attrs, is_private=True, is_s_tir=True)
