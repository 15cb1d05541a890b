"""Counts of elements, iterations and bytes: computed in 64 bits, and checked not to wrap around.

What a program computes with wraps around in its dtype, as on the machine. An extent, a stride, an offset or the bounds
of a loop that did so would run another number of iterations, or describe other memory, than the text says: the kernel
stops there instead.
"""

from collections.abc import Callable, Sequence
from math import prod

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.integer.interval import Interval, dtype_interval, wrap
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import PrimExpr
from relax_core.ir.tir import Buffer, For
from relax_core.jit.lowering.checks import Locate, Site
from relax_core.jit.lowering.state import State

# The greatest number of bytes or elements that an address or a count in 64 bits reaches.
MOST = (1 << 63) - 1


def lower_count(state: State, expr: PrimExpr, lower_expr: Callable[[State, PrimExpr], str]) -> str:
    """Emit a count as a 64-bit integer; the kernel stops where its arithmetic would wrap around."""
    scalar = state.scalar_of(expr)
    was_counting, state.position.is_counting = state.position.is_counting, True
    register = state.widen(lower_expr(state, expr), scalar)
    state.position.is_counting = was_counting
    if scalar.is_integral and scalar.high > MOST and state.bounds.interval(expr).high > MOST:
        is_small = state.code.emit(f"icmp sge i64 {register}, 0")
        state.require(is_small, Site("overflow", expr, hint="int64"))
    return register


def require_values(state: State, loop: For, start: str, extent: str) -> None:
    """Emit the check that the variable of a loop holds all of its values, unless that is known."""
    bounds = state.bounds
    first, count = bounds.interval(loop.start), bounds.interval(loop.extent)
    limits = dtype_interval(loop.var.dtype)
    if Interval(first.low, first.high + max(count.high, 1) - 1).is_within(limits):
        return
    code = state.code
    limits = Interval(limits.low, min(limits.high, MOST))
    code.declare("declare { i64, i1 } @llvm.sadd.with.overflow.i64(i64, i64)")
    before_end = code.emit(f"sub i64 {extent}, 1")
    end = code.emit(f"call {{ i64, i1 }} @llvm.sadd.with.overflow.i64(i64 {start}, i64 {before_end})")
    last, wraps = (code.emit(f"extractvalue {{ i64, i1 }} {end}, {at}") for at in (0, 1))
    is_low, is_high = (
        code.emit(f"icmp {test} i64 {value}, {limit}")
        for test, value, limit in (("sge", start, limits.low), ("sle", last, limits.high))
    )
    fits = code.emit(f"and i1 {code.emit(f'and i1 {is_low}, {is_high}')}, {code.emit(f'xor i1 {wraps}, true')}")
    is_empty = code.emit(f"icmp sle i64 {extent}, 0")
    site = Site("count", loop, ("", ""), hint=loop.var.dtype)
    state.require(code.emit(f"or i1 {is_empty}, {fits}"), site, (start, extent))


def check_layout(buffer: Buffer, layout: tuple[Sequence[str], Sequence[str]], size_bytes: int, locate: Locate) -> None:
    """Refuse a buffer that is known to be larger than 64 bits can address, with strides or without.

    An empty one with such extents is refused too: the distance of its rows is not a number of 64 bits.
    """
    known = [int(item) for item in layout[0] if "%" not in item]
    count = prod(max(extent, 1) for extent in known)
    for extent, stride in zip(*layout, strict=False):
        if "%" not in extent + stride:
            count = max(count, (max(int(extent), 1) - 1) * abs(int(stride)) + 1, abs(int(stride)))
    if count * size_bytes > MOST:
        shape = ", ".join(show_prim(dim) for dim in buffer.shape)
        message = f"`{buffer.name}` with shape ({shape}) spans {count * size_bytes} bytes"
        hint = f"No memory has more than {MOST} bytes."
        raise CompileError((Diagnostic("JT024", message, locate(buffer), hint),))


def wrapped(value: int) -> str:
    """Print an integer as 64 bits hold it, for code that a check before it keeps from running with any other."""
    return str(wrap(value, "int64"))
