"""Pass the weights of a function as one tuple."""

from dataclasses import dataclass, replace

from relax_core.ir.attrs import attr
from relax_core.ir.expr import (
    OBJECT,
    Binding,
    BindingBlock,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    GlobalVar,
    SeqExpr,
    TupleGetItem,
    TupleType,
    Var,
    VarBinding,
)
from relax_core.ir.module import IRModule
from relax_core.ir.rewriting.builder import names_in
from relax_core.ir.rewriting.substitute import free_vars
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.blocks.outputs import blocks_of_uses
from relax_core.passes.relax.functions import join_blocks


@dataclass(frozen=True, slots=True)
class BundleOptions:
    """`param_tuple_name` is the name of the parameter that holds the weights."""

    param_tuple_name: str = "model_params"


def run(module: IRModule, options: BundleOptions, ctx: PassContext) -> IRModule:
    """Replace the parameters behind the first `num_input` of a function by one tuple; each is taken before its use.

    A function without the attribute stays as it is, and one whose weights are one tuple already. A weight is taken
    once, where TVM takes it anew for each use, and leaves a local function without it.
    """

    def change(var: GlobalVar, function: Function) -> Function:
        count = attr(function.attrs, "num_input")
        if not isinstance(count, int) or isinstance(count, bool):
            ctx.remark(function, "missed", f"@{var.name} stays: it has no num_input that tells weights from inputs")
            return function
        weights = function.params[count:]
        if len(weights) == 1 and isinstance(weights[0].annotation, TupleType):
            ctx.remark(function, "missed", f"@{var.name} stays: its weights are one tuple already")
            return function
        ctx.remark(function, "applied", f"@{var.name} takes its weights as one tuple: {len(weights)}", weights)
        return _bundled(function, count, options.param_tuple_name, ctx)

    return change_functions(module, ctx, change)


def _bundled(function: Function, count: int, name: str, ctx: PassContext) -> Function:
    weights = function.params[count:]
    types = tuple(weight.annotation or OBJECT for weight in weights)
    bundle = Var(names_in(function).fresh(name), TupleType(types))
    body = function.body
    assert isinstance(body, SeqExpr), "a function in A-normal form has a sequence as its body"
    seen_in = blocks_of_uses(function)
    waiting = {weight: TupleGetItem(bundle, index) for index, weight in enumerate(weights)}
    hidden: dict[Var, Expr] = {}
    blocks: list[BindingBlock] = []
    for block in body.blocks:
        bindings: list[Binding] = []
        for item in block.bindings:
            taken = _taken(free_vars(item), waiting, ctx)
            if isinstance(block, DataflowBlock):
                inner = (part.var for part in taken if seen_in[part.var] <= {block})
                hidden.update((var, ctx.derive(DataflowVar(var.name, var.annotation), var)) for var in inner)
            bindings += (*taken, item)
        blocks.append(block if len(bindings) == len(block.bindings) else replace(block, bindings=tuple(bindings)))
    rest = _taken(free_vars(body.body), waiting, ctx)
    if rest:
        blocks.append(BindingBlock(tuple(rest)))
    params = (*function.params[:count], ctx.derive(bundle, *weights) if weights else bundle)
    made = replace(function, params=params, body=replace(body, blocks=tuple(blocks)))
    ctx.derive(made, function, rule="function of weights -> function of a tuple of weights")
    return ctx.rewrite(ctx.substitute(made, hidden), join_blocks)


def _taken(used: tuple[Var, ...], waiting: dict[Var, TupleGetItem], ctx: PassContext) -> list[Binding]:
    """Bind the weights among `used` that still wait."""
    found = [var for var in used if var in waiting]
    return [ctx.derive(VarBinding(var, waiting.pop(var)), var) for var in found]


PASS = Pass(
    "BundleModelParams",
    "Passes the weights of a function, the parameters behind its inputs, as one tuple.",
    run,
    options=BundleOptions,
    needs=("normal form",),
    see="tvm/src/relax/transform/bundle_model_params.cc",
)
