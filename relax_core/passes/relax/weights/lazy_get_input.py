"""Ask for each weight when it is needed."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import TypeVar

from relax_core.ir.attrs import attr, with_attr
from relax_core.ir.expr import (
    OBJECT,
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    DataflowVar,
    Function,
    FuncType,
    GlobalVar,
    If,
    MatchCast,
    PrimType,
    SeqExpr,
    Var,
    VarBinding,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.rewriting.builder import Names, names_in
from relax_core.ir.rewriting.substitute import free_vars
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.closures.captures import binding_symbols
from relax_core.passes.relax.closures.result_types import without_unbound
from relax_core.passes.relax.dead_code_elimination import without_unused
from relax_core.passes.relax.eliminate_common_subexpr import CSEOptions, share_values
from relax_core.passes.relax.functions import integer, join_blocks, string
from relax_core.passes.relax.interfaces.internal import uses_of
from relax_core.passes.relax.weights.size_scopes import SizeScopes

N = TypeVar("N", bound=Node)
GET_TYPE = FuncType((PrimType("int64"), OBJECT), OBJECT)


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Replace the parameters behind the first `num_input` of public functions by a function `fget_param(index, name)`.

    A weight is asked for where it is first used, again behind a dataflow block that alone saw it, and in each branch
    of an `if`. One that a local function uses is asked for where the function stands, in TVM at each of its calls. One
    that gives a size which is used before, or elsewhere, is asked for at the start; TVM leaves such a size without a
    value. A function that the module itself uses keeps its parameters, which TVM takes from its calls. What changed is
    cleaned as in TVM: the same value is computed once, and what nothing uses goes.
    """
    uses = uses_of(module)

    def change(var: GlobalVar, function: Function) -> Function:
        if function.is_private:
            ctx.remark(function, "missed", f"@{var.name} stays: it is private")
            return function
        if var.name in uses.calls or var.name in uses.values:
            ctx.remark(function, "missed", f"@{var.name} stays: the module itself calls it")
            return function
        return _lazy(function, var.name, ctx)

    changed = change_functions(module, ctx, change)
    lazy = {name.name for name, function in changed.relax_functions if module[name.name] is not function}
    return _tidied(changed, lazy, ctx) if lazy else module


def _tidied(module: IRModule, names: AbstractSet[str], ctx: PassContext) -> IRModule:
    """Compute the same value once, and drop what nothing uses, in some of the functions."""
    type_of = ctx.types(module)

    def share(name: GlobalVar, function: Function) -> Function:
        return share_values(function, CSEOptions(), type_of, ctx) if name.name in names else function

    return without_unused(change_functions(module, ctx, share), ctx, names)


def _lazy(function: Function, name: str, ctx: PassContext) -> Function:
    count = attr(function.attrs, "num_input")
    count = count if isinstance(count, int) and not isinstance(count, bool) else 0
    inputs, weights = function.params[:count], function.params[count:]
    given = {symbol for param in inputs for symbol in binding_symbols(param.annotation)}
    lazy = _attempt(function, count, _early(function, count), ctx)
    made = replace(
        function,
        params=(*inputs, lazy.getter),
        body=ctx.substitute(lazy.body, lazy.scopes.retyped),
        ret_type=function.ret_type and without_unbound(function.ret_type, given),
        attrs=with_attr(function.attrs, "num_input", count + 1),
    )
    ctx.remark(function, "applied", f"@{name} asks for its weights one by one: {len(weights)}", weights)
    ctx.derive(made, function, rule="function of weights -> function that asks for them")
    return ctx.rewrite(made, join_blocks)


@dataclass(frozen=True, slots=True)
class _Lazy:
    """The function that asks for its weights, and the body of one attempt."""

    getter: Var
    body: SeqExpr
    scopes: SizeScopes


def _attempt(function: Function, count: int, early: tuple[Var, ...], ctx: PassContext) -> _Lazy:
    """Ask for the weights `early` at the start, and for each other where it is used."""
    names = names_in(function)
    getter = Var(names.fresh("fget_param"), GET_TYPE)
    inputs, weights = function.params[:count], function.params[count:]
    loads = _Loads(names, getter, weights, ctx)
    known: dict[Var, Var] = {}
    start = tuple(item for weight in early for item in loads.load(weight, known, is_dataflow=False))
    assert isinstance(function.body, SeqExpr), "a function in A-normal form has a sequence as its body"
    rest = loads.sequence(function.body, known)
    body = replace(rest, blocks=(*((BindingBlock(start),) if start else ()), *rest.blocks))
    scopes = SizeScopes()
    scopes.walk(body, {symbol for param in inputs for symbol in binding_symbols(param.annotation)})
    return _Lazy(getter, body, scopes)


