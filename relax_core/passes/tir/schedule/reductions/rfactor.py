"""Take a reduction in parts, one for each iteration of a loop, and then reduce the parts."""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from relax_core.ir.integer.interval import dtype_interval, is_integral
from relax_core.ir.integer.prove import canonical_key
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.ir.prim import Binary, FloatImm, IntImm, PrimExpr, PrimVar, binary, is_number
from relax_core.ir.rewriting.substitute import replace_symbols
from relax_core.ir.tir import Block, Buffer, BufferLoad, BufferRegion, BufferStore, For, IterVar, Stmt
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.tir.arithmetic import tidy
from relax_core.passes.tir.schedule.blocks.compute_location import only_simple, stored_axes, whole_instances
from relax_core.passes.tir.schedule.instances import Instances
from relax_core.passes.tir.schedule.nest import (
    Nest,
    conjuncts,
    nest_of,
    no_aliases,
    plain_loop,
    uses,
)
from relax_core.passes.tir.schedule.scope import holder_of, only_elements, outer_variables, top_level, with_stmts

FLOATS: Mapping[str, float] = MappingProxyType(
    {"float16": 65504.0, "float32": float.fromhex("0x1.fffffep127"), "float64": sys.float_info.max}
)
"""The largest number of each dtype."""


@dataclass(frozen=True, slots=True)
class RFactorOptions:
    """A reduction block, one of its reduction loops, and which dimension of the parts counts that loop."""

    block: str
    loop: str
    factor_axis: int = 0
    function: str = ""


@dataclass(frozen=True, slots=True)
class _Parts:
    """The results of a reduction for each value of `axis`, which are in `buffer` at `indices`."""

    axis: IterVar
    buffer: Buffer
    indices: tuple[PrimExpr, ...]


def run(module: IRModule, options: RFactorOptions, ctx: PassContext) -> IRModule:
    """Divide the block into `C_rf`, a reduction for each iteration of the loop, and one that reduces those parts.

    The terms are the same, and are joined in another order: integers, which wrap around, and least and greatest numbers
    stay what they are; sums and products of floats may differ in the last bits.
    """
    nest = nest_of(module, options.block, options.function, ctx)
    loop = nest.loop(options.loop)
    store, update = _reduction(nest)
    instances = _check(nest, loop, store)
    parts = _parts(nest, loop, store, options.factor_axis)
    first = _partial(nest, parts, update, instances)
    second = _joined(nest, parts, store, update)
    ctx.remark(nest.block, "applied", f"{first.name} reduces for each {loop.var.name}, {nest.block.name} its results")
    if not is_integral(store.buffer.dtype) and update.op in ("+", "*"):
        message = "the terms are joined in another order: floats may differ in the last bits"
        ctx.remark(nest.block, "note", message)
    stmts = list(top_level(nest.function))
    place = holder_of(nest, nest.block)
    stmts[place : place + 1] = [_in_loops(nest.loops, first), second]
    return with_stmts(module, nest, stmts, (parts.buffer,))


def _reduction(nest: Nest) -> tuple[BufferStore, Binary]:
    """Return the store of the block and its value, `C[...] op term`; refuse others, which have no parts."""
    block = nest.block
    only_simple(nest, block)
    first, store = block.init, block.body
    if not isinstance(first, BufferStore) or not isinstance(store, BufferStore):
        nest.refuse(f"{block.name} is not one store with an init", block, "take a reduction block")
    match store.value:
        case Binary(op="+" | "*" | "min" | "max", a=BufferLoad(buffer=buffer) as load, b=term) if (
            buffer is store.buffer
            and _keys(load.indices) == _keys(store.indices) == _keys(first.indices)
            and not any(isinstance(item, BufferLoad) and item.buffer is buffer for item in preorder(term))
        ):
            update = store.value
        case _:
            hint = "write C[vi] = C[vi] + ..., or *, T.min or T.max"
            nest.refuse(f"{block.name} does not join its result and a term by an associative operation", store, hint)
    assert isinstance(update, Binary), "the value that was matched"
    if not _is_identity(first.value, update):
        hint = "0 of a sum, 1 of a product, the largest or least number of T.min or T.max"
        nest.refuse(f"{block.name} does not begin with a value that changes nothing", first, f"begin with {hint}")
    return store, update


