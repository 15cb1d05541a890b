"""Hand over each result when it is there."""

from collections.abc import Sequence
from dataclasses import replace

from relax_core.ir.attrs import attr, with_attr
from relax_core.ir.expr import (
    OBJECT,
    VOID,
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    Expr,
    Function,
    FuncType,
    GlobalVar,
    PrimType,
    SeqExpr,
    Tuple,
    Var,
)
from relax_core.ir.module import IRModule
from relax_core.ir.rewriting.builder import names_in
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.properties import FORCE_PURE
from relax_core.passes.relax.functions import effect, integer, join_blocks
from relax_core.passes.relax.interfaces.internal import uses_of

SET_TYPE = FuncType((PrimType("int64"), OBJECT), VOID, is_pure=False)


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Make public functions call their parameter `fset_output(index, value)` instead of returning.

    A result is handed over behind its binding; one of a dataflow block behind the block, in which TVM calls, though no
    such block may have effects. A function that the module itself uses returns as before; TVM leaves its calls wrong.
    So does one that returns a scalar, which is no object.
    """
    uses, type_of = uses_of(module), ctx.types(module)

    def change(var: GlobalVar, function: Function) -> Function:
        if function.is_private:
            ctx.remark(function, "missed", f"@{var.name} stays: it is private")
            return function
        if var.name in uses.calls or var.name in uses.values:
            ctx.remark(function, "missed", f"@{var.name} stays: the module itself calls it")
            return function
        scalar = next((item for item in _results(function) if isinstance(type_of.get(item), PrimType)), None)
        if scalar is not None:
            ctx.remark(function, "missed", f"@{var.name} stays: a result is a scalar on the host, no object", (scalar,))
            return function
        return _lazy(function, var.name, ctx)

    return change_functions(module, ctx, change)


def _body(function: Function) -> SeqExpr:
    assert isinstance(function.body, SeqExpr), "a function in A-normal form has a sequence as its body"
    return function.body


def _results(function: Function) -> tuple[Expr, ...]:
    result = _body(function).body
    return result.fields if isinstance(result, Tuple) else (result,)


def _lazy(function: Function, name: str, ctx: PassContext) -> Function:
    count = attr(function.attrs, "num_input")
    is_counted = isinstance(count, int) and not isinstance(count, bool)
    place = count if isinstance(count, int) and is_counted else len(function.params)
    setter = Var(names_in(function).fresh("fset_output"), SET_TYPE)
    body, results = _body(function), _results(function)
    calls = [(value, ctx.derive(effect(Call(setter, (integer(at), value))), value)) for at, value in enumerate(results)]
    attrs = tuple(item for item in function.attrs if item[0] != FORCE_PURE)
    params = (*function.params[:place], setter, *function.params[place:])
    blocks = _with_calls(body, function.params, calls)
    made = Function(
        params,
        replace(body, blocks=blocks, body=Tuple()),
        VOID,
        with_attr(attrs, "num_input", place + 1) if is_counted else attrs,
        is_pure=False,
        span=function.span,
    )
    ctx.remark(function, "applied", f"@{name} hands over its results one by one: {len(results)}", tuple(results))
    ctx.derive(made, function, rule="function with results -> function that hands them over")
    return ctx.rewrite(made, join_blocks)


def _with_calls(
    body: SeqExpr, params: Sequence[Var], calls: Sequence[tuple[Expr, Binding]]
) -> tuple[BindingBlock, ...]:
    """Put each call behind what binds its value: parameters first, in their order, what has no binding last."""

    def block(values: Sequence[Expr]) -> tuple[BindingBlock, ...]:
        found = tuple(call for value in dict.fromkeys(values) for given, call in calls if given is value)
        return (BindingBlock(found),) if found else ()

    blocks: list[BindingBlock] = [*block(params)]
    bound: set[Expr] = set(params)
    for item in body.blocks:
        vars = [binding.var for binding in item.bindings]
        bound.update(vars)
        if isinstance(item, DataflowBlock):
            blocks += (item, *block(vars))
            continue
        bindings: list[Binding] = []
        for binding in item.bindings:
            bindings += (binding, *(call for value, call in calls if value is binding.var))
        blocks.append(item if len(bindings) == len(item.bindings) else replace(item, bindings=tuple(bindings)))
    return (*blocks, *block([value for value, _ in calls if value not in bound]))


PASS = Pass(
    "LazySetOutput",
    "Makes functions hand over each result when it is there, instead of returning all.",
    run,
    needs=("normal form",),
    see="tvm/src/relax/transform/lazy_transform_params.cc",
)