def _early(function: Function, count: int) -> tuple[Var, ...]:
    """Return the weights that give a size which is used where the weight has not been asked for yet."""
    weights = function.params[count:]
    early: tuple[Var, ...] = ()
    while True:
        needed = _attempt(function, count, early, PassContext()).scopes.early
        given = ((item, binding_symbols(item.annotation)) for item in weights if item not in early)
        found = next((item for item, symbols in given if any(symbol in needed for symbol in symbols)), None)
        if found is None:
            return early
        early = tuple(item for item in weights if item in early or item is found)


@dataclass(frozen=True, slots=True)
class _Loads:
    """Puts what asks for a weight before its use."""

    names: Names
    getter: Var
    weights: tuple[Var, ...]
    ctx: PassContext
    loaded: set[Var] = field(default_factory=set[Var])

    def load(self, weight: Var, known: dict[Var, Var], *, is_dataflow: bool) -> tuple[Binding, ...]:
        """Ask for a weight, and note the variable that stands for it."""
        kind = DataflowVar if is_dataflow else Var
        untyped = kind(self.names.fresh(f"{weight.name}_untyped"), OBJECT)
        name = self.names.fresh(weight.name) if weight in self.loaded else weight.name
        self.loaded.add(weight)
        known[weight] = kind(name, weight.annotation)
        args = (integer(self.weights.index(weight)), string(weight.name))
        cast = MatchCast(known[weight], untyped, weight.annotation or OBJECT)
        return tuple(self.ctx.derive(item, weight) for item in (VarBinding(untyped, Call(self.getter, args)), cast))

    def sequence(self, body: SeqExpr, seen: dict[Var, Var]) -> SeqExpr:
        """Return a sequence in which the weights are asked for; `seen` are those that are there already."""
        known = dict(seen)
        blocks: list[BindingBlock] = []
        for block in body.blocks:
            is_dataflow = isinstance(block, DataflowBlock)
            inner = dict(known) if is_dataflow else known
            bindings: list[Binding] = []
            for item in block.bindings:
                bindings += (*self.asked(item, inner, is_dataflow=is_dataflow), self.binding(item, inner))
            blocks.append(self.rebuilt(block, replace(block, bindings=tuple(bindings))))
        asked = self.asked(body.body, known, is_dataflow=False)
        if asked:
            blocks.append(BindingBlock(asked))
        result = replace(body, blocks=tuple(blocks), body=self.with_known(body.body, known))
        return self.rebuilt(body, result)

    def rebuilt(self, old: Node, new: N) -> N:
        self.ctx.log.rebuilt(old, new)
        return new

    def asked(self, item: Node, known: dict[Var, Var], *, is_dataflow: bool) -> tuple[Binding, ...]:
        """Return what asks for the weights that a binding or a result uses, branches aside."""
        part: Node = item.value.condition if isinstance(item, Binding) and isinstance(item.value, If) else item
        wanted = [var for var in free_vars(part) if var in self.weights and var not in known]
        return tuple(made for var in wanted for made in self.load(var, known, is_dataflow=is_dataflow))

    def binding(self, item: Binding, known: dict[Var, Var]) -> Binding:
        if isinstance(item.value, If):
            choice, yes, no = item.value, item.value.true_branch, item.value.false_branch
            assert isinstance(yes, SeqExpr), "a branch in A-normal form is a sequence"
            assert isinstance(no, SeqExpr), "a branch in A-normal form is a sequence"
            condition = self.with_known(choice.condition, known)
            parts = condition, self.sequence(yes, known), self.sequence(no, known)
            value = If(*parts, span=choice.span)
            return self.rebuilt(item, replace(item, value=self.rebuilt(choice, value)))
        return self.with_known(item, known)

    def with_known(self, item: N, known: Mapping[Var, Var]) -> N:
        return self.ctx.substitute(item, {var: known[var] for var in free_vars(item) if var in known})


PASS = Pass(
    "LazyGetInput",
    "Makes functions ask for each weight when it is needed, instead of taking all as parameters.",
    run,
    needs=("normal form",),
    see="tvm/src/relax/transform/lazy_transform_params.cc",
)
