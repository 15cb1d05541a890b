"""Pass the weights of a function as one tuple."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from relax_core.ir.attrs import attr
from relax_core.ir.expr import (
    OBJECT,
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    GlobalVar,
    If,
    SeqExpr,
    Tuple,
    TupleGetItem,
    TupleType,
    Var,
    VarBinding,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, nodes_in
from relax_core.ir.rewriting.builder import Names
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.functions import join_blocks
from relax_core.passes.relax.interfaces.internal import uses_of


@dataclass(frozen=True, slots=True)
class BundleOptions:
    """`param_tuple_name` is the name of the parameter that holds the weights."""

    param_tuple_name: str = "model_params"


def run(module: IRModule, options: BundleOptions, ctx: PassContext) -> IRModule:
    """Replace the parameters behind the first `num_input` of a function by one tuple; each is taken before each use.

    A function without the attribute stays as it is, and one whose weights are one tuple already, and one that the
    module passes on as a value. Calls in the module pass a tuple, which TVM forgets. A weight is taken anew for each
    use, also in a local function, which TVM leaves without it.
    """
    values = uses_of(module).values
    bundled: dict[str, int] = {}

    def call(node: Node) -> Node | None:
        """Rule: call with weights -> call with a tuple of them."""
        match node:
            case Call(op=GlobalVar(name=name), args=args) if name in bundled:
                return replace(node, args=(*args[: bundled[name]], Tuple(args[bundled[name] :])))
            case _:
                return None

    def change(var: GlobalVar, function: Function) -> Function:
        count = attr(function.attrs, "num_input")
        if not isinstance(count, int) or isinstance(count, bool):
            ctx.remark(function, "missed", f"@{var.name} stays: it has no num_input that tells weights from inputs")
            return function
        weights = function.params[count:]
        if len(weights) == 1 and isinstance(weights[0].annotation, TupleType):
            ctx.remark(function, "missed", f"@{var.name} stays: its weights are one tuple already")
            return function
        if var.name in values:
            ctx.remark(function, "missed", f"@{var.name} stays: the module passes it on as a value")
            return function
        bundled[var.name] = count
        ctx.remark(function, "applied", f"@{var.name} takes its weights as one tuple: {len(weights)}", weights)
        return _bundled(function, count, options.param_tuple_name, ctx)

    changed = change_functions(module, ctx, change)
    return change_functions(changed, ctx, lambda _, function: ctx.rewrite(function, call)) if bundled else changed


def _bundled(function: Function, count: int, name: str, ctx: PassContext) -> Function:
    weights = function.params[count:]
    names = Names(item.name for item in nodes_in(function) if isinstance(item, Var) and item not in weights)
    types = tuple(weight.annotation or OBJECT for weight in weights)
    bundle = Var(names.fresh(name), TupleType(types))
    params = (*function.params[:count], ctx.derive(bundle, *weights) if weights else bundle)
    body = ctx.rewrite(function.body, _Taking(weights, bundle, names, ctx).take, join_blocks)
    made = replace(function, params=params, body=body)
    return ctx.derive(made, function, rule="function of weights -> function of a tuple of weights")


@dataclass(frozen=True, slots=True)
class _Taking:
    """Takes weights from a tuple where they are used."""

    weights: tuple[Var, ...]
    bundle: Var
    names: Names
    ctx: PassContext

    def take(self, node: Node) -> Node | None:
        """Rule: use of a weight -> field of the tuple, bound before it."""
        match node:
            case BindingBlock():
                bindings = tuple(chain.from_iterable(map(partial(self.binding, type(node)), node.bindings)))
                return None if len(bindings) == len(node.bindings) else replace(node, bindings=bindings)
            case SeqExpr(blocks=blocks, body=body):
                taken: list[Binding] = []
                result = self.fields(body, Var, taken)
                made = self.ctx.derive(BindingBlock(tuple(taken)), body)
                return replace(node, blocks=(*blocks, made), body=result) if taken else None
            case _:
                return None

    def binding(self, block: type[BindingBlock], item: Binding) -> Iterator[Binding]:
        """Yield the fields that a binding uses, and the binding that uses them."""
        taken: list[Binding] = []
        value = self.fields(item.value, DataflowVar if block is DataflowBlock else Var, taken)
        yield from taken
        yield self.ctx.derive(replace(item, value=value), item) if taken else item

    def fields(self, expr: Expr, kind: type[Var], taken: list[Binding]) -> Expr:
        """Return an expression with variables for the weights in it, a new one for each use; `taken` binds them."""
        match expr:
            case Var() if expr in self.weights:
                var = self.ctx.derive(kind(self.names.fresh(expr.name), expr.annotation), expr)
                taken.append(
                    self.ctx.derive(VarBinding(var, TupleGetItem(self.bundle, self.weights.index(expr))), expr)
                )
                return var
            case Call(op=op, args=args):
                made = tuple(self.fields(item, kind, taken) for item in (op, *args))
                return self.ctx.derive(replace(expr, op=made[0], args=made[1:]), expr) if made != (op, *args) else expr
            case Tuple(fields=fields):
                made = tuple(self.fields(item, kind, taken) for item in fields)
                return self.ctx.derive(replace(expr, fields=made), expr) if made != fields else expr
            case TupleGetItem(tuple_value=value):
                source = self.fields(value, kind, taken)
                return self.ctx.derive(replace(expr, tuple_value=source), expr) if source is not value else expr
            case If(condition=condition):
                found = self.fields(condition, kind, taken)
                return self.ctx.derive(replace(expr, condition=found), expr) if found is not condition else expr
            case _:
                return expr


PASS = Pass(
    "BundleModelParams",
    "Passes the weights of a function, the parameters behind its inputs, as one tuple.",
    run,
    options=BundleOptions,
    needs=("normal form",),
    see="tvm/src/relax/transform/bundle_model_params.cc",
)
