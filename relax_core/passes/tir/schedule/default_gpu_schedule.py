"""Bind the loops of every prim func that is not scheduled to the threads of a GPU, by a list of primitives."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

from relax_core.diagnostics import CompileError
from relax_core.ir.attrs import has_attr, with_attr
from relax_core.ir.expr import GlobalVar
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.ir.tir import Block, For, LaunchThread, PrimFunc, Stmt
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.functions import change_prim_funcs
from relax_core.passes.tir.schedule.instances import size_of
from relax_core.passes.tir.schedule.loops import add_unit_loop, bind, fuse, reorder, split
from relax_core.passes.tir.schedule.nest import uses
from relax_core.passes.tir.schedule.scope import top_level

SCHEDULED = "tirx.is_scheduled"
"""The attribute of a function whose loops are bound."""


@dataclass(frozen=True, slots=True)
class DefaultGPUScheduleOptions:
    """How many threads a block of threads has at most, and how many blocks are launched where all cannot be."""

    max_thread_per_block: int = 1024
    max_threadblocks: int = 256


@dataclass(frozen=True, slots=True)
class _Primitive:
    """A schedule primitive with its options."""

    pass_: Pass
    options: Any

    def __str__(self) -> str:
        names = [item.name for item in dataclasses.fields(self.options) if item.name != "function"]
        given = [(name, getattr(self.options, name)) for name in names]
        return f"{self.pass_.name}({', '.join(f'{name}={_literal(value)}' for name, value in given if value != '')})"


def _literal(value: object) -> str:
    """Write an option as in the text of a pipeline, a tuple as a list."""
    text = repr(value)
    return f"[{text[1:-1].rstrip(',')}]" if isinstance(value, tuple) else text


def run(module: IRModule, options: DefaultGPUScheduleOptions, ctx: PassContext) -> IRModule:
    """Join the spatial loops of each block, divide the result, and bind its parts to blocks of threads and threads.

    A remark shows the primitives of each block, which do the same one by one. A block for which one of them is refused
    stays as it is, and so does a function that has bound loops.
    """
    for var, function in module.prim_funcs:
        if has_attr(function.attrs, SCHEDULED) or _is_bound(function):
            ctx.remark(function, "missed", f"{var.name} is scheduled already")
            continue
        are_bound = True
        for stmt in top_level(function):
            chain = _chain(stmt)
            steps = () if chain is None else tuple(_steps(var.name, chain, options))
            reason = "it does not stand alone in loops that run one after the other" if chain is None else None
            reason = reason or _refusal(module, steps)
            if reason is not None:
                are_bound = False
                ctx.remark(stmt, "missed", f"a statement of {var.name} is left as it is: {reason}")
                continue
            ctx.remark(stmt, "note", ", ".join(map(str, steps)))
            for step in steps:
                module = step.pass_.run(module, step.options, ctx)
        if are_bound:
            module = _marked(module, var, ctx)
    return module


def _is_bound(function: PrimFunc) -> bool:
    return any(
        isinstance(item, LaunchThread) or (isinstance(item, For) and item.kind == "thread_binding")
        for item in preorder(function.body)
    )


def _chain(stmt: Stmt) -> tuple[tuple[For, ...], Block] | None:
    """Return serial loops that stand in each other with the block that they hold; `None` for anything else."""
    loops: list[For] = []
    while isinstance(stmt, For) and stmt.kind == "serial":
        loops.append(stmt)
        stmt = stmt.body
    return (tuple(loops), stmt) if isinstance(stmt, Block) else None


def _steps(
    function: str, chain: tuple[tuple[For, ...], Block], options: DefaultGPUScheduleOptions
) -> Iterator[_Primitive]:
    """Yield the primitives that bind a block's loops. Names of loops are those that the primitives give."""
    loops, block = chain
    name = block.name
    spatial = [loop for loop in loops if _is_spatial(loop, block)]
    names = [loop.var.name for loop in spatial]
    if not spatial:
        outermost = loops[0].var.name if loops else ""
        yield _Primitive(add_unit_loop.PASS, add_unit_loop.AddUnitLoopOptions(name, outermost, function))
        names = ["u"]
    elif list(loops[: len(spatial)]) != spatial:
        order = (*names, *(loop.var.name for loop in loops if loop not in spatial))
        yield _Primitive(reorder.PASS, reorder.ReorderOptions(name, order, function))
    if len(names) > 1:
        yield _Primitive(fuse.PASS, fuse.FuseOptions(name, tuple(names), function))
    fused = names[0] if len(names) == 1 else f"{'_'.join(names)}_fused"
    sizes = [size_of(loop) for loop in spatial]
    known = [size for size in sizes if size is not None]
    count = prod(known) if len(known) == len(sizes) else None
    threads, blocks = options.max_thread_per_block, options.max_threadblocks
    if count is not None and count <= blocks * threads:
        factors, bound = (None, max(min(count, threads), 1)), (0, 1)
        yield _Primitive(split.PASS, split.SplitOptions(name, fused, factors, function))
    else:
        factors, bound = (None, blocks, threads), (1, 2)
        yield _Primitive(split.PASS, split.SplitOptions(name, fused, factors, function))
        order = tuple(f"{fused}_{part}" for part in (1, 2, 0))
        yield _Primitive(reorder.PASS, reorder.ReorderOptions(name, order, function))
    for part, thread in zip(bound, ("blockIdx.x", "threadIdx.x"), strict=True):
        yield _Primitive(bind.PASS, bind.BindOptions(name, f"{fused}_{part}", thread, function))


def _is_spatial(loop: For, block: Block) -> bool:
    """Tell whether a loop makes spatial iteration variables of a block and no others."""
    kinds = {axis.kind for axis in block.iter_vars if uses(loop.var, axis.binding)}
    return kinds == {"spatial"}


def _refusal(module: IRModule, steps: tuple[_Primitive, ...]) -> str | None:
    """Return why one of the primitives cannot be taken; `None` if all can. What they change is thrown away."""
    trial = PassContext()
    trial.log.read(module)
    try:
        for step in steps:
            module = step.pass_.run(module, step.options, trial)
    except CompileError as error:
        return error.diagnostics[0].message
    return None


def _marked(module: IRModule, var: GlobalVar, ctx: PassContext) -> IRModule:
    """Return `module` in which the function says that it is scheduled."""

    def change(name: GlobalVar, function: PrimFunc) -> PrimFunc:
        if name is not var:
            return function
        return dataclasses.replace(function, attrs=with_attr(function.attrs, SCHEDULED, value=True))

    return change_prim_funcs(module, ctx, change)


PASS = Pass(
    "DefaultGPUSchedule",
    "Schedule: binds the loops of every prim func to the threads of a GPU.",
    run,
    DefaultGPUScheduleOptions,
    see="tvm/src/s_tir/transform/default_gpu_schedule.cc",
    dialect="tir",
)
