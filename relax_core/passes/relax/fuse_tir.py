"""FuseTIR: a primitive function becomes one prim func.

See: tvm/src/relax/transform/fuse_tir.cc
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from relax_core.ir.attrs import attr
from relax_core.ir.expr import (
    Call,
    Expr,
    Function,
    GlobalVar,
    Op,
    PrimValue,
    ShapeExpr,
    Tuple,
    TupleType,
    Type,
    VarBinding,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, children, preorder
from relax_core.ir.rewriting.rewrite import Rule
from relax_core.ir.tir import PrimFunc
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relax.functions import rewrite_functions, with_definitions
from relax_core.passes.relax.fuse_ops import PRIMITIVE
from relax_core.passes.relax.merged_prim_func import NotMergedError, merged_prim_func


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Merge the prim funcs that each primitive function calls, and call the result with `call_tir`.

    Private prim funcs that only such functions called are dropped.
    """
    type_of = ctx.types(module)
    merged = dict(_merged(module, type_of, ctx))
    if not merged:
        return module

    def call_prim_func(node: Node) -> Node | None:
        """Rule: call of a primitive function -> call_tir of its prim func."""
        match node:
            case VarBinding(var=var, value=Call(op=GlobalVar(name=name) as callee, args=args)) if name in merged:
                type_ = type_of[var]
                results = type_.fields if isinstance(type_, TupleType) else (type_,)
                call = Call(Op("relax.call_tir"), (callee, Tuple(tuple(_given(args)))), type_args=results)
                return replace(node, value=call)
            case _:
                return None

    def rules_for(name: GlobalVar, _: Function) -> tuple[Rule, ...]:
        return () if name.name in merged else (call_prim_func,)

    called = rewrite_functions(module, ctx, rules_for).definitions
    definitions = tuple(_with_prim_func(item, merged, ctx) for item in called)
    used, before = _names_used(definitions), _names_used(module.definitions)
    kept = (item for item in definitions if item.var.name in used or item.var.name not in before or _is_public(item))
    return with_definitions(module, tuple(kept), ctx)


def _merged(module: IRModule, type_of: Mapping[Node, Type], ctx: PassContext) -> Iterator[tuple[str, PrimFunc]]:
    """Yield the prim funcs of the primitive functions that are only called, by their names."""
    values = _values_used(module)
    for name, function in module.relax_functions:
        if not attr(function.attrs, PRIMITIVE):
            continue
        if name.name in values or not function.is_private:
            ctx.remark(function, "missed", f"@{name.name} stays a function: it is used as a value or from outside")
            continue
        try:
            made = merged_prim_func(function, module, type_of, ctx.log)
        except NotMergedError as error:
            ctx.remark(function, "missed", f"@{name.name} stays a function: {error}", (error.node,))
            continue
        ctx.remark(function, "applied", f"the prim funcs that @{name.name} calls become one")
        yield name.name, made


def _values_used(module: IRModule) -> set[str]:
    """Return the names of functions that stand somewhere else than as the callee of a call."""
    found: set[str] = set()
    for item in preorder(module):
        parts = item.args if isinstance(item, Call) else () if isinstance(item, Definition) else children(item)
        found.update(part.name for part in parts if isinstance(part, GlobalVar))
    return found


def _names_used(definitions: tuple[Definition, ...]) -> set[str]:
    return {part.name for item in definitions for part in preorder(item.function) if isinstance(part, GlobalVar)}


def _is_public(definition: Definition) -> bool:
    return not definition.function.is_private


def _with_prim_func(definition: Definition, merged: Mapping[str, PrimFunc], ctx: PassContext) -> Definition:
    made = merged.get(definition.var.name)
    return definition if made is None else ctx.derive(replace(definition, function=made), definition)


def _given(args: tuple[Expr, ...]) -> Iterator[Expr]:
    """Yield the arguments of the prim func: dimensions one by one."""
    for item in args:
        match item:
            case ShapeExpr(values=dims):
                yield from map(PrimValue, dims)
            case _:
                yield item


PASS = Pass(
    "FuseTIR",
    "Makes one prim func of those that a primitive function calls.",
    run,
    needs=("normal form",),
    see="tvm/src/relax/transform/fuse_tir.cc",
)
