"""Changing the functions of a module, in any dialect."""

from collections.abc import Callable
from dataclasses import replace
from operator import is_

from relax_core.ir.expr import Function, GlobalVar
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.tir import PrimFunc
from relax_core.passes.core import PassContext


def change_functions(module: IRModule, ctx: PassContext, change: Callable[[GlobalVar, Function], Function]) -> IRModule:
    """Return `module` with `change` applied to each function, prim funcs aside; the same object if nothing changed."""
    definitions: list[Definition] = []
    for item in module.definitions:
        function = item.function
        if isinstance(function, Function):
            new = change(item.var, function)
            if new is not function:
                item = ctx.derive(replace(item, function=new), item, function)
        definitions.append(item)
    return with_definitions(module, tuple(definitions), ctx)


def change_prim_funcs(
    module: IRModule, ctx: PassContext, change: Callable[[GlobalVar, PrimFunc], PrimFunc]
) -> IRModule:
    """Return `module` with `change` applied to each prim func; the same object if nothing changed."""
    definitions: list[Definition] = []
    for item in module.definitions:
        function = item.function
        if isinstance(function, PrimFunc):
            new = change(item.var, function)
            if new is not function:
                ctx.log.rebuilt(function, new)
                item = ctx.derive(replace(item, function=new), item)
        definitions.append(item)
    return with_definitions(module, tuple(definitions), ctx)


def with_definitions(module: IRModule, definitions: tuple[Definition, ...], ctx: PassContext) -> IRModule:
    """Return `module` with these definitions; the same object if they are its own."""
    is_same = len(definitions) == len(module.definitions) and all(map(is_, definitions, module.definitions))
    return module if is_same else ctx.derive(replace(module, definitions=definitions), module)
