"""A prim func in two: the leading nests as a kernel of a library, and what is left to do behind them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from relax_core.ir.attrs import with_attr
from relax_core.ir.node import preorder
from relax_core.ir.prim import PrimVar
from relax_core.ir.tir import Block, Buffer, BufferParam, BufferStore, PrimFunc, Stmt, seq
from relax_core.passes.external import EXTERNAL
from relax_core.passes.relax.byoc.nest_matches import nests_of, sizes_of
from relax_core.passes.tir.copies import renewed


@dataclass(frozen=True, slots=True, eq=False)
class SplitPrimFunc:
    """A prim func in two parts, and which inputs of the whole each takes, by their places among its parameters.

    The kernel does `count` nests. The rest takes `crossing` before its inputs, the buffer that the kernel writes. It is
    `None` if nothing is left.
    """

    count: int
    kernel: PrimFunc
    inputs: tuple[int, ...]
    crossing: Buffer | None = None
    rest: PrimFunc | None = None
    rest_inputs: tuple[int, ...] = ()


def split_prim_func(
    function: PrimFunc, count: int, output_count: int, given: Sequence[Buffer] = ()
) -> SplitPrimFunc | str:
    """Put the first `count` nests of a prim func into a kernel; the answer is the reason if that is not possible.

    The last `output_count` parameters are its results. The inputs of the kernel are those buffers of `given` that it
    does not write, or by default what it reads, in the order in which it does.
    """
    nests = nests_of(function)
    external = with_attr(function.attrs, EXTERNAL, True)
    input_count = len(function.params) - output_count
    if count == len(nests):
        return SplitPrimFunc(count, replace(function, attrs=external), tuple(range(input_count)))
    buffers = [function.buffer_of(item) for item in function.params]
    params, results = buffers[:input_count], buffers[input_count:]
    head, tail = seq(nests[:count]), seq(nests[count:])
    written, used = _written(head), _buffers(tail)
    crossing = [item for item in written if item in used]
    reason = _refusal(crossing, written, buffers)
    if reason:
        return reason
    read = given or [item for item in _buffers(head) if item not in written]
    wanted = [item for item in dict.fromkeys(read) if item not in written]
    if not set(wanted) <= set(params):
        return "the kernel takes what is no input of the prim func"
    inputs = tuple(params.index(item) for item in wanted)
    rest_inputs = tuple(place for place, item in enumerate(params) if item in used)
    out = BufferParam(PrimVar(f"var_{crossing[0].name}", "handle"), crossing[0])
    taken = [_param(function, place) for place in inputs]
    kept = [_param(function, place) for place in rest_inputs]
    outputs = [_param(function, input_count + place) for place in range(len(results))]
    kernel = _part(function, (*taken, out), head)
    rest = _part(function, (out, *kept, *outputs), tail)
    sizes = set(sizes_of(item.buffer for item in function.buffers))
    for part in (kernel, rest):
        told = {size for item in part.buffers for size in item.buffer.shape}
        unknown = [item.name for item in preorder(part) if item in sizes - told and isinstance(item, PrimVar)]
        if unknown:
            return f"no buffer of one part tells the size {unknown[0]}"
    kernel = replace(renewed(kernel), attrs=external, is_private=True)
    return SplitPrimFunc(count, kernel, inputs, crossing[0], renewed(rest), rest_inputs)


def _refusal(crossing: Sequence[Buffer], written: Iterable[Buffer], params: Sequence[Buffer | None]) -> str:
    """Say why a prim func cannot be split; the empty string if it can."""
    results = [item.name for item in written if item in params]
    if None in params:
        return "it takes scalars"
    if results:
        return f"what matches already writes the result {results[0]}"
    if len(crossing) != 1:
        names = ", ".join(item.name for item in crossing) or "nothing"
        return f"what is left reads {names} of what matches, and a kernel gives one value"
    return ""


def _param(function: PrimFunc, place: int) -> BufferParam:
    handle = function.params[place]
    return next(item for item in function.buffers if item.handle is handle)


def _part(function: PrimFunc, params: Sequence[BufferParam], body: Stmt) -> PrimFunc:
    root = function.body
    own = {item.buffer for item in params}
    if isinstance(root, Block) and root.name == "root":
        used = _buffers(body)
        inner = tuple(item for item in root.alloc_buffers if item in used and item not in own)
        body = replace(root, body=body, alloc_buffers=inner, reads=None, writes=None) if inner else body
    return replace(function, params=tuple(item.handle for item in params), buffers=tuple(params), body=body)


def _buffers(stmt: Stmt) -> tuple[Buffer, ...]:
    return tuple(dict.fromkeys(item for item in preorder(stmt) if isinstance(item, Buffer)))


def _written(stmt: Stmt) -> tuple[Buffer, ...]:
    return tuple(dict.fromkeys(item.buffer for item in preorder(stmt) if isinstance(item, BufferStore)))
