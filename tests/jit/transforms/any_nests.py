"""Reductions of any sizes as text, and arrays for them."""

from collections.abc import Mapping

import numpy as np

from relax_core.ir.integer.evaluate import evaluate
from relax_core.ir.tir import PrimFunc
from relax_core.jit.lowering.known.symbols import shape_symbols
from tests.jit.programs import parsed
from tests.jit.transforms.nests import Array, filled

_TEXT = """def f(a: T.handle, b: T.handle, c: T.handle):
{symbols}
    A = T.match_buffer(a, ({a}), "{dtype}")
    B = T.match_buffer(b, ({b}), "{dtype}")
    C = T.match_buffer(c, ({c}), "{dtype}")
    for {loops} in T.grid({extents}):
        with T.block("c"):
            {names} = T.axis.remap("{kinds}", [{loops}])
            {init}
            {out} = {value}
"""


def reduction(parts: Mapping[str, str], symbols: str) -> PrimFunc:
    """Return the reduction of `parts` over sizes with names of one letter; an empty `start` sets nothing."""
    start = parts["start"]
    init = f"with T.init():\n                {parts['out']} = T.{parts['dtype']}({start})" if start else ""
    declared = "\n".join(f"    {symbol} = T.int64()" for symbol in symbols)
    return parsed(_TEXT.format(**parts, init=init, symbols=declared))


def arrays_of(function: PrimFunc, sizes: Mapping[str, int], seed: int) -> list[Array]:
    """Return filled arrays for a function of these sizes; one whose size comes out below zero is empty."""
    random = np.random.default_rng(seed)
    values = {symbol: sizes[symbol.name] for symbol in shape_symbols(function)}
    shapes = [tuple(max(int(evaluate(dim, values)), 0) for dim in item.buffer.shape) for item in function.buffers]
    return [filled(random, shape, item.buffer.dtype) for shape, item in zip(shapes, function.buffers, strict=True)]
