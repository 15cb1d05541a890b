"""Move what is computed of the weights alone into a function that runs once."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from relax_core.ir.attrs import attr
from relax_core.ir.equality import structural_equal
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
    SeqExpr,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
    VarBinding,
    is_op_call,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, map_children
from relax_core.ir.prim import PrimVar
from relax_core.ir.rewriting.builder import Names, names_in
from relax_core.ir.rewriting.substitute import free_symbols, free_vars, substitute
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.functions import with_definitions
from relax_core.passes.relax import canonicalize_bindings
from relax_core.passes.relax.closures import lambda_lift
from relax_core.passes.relax.closures.captures import binding_symbols
from relax_core.passes.relax.closures.lambda_lift import LambdaLiftOptions
from relax_core.passes.relax.dead_code_elimination import without_unused
from relax_core.passes.relax.functions import join_blocks


@dataclass(frozen=True, slots=True)
class LiftTransformParamsOptions:
    """`shared_transform` is `True` or names of functions for one function that does what these have in common."""

    shared_transform: bool | tuple[str, ...] = False


def run(module: IRModule, options: LiftTransformParamsOptions, ctx: PassContext) -> IRModule:
    """Split each function with `num_input` in two: `f_transform_params` of the weights, and what is left.

    The first takes the weights as a tuple, and returns a tuple of what the second takes in their place. What dataflow
    blocks compute of weights, and of sizes that weights have, moves; constants stay, and what moves has copies of those
    that it uses. TVM loses a moved value that is returned, a weight that is returned, and a size that only a weight
    gives; here they are parameters. It moves nothing of symbolic sizes into a shared function. Local functions are
    lifted as well, and where a function is split bindings are canonicalized, in TVM those of that function alone.
    """
    type_of = ctx.types(module)
    found = [split for var, function in module.relax_functions if (split := _split(var, function, type_of, ctx))]
    shared = options.shared_transform
    if isinstance(shared, tuple) and shared:
        found = [item for item in found if item.var.name in shared]
    names = Names(module.names)
    groups = [found] if shared is not False else [[item] for item in found]
    changed: dict[str, Definition] = {}
    added: list[Definition] = []
    for group in filter(None, groups):
        name = "transform_params" if shared is not False else f"{group[0].var.name}_transform_params"
        made = _Group(group, type_of, ctx)
        before = GlobalVar(names.fresh(name))
        for item in group:
            words = f"@{before.name} takes the weights of @{item.var.name} and returns what it takes in their place"
            ctx.remark(item.function, "applied", words)
        added.append(ctx.derive(Definition(before, made.transform()), *(item.function for item in group)))
        changed.update((item.var.name, Definition(item.var, made.rest(item))) for item in group)
    kept = (changed.get(item.var.name, item) for item in module.definitions)
    lifted = lambda_lift.run(with_definitions(module, (*kept, *added), ctx), LambdaLiftOptions(), ctx)
    if not found:
        return lifted
    canonical = canonicalize_bindings.canonicalized(lifted, ctx)
    return without_unused(canonical, ctx, {item.var.name for item in added})


_STOP = "relax.builtin.stop_lift_params"


@dataclass(frozen=True, slots=True)
class _Split:
    """A function, its weights, and the bindings that depend on nothing else; those of `copied` on no weight either."""

    var: GlobalVar
    function: Function
    count: int
    lifted: tuple[Binding, ...]
    copied: frozenset[Binding]

    @property
    def weights(self) -> tuple[Var, ...]:
        """The parameters behind the inputs."""
        return self.function.params[self.count :]


def _split(var: GlobalVar, function: Function, type_of: Mapping[Node, Type], ctx: PassContext) -> _Split | None:
    count = attr(function.attrs, "num_input")
    if not isinstance(count, int) or isinstance(count, bool):
        ctx.remark(function, "missed", f"@{var.name} stays: it has no num_input that tells weights from inputs")
        return None
    weights = function.params[count:]
    known: set[Node] = set(weights)
    sizes = {symbol for weight in weights for symbol in binding_symbols(type_of.get(weight))}
    constants: dict[Node, Binding] = {}
    lifted: dict[Binding, None] = {}
    for binding in _dataflow_bindings(function):
        used = free_vars(binding.value)
        if isinstance(binding.value, Function) or not (known | constants.keys()).issuperset(used):
            continue
        if is_op_call(binding.value, _STOP):
            ctx.remark(
                binding, "missed", f"{binding.var.name} stays: the program says so by R.builtin.stop_lift_params"
            )
            continue
        if constants.keys() >= {*used}:
            if not free_symbols(binding):
                constants[binding.var] = binding
            continue
        unknown = sizes.symmetric_difference(sizes.union(free_symbols(binding)))
        if unknown:
            names = ", ".join(sorted(symbol.name for symbol in unknown))
            ctx.remark(binding, "missed", f"{binding.var.name} stays: no weight has the size {names}")
            continue
        known.add(binding.var)
        lifted.update(dict.fromkeys((*_needed(used, constants), binding)))
    return _Split(var, function, count, tuple(lifted), frozenset(constants.values()))


def _needed(used: Sequence[Var], constants: dict[Node, Binding]) -> tuple[Binding, ...]:
    """Return the bindings of constants that variables depend on, in their order."""
    needed: set[Node] = set(used)
    found: list[Binding] = []
    for var, binding in reversed(constants.items()):
        if var in needed:
            needed.update(free_vars(binding.value))
            found.append(binding)
    return tuple(reversed(found))


def _dataflow_bindings(function: Function) -> Iterator[Binding]:
    body = function.body
    for block in body.blocks if isinstance(body, SeqExpr) else ():
        if isinstance(block, DataflowBlock):
            yield from block.bindings


Common: TypeAlias = tuple[Binding, ...]
"""The same step of several functions, one binding of each."""


class _Group:
    """Functions with one transformation of their weights."""

    def __init__(self, splits: Sequence[_Split], type_of: Mapping[Node, Type], ctx: PassContext) -> None:
        self.splits = splits
        self.type_of = type_of
        self.ctx = ctx
        if len({len(item.weights) for item in splits}) > 1:
            names = ", ".join(f"@{item.var.name}" for item in splits)
            ctx.fail("PS018", f"{names} have no equal numbers of weights, so none can be shared", splits[0].function)
        self.common = self._common()
        used = [self._used(index) for index in range(len(splits))]
        count = range(len(splits[0].weights))
        self.direct = [
            place for place in count if any(split.weights[place] in vars for split, vars in self._with(used))
        ]
        self.outputs = [
            item
            for item in self.common
            if item[0] not in splits[0].copied and any(step.var in vars for step, vars in zip(item, used, strict=True))
        ]

    def _with(self, used: Sequence[set[Node]]) -> Iterator[tuple[_Split, set[Node]]]:
        return zip(self.splits, used, strict=True)

    def _common(self) -> list[Common]:
        """Return the steps that all functions have."""
        first, *others = self.splits
        found: list[list[Binding]] = [[step] for step in first.lifted]
        for other in others:
            vars = dict(zip(first.weights, other.weights, strict=True))
            symbols = _symbol_map(first.weights, other.weights)
            found = [
                [*steps, twin] for steps in found if (twin := _twin(steps[0], other.lifted, vars, symbols)) is not None
            ]
        return [tuple(steps) for steps in found]

    def _used(self, index: int) -> set[Node]:
        """Return what a function still uses when the common steps are gone, with the weights that give its sizes."""
        split = self.splits[index]
        gone = {steps[index] for steps in self.common}.difference(split.copied)
        body = split.function.body
        assert isinstance(body, SeqExpr), "a function in A-normal form has a sequence as its body"
        rest = [item for block in body.blocks for item in block.bindings if item not in gone]
        used: set[Node] = {var for item in (*rest, body.body) for var in free_vars(item)}
        inputs = split.function.params[: split.count]
        passed = used.intersection((*split.weights, *(item.var for item in gone)))
        given = {symbol for param in (*inputs, *passed) for symbol in binding_symbols(self.type_of.get(param))}
        needed = {symbol for item in (*rest, body.body) for symbol in free_symbols(item)}
        for weight in split.weights:
            sizes = set(binding_symbols(self.type_of.get(weight)))
            if sizes & (needed - given):
                used.add(weight)
                given |= sizes
        return used

    def transform(self) -> Function:
        """Return the function of the weights."""
        split, ctx = self.splits[0], self.ctx
        fields = tuple(weight.annotation or OBJECT for weight in split.weights)
        bundle = Var("model_params", TupleType(fields))
        steps = [item[0] for item in self.common]
        outputs = (*(split.weights[place] for place in self.direct), *(item[0].var for item in self.outputs))
        uses = _FieldUses({var: TupleGetItem(bundle, at) for at, var in enumerate(split.weights)}, split, ctx)
        for step in steps:
            value = uses.taken(step.value)
            uses.bindings.append(step if value is step.value else replace(step, value=value))
        ret_type = TupleType(tuple(self.type_of.get(var, OBJECT) for var in outputs))
        made = Function((bundle,), _tuple_of(outputs, split, bundle, uses), ret_type, (("num_input", 0),))
        own: dict[Var, Expr] = {item.var: DataflowVar(item.var.name, item.var.annotation) for item in steps}
        ctx.log.copied([*own.items()])
        symbols = {symbol: PrimVar(symbol.name, symbol.dtype) for symbol in free_symbols(made)}
        ctx.derive(made, *(item.function for item in self.splits), rule="function -> function of its weights")
        # The annotations of the copies have sizes, too.
        return ctx.substitute(ctx.substitute(made, own), None, symbols)

    def rest(self, split: _Split) -> Function:
        """Return a function with the transformed weights as its parameters."""
        ctx, index = self.ctx, self.splits.index(split)
        gone = [step for steps in self.common if (step := steps[index]) not in split.copied]

        def drop(node: Node) -> tuple[Node, ...] | None:
            """Rule: step that depends on weights only -> nothing."""
            return () if node in gone or (isinstance(node, BindingBlock) and not node.bindings) else None

        def pass_on(node: Node) -> Node | None:
            """Rule: stop_lift_params(x) -> x."""
            return node.args[0] if is_op_call(node, _STOP) else None

        own: dict[Var, Expr] = {}
        for steps in self.outputs:
            var = steps[index].var
            own[var] = ctx.derive(Var(var.name, var.annotation or self.type_of.get(var)), var, steps[index])
        for binding in gone:
            ctx.remark(binding, "applied", f"{binding.var.name} is computed of the weights of @{split.var.name}")
        inputs = split.function.params[: split.count]
        params = (
            *inputs,
            *(split.weights[place] for place in self.direct),
            *(steps[index].var for steps in self.outputs),
        )
        function = ctx.rewrite(split.function, drop, pass_on, join_blocks)
        made = replace(function, params=params, body=_with_result(function, ctx))
        ctx.log.rebuilt(function, made)
        return ctx.substitute(made, own)


class _FieldUses:
    """Bindings that take the field of a tuple anew for each use of the weight that it is, as apache-tvm has them."""

    def __init__(self, fields: Mapping[Var, TupleGetItem], split: _Split, ctx: PassContext) -> None:
        self.fields = fields
        self.names = names_in(split.function)
        self.ctx = ctx
        self.met: set[Var] = set()
        self.bindings: list[Binding] = []

    def taken(self, value: Expr) -> Expr:
        """Return a value with variables of fields in place of weights, which are bound first."""
        match value:
            case Var() if (field := self.fields.get(value)) is not None:
                name = self.names.fresh(value.name) if value in self.met else value.name
                self.met.add(value)
                var = self.ctx.derive(DataflowVar(name, value.annotation), value)
                self.bindings.append(self.ctx.derive(VarBinding(var, field), value))
                return var
            case Call() | Tuple() | TupleGetItem():
                return map_children(value, lambda part: self.taken(part) if isinstance(part, Expr) else part)
            case _:
                return value


def _tuple_of(outputs: tuple[Var, ...], split: _Split, bundle: Var, uses: _FieldUses) -> SeqExpr:
    """Return the body that gives `outputs`; all the weights as they are have their tuple already."""
    if not outputs or outputs == split.weights:
        return SeqExpr((), bundle if outputs else Tuple())
    fields = uses.taken(Tuple(outputs))
    result = Var(uses.names.fresh("output_tuple"))
    return SeqExpr((DataflowBlock((*uses.bindings, VarBinding(result, fields))),), result)


def _with_result(function: Function, ctx: PassContext) -> SeqExpr:
    """Return the body of a function with a variable for the tuple that it returns."""
    body = function.body
    assert isinstance(body, SeqExpr), "a function in A-normal form has a sequence as its body"
    if not isinstance(body.body, Tuple) or not body.body.fields:
        return body
    result = Var(names_in(function).fresh("gv"))
    block = ctx.derive(BindingBlock((VarBinding(result, body.body),)), body.body)
    return ctx.rewrite(replace(body, blocks=(*body.blocks, block), body=result), join_blocks)


def _symbol_map(olds: Iterable[Var], news: Iterable[Var]) -> dict[PrimVar, PrimVar]:
    """Pair the sizes of the weights of two functions, as far as they are plain."""
    pairs = (
        (binding_symbols(old.annotation), binding_symbols(new.annotation)) for old, new in zip(olds, news, strict=True)
    )
    return {a: b for left, right in pairs if len(left) == len(right) for a, b in zip(left, right, strict=True)}


def _twin(
    step: Binding, candidates: Iterable[Binding], vars: dict[Var, Var], symbols: Mapping[PrimVar, PrimVar]
) -> Binding | None:
    """Return the same step of another function, and pair their variables."""
    value = substitute(step.value, vars, symbols)
    for other in candidates:
        if type(other) is type(step) and other.var not in vars.values() and structural_equal(value, other.value):
            vars[step.var] = other.var
            return other
    return None


PASS = Pass(
    "LiftTransformParams",
    "Moves what is computed of the weights alone into a function that runs once.",
    run,
    options=LiftTransformParamsOptions,
    needs=("normal form",),
    see="tvm/src/relax/transform/lift_transform_params.cc",
)