def _keys(indices: tuple[PrimExpr, ...]) -> list[str]:
    return [canonical_key(index, wraps=True) for index in indices]


def _is_identity(value: PrimExpr, update: Binary) -> bool:
    """Tell whether an operation with `value` returns the other operand."""
    dtype = update.dtype
    if not isinstance(value, IntImm | FloatImm) or value.dtype != dtype or not (is_integral(dtype) or dtype in FLOATS):
        return False
    limits = dtype_interval(dtype) if is_integral(dtype) else (-FLOATS[dtype], FLOATS[dtype])
    match update.op:
        case "+" | "*":
            return value.value == (0 if update.op == "+" else 1)
        case "max":
            return value.value in (limits[0], -math.inf)
        case _:
            return value.value in (limits[1], math.inf)


def _check(nest: Nest, loop: For, store: BufferStore) -> Instances:
    """Refuse loops that are not those of one reduction by itself; return the digits of its iteration variables."""
    plain_loop(nest, loop, "RFactor")
    stmt = top_level(nest.function)[holder_of(nest, nest.block)]
    instances = whole_instances(nest)
    inner = stmt
    while isinstance(inner, For):
        inner = inner.body
    if inner is not nest.block:
        nest.refuse(
            f"the loops of {nest.block.name} hold other statements", stmt, "take a reduction before others move there"
        )
    stored_axes(nest, nest.block, store.buffer)
    no_aliases(nest, stmt)
    only_elements(nest, store.buffer)
    outer = outer_variables(nest.function)
    reductions = (loop, *_reduction_loops(nest))
    for axis in nest.block.iter_vars:
        mixed = next((digit.loop for digit in instances[axis] if digit.loop in reductions), None)
        if axis.kind == "spatial" and mixed is not None:
            message = f"{mixed.var.name} makes {axis.var.name}, which is spatial: RFactor takes reduction loops"
            nest.refuse(message, mixed, "take loops each of which makes reduction iteration variables only")
    if not any(digit.loop is loop for digits in instances.values() for digit in digits):
        nest.refuse(
            f"{loop.var.name} makes no reduction iteration variable", loop, "take a loop that runs more than once"
        )
    lost = next((item for item in preorder(loop.extent) if isinstance(item, PrimVar) and item not in outer), None)
    if lost is not None:
        nest.refuse(f"how often {loop.var.name} runs depends on {lost.name}", loop, "take a loop of one size")
    return instances


def _parts(nest: Nest, loop: For, store: BufferStore, factor_axis: int) -> _Parts:
    """Return the buffer of the parts, which has the loop as one more dimension."""
    rank = len(store.buffer.shape)
    if not -rank - 1 <= factor_axis <= rank:
        hint = f"a number from {-rank - 1} to {rank}"
        nest.refuse(f"the parts of {store.buffer.name} have no dimension {factor_axis}", nest.block, hint)
    place = factor_axis % (rank + 1)
    dtype = loop.var.dtype
    axis = IterVar(PrimVar(f"v{loop.var.name}", dtype), loop.extent, loop.var, "spatial")

    def inserted(items: tuple[PrimExpr, ...], item: PrimExpr) -> tuple[PrimExpr, ...]:
        return (*items[:place], item, *items[place:])

    shape = inserted(store.buffer.shape, loop.extent)
    buffer = Buffer(f"{store.buffer.name}_rf", shape, store.buffer.dtype, scope=store.buffer.scope)
    return _Parts(axis, buffer, inserted(store.indices, axis.var))


