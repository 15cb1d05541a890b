"""LinkReferenceBackend: external functions get the calling convention of packed functions and a body that runs.

The reference backend runs an operator at a time by NumPy, because no pass has lowered what was handed to it.
"""

from collections.abc import Iterator
from dataclasses import replace

from relax_core.ir.attrs import attrs_of
from relax_core.ir.expr import (
    Binding,
    BindingBlock,
    Expr,
    Function,
    SeqExpr,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.rewriting.builder import Emitter, names_in
from relax_core.ir.tir import PrimFunc
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.external import DESTINATION_COUNT, EXTERNAL, is_external
from relax_core.passes.functions import with_definitions
from relax_core.passes.relax.functions import effect, packed_call

COPY = "custom_copy"
"""The packed function that copies a tensor into another."""


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Let each external function take destinations behind its inputs, and write its results into them."""
    definitions = tuple(_linked(item, ctx) if is_external(item.function) else item for item in module.definitions)
    return with_definitions(module, definitions, ctx)


def _linked(item: Definition, ctx: PassContext) -> Definition:
    function = item.function
    if isinstance(function, PrimFunc):
        return _linked_kernel(item, function, ctx)
    assert isinstance(function, Function), "what is handed over is a function of Relax or a prim func"
    assert isinstance(function.body, SeqExpr), "what is handed over is in normal form"
    emitter = Emitter(names_in(function))
    destinations: list[Var] = []
    for value, type_ in _results(function.body.body, function.ret_type, emitter):
        destinations.append(Var(emitter.names.fresh("out"), type_))
        emitter.bindings.append(effect(packed_call(COPY, value, destinations[-1])))
    copies: tuple[Binding, ...] = tuple(emitter.bindings)
    blocks = (*function.body.blocks, BindingBlock(copies))
    linked = Function(
        (*function.params, *destinations),
        SeqExpr(blocks, Tuple(())),
        TupleType(()),
        attrs_of([*(item for item in function.attrs if item[0] != EXTERNAL), (DESTINATION_COUNT, len(destinations))]),
        is_pure=False,
    )
    ctx.remark(function, "applied", f"@{item.var.name} is run by the reference backend")
    return ctx.derive(replace(item, function=ctx.derive(linked, function)), item)


def _linked_kernel(item: Definition, kernel: PrimFunc, ctx: PassContext) -> Definition:
    """Link a prim func of a library, which takes destinations already."""
    attrs = tuple(part for part in kernel.attrs if part[0] != EXTERNAL)
    ctx.remark(kernel, "applied", f"@{item.var.name} is run by its loops")
    return ctx.derive(replace(item, function=ctx.derive(replace(kernel, attrs=attrs), kernel)), item)


def _results(value: Expr, type_: Type | None, emitter: Emitter) -> Iterator[tuple[Expr, Type | None]]:
    """Yield the tensors of a result in the order of their destinations."""
    if not isinstance(type_, TupleType):
        yield value, type_
        return
    for place, field in enumerate(type_.fields):
        part = value.fields[place] if isinstance(value, Tuple) else emitter.emit(TupleGetItem(value, place))
        yield from _results(part, field, emitter)


PASS = Pass(
    "LinkReferenceBackend",
    "Makes external functions callable, with a body that runs an operator at a time.",
    run,
    gives=("linked backends",),
    sees_external=True,
)
