"""Divide a loop into several."""

from dataclasses import dataclass
from math import prod

from relax_core.ir.module import IRModule
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar, binary, is_number
from relax_core.ir.tir import For
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.tir.arithmetic import tidy
from relax_core.passes.tir.schedule.nest import Nest, nest_of, only_blocks, plain_loop, rebound, replaced


@dataclass(frozen=True, slots=True)
class SplitOptions:
    """The loop, and how often each part runs, the outermost first; one factor may be `None`: as often as it takes."""

    block: str
    loop: str
    factors: tuple[int | None, ...] = ()
    function: str = ""


def run(module: IRModule, options: SplitOptions, ctx: PassContext) -> IRModule:
    """Divide the loop `i` into `i_0`, `i_1`, ...; where they run more often than `i` did, blocks get a condition."""
    nest = nest_of(module, options.block, options.function, ctx)
    loop = nest.loop(options.loop)
    plain_loop(nest, loop, "Split")
    factors = _factors(nest, loop, options.factors)
    variables = [PrimVar(f"{loop.var.name}_{at}", loop.var.dtype) for at in range(len(factors))]
    value: PrimExpr = variables[0]
    for var, factor in zip(variables[1:], factors[1:], strict=True):
        scaled = value if is_number(factor, 1) else binary("*", value, factor)
        value = binary("+", scaled, var)
    loops = [
        For(var, IntImm(0, var.dtype), factor, loop.body, span=loop.span)
        for var, factor in zip(variables, factors, strict=True)
    ]
    condition = None if _is_exact(loop, factors) else binary("<", value, loop.extent)
    if condition is not None:
        only_blocks(nest, loop.body, "a Split with a condition")
    outside = [*nest.loops[: nest.loops.index(loop)], *loops]
    body = rebound(ctx.substitute(loop.body, None, {loop.var: value}), nest, outside, condition)
    for item in reversed(loops):
        body = For(item.var, item.start, item.extent, body, span=loop.span)
    names = ", ".join(item.name for item in variables)
    more = "" if condition is None else f", with a condition: {loop.var.name} runs less often than they do"
    ctx.remark(loop, "applied", f"{loop.var.name} is divided into {names}{more}")
    return replaced(module, nest, loop, body, "a loop -> loops in each other")


def _factors(nest: Nest, loop: For, given: tuple[int | None, ...]) -> tuple[PrimExpr, ...]:
    known = [item for item in given if item is not None]
    if len(given) < 2 or len(given) - len(known) > 1 or any(item < 1 for item in known):
        message = f"factors are two or more positive numbers, one of which may be None, got {list(given)}"
        nest.refuse(message, loop, "write factors=[None, 32]")
    dtype = loop.var.dtype
    product = prod(known)
    if len(known) == len(given) and isinstance(loop.extent, IntImm) and product < loop.extent.value:
        message = f"the factors make {product} iterations, {loop.var.name} has {loop.extent.value}"
        nest.refuse(message, loop, "make one of them None")
    if len(known) == len(given) and not isinstance(loop.extent, IntImm):
        nest.refuse(f"how often {loop.var.name} runs is not known", loop, "make one of the factors None")
    rounded = binary("+", loop.extent, IntImm(product - 1, dtype))
    left = tidy(binary("//", rounded, IntImm(product, dtype)))
    return tuple(left if item is None else IntImm(item, dtype) for item in given)


def _is_exact(loop: For, factors: tuple[PrimExpr, ...]) -> bool:
    """Tell whether the parts are known to run exactly as often as the loop does."""
    total = 1
    for factor in factors:
        if not isinstance(factor, IntImm):
            return False
        total *= factor.value
    return is_number(loop.extent, total)


PASS = Pass(
    "Split",
    "Schedule: divides a loop into several, with a condition where the factors do not divide it.",
    run,
    SplitOptions,
    see="tvm/src/s_tir/schedule/primitive/loop_transformation.cc",
    dialect="tir",
)