def _partial(nest: Nest, parts: _Parts, update: Binary, instances: Instances) -> Block:
    """Return the block that reduces for each value of the loop; with nothing left to reduce, it stores the terms."""
    block = nest.block
    loop = parts.axis.binding
    spatial = [axis for axis in block.iter_vars if axis.kind == "spatial"]
    left: list[IterVar] = []
    values: dict[PrimVar, PrimExpr] = {}
    for axis in block.iter_vars:
        if axis.kind == "spatial":
            continue
        if not any(digit.loop.var is loop for digit in instances[axis]):
            left.append(axis)
            continue
        # A loop that runs once is in the binding, and counts for no digit.
        others = [item for item in nest.loops if item.var is not loop and uses(item.var, axis.binding)]
        made = [IterVar(PrimVar(f"v{it.var.name}", it.var.dtype), it.extent, it.var, "reduce") for it in others]
        left += [item for item in made if item.binding not in (known.binding for known in left)]
        by_loop: dict[PrimVar, PrimExpr] = {
            item.binding: item.var for item in left if isinstance(item.binding, PrimVar)
        }
        assert isinstance(loop, PrimVar), "the loop of the parts"
        values[axis.var] = replace_symbols(axis.binding, {**by_loop, loop: parts.axis.var})
    _check_condition(nest, left)
    term = nest.ctx.substitute(update.b, None, values)
    value = binary(update.op, BufferLoad(parts.buffer, parts.indices), term) if left else term
    assert isinstance(block.init, BufferStore), "a reduction block"
    return replace(
        block,
        name=f"{block.name}_rf",
        iter_vars=(parts.axis, *spatial, *left),
        body=BufferStore(parts.buffer, parts.indices, value),
        init=BufferStore(parts.buffer, parts.indices, block.init.value) if left else None,
        reads=None,
        writes=(_element(parts.buffer, parts.indices),),
    )


def _check_condition(nest: Nest, left: list[IterVar]) -> None:
    """Refuse a condition that may leave a part without a term, or without its initial value.

    That is written where the iteration variables `left` are 0, so that the condition has to hold there.
    """
    zeros: dict[PrimVar, PrimExpr] = {}
    for item in left:
        zeros.update({it: IntImm(0, it.dtype) for it in preorder(item.binding) if isinstance(it, PrimVar)})
    bounds = nest.bounds()
    for loop in nest.loops:
        bounds.enter_loop(loop)
    reductions = _reduction_loops(nest)
    for part in conjuncts(nest.block.predicate):
        if not any(uses(loop.var, part) for loop in reductions):
            continue
        first = tidy(replace_symbols(part, zeros), bounds)
        if not is_number(first, 1):
            message = "a condition of the block may leave a part without a term"
            nest.refuse(message, nest.block, "divide the loop by a factor that divides it")


def _reduction_loops(nest: Nest) -> list[For]:
    axes = [axis for axis in nest.block.iter_vars if axis.kind == "reduce"]
    return [loop for loop in nest.loops if any(uses(loop.var, axis.binding) for axis in axes)]


def _joined(nest: Nest, parts: _Parts, store: BufferStore, update: Binary) -> Stmt:
    """Return the block that reduces the parts, in the loops that are no reductions and the one of the parts."""
    block, ctx = nest.block, nest.ctx
    gone = [loop for loop in _reduction_loops(nest) if loop.var is not parts.axis.binding]
    loops = [loop for loop in nest.loops if loop not in gone]
    fresh: dict[PrimVar, PrimExpr] = {loop.var: replace(loop.var) for loop in loops}
    spatial = [axis for axis in block.iter_vars if axis.kind == "spatial"]
    fresh |= {axis.var: replace(axis.var) for axis in (*spatial, parts.axis)}
    condition: PrimExpr | None = None
    for part in conjuncts(block.predicate):
        if not any(uses(loop.var, part) for loop in _reduction_loops(nest)):
            condition = part if condition is None else binary("and", condition, part)
    value = binary(update.op, update.a, BufferLoad(parts.buffer, parts.indices))
    made = replace(
        block,
        iter_vars=(replace(parts.axis, kind="reduce"), *spatial),
        body=replace(store, value=value),
        reads=(_element(parts.buffer, parts.indices),),
        predicate=condition,
    )
    changed = ctx.substitute(made, None, fresh)
    renamed = [replace(loop, var=var) for loop in loops if isinstance(var := fresh[loop.var], PrimVar)]
    return ctx.derive(_in_loops(renamed, changed), block)


def _in_loops(loops: Sequence[For], body: Stmt) -> Stmt:
    for loop in reversed(loops):
        body = replace(loop, body=body)
    return body


def _element(buffer: Buffer, indices: tuple[PrimExpr, ...]) -> BufferRegion:
    ones = tuple(IntImm(1, getattr(index, "dtype", "int32")) for index in indices)
    return BufferRegion(buffer, indices, ones)


PASS = Pass(
    "RFactor",
    "Schedule: takes a reduction in parts, one for each iteration of a loop, and then reduces the parts.",
    run,
    RFactorOptions,
    see="tvm/src/s_tir/schedule/primitive/reduction.cc",
    dialect="tir",
)
